-- The list of what has to be made again (fuel.due).

CREATE OR REPLACE FUNCTION fuel.touch(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.due AS known (step, number, part, from_on)
  SELECT 'spans', pair.station_id, pair.fuel_id, (min(pair.from_at) AT TIME ZONE 'UTC')::date
  FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
  GROUP BY pair.station_id, pair.fuel_id
  ORDER BY pair.station_id, pair.fuel_id
  ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET from_on = least(known.from_on, excluded.from_on)
$$;
COMMENT ON FUNCTION fuel.touch IS
  'Notes that the spans of station records and fuels have to be recomputed from an instant on.';

CREATE OR REPLACE FUNCTION fuel.touch_months(p_source_id smallint, p_months date[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.due (step, number, part, from_on, until_on)
  SELECT 'months', listed.month - date '1970-01-01', p_source_id, listed.month, listed.month
  FROM unnest(p_months) AS listed (month)
  ORDER BY listed.month
  ON CONFLICT DO NOTHING
$$;
COMMENT ON FUNCTION fuel.touch_months IS
  'Lists months of an archive, in which every record and fuel has spans to make.';

-- Lists price days of fuels whose averages have to be made again, each month by itself. Only the aggregate takes them from
-- the list. So when the aggregate lists them itself (p_is_aggregate), only months that lack some of them are written. A
-- rehearsal lists nothing, because every other run would wait for its rows until it is rolled back.
CREATE OR REPLACE FUNCTION fuel.touch_averages(p_fuel_ids smallint[], p_days daterange[], p_is_aggregate boolean)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.due AS known (step, number, part, from_on, until_on)
  SELECT 'averages', changed.month - date '1970-01-01', changed.fuel_id, changed.from_on, changed.until_on
  FROM (
    SELECT
      pair.fuel_id,
      series.month::date AS month,
      min(greatest(lower(pair.days), series.month::date)) AS from_on,
      max(least(upper(pair.days), (series.month + interval '1 month')::date) - 1) AS until_on
    FROM unnest(p_fuel_ids, p_days) AS pair (fuel_id, days)
    CROSS JOIN LATERAL generate_series(
      date_trunc('month', lower(pair.days)::timestamp), upper(pair.days)::timestamp - interval '1 day',
      interval '1 month') AS series (month)
    GROUP BY pair.fuel_id, series.month
  ) AS changed
  WHERE coalesce(current_setting('bowser.is_rehearsal', true), '') = ''
    AND (NOT p_is_aggregate OR NOT EXISTS (
      SELECT
      FROM fuel.due AS listed
      WHERE listed.step = 'averages'
        AND listed.number = changed.month - date '1970-01-01'
        AND listed.part = changed.fuel_id
        AND listed.from_on <= changed.from_on
        AND listed.until_on >= changed.until_on))
  ORDER BY 2, 3
  -- Others lock a row even if it stays as it is. The lock keeps the aggregate from taking it for facts that it has not
  -- seen.
  ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET
    from_on = least(known.from_on, excluded.from_on), until_on = greatest(known.until_on, excluded.until_on)
$$;
COMMENT ON FUNCTION fuel.touch_averages IS 'Lists price days of fuels whose averages have to be made again.';

-- Notes that all spans of some stations have to be made again, for every fuel and all time, because station records
-- join or leave these stations. Each note names a station record and not the station, so it stays valid when the record
-- is linked to another station.
CREATE OR REPLACE FUNCTION fuel.touch_stations(p_station_ids integer[])
RETURNS void LANGUAGE sql AS $$
  SELECT fuel.touch(
    array_agg(pair.station_id), array_agg(pair.fuel_id), array_agg('-infinity'::timestamptz))
  FROM (
    SELECT record.station_id, held.fuel_id
    FROM fuel.station AS record
    JOIN fuel.present_span AS held ON held.station_id = record.place_id
    WHERE record.place_id = ANY (p_station_ids)
    UNION
    SELECT pair.station_id, pair.fuel_id
    FROM fuel.station AS record
    JOIN fuel.shown_price AS pair USING (station_id)
    WHERE record.place_id = ANY (p_station_ids)
  ) AS pair
  HAVING count(*) > 0
$$;
COMMENT ON FUNCTION fuel.touch_stations IS 'Notes that all spans of stations have to be recomputed.';

-- Notes that station records leave their stations and join others. The spans of either station change from the first
-- thing on that was reported about the record and fuel; before that, the record has no part in them. Called before the
-- links change: the station that a record leaves is noted by its number, the one that it joins by the record.
CREATE OR REPLACE FUNCTION fuel.touch_moved(p_station_ids integer[])
RETURNS void LANGUAGE sql AS $$
  WITH first AS MATERIALIZED (
    SELECT report.station_id, report.fuel_id, min(report.at) AS at
    FROM (
      SELECT price.station_id, price.fuel_id, min(price.effective_at) AS at
      FROM fuel.price
      WHERE price.station_id = ANY (p_station_ids)
      GROUP BY price.station_id, price.fuel_id
      UNION ALL
      SELECT listing.station_id, listing.fuel_id, min(listing.changed_at)
      FROM fuel.listing
      WHERE listing.station_id = ANY (p_station_ids)
      GROUP BY listing.station_id, listing.fuel_id
      UNION ALL
      SELECT archived.station_id, archived.fuel_id, min(archived.effective_at)
      FROM fuel.archive_price AS archived
      WHERE archived.station_id = ANY (p_station_ids)
        AND archived.source_id IN (
          SELECT record.source_id FROM fuel.station AS record WHERE record.station_id = ANY (p_station_ids))
      GROUP BY archived.station_id, archived.fuel_id
    ) AS report
    GROUP BY report.station_id, report.fuel_id
  )
  SELECT fuel.touch(array_agg(noted.station_id), array_agg(noted.fuel_id), array_agg(noted.at))
  FROM (
    SELECT first.station_id, first.fuel_id, first.at FROM first
    UNION ALL
    SELECT record.place_id, first.fuel_id, first.at
    FROM first
    JOIN fuel.station AS record USING (station_id)
  ) AS noted
  HAVING count(*) > 0
$$;
COMMENT ON FUNCTION fuel.touch_moved IS
  'Notes that spans have to be recomputed because station records leave their stations.';

-- Returns what a list changes by confirming prices. A price that a list and the next list both show is
-- believed between the two as well, if they are no further apart than fuel.sight.lapses_after. A longer time without
-- lists is a silence. A list that falls into a silence, or ends one, changes what is believed of every price
-- of the feed during the silence. The oldest run of a feed also decides from when on averages count the feed.
CREATE OR REPLACE FUNCTION fuel.touch_silence(
  p_source_id smallint, p_taken_at timestamptz, p_confirms boolean,
  p_last_listed_at timestamptz, p_clock timestamptz)
RETURNS TABLE (station_id integer, fuel_id smallint, begins_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
<<silence>>
DECLARE
  feed      fuel.source;
  lapse     interval;
  from_at   timestamptz;
  ends_at   timestamptz;
  listed_at timestamptz := (
    SELECT max(run.taken_at)
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.confirms AND run.taken_at < p_taken_at);
BEGIN
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  SELECT sight.lapses_after INTO STRICT lapse FROM fuel.sight WHERE sight.source_id = p_source_id;
  -- A price of an archive holds until the first complete list after it that shows another one. Of what archives reported
  -- since the complete list before, that may be this list.
  IF EXISTS (
    SELECT FROM fuel.archive_coverage AS covered
    WHERE (covered.last_day + 1)::timestamp AT TIME ZONE 'UTC' > listed_at
      AND covered.month::timestamp AT TIME ZONE 'UTC' <= p_taken_at + interval '1 day')
  THEN
    RETURN QUERY
    SELECT pair.station_id, pair.fuel_id, max(archived.effective_at)
    FROM fuel.shown_price AS pair
    JOIN fuel.station AS record USING (station_id)
    JOIN fuel.station AS other USING (place_id)
    JOIN fuel.archive_price AS archived
      ON archived.station_id = other.station_id
      AND archived.source_id = other.source_id
      AND archived.fuel_id = pair.fuel_id
    WHERE pair.source_id = p_source_id
      AND archived.effective_at > listed_at
      AND archived.effective_at <= p_taken_at
    GROUP BY pair.station_id, pair.fuel_id;
  END IF;
  IF p_confirms THEN
    SELECT max(run.taken_at) INTO from_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.confirms AND run.taken_at < p_taken_at;
    SELECT min(run.taken_at) INTO ends_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.confirms AND run.taken_at > p_taken_at;
    -- Later runs without a list (updates) may have ended prices. Such a price was believed for as long as the lists
    -- before the update showed it, and this list may now be the last of those.
    IF ends_at IS NULL AND feed.last_taken_at > p_taken_at THEN
      RETURN QUERY
      SELECT DISTINCT price.station_id, price.fuel_id, coalesce(silence.from_at, p_taken_at)
      FROM fuel.run
      JOIN fuel.price USING (run_id, source_id)
      WHERE run.source_id = p_source_id
        AND run.taken_at > p_taken_at
        AND run.outcome IN ('stored', 'unchanged');
    END IF;
    IF coalesce(ends_at, p_taken_at) - from_at <= lapse THEN
      from_at := NULL;
    ELSIF from_at IS NULL AND ends_at IS NOT NULL THEN
      from_at := p_taken_at;
    END IF;
  END IF;
  IF p_taken_at <= feed.first_taken_at THEN
    SELECT min(run.taken_at) INTO ends_at
    FROM fuel.run
    WHERE run.source_id = p_source_id
      AND run.outcome IN ('stored', 'unchanged')
      AND run.taken_at > p_taken_at;
    PERFORM fuel.mark_changed_days(
      array_agg(station.place_id), array_agg(pair.fuel_id), array_agg(p_taken_at),
      array_agg(coalesce(ends_at, p_taken_at)), false, p_clock)
    FROM fuel.shown_price AS pair
    JOIN fuel.station USING (station_id)
    WHERE pair.source_id = p_source_id
    HAVING count(*) > 0;
  END IF;
  -- Where an archive reaches beyond the newest list, one of its prices may follow a price of the feed. Such a price of
  -- the feed ends with the belief in the newest list. It holds on when the next list shows it again, and ends earlier when
  -- that list is withdrawn.
  IF p_confirms AND p_taken_at > p_last_listed_at AND EXISTS (
    SELECT
    FROM fuel.archive_intervals() AS covered
    JOIN fuel.state ON state.state = feed.state
    WHERE covered.scheme = feed.scheme
      AND fuel.price_day_begin(covered.last_day + 1, state.time_zone, state.price_day_starts) > p_last_listed_at)
  THEN
    RETURN QUERY
    SELECT pair.station_id, pair.fuel_id, p_last_listed_at
    FROM fuel.shown_price AS pair
    JOIN fuel.station AS record USING (station_id)
    JOIN fuel.span
      ON span.station_id = record.place_id
      AND span.fuel_id = pair.fuel_id
      AND span.from_at <= p_last_listed_at
      AND span.until_at > p_last_listed_at
      AND span.seen_by = p_source_id
      AND NOT span.is_open
    WHERE pair.source_id = p_source_id;
  END IF;
  IF from_at IS NOT NULL THEN
    RETURN QUERY
    SELECT pair.station_id, pair.fuel_id, silence.from_at
    FROM fuel.shown_price AS pair
    WHERE pair.source_id = p_source_id;
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.touch_silence IS
  'The stations and fuels whose spans have to be recomputed because of the time without lists around a list.';

-- Returns what lists change that begin to be frozen or cease to be: they begin or cease to confirm every price of the
-- feed. p_from_at: when the first of them was taken; NULL: there are none.
CREATE OR REPLACE FUNCTION fuel.touch_frozen(p_source_id smallint, p_from_at timestamptz)
RETURNS TABLE (station_id integer, fuel_id smallint, begins_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT pair.station_id, pair.fuel_id, coalesce(listed.at, p_from_at)
  FROM fuel.shown_price AS pair
  CROSS JOIN (
    SELECT max(run.taken_at) AS at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.confirms AND run.taken_at < p_from_at
  ) AS listed
  WHERE pair.source_id = p_source_id AND p_from_at IS NOT NULL
$$;
COMMENT ON FUNCTION fuel.touch_frozen IS
  'The stations and fuels whose spans have to be recomputed because lists begin to be frozen or cease to be.';

-- Notes what the first run of a feed changes by coming at another instant. From its first run on a feed covers
-- everything, so prices of archives that reach this run hold on. Of the archives of its scheme, the months whose
-- coverage ends between the two instants are recomputed. An instant that is NULL: there is no run.
CREATE OR REPLACE FUNCTION fuel.touch_archives(
  p_scheme text, p_first_at timestamptz, p_other_first_at timestamptz)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.due AS known (step, number, part, from_on, until_on)
  SELECT
    'months', covered.first_day - date '1970-01-01', archive.source_id, covered.first_day, covered.last_day
  FROM fuel.archive_intervals() AS covered
  JOIN fuel.source AS archive ON archive.scheme = covered.scheme AND archive.kind = 'archive'
  JOIN fuel.state USING (state)
  WHERE covered.scheme = p_scheme
    AND p_first_at IS DISTINCT FROM p_other_first_at
    AND fuel.price_day_begin(covered.last_day + 1, state.time_zone, state.price_day_starts)
      BETWEEN least(p_first_at, p_other_first_at)
      AND greatest(coalesce(p_first_at, 'infinity'), coalesce(p_other_first_at, 'infinity'))
  ORDER BY covered.first_day, archive.source_id
  ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET until_on = greatest(known.until_on, excluded.until_on)
$$;
COMMENT ON FUNCTION fuel.touch_archives IS
  'Notes the months of archives whose last prices hold on or end because the first run of their feed has changed.';

-- Lists the station records and fuels that have facts in the listed months of archives, in place of these months. The
-- last fact before the first month is included if it is believed then, because that price may last into a month that an
-- archive covers only now.
CREATE OR REPLACE FUNCTION fuel.take_months() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  taken record;
BEGIN
  -- Months that are listed from here on wait for the next call.
  FOR taken IN
    WITH gone AS (DELETE FROM fuel.due WHERE due.step = 'months' RETURNING due.*)
    SELECT
      gone.part AS source_id,
      min(gone.from_on)::timestamp AT TIME ZONE state.time_zone AS begins_at,
      (max(gone.until_on) + interval '1 month') AT TIME ZONE state.time_zone AS ends_at,
      (SELECT max(lapse.lapses_after) FROM fuel.lapses() AS lapse WHERE lapse.source_id = gone.part) AS longest
    FROM gone
    JOIN fuel.source ON source.source_id = gone.part
    JOIN fuel.state USING (state)
    GROUP BY gone.part, state.time_zone
  LOOP
    -- A table, because the server reads for an INSERT with one process alone.
    CREATE TEMPORARY TABLE archived_pair AS
    SELECT
      archived.station_id,
      archived.fuel_id,
      (coalesce(
        max(archived.effective_at) FILTER (WHERE archived.effective_at < taken.begins_at), min(archived.effective_at))
        AT TIME ZONE 'UTC')::date AS from_on
    FROM fuel.archive_price AS archived
    WHERE archived.source_id = taken.source_id
      AND archived.effective_at >= taken.begins_at - taken.longest
      AND archived.effective_at < taken.ends_at
    GROUP BY archived.station_id, archived.fuel_id;
    INSERT INTO fuel.due AS known (step, number, part, from_on)
    SELECT 'spans', pair.station_id, pair.fuel_id, pair.from_on
    FROM pg_temp.archived_pair AS pair
    ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET from_on = least(known.from_on, excluded.from_on);
    DROP TABLE pg_temp.archived_pair;
  END LOOP;
END
$$;
COMMENT ON FUNCTION fuel.take_months IS 'Lists station records and fuels in place of months of archives.';

CREATE OR REPLACE FUNCTION fuel.touched_stations(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[])
RETURNS TABLE (station_id integer, fuel_id smallint, from_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT changed.station_id, touched.fuel_id, min(changed.from_at)
  FROM (
    SELECT pair.station_id, pair.fuel_id, pair.from_at, record.place_id
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
    LEFT JOIN fuel.station AS record USING (station_id)
  ) AS touched
  CROSS JOIN LATERAL (
    SELECT touched.place_id AS station_id, touched.from_at WHERE touched.place_id IS NOT NULL
    UNION ALL
    -- A station record that used to be a station of its own and is now linked to another one must lose its spans.
    SELECT held.station_id, '-infinity'
    FROM fuel.present_span AS held
    WHERE touched.place_id IS DISTINCT FROM touched.station_id
      AND held.station_id = touched.station_id
      AND held.fuel_id = touched.fuel_id
  ) AS changed
  GROUP BY changed.station_id, touched.fuel_id
$$;
COMMENT ON FUNCTION fuel.touched_stations IS
  'The stations to which touched station records belong, with their fuels, and the earliest instant from which each '
  'changed.';

-- Lists which price days change because spans of stations changed: those of stations, and those whose averages have to
-- be made again. Days after fuel.state.days_made_until are not made yet and need no note of stations. For p_is_aggregate
-- see fuel.touch_averages.
CREATE OR REPLACE FUNCTION fuel.mark_changed_days(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[],
  p_until_ats timestamptz[], p_is_aggregate boolean, p_clock timestamptz)
RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT
      pair.station_id,
      pair.fuel_id,
      -- The state of a station that no longer exists is unknown. Its range of days is one day longer at each end, which
      -- is enough for any time zone.
      coalesce(
        fuel.price_day(pair.from_at, state.time_zone, state.price_day_starts),
        (pair.from_at - interval '1 day')::date) AS first_day,
      coalesce(
        fuel.price_day(least(pair.until_at, p_clock), state.time_zone, state.price_day_starts),
        (least(pair.until_at, p_clock) + interval '1 day')::date) AS last_day,
      CASE WHEN state.state IS NULL THEN 'infinity' ELSE state.days_made_until END AS days_made_until
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats, p_until_ats) AS pair (
      station_id, fuel_id, from_at, until_at)
    LEFT JOIN fuel.station USING (station_id)
    LEFT JOIN fuel.state USING (state)
    WHERE pair.from_at <= p_clock AND pair.from_at <= pair.until_at
  ),
  listed AS (
    INSERT INTO fuel.due AS known (step, number, part, from_on, until_on)
    SELECT
      'days', changed.station_id, changed.fuel_id, min(changed.first_day),
      max(least(changed.last_day, changed.days_made_until))
    FROM changed
    WHERE changed.first_day <= changed.days_made_until
    GROUP BY changed.station_id, changed.fuel_id
    ORDER BY changed.station_id, changed.fuel_id
    ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET
      from_on = least(known.from_on, excluded.from_on), until_on = greatest(known.until_on, excluded.until_on)
  )
  SELECT fuel.touch_averages(array_agg(changed_days.fuel_id), array_agg(changed_days.days), p_is_aggregate)
  FROM (
    SELECT changed.fuel_id, unnest(range_agg(daterange(changed.first_day, changed.last_day + 1))) AS days
    FROM changed
    GROUP BY changed.fuel_id
  ) AS changed_days
$$;
COMMENT ON FUNCTION fuel.mark_changed_days IS
  'Lists the days of stations and fuels whose prices changed between two instants.';

-- Where the newest list of a feed is believed until another instant than before, its open spans stay as they are, but the
-- days that they cover between the two instants change. p_before_at: fuel.source.last_listed_at as it was.
CREATE OR REPLACE FUNCTION fuel.mark_open_days(p_source_id smallint, p_before_at timestamptz, p_clock timestamptz)
RETURNS void LANGUAGE sql AS $$
  SELECT fuel.mark_changed_days(
    array_agg(held.station_id), array_agg(held.fuel_id), array_agg(turned.from_at), array_agg(turned.until_at), false,
    p_clock)
  FROM (
    SELECT
      least(p_before_at, sight.last_listed_at) + sight.lapses_after AS from_at,
      greatest(p_before_at, sight.last_listed_at) + sight.lapses_after AS until_at
    FROM fuel.sight
    WHERE sight.source_id = p_source_id
  ) AS turned
  JOIN fuel.present_span AS held ON held.seen_by = p_source_id AND held.is_open
  WHERE turned.from_at < least(turned.until_at, p_clock)
  HAVING count(*) > 0
$$;
COMMENT ON FUNCTION fuel.mark_open_days IS
  'Lists the days of the open spans of a feed that its newest list confirms for longer or shorter than before.';

-- Lists the price days that have ended since the last call, for every station and fuel whose price may last into them,
-- and moves fuel.state.days_made_until to the last of them. These days count as made from then on, and
-- fuel.mark_changed_days lists them when something changes them later. If a clock that was ahead had days made before
-- they ended, their averages are deleted, days_made_until goes back, and the days are made again when they end.
CREATE OR REPLACE FUNCTION fuel.mark_ended_days(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMPORARY TABLE ended ON COMMIT DROP AS
  SELECT
    state.state,
    state.time_zone,
    state.price_day_starts,
    state.days_made_until AS made_until,
    -- Where every feed of a state publishes late, nothing is known about the hours just before now. The shortest delay
    -- of its feeds counts.
    fuel.price_day(p_clock - state_delay.delay, state.time_zone, state.price_day_starts) - 1 AS ended_until
  FROM fuel.state
  JOIN fuel.state_delay USING (state);
  DELETE FROM pg_temp.ended WHERE ended.made_until = ended.ended_until;
  DELETE FROM fuel.daily_rollup
  WHERE daily_rollup.day > (
    SELECT min(ended.ended_until) FROM pg_temp.ended WHERE ended.made_until > ended.ended_until
  );
  INSERT INTO fuel.due AS known (step, number, part, from_on, until_on)
  SELECT 'days', noted.station_id, noted.fuel_id, noted.from_on, noted.until_on
  FROM (
    SELECT
      pair.station_id,
      pair.fuel_id,
      CASE
        WHEN ended.made_until > ended.ended_until THEN ended.ended_until + 1
        ELSE greatest(
          ended.made_until + 1, fuel.price_day(first.from_at, ended.time_zone, ended.price_day_starts))
      END AS from_on,
      greatest(ended.made_until, ended.ended_until) AS until_on
    FROM pg_temp.ended
    JOIN fuel.station ON station.state = ended.state AND station.place_id = station.station_id
    JOIN fuel.present_span AS pair USING (station_id)
    CROSS JOIN LATERAL (
      SELECT span.from_at
      FROM fuel.span
      WHERE span.station_id = pair.station_id AND span.fuel_id = pair.fuel_id
      ORDER BY span.from_at
      LIMIT 1
    ) AS first
    WHERE ended.made_until IS NULL
      OR ended.made_until > ended.ended_until
      OR pair.next_from_at IS NOT NULL
      OR pair.lapses_at > fuel.price_day_begin(ended.made_until + 1, ended.time_zone, ended.price_day_starts)
  ) AS noted
  WHERE noted.from_on <= noted.until_on
  ORDER BY noted.station_id, noted.fuel_id
  ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET
    from_on = least(known.from_on, excluded.from_on), until_on = greatest(known.until_on, excluded.until_on);
  UPDATE fuel.state SET days_made_until = ended.ended_until
  FROM pg_temp.ended
  WHERE state.state = ended.state;
  DROP TABLE pg_temp.ended;
END
$$;
COMMENT ON FUNCTION fuel.mark_ended_days IS
  'Lists the price days that have ended since the last time, station by station.';

CREATE OR REPLACE FUNCTION fuel.confirm_price(
  p_station_id integer, p_fuel text, p_price_cpl numeric)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  confirmed_fuel smallint;
BEGIN
  SELECT fuel.fuel_id INTO STRICT confirmed_fuel FROM fuel.fuel WHERE fuel.fuel = p_fuel;
  INSERT INTO fuel.price_confirmation (
    station_id, fuel_id, price_tenths, confirmed_by, confirmed_at)
  VALUES (
    p_station_id, confirmed_fuel, (p_price_cpl * 10)::integer, session_user, clock_timestamp())
  ON CONFLICT DO NOTHING;
  PERFORM fuel.touch(ARRAY[p_station_id], ARRAY[confirmed_fuel], ARRAY['-infinity'::timestamptz]);
END
$$;
COMMENT ON FUNCTION fuel.confirm_price IS
  'Confirms a doubtful price (station_id, fuel code, cents per litre); the next aggregate counts it, '
  'in the past as well.';

GRANT EXECUTE ON FUNCTION
  fuel.touch, fuel.touch_months, fuel.touch_averages, fuel.touch_stations, fuel.touch_moved,
  fuel.touch_silence, fuel.touch_frozen, fuel.touch_archives, fuel.take_months,
  fuel.touched_stations, fuel.mark_changed_days, fuel.mark_open_days, fuel.mark_ended_days, fuel.confirm_price TO fuel_writer;
