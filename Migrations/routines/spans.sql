-- The writer has no right to create tables, so this function runs with the owner's rights, and it makes nothing but
-- partitions. pg_temp stands last in its search path. If it were left out, the server would search it first for types.
-- A caller could then make a type named text, and its code would run with the owner's rights. A table is made first and
-- attached then, because CREATE ... PARTITION OF would keep others from reading and writing the parent.
CREATE OR REPLACE FUNCTION fuel.ensure_year(p_year integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  begins_on date := make_date(p_year, 1, 1);
  parent    text;
BEGIN
  IF begins_on NOT BETWEEN '1999-01-01' AND now()::date + 800 THEN
    RAISE EXCEPTION 'year % is out of the range for which prices are kept', p_year
      USING ERRCODE = 'datetime_field_overflow';
  END IF;
  IF to_regclass('fuel.price_' || p_year) IS NOT NULL THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('fuel partitions'));
  FOREACH parent IN ARRAY ARRAY['price', 'span', 'station_month'] LOOP
    -- Another session may have made the partition before this one got the lock. to_regclass would not show it, because
    -- the names that the session has cached are older than the lock.
    CONTINUE WHEN EXISTS (
      SELECT
      FROM pg_class
      WHERE pg_class.relnamespace = 'fuel'::regnamespace AND pg_class.relname = parent || '_' || p_year);
    EXECUTE format('CREATE TABLE fuel.%I (LIKE fuel.%I INCLUDING ALL)', parent || '_' || p_year, parent);
    EXECUTE format(
      'ALTER TABLE fuel.%I ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)',
      parent, parent || '_' || p_year, begins_on, make_date(p_year + 1, 1, 1));
  END LOOP;
END
$$;
COMMENT ON FUNCTION fuel.ensure_year IS
  'Creates the partitions of fuel.price, fuel.span and fuel.station_month that hold a year, if they are missing.';

-- The SQL that the program calls to make spans. SQL finds and stores rows; the program decides what is believed.

-- Reports are those of all station records of a station; of archives there are none before the instant.
--
-- kind: 0 is a price (price_tenths 0: not offered). 1 is shown by a list. 2 is left out of a complete list. 3 was shown
-- last by the list of that instant. What was learnt after p_known_at is left out. p_earliest is the earliest of
-- p_from_ats. It is passed separately, so that the server can leave out the partitions before it.
CREATE OR REPLACE FUNCTION fuel.evidence(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[], p_earliest timestamptz,
  p_known_at timestamptz)
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
    wanted.station_id, wanted.fuel_id, 0::smallint, wanted.record_id, wanted.source_id, before.effective_at,
    before.price_tenths, before.learnt_at
  FROM wanted
  CROSS JOIN LATERAL (
    -- All rows with the newest stamp are taken: one stamp may have several prices, and one price may have been reported
    -- by several runs.
    SELECT price.effective_at, price.price_tenths, price.learnt_at
    FROM fuel.counted_price AS price
    WHERE price.station_id = wanted.record_id
      AND price.fuel_id = wanted.fuel_id
      AND price.source_id = wanted.source_id
      AND price.effective_at < wanted.from_at
      AND price.learnt_at <= p_known_at
    ORDER BY price.effective_at DESC
    FETCH FIRST ROW WITH TIES
  ) AS before
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
    CASE listing.turn WHEN 0 THEN 2 WHEN 1 THEN 1 ELSE 3 END::smallint, wanted.record_id, wanted.source_id,
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
    wanted.station_id, wanted.fuel_id, CASE before.turn WHEN 0 THEN 2 WHEN 1 THEN 1 ELSE 3 END::smallint,
    wanted.record_id, wanted.source_id, before.changed_at, 0, before.changed_at
  FROM wanted
  CROSS JOIN LATERAL (
    (
      SELECT listing.changed_at, listing.turn
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = wanted.record_id
        AND listing.fuel_id = wanted.fuel_id
        AND listing.source_id = wanted.source_id
        AND listing.turn < 2
        AND listing.changed_at < wanted.from_at
        AND listing.changed_at + wanted.delay <= p_known_at
      ORDER BY listing.changed_at DESC, listing.turn DESC
      LIMIT 1
    )
    UNION ALL
    (
      SELECT listing.changed_at, listing.turn
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = wanted.record_id
        AND listing.fuel_id = wanted.fuel_id
        AND listing.source_id = wanted.source_id
        AND listing.turn = 2
        AND listing.changed_at < wanted.from_at
        AND listing.changed_at + wanted.delay <= p_known_at
      ORDER BY listing.changed_at DESC, listing.turn DESC
      LIMIT 1
    )
  ) AS before
  WHERE wanted.kind = 'feed' AND wanted.from_at > '-infinity'
$$;
COMMENT ON FUNCTION fuel.evidence IS
  'What was reported about stations and fuels from an instant on, and by feeds the last report and list before it.';

-- Up to p_before spans that begin before a window are returned too. The end of a span is given twice: as it is stored
-- (until_at), and as it is believed now (believed_until_at). doubt: 0 is none, 1 is far, 2 is placeholder. p_earliest
-- and p_latest are the beginning of the earliest window and the end of the latest one, so that the server can leave out
-- the partitions of other years.
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
COMMENT ON FUNCTION fuel.spans_of IS 'The spans of stations and fuels in windows of their own, in no order.';

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
    SELECT DISTINCT station_id, fuel_id
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
COMMENT ON FUNCTION fuel.refresh_present_spans IS
  'Copies the newest spans of stations and fuels, and those after them.';

-- Stores why and how long spans are doubtful, in the spans and in their copies. A doubt that is NULL is removed.
CREATE OR REPLACE FUNCTION fuel.set_doubts(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[], p_doubts text[],
  p_doubt_from_ats timestamptz[], p_doubt_until_ats timestamptz[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  holder text;
BEGIN
  FOREACH holder IN ARRAY ARRAY['span', 'present_span'] LOOP
    EXECUTE format(
      'UPDATE fuel.%I AS known SET '
      '  doubt = judged.doubt, doubt_from_at = judged.doubt_from_at, doubt_until_at = judged.doubt_until_at '
      'FROM unnest($1, $2, $3, $4, $5, $6) '
      '  AS judged (station_id, fuel_id, from_at, doubt, doubt_from_at, doubt_until_at) '
      'WHERE known.station_id = judged.station_id '
      '  AND known.fuel_id = judged.fuel_id '
      '  AND known.from_at = judged.from_at', holder)
      USING p_station_ids, p_fuel_ids, p_from_ats, p_doubts, p_doubt_from_ats, p_doubt_until_ats;
  END LOOP;
END
$$;
COMMENT ON FUNCTION fuel.set_doubts IS 'Stores which spans are doubtful, in fuel.span and fuel.present_span.';

GRANT EXECUTE ON FUNCTION
  fuel.ensure_year, fuel.evidence, fuel.spans_of, fuel.refresh_present_spans, fuel.set_doubts TO fuel_writer;
