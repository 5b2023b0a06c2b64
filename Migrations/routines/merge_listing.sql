-- A list states by its gaps what is not offered. fuel.listing has a row for a list, station and fuel in three cases:
-- the list differs from the newest earlier row, whether or not that row counts; the newest earlier row is of a list
-- that is not complete; or runs without a list (updates) have reported the station and fuel since the newest complete
-- list. A run must not change what later lists showed, whether they count or not. What those lists left to the rows
-- before them is therefore written down first.

-- Writes down what the lists after a run show of some stations and fuels, where they left it to the rows before them.
-- This concerns every list up to the next complete one.
CREATE OR REPLACE FUNCTION fuel.spell_out(p_run_id integer, p_station_ids integer[], p_fuel_ids smallint[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
  SELECT
    pair.station_id, pair.fuel_id, this_run.source_id, list.taken_at,
    fuel.is_shown(pair.station_id, pair.fuel_id, this_run.source_id, list.run_id, list.taken_at),
    list.run_id
  FROM fuel.run AS this_run
  CROSS JOIN fuel.lists_after(p_run_id) AS list
  CROSS JOIN unnest(p_station_ids, p_fuel_ids) AS pair (station_id, fuel_id)
  WHERE this_run.run_id = p_run_id
  ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION fuel.spell_out(integer, integer[], smallint[]) IS
  'Stores what the lists after a run show of some stations and fuels, up to the next complete list.';
GRANT EXECUTE ON FUNCTION fuel.spell_out(integer, integer[], smallint[]) TO fuel_writer;

-- Returns the stations and fuels of the prices that some runs stored. It is a function so that the server does not plan
-- the months of fuel.price where there are no runs.
CREATE OR REPLACE FUNCTION fuel.pairs_of(p_run_ids integer[], p_source_id smallint)
RETURNS TABLE (station_id integer, fuel_id smallint) LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_run_ids IS NOT NULL THEN
    RETURN QUERY
    SELECT price.station_id, price.fuel_id
    FROM fuel.price
    WHERE price.run_id = ANY (p_run_ids) AND price.source_id = p_source_id;
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.pairs_of(integer[], smallint) IS 'The stations and fuels of the prices that some runs stored.';
GRANT EXECUTE ON FUNCTION fuel.pairs_of(integer[], smallint) TO fuel_writer;

-- Merges what the run being absorbed lists and leaves out. It is a part of fuel.absorb, after the facts. It reads
-- pg_temp.difference, and notes in pg_temp.changed what may have changed. Runs without a list (updates) get no rows in
-- fuel.listing: what they report is in fuel.price.
CREATE OR REPLACE FUNCTION fuel.merge_listing(
  p_run_id integer, p_is_list boolean, p_is_late boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  this_run  fuel.run;
  is_direct boolean;
  lists     integer[];
  updates   integer[];
BEGIN
  IF NOT p_is_list THEN
    -- The lists after the run must show the same as they would without the run.
    PERFORM fuel.spell_out(p_run_id, array_agg(difference.station_id), array_agg(difference.fuel_id))
    FROM pg_temp.difference
    HAVING count(*) > 0;
    RETURN;
  END IF;
  SELECT run.* INTO STRICT this_run FROM fuel.run WHERE run.run_id = p_run_id;
  SELECT
    NOT p_is_late AND coalesce(bool_and(since.is_hint), true),
    array_agg(since.run_id) FILTER (WHERE since.is_list),
    array_agg(since.run_id) FILTER (WHERE NOT since.is_list)
  INTO is_direct, lists, updates
  FROM fuel.runs_since_list(p_run_id) AS since;

  CREATE TEMPORARY TABLE pair_listing ON COMMIT DROP AS
  WITH shown AS MATERIALIZED (
    SELECT
      difference.station_id, difference.fuel_id, bool_or(difference.is_listed) AS is_listed,
      bool_or(difference.was_listed) AS was_listed
    FROM pg_temp.difference
    GROUP BY difference.station_id, difference.fuel_id
  ),
  -- What was reported since the newest complete list, and whether an update reported it.
  reported AS MATERIALIZED (
    SELECT since_list.station_id, since_list.fuel_id, bool_or(since_list.is_update) AS is_update
    FROM (
      SELECT listing.station_id, listing.fuel_id, false AS is_update
      FROM fuel.listing
      WHERE listing.run_id = ANY (lists)
      UNION ALL
      SELECT update_pair.station_id, update_pair.fuel_id, true
      FROM fuel.pairs_of(updates, this_run.source_id) AS update_pair
    ) AS since_list
    GROUP BY since_list.station_id, since_list.fuel_id
  ),
  pair AS (
    SELECT shown.station_id, shown.fuel_id, shown.is_listed, reported.is_update IS TRUE AS is_update
    FROM shown
    LEFT JOIN reported USING (station_id, fuel_id)
    WHERE NOT (is_direct AND shown.is_listed AND shown.was_listed) OR reported.station_id IS NOT NULL
    UNION ALL
    -- A station and fuel without a difference is listed as before if the run is direct. Otherwise everything that the
    -- run reports is in shown, so that what is missing there is not listed.
    SELECT reported.station_id, reported.fuel_id, is_direct AND known.is_listed IS TRUE, reported.is_update
    FROM reported
    LEFT JOIN shown USING (station_id, fuel_id)
    LEFT JOIN fuel.current_price AS known USING (station_id, fuel_id)
    WHERE shown.station_id IS NULL
    UNION ALL
    -- A late list also states that what the feed has today and the list lacks was absent then. EXCEPT is used because
    -- it hashes, whatever sizes the server expects of the tables.
    SELECT absent.station_id, absent.fuel_id, false, false
    FROM (
      SELECT known.station_id, known.fuel_id
      FROM fuel.current_price AS known
      WHERE p_is_late AND known.source_id = this_run.source_id
      EXCEPT (
        SELECT shown.station_id, shown.fuel_id FROM shown
        UNION
        SELECT reported.station_id, reported.fuel_id FROM reported)
    ) AS absent
  )
  SELECT pair.station_id, pair.fuel_id, pair.is_listed
  FROM pair
  LEFT JOIN LATERAL (
    SELECT listing.is_listed, list.is_complete
    FROM fuel.told_listing AS listing
    JOIN fuel.run AS list USING (run_id)
    WHERE listing.station_id = pair.station_id
      AND listing.fuel_id = pair.fuel_id
      AND listing.source_id = this_run.source_id
      AND listing.changed_at <= this_run.taken_at
      AND (listing.changed_at, listing.run_id) < (this_run.taken_at, p_run_id)
    ORDER BY listing.changed_at DESC, listing.run_id DESC
    LIMIT 1
  ) AS before ON true
  WHERE pair.is_update OR CASE
    WHEN before.is_listed IS NULL THEN pair.is_listed
    ELSE before.is_listed <> pair.is_listed OR NOT before.is_complete
  END;
  PERFORM fuel.spell_out(p_run_id, array_agg(pair.station_id), array_agg(pair.fuel_id))
  FROM pg_temp.pair_listing AS pair
  HAVING count(*) > 0;
  INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
  SELECT pair.station_id, pair.fuel_id, this_run.source_id, this_run.taken_at, pair.is_listed, p_run_id
  FROM pg_temp.pair_listing AS pair;
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT pair.station_id, pair.fuel_id, this_run.taken_at
  FROM pg_temp.pair_listing AS pair
  WHERE this_run.is_complete;
  DROP TABLE pg_temp.pair_listing;
END
$$;
COMMENT ON FUNCTION fuel.merge_listing(integer, boolean, boolean) IS
  'Merges what the run that is being absorbed lists and leaves out.';
GRANT EXECUTE ON FUNCTION fuel.merge_listing(integer, boolean, boolean) TO fuel_writer;
