-- The SQL that the program calls to make spans. SQL finds and stores rows; the program decides what is believed.

-- Makes the partitions of a year if they are missing. The writer has no right to create tables, so this function runs
-- with the owner's rights and does nothing else. pg_temp stands last in its search path, for the reason given at
-- fuel.ensure_price_month.
CREATE OR REPLACE FUNCTION fuel.ensure_span_year(p_year integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  begins_on date := make_date(p_year, 1, 1);
  ends_on   date := make_date(p_year + 1, 1, 1);
BEGIN
  IF begins_on NOT BETWEEN '1999-01-01' AND now()::date + 800 THEN
    RAISE EXCEPTION 'year % is out of the range for which spans are kept', p_year
      USING ERRCODE = 'datetime_field_overflow';
  END IF;
  IF to_regclass('fuel.station_month_' || p_year) IS NOT NULL THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('fuel.span partitions'));
  -- Another session may have made the partitions before this one got the lock. The catalogue is read directly, because
  -- the names that this session has cached may be older than the lock.
  IF EXISTS (
    SELECT
    FROM pg_class
    WHERE pg_class.relnamespace = 'fuel'::regnamespace AND pg_class.relname = 'station_month_' || p_year)
  THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE fuel.%I (LIKE fuel.span INCLUDING ALL)', 'span_' || p_year);
  EXECUTE format(
    'ALTER TABLE fuel.span ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)',
    'span_' || p_year, begins_on::timestamptz, ends_on::timestamptz);
  EXECUTE format(
    'CREATE TABLE fuel.%I (LIKE fuel.station_month INCLUDING ALL)', 'station_month_' || p_year);
  EXECUTE format(
    'ALTER TABLE fuel.station_month ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)',
    'station_month_' || p_year, begins_on, ends_on);
END
$$;
COMMENT ON FUNCTION fuel.ensure_span_year(integer) IS
  'Creates the partitions of fuel.span and fuel.station_month that hold a year, if they are missing.';
