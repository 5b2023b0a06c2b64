-- Takes back what is kept beside the facts of a run that no longer counts. The writer may not delete rows. These
-- functions run with the owner's rights, and they delete no fact.

CREATE OR REPLACE FUNCTION fuel.is_described_otherwise(
  p_description fuel.station_description, p_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT
    FROM fuel.station_description AS other
    WHERE other.station_id = p_description.station_id
      AND other.wording_md5 <> p_description.wording_md5
      AND p_at BETWEEN other.first_seen_at AND other.last_seen_at)
$$;
COMMENT ON FUNCTION fuel.is_described_otherwise IS
  'Whether another description of the same station was seen before and after an instant, or at it.';

CREATE OR REPLACE FUNCTION fuel.forget_descriptions(p_run_id integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  this_run fuel.run;
  affected integer[];
BEGIN
  SELECT run.* INTO STRICT this_run FROM fuel.run WHERE run.run_id = p_run_id;
  -- Only the descriptions of a run that no longer counts may be taken back.
  IF this_run.outcome NOT IN ('superseded', 'withdrawn', 'refused') THEN
    RAISE EXCEPTION 'run % counts, so its descriptions are kept', p_run_id;
  END IF;
  SELECT array_agg(DISTINCT description.station_id) INTO affected
  FROM fuel.station_description AS description
  JOIN fuel.station USING (station_id)
  WHERE station.source_id = this_run.source_id
    AND (description.run_id = p_run_id OR description.last_seen_at = this_run.taken_at);
  -- A description loses the sighting of this run. If that was its only sighting, the description is deleted. If the run
  -- stands at one end of the time for which the description was seen, that end moves to the nearest run that saw it: one
  -- for whose time no other description of the station is known, or the one at the other end.
  DELETE FROM fuel.station_description AS description
  WHERE description.run_id = p_run_id AND description.last_seen_at = this_run.taken_at;
  UPDATE fuel.station_description AS description SET
    first_seen_at = neighbour.taken_at,
    run_id = neighbour.run_id
  FROM fuel.station_description AS seen
  CROSS JOIN LATERAL (
    SELECT run.taken_at, coalesce(run.replaces_run_id, run.run_id) AS run_id
    FROM fuel.run
    WHERE run.source_id = this_run.source_id
      AND run.describes_stations
      AND run.taken_at > this_run.taken_at
      AND run.taken_at <= seen.last_seen_at
      AND (run.taken_at = seen.last_seen_at OR NOT fuel.is_described_otherwise(seen, run.taken_at))
    ORDER BY run.taken_at, run.run_id
    LIMIT 1
  ) AS neighbour
  WHERE seen.run_id = p_run_id
    AND description.station_id = seen.station_id
    AND description.wording_md5 = seen.wording_md5;
  UPDATE fuel.station_description AS description SET last_seen_at = neighbour.taken_at
  FROM fuel.station_description AS seen
  JOIN fuel.station USING (station_id)
  CROSS JOIN LATERAL (
    SELECT run.taken_at
    FROM fuel.run
    WHERE run.source_id = this_run.source_id
      AND run.describes_stations
      AND run.taken_at < this_run.taken_at
      AND run.taken_at >= seen.first_seen_at
      AND (run.taken_at = seen.first_seen_at OR NOT fuel.is_described_otherwise(seen, run.taken_at))
    ORDER BY run.taken_at DESC
    LIMIT 1
  ) AS neighbour
  WHERE station.source_id = this_run.source_id
    AND seen.last_seen_at = this_run.taken_at
    AND description.station_id = seen.station_id
    AND description.wording_md5 = seen.wording_md5;
  -- The former names and places of the stations come back.
  PERFORM fuel.renew_stations(affected) WHERE affected IS NOT NULL;
  -- A station that no run that counts has named is not seen until one reports it (fuel.propagate_runs).
  PERFORM fuel.renew_first_sights(ARRAY(
    SELECT price.station_id FROM fuel.price WHERE price.run_id = p_run_id
    UNION
    SELECT station.station_id
    FROM fuel.station
    WHERE station.source_id = this_run.source_id AND station.first_seen_at = this_run.taken_at));
END
$$;
COMMENT ON FUNCTION fuel.forget_descriptions IS
  'Removes the descriptions of stations that a run brought, after the run stopped counting.';

-- The station rows remain, because rows that do not count refer to them.
CREATE OR REPLACE FUNCTION fuel.forget_ghosts(
  p_source_id smallint, p_station_ids integer[], p_fuel_ids smallint[])
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.shown_price AS pair
  USING unnest(p_station_ids, p_fuel_ids) AS changed (station_id, fuel_id)
  WHERE pair.source_id = p_source_id
    AND pair.station_id = changed.station_id
    AND pair.fuel_id = changed.fuel_id
    -- This is a scalar subquery and not EXISTS. For EXISTS the server may read the whole history once instead of one
    -- station and fuel.
    AND NOT coalesce((
      SELECT true
      FROM fuel.counted_price AS price
      WHERE price.station_id = pair.station_id
        AND price.fuel_id = pair.fuel_id
        AND price.source_id = p_source_id
      LIMIT 1
    ), false);
  DELETE FROM fuel.region_station
  USING fuel.station
  WHERE region_station.station_id = station.station_id
    AND station.source_id = p_source_id
    AND NOT EXISTS (
      SELECT FROM fuel.shown_price AS pair WHERE pair.station_id = station.station_id)
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS description
      WHERE description.station_id = station.station_id);
  -- If a station record without any description stands for linked records, each of those becomes a station of its own
  -- until records are matched again. Their spans are made again.
  SELECT fuel.touch_stations(array_agg(head.station_id))
  FROM fuel.station AS head
  WHERE head.source_id = p_source_id
    AND EXISTS (
      SELECT
      FROM fuel.station AS record
      WHERE record.place_id = head.station_id AND record.station_id <> head.station_id)
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS description
      WHERE description.station_id = head.station_id)
  HAVING count(*) > 0;
  UPDATE fuel.station AS record SET place_id = record.station_id, matched_by = 'itself'
  FROM fuel.station AS head
  WHERE record.place_id = head.station_id
    AND record.station_id <> head.station_id
    AND head.source_id = p_source_id
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS description
      WHERE description.station_id = head.station_id);
  UPDATE fuel.source SET are_links_due = true, changes = source.changes % 1000000000000 + 1
  WHERE source.source_id = p_source_id
$$;
COMMENT ON FUNCTION fuel.forget_ghosts IS
  'Removes from fuel.shown_price and the regions of a feed the stations and fuels that nothing reports any more.';

GRANT EXECUTE ON FUNCTION fuel.forget_descriptions, fuel.forget_ghosts TO fuel_writer;
