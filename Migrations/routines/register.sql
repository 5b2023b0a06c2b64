-- p_wanted holds columns of fuel.source by their names; p_fuels and p_hours hold how long prices of single fuels are
-- believed. Only what differs is written. A source keeps the kind with which it was registered.
CREATE OR REPLACE FUNCTION fuel.register(p_wanted jsonb, p_fuels text[], p_hours integer[]) RETURNS smallint
LANGUAGE plpgsql AS $$
DECLARE
  known fuel.source;
  wanted fuel.source;
  known_lapses jsonb;
  wanted_lapses jsonb := (
    SELECT coalesce(jsonb_object_agg(fuel.fuel_id, make_interval(hours => given.hours)), '{}')
    FROM unnest(p_fuels, p_hours) AS given (fuel, hours)
    JOIN fuel.fuel USING (fuel));
BEGIN
  INSERT INTO fuel.source (
    source, state, cadence, price_lapses_after, sight_lapses_after, tells_whole_days, attribution, is_enabled,
    calls_per_month, account, delay, holding_confirms, kind, scheme, has_codes, publishes_tomorrow_at)
  SELECT
    made.source, made.state, made.cadence, made.price_lapses_after, made.sight_lapses_after, made.tells_whole_days,
    made.attribution, made.is_enabled, made.calls_per_month, made.account, made.delay, made.holding_confirms, made.kind,
    made.scheme, made.has_codes, made.publishes_tomorrow_at
  FROM jsonb_populate_record(NULL::fuel.source, p_wanted) AS made
  WHERE NOT EXISTS (SELECT FROM fuel.source WHERE source.source = made.source)
  ON CONFLICT DO NOTHING;

  SELECT source.* INTO STRICT known FROM fuel.source WHERE source.source = p_wanted ->> 'source';
  wanted := jsonb_populate_record(known, p_wanted - 'kind');
  known_lapses := (
    SELECT coalesce(jsonb_object_agg(price_lapse.fuel_id, price_lapse.lapses_after), '{}')
    FROM fuel.price_lapse
    WHERE price_lapse.source_id = known.source_id);

  -- How long prices are believed decides every span of the source.
  IF known_lapses <> wanted_lapses
    OR (known.price_lapses_after, known.sight_lapses_after, known.tells_whole_days, known.holding_confirms)
      IS DISTINCT FROM
      (wanted.price_lapses_after, wanted.sight_lapses_after, wanted.tells_whole_days, wanted.holding_confirms)
  THEN
    PERFORM fuel.touch(
      array_agg(pair.station_id), array_agg(pair.fuel_id), array_agg('-infinity'::timestamptz))
    FROM fuel.shown_price AS pair
    WHERE pair.source_id = known.source_id
    HAVING count(*) > 0;
    PERFORM fuel.touch_months(known.source_id, array_agg(covered.month))
    FROM fuel.archive_coverage AS covered
    WHERE covered.source_id = known.source_id;
    -- Which days are settled depends on it too: the next aggregate takes all of them for new.
    DELETE FROM fuel.source_day WHERE source_day.source_id = known.source_id AND known.kind = 'archive';
    DELETE FROM fuel.price_lapse WHERE price_lapse.source_id = known.source_id;
    INSERT INTO fuel.price_lapse (source_id, fuel_id, lapses_after)
    SELECT known.source_id, lapse.key::smallint, lapse.value::interval
    FROM jsonb_each_text(wanted_lapses) AS lapse;
  END IF;

  IF wanted IS DISTINCT FROM known THEN
    UPDATE fuel.source SET
      state = wanted.state,
      cadence = wanted.cadence,
      price_lapses_after = wanted.price_lapses_after,
      sight_lapses_after = wanted.sight_lapses_after,
      tells_whole_days = wanted.tells_whole_days,
      attribution = wanted.attribution,
      is_enabled = wanted.is_enabled,
      calls_per_month = wanted.calls_per_month,
      account = wanted.account,
      delay = wanted.delay,
      holding_confirms = wanted.holding_confirms,
      scheme = wanted.scheme,
      has_codes = wanted.has_codes,
      publishes_tomorrow_at = wanted.publishes_tomorrow_at,
      days_known_until_at = NULL,
      are_links_due = source.are_links_due OR source.scheme <> wanted.scheme OR source.has_codes <> wanted.has_codes,
      changes = source.changes % 1000000000000 + 1
    WHERE source.source_id = known.source_id;
  END IF;
  RETURN known.source_id;
END
$$;
COMMENT ON FUNCTION fuel.register IS
  'Registers a feed or an archive (columns of fuel.source, and how many hours prices of single fuels are believed) and '
  'returns its number.';

-- Makes the rows of a small table those that are given. Rows that are there already are not written.
CREATE OR REPLACE FUNCTION fuel.replace_rows(p_table regclass, p_rows jsonb, OUT gone integer, OUT added integer)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'DELETE FROM %1$s AS known '
    'WHERE NOT EXISTS (SELECT FROM jsonb_populate_recordset(NULL::%1$s, $1) AS wanted WHERE wanted = known)', p_table)
    USING p_rows;
  GET DIAGNOSTICS gone = ROW_COUNT;
  EXECUTE format(
    'INSERT INTO %1$s OVERRIDING SYSTEM VALUE SELECT wanted.* FROM jsonb_populate_recordset(NULL::%1$s, $1) AS wanted '
    'WHERE NOT EXISTS (SELECT FROM %1$s AS known WHERE wanted = known) ON CONFLICT DO NOTHING', p_table)
    USING p_rows;
  GET DIAGNOSTICS added = ROW_COUNT;
END
$$;
COMMENT ON FUNCTION fuel.replace_rows IS
  'Makes the rows of a table those that are given. Returns how many went and how many came.';

GRANT EXECUTE ON FUNCTION fuel.register, fuel.replace_rows TO fuel_writer;