REVOKE EXECUTE ON FUNCTION fuel.ensure_span_year(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.ensure_span_year(integer) TO fuel_writer;

-- Notes that the spans of station records and fuels have to be made again. Of several instants for one station record
-- and fuel, the earliest counts.
CREATE OR REPLACE FUNCTION fuel.touch(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.touched AS known (station_id, fuel_id, from_at)
  SELECT pair.station_id, pair.fuel_id, min(pair.from_at)
  FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
  GROUP BY pair.station_id, pair.fuel_id
  ORDER BY pair.station_id, pair.fuel_id
  ON CONFLICT ON CONSTRAINT touched_pk DO UPDATE SET
    from_at = least(known.from_at, excluded.from_at), is_made = false
$$;
COMMENT ON FUNCTION fuel.touch(integer[], smallint[], timestamptz[]) IS
  'Notes that the spans of station records and fuels have to be recomputed from an instant on.';
GRANT EXECUTE ON FUNCTION fuel.touch(integer[], smallint[], timestamptz[]) TO fuel_writer;

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
    JOIN fuel.current_price AS pair USING (station_id)
    WHERE record.place_id = ANY (p_station_ids)
  ) AS pair
  HAVING count(*) > 0
$$;
COMMENT ON FUNCTION fuel.touch_stations(integer[]) IS
  'Notes that all spans of stations have to be recomputed.';
GRANT EXECUTE ON FUNCTION fuel.touch_stations(integer[]) TO fuel_writer;

-- Notes what a list changes by confirming prices. A price that a complete list and the next complete list both show is
-- believed between the two as well, if they are no further apart than fuel.sight.lapses_after. A longer time without
-- complete lists is a silence. A list that falls into a silence, or ends one, changes what is believed of every price
-- of the feed during the silence. The oldest run of a feed also decides from when on averages count the feed.
CREATE OR REPLACE FUNCTION fuel.touch_silence(
  p_source_id smallint, p_taken_at timestamptz, p_is_complete boolean,
  p_last_listed_at timestamptz, p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
<<silence>>
DECLARE
  feed      fuel.source;
  lapse     interval;
  begins_at timestamptz;
  ends_at   timestamptz;
BEGIN
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  SELECT sight.lapses_after INTO STRICT lapse FROM fuel.sight WHERE sight.source_id = p_source_id;
  IF p_is_complete THEN
    SELECT max(run.taken_at) INTO begins_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at < p_taken_at;
    SELECT min(run.taken_at) INTO ends_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at > p_taken_at;
    -- Later runs without a complete list (news) may have ended prices. Such a price was believed for as long as the
    -- complete lists before the news showed it, and this list may now be the last of those.
    IF ends_at IS NULL AND feed.last_taken_at > p_taken_at THEN
      INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
      SELECT DISTINCT price.station_id, price.fuel_id, coalesce(silence.begins_at, p_taken_at)
      FROM fuel.run
      JOIN fuel.price USING (run_id, source_id)
      WHERE run.source_id = p_source_id
        AND run.taken_at > p_taken_at
        AND run.outcome IN ('stored', 'unchanged');
    END IF;
    IF coalesce(ends_at, p_taken_at) - begins_at <= lapse THEN
      begins_at := NULL;
    ELSIF begins_at IS NULL AND ends_at IS NOT NULL THEN
      begins_at := p_taken_at;
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
      array_agg(coalesce(ends_at, p_taken_at)), 0, false, p_clock)
    FROM fuel.current_price AS pair
    JOIN fuel.station USING (station_id)
    WHERE pair.source_id = p_source_id
    HAVING count(*) > 0;
  END IF;
  -- This list confirms prices that had lapsed because no list had shown them for too long. Their spans do not change,
  -- but the days that the spans cover must be made again.
  IF p_is_complete AND p_taken_at > p_last_listed_at
    AND p_last_listed_at + lapse < p_clock
  THEN
    PERFORM fuel.mark_changed_days(
      array_agg(held.station_id), array_agg(held.fuel_id),
      array_agg(p_last_listed_at + lapse),
      array_agg(p_taken_at + lapse), 0, false, p_clock)
    FROM fuel.present_span AS held
    WHERE held.seen_by = p_source_id AND held.is_open
    HAVING count(*) > 0;
  END IF;
  IF begins_at IS NOT NULL THEN
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT pair.station_id, pair.fuel_id, silence.begins_at
    FROM fuel.current_price AS pair
    WHERE pair.source_id = p_source_id;
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.touch_silence(smallint, timestamptz, boolean, timestamptz, timestamptz) IS
  'Notes in pg_temp.changed that all spans of a feed have to be recomputed from the beginning of the time without '
  'lists around a list.';
GRANT EXECUTE ON FUNCTION fuel.touch_silence(smallint, timestamptz, boolean, timestamptz, timestamptz) TO fuel_writer;

-- Replaces the notes about months of archives (fuel.touched_month) by notes about the station records and fuels that
-- have facts in those months (fuel.touched). Facts of the 62 days before the first month are included, because a price
-- from then may last into a month that an archive covers only now.
CREATE OR REPLACE FUNCTION fuel.take_touched_months() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  source_ids smallint[];
  months     date[];
  taken      record;
BEGIN
  -- Months that are noted from here on wait for the next call.
  WITH gone AS (
    DELETE FROM fuel.touched_month RETURNING touched_month.source_id, touched_month.month
  )
  SELECT array_agg(gone.source_id), array_agg(gone.month) INTO source_ids, months FROM gone;
  FOR taken IN
    SELECT
      noted.source_id,
      min(noted.month)::timestamp AT TIME ZONE state.time_zone - interval '62 days' AS begins_at,
      (max(noted.month) + interval '1 month') AT TIME ZONE state.time_zone AS ends_at
    FROM (
      -- Months whose first days are at most 93 days apart are read as one range.
      SELECT
        touched_month.source_id,
        touched_month.month,
        sum((touched_month.month - lag > 93)::integer) OVER (
          PARTITION BY touched_month.source_id ORDER BY touched_month.month) AS island
      FROM (
        SELECT
          touched_month.*,
          coalesce(lag(touched_month.month) OVER (
            PARTITION BY touched_month.source_id ORDER BY touched_month.month), touched_month.month)
            AS lag
        FROM unnest(source_ids, months) AS touched_month (source_id, month)
      ) AS touched_month
    ) AS noted
    JOIN fuel.source USING (source_id)
    JOIN fuel.state USING (state)
    GROUP BY noted.source_id, noted.island, state.time_zone
  LOOP
    INSERT INTO fuel.touched AS known (station_id, fuel_id, from_at)
    SELECT archived.station_id, archived.fuel_id, min(archived.effective_at)
    FROM fuel.archive_price AS archived
    WHERE archived.source_id = taken.source_id
      AND archived.effective_at >= taken.begins_at
      AND archived.effective_at < taken.ends_at
    GROUP BY archived.station_id, archived.fuel_id
    ON CONFLICT ON CONSTRAINT touched_pk DO UPDATE SET
      from_at = least(known.from_at, excluded.from_at), is_made = false;
  END LOOP;
END
$$;
COMMENT ON FUNCTION fuel.take_touched_months() IS
  'Turns the months of archives that were noted into stations and fuels.';
GRANT EXECUTE ON FUNCTION fuel.take_touched_months() TO fuel_writer;

-- Returns the stations to which touched station records belong, with each touched fuel and the earliest instant from
-- which its spans have to be made again.
CREATE OR REPLACE FUNCTION fuel.touched_stations(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[])
RETURNS TABLE (station_id integer, fuel_id smallint, from_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT told.place_id, told.fuel_id, min(told.from_at)
  FROM (
    SELECT record.place_id, pair.fuel_id, pair.from_at
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
    JOIN fuel.station AS record USING (station_id)
    UNION ALL
    -- A station record that used to be a station of its own and is now linked to another one must lose its spans.
    SELECT held.station_id, held.fuel_id, '-infinity'::timestamptz
    FROM unnest(p_station_ids, p_fuel_ids) AS pair (station_id, fuel_id)
    LEFT JOIN fuel.station AS record USING (station_id)
    JOIN fuel.present_span AS held USING (station_id, fuel_id)
    WHERE record.place_id IS DISTINCT FROM pair.station_id
  ) AS told
  GROUP BY told.place_id, told.fuel_id
$$;
COMMENT ON FUNCTION fuel.touched_stations(integer[], smallint[], timestamptz[]) IS
  'The stations to which touched station records belong, with their fuels and the earliest instant from which each '
  'changed.';
GRANT EXECUTE ON FUNCTION fuel.touched_stations(integer[], smallint[], timestamptz[]) TO fuel_writer;

-- Returns everything that was reported about stations and fuels from an instant on, by all their station records, and
-- the last report and the last list before that instant.
--
-- kind: 0 is a price (price_tenths 0: not offered). 1 is shown by a list. 2 is left out of a list. 3 means that the
-- station record reported no price between p_reports_from and from_at; "at" is then from_at, and fuel.reports_before
-- looks further back. What was learnt after p_known_at is left out. p_earliest is the earliest of p_from_ats. It is
-- passed separately, so that the server can leave out the partitions before it.
CREATE OR REPLACE FUNCTION fuel.evidence(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[], p_earliest timestamptz,
  p_reports_from timestamptz, p_known_at timestamptz)
RETURNS TABLE (
  station_id integer, fuel_id smallint, kind smallint, record_id integer, source_id smallint,
  at timestamptz, price_tenths integer, learnt_at timestamptz)
LANGUAGE sql STABLE AS $$
  WITH wanted AS MATERIALIZED (
    SELECT
      pair.station_id,
      pair.fuel_id,
      pair.from_at,
      record.station_id AS record_id,
      source.source_id,
      source.kind,
      source.delay
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
    JOIN fuel.station AS record ON record.place_id = pair.station_id
    JOIN fuel.source ON source.source_id = record.source_id
  )
  SELECT
    wanted.station_id, wanted.fuel_id, 0::smallint, wanted.record_id, wanted.source_id,
    price.effective_at, price.price_tenths, price.learnt_at
  FROM wanted
  JOIN fuel.counted_price AS price
    ON price.station_id = wanted.record_id
    AND price.fuel_id = wanted.fuel_id
    AND price.source_id = wanted.source_id
    AND price.effective_at >= wanted.from_at
    AND price.effective_at >= p_earliest
  WHERE wanted.kind = 'feed' AND price.learnt_at <= p_known_at
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id, CASE WHEN before.effective_at IS NULL THEN 3 ELSE 0 END::smallint,
    wanted.record_id, wanted.source_id, coalesce(before.effective_at, wanted.from_at), coalesce(before.price_tenths, 0),
    coalesce(before.learnt_at, wanted.from_at)
  FROM wanted
  LEFT JOIN LATERAL (
    -- All rows with the newest stamp are taken: one stamp may have several prices, and one price may have been reported
    -- by several runs.
    SELECT price.effective_at, price.price_tenths, price.learnt_at
    FROM fuel.counted_price AS price
    WHERE price.station_id = wanted.record_id
      AND price.fuel_id = wanted.fuel_id
      AND price.source_id = wanted.source_id
      AND price.effective_at < wanted.from_at
      AND price.learnt_at <= p_known_at
      AND price.effective_at >= p_reports_from
    ORDER BY price.effective_at DESC
    FETCH FIRST ROW WITH TIES
  ) AS before ON true
  WHERE wanted.kind = 'feed' AND wanted.from_at > '-infinity'
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id, 0::smallint, wanted.record_id, wanted.source_id,
    archived.effective_at, archived.price_tenths, archived.effective_at
  FROM wanted
  JOIN fuel.archive_price AS archived
    ON archived.source_id = wanted.source_id
    AND archived.station_id = wanted.record_id
    AND archived.fuel_id = wanted.fuel_id
    AND archived.effective_at >= wanted.from_at
    AND archived.effective_at >= p_earliest
  WHERE wanted.kind = 'archive' AND archived.effective_at <= p_known_at
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id,
    CASE WHEN listing.is_listed THEN 1 ELSE 2 END::smallint, wanted.record_id, wanted.source_id,
    listing.changed_at, 0, listing.changed_at
  FROM wanted
  JOIN fuel.counted_listing AS listing
    ON listing.station_id = wanted.record_id
    AND listing.fuel_id = wanted.fuel_id
    AND listing.source_id = wanted.source_id
    AND listing.changed_at >= wanted.from_at
  WHERE wanted.kind = 'feed' AND listing.changed_at + wanted.delay <= p_known_at
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id, CASE WHEN before.is_listed THEN 1 ELSE 2 END::smallint,
    wanted.record_id, wanted.source_id, before.changed_at, 0, before.changed_at
  FROM wanted
  CROSS JOIN LATERAL (
    SELECT listing.changed_at, listing.is_listed
    FROM fuel.counted_listing AS listing
    WHERE listing.station_id = wanted.record_id
      AND listing.fuel_id = wanted.fuel_id
      AND listing.source_id = wanted.source_id
      AND listing.changed_at < wanted.from_at
    ORDER BY listing.changed_at DESC, listing.is_listed DESC
    LIMIT 1
  ) AS before
  WHERE wanted.kind = 'feed' AND wanted.from_at > '-infinity'
$$;
COMMENT ON FUNCTION fuel.evidence(
  integer[], smallint[], timestamptz[], timestamptz, timestamptz, timestamptz) IS
  'What was reported about stations and fuels from an instant on, and the last report and list before it.';
GRANT EXECUTE ON FUNCTION fuel.evidence(
  integer[], smallint[], timestamptz[], timestamptz, timestamptz, timestamptz)
  TO fuel_writer;

-- Returns the last report about station records of feeds before an instant, however old it is. It reads the partitions
-- of all years, so it is meant for few records.
CREATE OR REPLACE FUNCTION fuel.reports_before(
  p_record_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[],
  p_known_at timestamptz)
RETURNS TABLE (record_id integer, fuel_id smallint, at timestamptz, price_tenths integer, learnt_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT wanted.record_id, wanted.fuel_id, before.effective_at, before.price_tenths, before.learnt_at
  FROM unnest(p_record_ids, p_fuel_ids, p_from_ats) AS wanted (record_id, fuel_id, from_at)
  JOIN fuel.station AS record ON record.station_id = wanted.record_id
  CROSS JOIN LATERAL (
    SELECT price.effective_at, price.price_tenths, price.learnt_at
    FROM fuel.counted_price AS price
    WHERE price.station_id = wanted.record_id
      AND price.fuel_id = wanted.fuel_id
      AND price.source_id = record.source_id
      AND price.effective_at < wanted.from_at
      AND price.learnt_at <= p_known_at
    ORDER BY price.effective_at DESC
    FETCH FIRST ROW WITH TIES
  ) AS before
$$;
COMMENT ON FUNCTION fuel.reports_before(integer[], smallint[], timestamptz[], timestamptz) IS
  'The last report about station records of feeds before an instant, however old it is.';
GRANT EXECUTE ON FUNCTION fuel.reports_before(integer[], smallint[], timestamptz[], timestamptz) TO fuel_writer;

-- Returns the spans that begin in a window of time, and up to p_before spans that begin before it. Each station and
-- fuel has a window of its own. The end of a span is given twice: as it is stored (until_at), and as it is believed now
-- (believed_until_at). doubt: 0 is none, 1 is far, 2 is placeholder. p_earliest and p_latest are the beginning of the
-- earliest window and the end of the latest one, so that the server can leave out the partitions of other years.
CREATE OR REPLACE FUNCTION fuel.spans_of(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[],
  p_until_ats timestamptz[], p_before integer, p_earliest timestamptz, p_latest timestamptz)
RETURNS TABLE (
  station_id integer, fuel_id smallint, from_at timestamptz, until_at timestamptz,
  lapses_at timestamptz, is_open smallint, is_ended smallint, price_tenths integer,
  source_id smallint, seen_by smallint, stated_at timestamptz, learnt_at timestamptz,
  is_suspect smallint, doubt smallint,
  doubt_from_at timestamptz, doubt_until_at timestamptz, believed_until_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT
    found.station_id, found.fuel_id, found.from_at, found.until_at, found.lapses_at,
    found.is_open::integer::smallint, found.is_ended::integer::smallint, found.price_tenths,
    found.source_id, found.seen_by, found.stated_at, found.learnt_at,
    found.is_suspect::integer::smallint,
    CASE found.doubt WHEN 'far' THEN 1 WHEN 'placeholder' THEN 2 ELSE 0 END::smallint,
    coalesce(found.doubt_from_at, found.from_at), coalesce(found.doubt_until_at, found.from_at),
    fuel.believed_until(found.until_at, found.lapses_at, found.is_open, sight.seen_until_at)
  FROM unnest(p_station_ids, p_fuel_ids, p_from_ats, p_until_ats) AS wanted (
    station_id, fuel_id, from_at, until_at)
  CROSS JOIN LATERAL (
    SELECT span.*
    FROM fuel.span
    WHERE span.station_id = wanted.station_id
      AND span.fuel_id = wanted.fuel_id
      AND span.from_at >= wanted.from_at
      AND span.from_at < wanted.until_at
      AND span.from_at >= p_earliest
      AND span.from_at < p_latest
    UNION ALL
    (
      SELECT span.*
      FROM fuel.span
      WHERE span.station_id = wanted.station_id
        AND span.fuel_id = wanted.fuel_id
        AND span.from_at < wanted.from_at
      ORDER BY span.from_at DESC
      LIMIT p_before
    )
  ) AS found
  LEFT JOIN fuel.sight ON sight.source_id = found.seen_by
$$;
COMMENT ON FUNCTION fuel.spans_of(
  integer[], smallint[], timestamptz[], timestamptz[], integer, timestamptz, timestamptz) IS
  'The spans of stations and fuels in windows of their own, in no order.';
GRANT EXECUTE ON FUNCTION fuel.spans_of(
  integer[], smallint[], timestamptz[], timestamptz[], integer, timestamptz, timestamptz) TO fuel_writer;

-- Brings fuel.present_span up to date for stations and fuels whose spans were written.
CREATE OR REPLACE FUNCTION fuel.refresh_present_spans(
  p_station_ids integer[], p_fuel_ids smallint[], p_clock timestamptz)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.present_span (
    station_id, fuel_id, from_at, until_at, lapses_at, is_open, is_ended, price_tenths, source_id,
    seen_by, stated_at, learnt_at, doubt, doubt_from_at, doubt_until_at, next_from_at, next_tenths)
  SELECT
    newest.station_id, newest.fuel_id, newest.from_at, newest.until_at, newest.lapses_at,
    newest.is_open, newest.is_ended, newest.price_tenths, newest.source_id, newest.seen_by,
    newest.stated_at, newest.learnt_at, newest.doubt, newest.doubt_from_at, newest.doubt_until_at, following.from_at,
    following.price_tenths
  FROM (
    SELECT DISTINCT pair.station_id, pair.fuel_id
    FROM unnest(p_station_ids, p_fuel_ids) AS pair (station_id, fuel_id)
  ) AS pair
  CROSS JOIN LATERAL (
    -- The newest span that has begun; if none has begun, the first one.
    (
      SELECT span.*
      FROM fuel.span
      WHERE span.station_id = pair.station_id
        AND span.fuel_id = pair.fuel_id
        AND span.from_at <= p_clock
      ORDER BY span.from_at DESC
      LIMIT 1
    )
    UNION ALL
    (
      SELECT span.*
      FROM fuel.span
      WHERE span.station_id = pair.station_id
        AND span.fuel_id = pair.fuel_id
        AND span.from_at > p_clock
      ORDER BY span.from_at
      LIMIT 1
    )
    LIMIT 1
  ) AS newest
  LEFT JOIN LATERAL (
    SELECT span.from_at, span.price_tenths
    FROM fuel.span
    WHERE span.station_id = pair.station_id
      AND span.fuel_id = pair.fuel_id
      AND span.from_at > newest.from_at
    ORDER BY span.from_at
    LIMIT 1
  ) AS following ON true
  ORDER BY newest.station_id, newest.fuel_id
  ON CONFLICT ON CONSTRAINT present_span_pk DO UPDATE SET
    from_at = excluded.from_at, until_at = excluded.until_at, lapses_at = excluded.lapses_at,
    is_open = excluded.is_open, is_ended = excluded.is_ended, price_tenths = excluded.price_tenths,
    source_id = excluded.source_id, seen_by = excluded.seen_by,
    stated_at = excluded.stated_at, learnt_at = excluded.learnt_at,
    doubt = excluded.doubt, doubt_from_at = excluded.doubt_from_at,
    doubt_until_at = excluded.doubt_until_at, next_from_at = excluded.next_from_at,
    next_tenths = excluded.next_tenths
$$;
COMMENT ON FUNCTION fuel.refresh_present_spans(integer[], smallint[], timestamptz) IS
  'Copies the newest spans of stations and fuels, and those after them.';
GRANT EXECUTE ON FUNCTION fuel.refresh_present_spans(integer[], smallint[], timestamptz) TO fuel_writer;

-- Notes which price days change because spans of stations changed. fuel.stale_days gets the station days that have to
-- be made again. Days after fuel.state.days_made_until are not made yet and need no note there. fuel.dirty_day gets the
-- days whose averages have to be made again. If no more than p_most_edits stations and fuels changed, days that are
-- made get no such mark. Their averages are then edited: the old day of each changed station is taken out and the new
-- one put in, without reading the other stations. Only the aggregate removes marks from fuel.dirty_day, so when the
-- aggregate calls this function itself (p_is_aggregate), only the missing marks are added.
CREATE OR REPLACE FUNCTION fuel.mark_changed_days(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[],
  p_until_ats timestamptz[], p_most_edits integer, p_is_aggregate boolean, p_clock timestamptz)
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
  size AS (
    SELECT count(DISTINCT (changed.station_id, changed.fuel_id)) > p_most_edits AS is_large
    FROM changed
    WHERE changed.first_day <= changed.days_made_until
  ),
  stale AS (
    INSERT INTO fuel.stale_days AS known (station_id, fuel_id, first_month, last_month, is_marked)
    SELECT
      changed.station_id, changed.fuel_id, min(date_trunc('month', changed.first_day::timestamp))::date,
      max(date_trunc('month', least(changed.last_day, changed.days_made_until)::timestamp))::date,
      bool_or(size.is_large)
    FROM changed
    CROSS JOIN size
    WHERE changed.first_day <= changed.days_made_until
    GROUP BY changed.station_id, changed.fuel_id
    ORDER BY changed.station_id, changed.fuel_id
    ON CONFLICT ON CONSTRAINT stale_days_pk DO UPDATE SET
      first_month = least(known.first_month, excluded.first_month),
      last_month = greatest(known.last_month, excluded.last_month),
      is_marked = known.is_marked AND excluded.is_marked
  ),
  changed_days AS (
    SELECT changed.fuel_id, unnest(range_agg(changed.days)) AS days
    FROM (
      SELECT
        changed.fuel_id,
        daterange(
          CASE
            WHEN size.is_large THEN changed.first_day
            ELSE greatest(changed.first_day, coalesce(changed.days_made_until + 1, changed.first_day))
          END, changed.last_day + 1) AS days
      FROM changed
      CROSS JOIN size
      WHERE size.is_large OR changed.last_day > changed.days_made_until
        OR changed.days_made_until IS NULL
    ) AS changed
    GROUP BY changed.fuel_id
  )
  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT changed_days.fuel_id, series.day::date
  FROM changed_days
  CROSS JOIN LATERAL generate_series(
    lower(changed_days.days)::timestamp, upper(changed_days.days)::timestamp - interval '1 day',
    interval '1 day') AS series (day)
  LEFT JOIN fuel.dirty_day AS known
    ON p_is_aggregate AND known.fuel_id = changed_days.fuel_id AND known.day = series.day::date
  WHERE known.day IS NULL
  ORDER BY 1, 2
  -- DO NOTHING would not lock the row. The lock keeps the aggregate from clearing a mark for facts that it has not
  -- seen.
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
$$;
COMMENT ON FUNCTION fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], integer, boolean, timestamptz) IS
  'Marks the days of stations and fuels whose prices changed between two instants.';
GRANT EXECUTE ON FUNCTION fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], integer, boolean, timestamptz) TO fuel_writer;

