-- Whether a complete list can be believed, by what differs from what is known: little where all is well.
--
-- A list that is much shorter than the one before, lacks whole fuels or brands, or shows the past is a
-- fault of the feed, not the end of half the stations. It is compared with what was listed just before
-- it, late or not. Part of absorb: works on pg_temp.staged_price and pg_temp.difference.
CREATE OR REPLACE FUNCTION fuel.judge_list(
  p_source_id smallint, p_taken_at timestamptz, p_is_late boolean, p_refuse_below numeric,
  p_partial_below numeric)
RETURNS TABLE (is_complete boolean, refusal text, warnings text[]) LANGUAGE plpgsql AS $$
DECLARE
  feed             fuel.source;
  listed_before    integer;
  listed_now       integer;
  set_back         integer;
  previous_list_at timestamptz;
  missing          text;
BEGIN
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  SELECT max(run.taken_at) INTO previous_list_at
  FROM fuel.run
  WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at < p_taken_at;
  is_complete := true;
  warnings := '{}';
  CREATE TEMPORARY TABLE vanished (
    station_id integer  NOT NULL,
    fuel_id    smallint NOT NULL
  ) ON COMMIT DROP;
  -- A complete list tells a station and fuel once; the few that it tells twice do not matter here.
  SELECT count(*) INTO listed_now FROM pg_temp.staged_price;
  IF p_is_late THEN
    INSERT INTO pg_temp.vanished (station_id, fuel_id)
    SELECT known.station_id, known.fuel_id
    FROM (
      SELECT DISTINCT ON (listing.station_id, listing.fuel_id)
        listing.station_id, listing.fuel_id, listing.is_listed
      FROM fuel.listing
      WHERE listing.source_id = p_source_id AND listing.changed_at < p_taken_at
      ORDER BY listing.station_id, listing.fuel_id, listing.changed_at DESC
    ) AS known
    WHERE known.is_listed;
    GET DIAGNOSTICS listed_before = ROW_COUNT;
    DELETE FROM pg_temp.vanished
    USING pg_temp.difference
    WHERE difference.is_listed
      AND difference.station_id = vanished.station_id
      AND difference.fuel_id = vanished.fuel_id;
  ELSE
    INSERT INTO pg_temp.vanished (station_id, fuel_id)
    SELECT difference.station_id, difference.fuel_id
    FROM pg_temp.difference
    WHERE NOT difference.is_listed AND difference.was_listed;
    GET DIAGNOSTICS listed_before = ROW_COUNT;
    SELECT listed_now + listed_before - count(*) INTO listed_before
    FROM (
      SELECT DISTINCT difference.station_id, difference.fuel_id
      FROM pg_temp.difference
      WHERE difference.is_listed AND NOT difference.was_listed
    ) AS appeared;
  END IF;
  SELECT string_agg(gone.what, ', ' ORDER BY gone.listed DESC, gone.what) INTO missing
  FROM fuel.missing_of_list(p_source_id) AS gone;
  IF listed_now < listed_before * p_refuse_below THEN
    refusal := format(
      'only %s prices where %s were listed before: below %s %%%s',
      listed_now, listed_before, round(p_refuse_below * 100),
      coalesce('; nothing of ' || missing, ''));
    RETURN NEXT;
    RETURN;
  END IF;
  -- What no list has shown for as long as a sighting is believed is believed to be gone.
  IF previous_list_at > p_taken_at - feed.sight_lapses_after THEN
    IF listed_now < listed_before * p_partial_below THEN
      warnings := warnings
        || format('short: %s prices where %s were listed', listed_now, listed_before);
      is_complete := false;
    END IF;
    IF missing IS NOT NULL THEN
      warnings := warnings || ('nothing of ' || missing);
      is_complete := false;
    END IF;
    SELECT count(*) INTO set_back
    FROM pg_temp.difference
    WHERE difference.is_set_back AND NOT p_is_late;
    IF set_back > 20 AND set_back > listed_now * 0.2 THEN
      warnings := warnings || format('replayed: %s of %s stamps went back', set_back, listed_now);
      is_complete := false;
    END IF;
  END IF;
  DROP TABLE pg_temp.vanished;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fuel.judge_list(smallint, timestamptz, boolean, numeric, numeric) IS
  'Whether the staged list counts as complete, why it is refused if it is, and what is odd about it.';
GRANT EXECUTE ON FUNCTION fuel.judge_list(smallint, timestamptz, boolean, numeric, numeric)
  TO fuel_writer;
