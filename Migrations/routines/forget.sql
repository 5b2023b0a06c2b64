-- What is kept beside the facts of a run that no longer counts. The writer may not delete; these delete no fact.

-- How a run describes stations.
CREATE OR REPLACE FUNCTION fuel.forget_descriptions(p_run_id integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  told fuel.run;
BEGIN
  SELECT run.* INTO STRICT told FROM fuel.run WHERE run.run_id = p_run_id;
  -- A run that does not count any more, and no other, opens this door.
  IF told.outcome NOT IN ('superseded', 'withdrawn', 'refused') THEN
    RAISE EXCEPTION 'run % counts', p_run_id;
  END IF;
  -- A wording loses this run's sighting: where it was the only one it goes, at an end of its span the
  -- span ends at the neighbouring run, one that has not been read again if there is one.
  DELETE FROM fuel.station_description AS wording
  WHERE wording.run_id = p_run_id AND wording.last_seen_at = told.taken_at;
  UPDATE fuel.station_description AS wording SET
    first_seen_at = neighbour.taken_at,
    run_id = neighbour.run_id
  FROM (
    SELECT run.taken_at, coalesce(run.replaces_run_id, run.run_id) AS run_id
    FROM fuel.run
    WHERE run.source_id = told.source_id
      AND run.describes_stations
      AND run.taken_at > told.taken_at
    ORDER BY run.kind = 'reprocess', run.taken_at, run.run_id
    LIMIT 1
  ) AS neighbour
  WHERE wording.run_id = p_run_id AND wording.last_seen_at >= neighbour.taken_at;
  UPDATE fuel.station_description AS wording SET last_seen_at = neighbour.taken_at
  FROM fuel.station, (
    SELECT run.taken_at
    FROM fuel.run
    WHERE run.source_id = told.source_id
      AND run.describes_stations
      AND run.taken_at < told.taken_at
    ORDER BY run.kind = 'reprocess', run.taken_at DESC, run.run_id
    LIMIT 1
  ) AS neighbour
  WHERE station.station_id = wording.station_id
    AND station.source_id = told.source_id
    AND wording.last_seen_at = told.taken_at
    AND wording.first_seen_at <= neighbour.taken_at;
  -- A station was seen first by the oldest run that counts.
  UPDATE fuel.station SET first_seen_at = seen.first_at
  FROM (
    SELECT named.station_id, min(seen.at) AS first_at
    FROM (
      SELECT price.station_id FROM fuel.price WHERE price.run_id = p_run_id
      UNION
      SELECT station.station_id
      FROM fuel.station
      WHERE station.source_id = told.source_id AND station.first_seen_at = told.taken_at
    ) AS named
    CROSS JOIN LATERAL (
      SELECT run.taken_at AS at
      FROM fuel.counted_price AS price
      JOIN fuel.run USING (run_id)
      WHERE price.station_id = named.station_id AND price.source_id = told.source_id
      UNION ALL
      SELECT wording.first_seen_at
      FROM fuel.station_description AS wording
      WHERE wording.station_id = named.station_id
    ) AS seen
    GROUP BY named.station_id
  ) AS seen
  WHERE station.station_id = seen.station_id
    AND station.source_id = told.source_id
    AND station.first_seen_at <= told.taken_at
    AND station.first_seen_at <> seen.first_at;
END
$$;
COMMENT ON FUNCTION fuel.forget_descriptions(integer) IS
  'Takes back how a run describes stations, when it does not count any more.';
REVOKE EXECUTE ON FUNCTION fuel.forget_descriptions(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.forget_descriptions(integer) TO fuel_writer;

-- Forgets what is kept of those of some pairs without any fact that counts, and of stations that nothing tells of. The
-- stations themselves stay, because rows that do not count name them.
CREATE OR REPLACE FUNCTION fuel.forget_ghosts(
  p_source_id smallint, p_station_ids integer[], p_fuel_ids smallint[])
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.current_price AS pair
  USING unnest(p_station_ids, p_fuel_ids) AS changed (station_id, fuel_id)
  WHERE pair.source_id = p_source_id
    AND pair.station_id = changed.station_id
    AND pair.fuel_id = changed.fuel_id
    -- Not EXISTS, for which the server may read the whole history once instead of one pair.
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
      SELECT FROM fuel.current_price AS pair WHERE pair.station_id = station.station_id)
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS told
      WHERE told.station_id = station.station_id);
  -- Records that such a station spoke for speak for themselves until they are matched again, and their spans are made.
  SELECT fuel.touch_stations(array_agg(place.station_id))
  FROM fuel.station AS place
  WHERE place.source_id = p_source_id
    AND EXISTS (
      SELECT
      FROM fuel.station AS record
      WHERE record.place_id = place.station_id AND record.station_id <> place.station_id)
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS told
      WHERE told.station_id = place.station_id)
  HAVING count(*) > 0;
  UPDATE fuel.station AS record SET place_id = record.station_id, matched_by = 'itself'
  FROM fuel.station AS place
  WHERE record.place_id = place.station_id
    AND record.station_id <> place.station_id
    AND place.source_id = p_source_id
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS told
      WHERE told.station_id = place.station_id);
  UPDATE fuel.source SET are_links_due = true, changes = source.changes + 1
  WHERE source.source_id = p_source_id
$$;
COMMENT ON FUNCTION fuel.forget_ghosts(smallint, integer[], smallint[]) IS
  'Removes from the cache and the regions of a feed what nothing tells of.';
REVOKE EXECUTE ON FUNCTION fuel.forget_ghosts(smallint, integer[], smallint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.forget_ghosts(smallint, integer[], smallint[]) TO fuel_writer;
