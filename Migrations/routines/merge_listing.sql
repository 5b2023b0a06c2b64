-- Lists say by their gaps what is not offered. fuel.listing keeps where a list differs from the complete list
-- before it, so that lists which come, go or change their standing later must not change what the next one showed:
-- that is written down first.

-- Writes down what the lists beside and after a run show of some pairs, where they left it to the lists before them:
-- every list up to the next complete one.
CREATE OR REPLACE FUNCTION fuel.spell_out(
  p_source_id smallint, p_run_id integer, p_taken_at timestamptz, p_station_ids integer[], p_fuel_ids smallint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ends_at timestamptz;
BEGIN
  SELECT min(run.taken_at) INTO ends_at
  FROM fuel.run
  WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at > p_taken_at;
  INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
  SELECT pair.station_id, pair.fuel_id, p_source_id, list.taken_at, shown.is_listed, list.run_id
  FROM unnest(p_station_ids, p_fuel_ids) AS pair (station_id, fuel_id)
  JOIN fuel.run AS list
    ON list.source_id = p_source_id
    -- The same list may have come twice.
    AND list.taken_at >= p_taken_at
    AND list.run_id <> p_run_id
    AND list.taken_at <= coalesce(ends_at, 'infinity')
    -- Lists that were never stored say nothing that could count.
    AND (list.is_complete OR (list.composition_id IS NOT NULL AND list.stored + list.unchanged > 0))
  CROSS JOIN LATERAL (
    -- Of its own instant too.
    SELECT coalesce((
      SELECT listing.is_listed
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = pair.station_id
        AND listing.fuel_id = pair.fuel_id
        AND listing.source_id = p_source_id
        AND listing.changed_at <= list.taken_at
      ORDER BY listing.changed_at DESC, listing.is_listed DESC
      LIMIT 1
    ), false) AS is_listed
  ) AS shown
  WHERE NOT EXISTS (
    SELECT
    FROM fuel.listing AS said
    WHERE said.station_id = pair.station_id
      AND said.fuel_id = pair.fuel_id
      AND said.source_id = p_source_id
      AND said.changed_at = list.taken_at
      AND said.run_id = list.run_id);
END
$$;
COMMENT ON FUNCTION fuel.spell_out(smallint, integer, timestamptz, integer[], smallint[]) IS
  'Writes down what the lists after an instant show of some pairs, up to the next complete one.';
GRANT EXECUTE ON FUNCTION fuel.spell_out(smallint, integer, timestamptz, integer[], smallint[]) TO fuel_writer;

-- What the run being absorbed lists and leaves out. Part of absorb, after the facts: works on pg_temp.difference and
-- notes in pg_temp.changed what may have changed.
CREATE OR REPLACE FUNCTION fuel.merge_listing(
  p_run_id integer, p_taken_at timestamptz, p_learnt_at timestamptz, p_is_list boolean,
  p_is_complete boolean, p_is_late boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  feed             fuel.source;
  previous_list_at timestamptz;
  next_list_at     timestamptz;
  next_list_id     integer;
  -- Runs without a list since the previous one.
  news_run_ids     integer[];
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  SELECT max(run.taken_at) INTO previous_list_at
  FROM fuel.run
  WHERE run.source_id = feed.source_id AND run.is_complete AND run.taken_at < p_taken_at;
  SELECT array_agg(run.run_id) INTO news_run_ids
  FROM fuel.run
  WHERE run.source_id = feed.source_id
    AND NOT run.is_complete
    AND run.outcome IN ('stored', 'unchanged')
    AND run.taken_at > coalesce(previous_list_at, '-infinity')
    AND run.taken_at <= p_taken_at;

  CREATE TEMPORARY TABLE pair_listing (
    station_id integer  NOT NULL,
    fuel_id    smallint NOT NULL,
    is_listed  boolean  NOT NULL,
    was_listed boolean  NOT NULL,
    -- Told by a partial list since the last complete one, and not in this one.
    is_ended   boolean  NOT NULL
  ) ON COMMIT DROP;
  IF p_is_list THEN
    INSERT INTO pg_temp.pair_listing (station_id, fuel_id, is_listed, was_listed, is_ended)
    SELECT
      pair.station_id,
      pair.fuel_id,
      pair.is_listed,
      CASE
        WHEN p_is_late THEN coalesce((
          SELECT listing.is_listed
          FROM fuel.counted_listing AS listing
          WHERE listing.station_id = pair.station_id
            AND listing.fuel_id = pair.fuel_id
            AND listing.source_id = feed.source_id
            AND listing.changed_at <= p_taken_at
          ORDER BY listing.changed_at DESC, listing.is_listed DESC
          LIMIT 1
        ), false)
        ELSE pair.was_listed
      END AS was_listed,
      -- Not EXISTS, for which the server may read the whole history once instead of one pair.
      NOT pair.is_listed AND coalesce((
        SELECT true
        FROM fuel.counted_price AS price
        WHERE price.station_id = pair.station_id
          AND price.fuel_id = pair.fuel_id
          AND price.source_id = feed.source_id
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
        WHERE p_is_late AND known.source_id = feed.source_id
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
        WHERE price.source_id = feed.source_id
          AND price.run_id = ANY (news_run_ids)
          AND price.learnt_at <= p_learnt_at
          AND NOT coalesce((
            SELECT known.is_listed
            FROM fuel.current_price AS known
            WHERE known.station_id = price.station_id AND known.fuel_id = price.fuel_id
          ), false)
        EXCEPT
        SELECT pair_listing.station_id, pair_listing.fuel_id FROM pg_temp.pair_listing
      ) AS fresh;
    END IF;
    DELETE FROM pg_temp.pair_listing AS pair
    WHERE pair.is_listed = pair.was_listed AND NOT pair.is_ended;
    IF p_is_late AND p_is_complete THEN
      PERFORM fuel.spell_out(
        feed.source_id, p_run_id, p_taken_at, array_agg(pair.station_id), array_agg(pair.fuel_id))
      FROM pg_temp.pair_listing AS pair
      HAVING count(*) > 0;
    END IF;
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
    SELECT pair.station_id, pair.fuel_id, feed.source_id, p_taken_at, pair.is_listed, p_run_id
    FROM pg_temp.pair_listing AS pair
    ON CONFLICT DO NOTHING;
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT pair.station_id, pair.fuel_id, p_taken_at
    FROM pg_temp.pair_listing AS pair
    WHERE p_is_complete;
  END IF;
  IF p_is_late THEN
    -- Late news of a pair that was in no list by then: the next complete list ended it.
    SELECT run.run_id, run.taken_at INTO next_list_id, next_list_at
    FROM fuel.run
    WHERE run.source_id = feed.source_id AND run.is_complete AND run.taken_at > p_taken_at
    ORDER BY run.taken_at, run.run_id
    LIMIT 1;
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
    SELECT DISTINCT pair.station_id, pair.fuel_id, feed.source_id, next_list_at, false, next_list_id
    FROM pg_temp.changed AS pair
    WHERE next_list_at IS NOT NULL
      AND NOT coalesce((
        SELECT listing.is_listed
        FROM fuel.counted_listing AS listing
        WHERE listing.station_id = pair.station_id
          AND listing.fuel_id = pair.fuel_id
          AND listing.source_id = feed.source_id
          AND listing.changed_at <= next_list_at
        ORDER BY listing.changed_at DESC, listing.is_listed DESC
        LIMIT 1
      ), false)
    ON CONFLICT DO NOTHING;
  END IF;
  DROP TABLE pg_temp.pair_listing;
END
$$;
COMMENT ON FUNCTION fuel.merge_listing(
  integer, timestamptz, timestamptz, boolean, boolean, boolean) IS
  'Merges what the run being absorbed lists and leaves out.';
GRANT EXECUTE ON FUNCTION fuel.merge_listing(
  integer, timestamptz, timestamptz, boolean, boolean, boolean) TO fuel_writer;
