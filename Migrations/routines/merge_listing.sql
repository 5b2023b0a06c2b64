-- What a run says by what it lists and leaves out, merged into fuel.listing. Part of absorb, after the
-- facts: works on pg_temp.difference and notes in pg_temp.changed what may have changed.
--
-- Between two lists the earlier one holds; a late list is put between its neighbours so that the one
-- after it still says what it said.
CREATE OR REPLACE FUNCTION fuel.merge_listing(
  p_source_id smallint, p_taken_at timestamptz, p_learnt_at timestamptz, p_is_complete boolean,
  p_is_late boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  feed             fuel.source;
  previous_list_at timestamptz;
  next_list_at     timestamptz;
  -- Runs without a list since the previous one.
  news_run_ids     integer[];
BEGIN
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  SELECT max(run.taken_at) INTO previous_list_at
  FROM fuel.run
  WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at < p_taken_at;
  SELECT array_agg(run.run_id) INTO news_run_ids
  FROM fuel.run
  WHERE run.source_id = p_source_id
    AND NOT run.is_complete
    AND run.outcome IN ('stored', 'unchanged')
    AND run.taken_at > coalesce(previous_list_at, '-infinity')
    AND run.taken_at <= p_taken_at;
  -- In a run in order of time there is none.
  IF p_is_late THEN
    SELECT min(run.taken_at) INTO next_list_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at > p_taken_at;
  END IF;

  CREATE TEMPORARY TABLE pair_listing (
    station_id integer  NOT NULL,
    fuel_id    smallint NOT NULL,
    is_listed  boolean  NOT NULL,
    was_listed boolean  NOT NULL,
    -- Told by a partial list since the last complete one, and not in this one.
    is_ended   boolean  NOT NULL
  ) ON COMMIT DROP;
  IF p_is_complete THEN
    INSERT INTO pg_temp.pair_listing (station_id, fuel_id, is_listed, was_listed, is_ended)
    SELECT
      pair.station_id,
      pair.fuel_id,
      pair.is_listed,
      CASE
        WHEN p_is_late THEN coalesce((
          SELECT listing.is_listed
          FROM fuel.listing
          WHERE listing.station_id = pair.station_id
            AND listing.fuel_id = pair.fuel_id
            AND listing.source_id = p_source_id
            AND listing.changed_at <= p_taken_at
          ORDER BY listing.changed_at DESC
          LIMIT 1
        ), false)
        ELSE pair.was_listed
      END AS was_listed,
      -- Not EXISTS, for which the server may read the whole history once instead of one pair.
      NOT pair.is_listed AND coalesce((
        SELECT true
        FROM fuel.price
        WHERE price.station_id = pair.station_id
          AND price.fuel_id = pair.fuel_id
          AND price.source_id = p_source_id
          AND price.learnt_at > coalesce(previous_list_at + feed.delay, '-infinity')
          AND price.learnt_at <= p_learnt_at
        LIMIT 1
      ), false) AS is_ended
    FROM (
      SELECT
        difference.station_id,
        difference.fuel_id,
        bool_or(difference.is_listed) AS is_listed,
        bool_or(difference.was_listed) AS was_listed
      FROM pg_temp.difference
      GROUP BY difference.station_id, difference.fuel_id
      UNION ALL
      -- A late list also says of pairs absent today that they were absent then. EXCEPT hashes
      -- whatever the server thinks of the tables' sizes.
      SELECT absent.station_id, absent.fuel_id, false, false
      FROM (
        SELECT known.station_id, known.fuel_id
        FROM fuel.current_price AS known
        WHERE p_is_late AND known.source_id = p_source_id
        EXCEPT
        SELECT difference.station_id, difference.fuel_id FROM pg_temp.difference
      ) AS absent
    ) AS pair;
    -- What news told since the list before, and is in no list: this one ends it.
    IF news_run_ids IS NOT NULL AND NOT p_is_late THEN
      INSERT INTO pg_temp.pair_listing (station_id, fuel_id, is_listed, was_listed, is_ended)
      SELECT fresh.station_id, fresh.fuel_id, false, false, true
      FROM (
        SELECT price.station_id, price.fuel_id
        FROM fuel.price
        WHERE price.source_id = p_source_id
          AND price.run_id = ANY (news_run_ids)
          AND price.learnt_at <= p_learnt_at
          AND NOT coalesce((
            SELECT known.is_listed
            FROM fuel.current_price AS known
            WHERE known.station_id = price.station_id AND known.fuel_id = price.fuel_id
          ), false)
        EXCEPT
        SELECT pair_listing.station_id, pair_listing.fuel_id FROM pg_temp.pair_listing
        EXCEPT
        SELECT station.station_id, staged.fuel_id
        FROM pg_temp.staged_price AS staged
        JOIN fuel.station
          ON station.source_id = p_source_id AND station.station_code = staged.station_code
      ) AS fresh;
    END IF;
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed)
    SELECT pair.station_id, pair.fuel_id, p_source_id, p_taken_at, pair.is_listed
    FROM pg_temp.pair_listing AS pair
    WHERE pair.is_listed <> pair.was_listed OR pair.is_ended
    UNION ALL
    SELECT pair.station_id, pair.fuel_id, p_source_id, next_list_at, pair.was_listed
    FROM pg_temp.pair_listing AS pair
    WHERE pair.is_listed <> pair.was_listed AND next_list_at IS NOT NULL
    ON CONFLICT DO NOTHING;
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT pair.station_id, pair.fuel_id, change.at
    FROM pg_temp.pair_listing AS pair
    CROSS JOIN LATERAL (VALUES (p_taken_at), (next_list_at)) AS change (at)
    WHERE (pair.is_listed <> pair.was_listed OR pair.is_ended) AND change.at IS NOT NULL;
  END IF;
  IF p_is_late THEN
    -- Late news of a pair that was in no list by then: the next complete list ended it.
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed)
    SELECT DISTINCT pair.station_id, pair.fuel_id, p_source_id, next_list_at, false
    FROM pg_temp.changed AS pair
    WHERE next_list_at IS NOT NULL
      AND NOT coalesce((
        SELECT listing.is_listed
        FROM fuel.listing
        WHERE listing.station_id = pair.station_id
          AND listing.fuel_id = pair.fuel_id
          AND listing.source_id = p_source_id
          AND listing.changed_at <= next_list_at
        ORDER BY listing.changed_at DESC
        LIMIT 1
      ), false)
    ON CONFLICT DO NOTHING;
    PERFORM fuel.prune_listing(
      p_source_id, array_agg(pair.station_id), array_agg(pair.fuel_id),
      CASE WHEN p_is_complete THEN p_taken_at END)
    FROM (
      SELECT changed.station_id, changed.fuel_id FROM pg_temp.changed
      UNION
      SELECT pair_listing.station_id, pair_listing.fuel_id
      FROM pg_temp.pair_listing
      WHERE pair_listing.is_listed <> pair_listing.was_listed OR pair_listing.is_ended
    ) AS pair
    HAVING count(*) > 0;
  END IF;
  DROP TABLE pg_temp.pair_listing;
END
$$;
COMMENT ON FUNCTION fuel.merge_listing(smallint, timestamptz, timestamptz, boolean, boolean) IS
  'Merges what the run being absorbed lists and leaves out.';
GRANT EXECUTE ON FUNCTION fuel.merge_listing(
  smallint, timestamptz, timestamptz, boolean, boolean) TO fuel_writer;
