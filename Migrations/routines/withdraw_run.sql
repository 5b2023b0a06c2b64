-- Takes back what a run had said, before its documents are read again: its facts, its list, its
-- descriptions, and stations that nothing else knows. The caller stores what they say now and keeps
-- what they no longer say in fuel.withdrawn_price. The writer may not delete; this deletes no fact of
-- another run.
--
-- A fact is the run's that brought it first. A later run may have repeated it, but the same record
-- read by the same program says the same, so that what the first run no longer says none does.
CREATE OR REPLACE FUNCTION fuel.withdraw_run(p_run_id integer, p_by_run_id integer)
RETURNS TABLE (
  station_id integer, fuel_id smallint, effective_at timestamptz, price_tenths integer,
  learnt_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  told         fuel.run;
  next_list_at timestamptz;
BEGIN
  SELECT run.* INTO STRICT told FROM fuel.run WHERE run.run_id = p_run_id;
  -- A new run that reads the old one's documents again, and no other, opens this door.
  PERFORM FROM fuel.run
  WHERE run.run_id = p_by_run_id AND run.replaces_run_id = p_run_id AND run.outcome = 'running';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'run % does not replace run %', p_by_run_id, p_run_id;
  END IF;

  RETURN QUERY
  DELETE FROM fuel.price
  WHERE price.run_id = p_run_id AND price.source_id = told.source_id
  RETURNING price.station_id, price.fuel_id, price.effective_at, price.price_tenths,
    price.learnt_at;

  -- The list after it still says what it said.
  SELECT min(run.taken_at) INTO next_list_at
  FROM fuel.run
  WHERE run.source_id = told.source_id AND run.is_complete AND run.taken_at > told.taken_at;
  IF next_list_at IS NOT NULL THEN
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed)
    SELECT
      listing.station_id, listing.fuel_id, listing.source_id, next_list_at, listing.is_listed
    FROM fuel.listing
    WHERE listing.source_id = told.source_id AND listing.changed_at = told.taken_at
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN QUERY
  DELETE FROM fuel.listing
  WHERE listing.source_id = told.source_id AND listing.changed_at = told.taken_at
    AND NOT EXISTS (
      SELECT
      FROM fuel.run
      WHERE run.source_id = told.source_id
        AND run.is_complete
        AND run.taken_at = told.taken_at
        AND run.run_id <> p_run_id
        AND run.replaces_run_id IS DISTINCT FROM p_run_id)
  RETURNING listing.station_id, listing.fuel_id, listing.changed_at, NULL::integer,
    listing.changed_at;

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
  UPDATE fuel.run SET outcome = 'superseded', is_complete = false, describes_stations = false
  WHERE (run.run_id = p_run_id OR run.replaces_run_id = p_run_id)
    AND run.run_id <> p_by_run_id
    AND run.outcome IN ('stored', 'unchanged', 'refused', 'failed', 'interrupted');
END
$$;
COMMENT ON FUNCTION fuel.withdraw_run(integer, integer) IS
  'Takes back what a run had said, for another that reads its documents again. Answers its facts, '
  'and without a price the pairs that its list told of.';
REVOKE EXECUTE ON FUNCTION fuel.withdraw_run(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.withdraw_run(integer, integer) TO fuel_writer;

-- Forgets cached pairs without any fact, and stations that nothing tells of, after a withdrawal.
CREATE OR REPLACE FUNCTION fuel.forget_ghosts(p_source_id smallint)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.current_price AS pair
  WHERE pair.source_id = p_source_id
    AND NOT EXISTS (
      SELECT
      FROM fuel.price
      WHERE price.station_id = pair.station_id
        AND price.fuel_id = pair.fuel_id
        AND price.source_id = p_source_id);
  DELETE FROM fuel.listing
  WHERE listing.source_id = p_source_id
    AND NOT EXISTS (
      SELECT
      FROM fuel.current_price AS pair
      WHERE pair.station_id = listing.station_id AND pair.fuel_id = listing.fuel_id);
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
  -- Records that such a station spoke for speak for themselves until they are matched again.
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
  WHERE source.source_id = p_source_id;
  DELETE FROM fuel.station
  WHERE station.source_id = p_source_id
    AND NOT EXISTS (
      SELECT FROM fuel.current_price AS pair WHERE pair.station_id = station.station_id)
    AND NOT EXISTS (
      SELECT
      FROM fuel.station_description AS told
      WHERE told.station_id = station.station_id)
$$;
COMMENT ON FUNCTION fuel.forget_ghosts(smallint) IS
  'Removes cache rows without facts and stations without rows, of a feed.';
REVOKE EXECUTE ON FUNCTION fuel.forget_ghosts(smallint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.forget_ghosts(smallint) TO fuel_writer;