-- Notes the price days that have ended since the last call, for every station and fuel whose price may last into them,
-- and moves fuel.state.days_made_until to the last of them. These days count as made from then on, and
-- fuel.mark_changed_days notes them when something changes them later. If a clock that was ahead had days made before
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
  INSERT INTO fuel.stale_days AS known (station_id, fuel_id, first_month, last_month, is_marked)
  SELECT
    pair.station_id,
    pair.fuel_id,
    date_trunc('month', (ended.ended_until + 1)::timestamp)::date,
    date_trunc('month', ended.made_until::timestamp)::date,
    true
  FROM pg_temp.ended
  JOIN fuel.station ON station.state = ended.state AND station.place_id = station.station_id
  JOIN fuel.present_span AS pair USING (station_id)
  WHERE ended.made_until > ended.ended_until
  ORDER BY pair.station_id, pair.fuel_id
  ON CONFLICT ON CONSTRAINT stale_days_pk DO UPDATE SET
    first_month = least(known.first_month, excluded.first_month),
    last_month = greatest(known.last_month, excluded.last_month);
  INSERT INTO fuel.stale_days AS known (station_id, fuel_id, first_month, last_month)
  SELECT noted.station_id, noted.fuel_id, noted.first_month, noted.last_month
  FROM (
    SELECT
      pair.station_id,
      pair.fuel_id,
      date_trunc('month', greatest(
        ended.made_until + 1,
        fuel.price_day(first.from_at, ended.time_zone, ended.price_day_starts))::timestamp)::date
        AS first_month,
      date_trunc('month', ended.ended_until::timestamp)::date AS last_month
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
      OR ended.made_until < ended.ended_until AND (pair.lapses_at > fuel.price_day_begin(
        ended.made_until + 1, ended.time_zone, ended.price_day_starts)
      OR pair.next_from_at IS NOT NULL)
  ) AS noted
  WHERE noted.first_month <= noted.last_month
  ORDER BY noted.station_id, noted.fuel_id
  ON CONFLICT ON CONSTRAINT stale_days_pk DO UPDATE SET
    first_month = least(known.first_month, excluded.first_month),
    last_month = greatest(known.last_month, excluded.last_month);
  UPDATE fuel.state SET days_made_until = ended.ended_until
  FROM pg_temp.ended
  WHERE state.state = ended.state;
  DROP TABLE pg_temp.ended;
END
$$;
COMMENT ON FUNCTION fuel.mark_ended_days(timestamptz) IS
  'Notes the price days that have ended since the last time, station by station.';
GRANT EXECUTE ON FUNCTION fuel.mark_ended_days(timestamptz) TO fuel_writer;
