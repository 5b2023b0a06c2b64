-- Returns the span of a station and fuel at an instant and the next span, from the history. It is used where the copy
-- in fuel.present_span cannot answer.
--
-- It is a function so that a statement about the present does not plan the years of fuel.span, and does not choose its
-- joins as if every price were looked up there. Readers call it through the views. It shows nothing that price_history
-- does not show.
CREATE OR REPLACE FUNCTION fuel.span_around(
  p_station_id integer, p_fuel_id smallint, p_at timestamptz,
  OUT source_id smallint, OUT seen_by smallint, OUT price_tenths integer, OUT from_at timestamptz,
  OUT until_at timestamptz, OUT lapses_at timestamptz, OUT is_open boolean, OUT is_ended boolean,
  OUT stated_at timestamptz, OUT learnt_at timestamptz, OUT doubt text, OUT doubt_from_at timestamptz,
  OUT doubt_until_at timestamptz, OUT next_tenths integer, OUT next_from_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- The plan is made once, because planning takes longer than the lookup. COST 1, because the lookup is rare.
SET plan_cache_mode = force_generic_plan COST 1 AS $$
#variable_conflict use_column
DECLARE
  since          timestamptz;
  next_source_id smallint;
  next_learnt_at timestamptz;
BEGIN
  -- Nearly always the span began within a year. Earlier years are read only where it did not.
  FOREACH since IN ARRAY ARRAY[p_at - interval '1 year', '-infinity'] LOOP
    SELECT
      span.source_id, span.seen_by, span.price_tenths, span.from_at, span.until_at, span.lapses_at,
      span.is_open, span.is_ended, span.stated_at, span.learnt_at, span.doubt, span.doubt_from_at,
      span.doubt_until_at
    INTO
      source_id, seen_by, price_tenths, from_at, until_at, lapses_at, is_open, is_ended, stated_at,
      learnt_at, doubt, doubt_from_at, doubt_until_at
    FROM fuel.span
    WHERE span.station_id = p_station_id
      AND span.fuel_id = p_fuel_id
      AND span.from_at BETWEEN since AND p_at
    ORDER BY span.from_at DESC
    LIMIT 1;
    EXIT WHEN FOUND;
  END LOOP;
  SELECT span.price_tenths, span.from_at, span.source_id, span.learnt_at
  INTO next_tenths, next_from_at, next_source_id, next_learnt_at
  FROM fuel.span
  WHERE span.station_id = p_station_id
    AND span.fuel_id = p_fuel_id
    AND span.from_at > p_at
  ORDER BY span.from_at
  LIMIT 1;
  -- At an instant of the past, the next price is one that was known by then. A span keeps when it was reported last. A
  -- feed that reports whole days may have reported it before that.
  IF next_learnt_at > p_at AND NOT EXISTS (
    SELECT
    FROM fuel.station AS record
    JOIN fuel.source ON source.source_id = record.source_id AND source.tells_whole_days
    JOIN fuel.counted_price AS price
      ON price.source_id = record.source_id AND price.station_id = record.station_id
    WHERE record.place_id = p_station_id
      AND record.source_id = next_source_id
      AND price.fuel_id = p_fuel_id
      AND price.effective_at = next_from_at
      AND price.learnt_at <= p_at)
  THEN
    next_tenths := NULL;
    next_from_at := NULL;
  END IF;
  -- Before the first span begins there is no price.
  IF price_tenths IS NULL THEN
    price_tenths := 0;
    from_at := next_from_at;
    until_at := next_from_at;
    lapses_at := next_from_at;
    is_open := false;
    is_ended := false;
    stated_at := '-infinity';
  END IF;
  -- Not NULL, by which readers know that the copy holds.
  doubt_from_at := coalesce(doubt_from_at, 'infinity');
  doubt_until_at := coalesce(doubt_until_at, 'infinity');
END
$$;
COMMENT ON FUNCTION fuel.span_around IS
  'The span of a station and fuel at an instant and the next one. If there is no span, its price is 0; if there is no '
  'next one, that is NULL.';

-- The present: for each station and fuel the span at the clock, and the next span. The copy in fuel.present_span holds
-- it, unless the clock has passed the next price or stands before the copied span.
CREATE OR REPLACE VIEW fuel.price_now AS
SELECT
  shown.station_id,
  shown.fuel_id,
  shown.seen_by AS source_id,
  shown.price_tenths,
  shown.from_at AS effective_at,
  shown.confirmed_at,
  shown.until_at AS lapses_at,
  shown.now_at < shown.until_at AS is_fresh,
  -- A price that is not believed is not marked as doubtful.
  shown.is_doubtful AND shown.now_at < shown.until_at AS is_flagged,
  shown.next_tenths,
  shown.next_from_at AS next_effective_at,
  shown.now_at,
  station.is_public,
  -- The one rule that averages, comparisons and verdicts rest on.
  shown.price_tenths > 0
    AND fuel.counts_at(
      shown.now_at, shown.until_at, shown.doubt_from_at, shown.doubt_until_at, reporter.counts_from_at)
    AND station.is_public AS is_counted,
  shown.delay,
  CASE WHEN shown.is_doubtful AND shown.now_at < shown.until_at THEN shown.doubt END AS flag_reason
FROM (
  SELECT
    held.station_id,
    held.fuel_id,
    held.source_id,
    held.seen_by,
    -- A price that a report has ended is gone. A price that has lapsed is shown as stale.
    CASE WHEN held.is_ended AND held.lapses_at <= held.now_at THEN 0 ELSE held.price_tenths END
      AS price_tenths,
    held.from_at,
    -- Both are instants that the documents show. A feed with a delay was fetched later. A span that ends where the next
    -- one is announced is no longer open, and lists still show its price.
    greatest(
      held.learnt_at - sight.delay,
      CASE WHEN held.is_open OR held.next_from_at > held.now_at THEN sight.last_listed_at END) AS confirmed_at,
    fuel.believed_until(held.until_at, held.lapses_at, held.is_open, sight.seen_until_at) AS until_at,
    held.doubt,
    held.doubt_from_at,
    held.doubt_until_at,
    coalesce(held.doubt_from_at <= held.now_at AND held.now_at < held.doubt_until_at, false) AS is_doubtful,
    -- A price that is stated again from a later instant on is also the next price.
    CASE WHEN restated.is_ahead THEN held.price_tenths ELSE held.next_tenths END AS next_tenths,
    CASE WHEN restated.is_ahead THEN held.stated_at ELSE held.next_from_at END AS next_from_at,
    held.now_at,
    sight.delay
  FROM (
    SELECT
      copy.station_id,
      copy.fuel_id,
      clock.now_at,
      coalesce(spans.source_id, copy.source_id) AS source_id,
      coalesce(spans.seen_by, copy.seen_by) AS seen_by,
      coalesce(spans.price_tenths, copy.price_tenths) AS price_tenths,
      coalesce(spans.from_at, copy.from_at) AS from_at,
      coalesce(spans.until_at, copy.until_at) AS until_at,
      coalesce(spans.lapses_at, copy.lapses_at) AS lapses_at,
      coalesce(spans.is_open, copy.is_open) AS is_open,
      coalesce(spans.is_ended, copy.is_ended) AS is_ended,
      coalesce(spans.stated_at, copy.stated_at) AS stated_at,
      coalesce(spans.learnt_at, copy.learnt_at) AS learnt_at,
      coalesce(spans.doubt, copy.doubt) AS doubt,
      coalesce(spans.doubt_from_at, copy.doubt_from_at) AS doubt_from_at,
      coalesce(spans.doubt_until_at, copy.doubt_until_at) AS doubt_until_at,
      -- A span may have no next one where the copy has one.
      CASE WHEN spans.is_open IS NOT NULL THEN spans.next_tenths WHEN copied.is_announced THEN copy.next_tenths END
        AS next_tenths,
      CASE WHEN spans.is_open IS NOT NULL THEN spans.next_from_at WHEN copied.is_announced THEN copy.next_from_at END
        AS next_from_at
    FROM fuel.present_span AS copy
    -- OFFSET 0 keeps the server from merging the subquery, so that the clock is read once and not for every price.
    CROSS JOIN (SELECT fuel.clock() AS now_at OFFSET 0) AS clock
    CROSS JOIN LATERAL (
      -- At an instant of the past, a price further ahead was not known: no feed's horizonMinutes allows more.
      SELECT copy.next_from_at <= clock.now_at + interval '72 hours' AS is_announced
    ) AS copied
    -- Where there is no row, the copy holds. OFFSET 0 keeps the condition with the call, so that the server tests it
    -- first. A call costs more than all else that is done for a price.
    LEFT JOIN LATERAL (
      SELECT around.*
      FROM fuel.span_around(copy.station_id, copy.fuel_id, clock.now_at) AS around
      WHERE clock.now_at < copy.from_at OR clock.now_at >= copy.next_from_at
      OFFSET 0
    ) AS spans ON true
  ) AS held
  CROSS JOIN LATERAL (
    SELECT held.stated_at > held.now_at AND held.learnt_at <= held.now_at AS is_ahead
  ) AS restated
  LEFT JOIN fuel.sight ON sight.source_id = held.seen_by
) AS shown
-- A left join, which the server leaves out where nobody asks who may buy there. Every station has a row.
LEFT JOIN fuel.station USING (station_id)
LEFT JOIN fuel.sight AS reporter ON reporter.source_id = shown.source_id
-- Not "> 0", which the server expects to be true of a third of the rows.
WHERE shown.price_tenths <> 0 OR shown.next_tenths <> 0;
COMMENT ON VIEW fuel.price_now IS
  'The price in effect now and the next one. One row per station and fuel that has either.';
COMMENT ON COLUMN fuel.price_now.confirmed_at      IS 'When it was last seen, less the delay of the feed that saw it.';
COMMENT ON COLUMN fuel.price_now.is_counted        IS
  'Whether averages, comparisons and verdicts count it: it is a price, is believed, is not doubtful, the first run of the feed that reported its beginning is not later than now, and anybody may buy there.';
COMMENT ON COLUMN fuel.price_now.delay             IS
  'How old the prices of its feed are when they are published; 0: without delay.';

-- Stores the present in pg_temp.price_now until the transaction ends. What an aggregate makes of the present reads it
-- there: the view costs some microseconds for each price and reader, and the server cannot estimate how many rows it
-- returns, so that it would compare every price with every other.
CREATE OR REPLACE FUNCTION fuel.take_present() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMPORARY TABLE price_now ON COMMIT DROP AS SELECT * FROM fuel.price_now;
  ANALYZE pg_temp.price_now (station_id, fuel_id, is_counted, delay);
END
$$;
COMMENT ON FUNCTION fuel.take_present IS 'Stores the present in pg_temp.price_now until the transaction ends.';

-- Returns the prices in effect at an instant, from the spans, each with the delay of the feed that reported it last. By
-- that delay averages_now and average_at leave out what is published late.
--
-- The query is planned anew each time, with the instant known, so that the server reads only the years that matter.
CREATE OR REPLACE FUNCTION fuel.held_at(
  p_at timestamptz, p_station_ids integer[] DEFAULT NULL, p_fuel_id smallint DEFAULT NULL)
RETURNS TABLE (station_id integer, fuel_id smallint, price_tenths integer, is_counted boolean, delay interval)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT
    pair.station_id,
    pair.fuel_id,
    held.price_tenths,
    fuel.counts_at(
      p_at, fuel.believed_until(held.until_at, held.lapses_at, held.is_open, sight.seen_until_at), held.doubt_from_at,
      held.doubt_until_at, reporter.counts_from_at),
    sight.delay
  FROM fuel.present_span AS pair
  CROSS JOIN LATERAL (
    SELECT span.*
    FROM fuel.span
    WHERE span.station_id = pair.station_id
      AND span.fuel_id = pair.fuel_id
      AND span.from_at <= p_at
    ORDER BY span.from_at DESC
    LIMIT 1
  ) AS held
  LEFT JOIN fuel.sight ON sight.source_id = held.seen_by
  LEFT JOIN fuel.sight AS reporter ON reporter.source_id = held.source_id
  WHERE (p_station_ids IS NULL OR pair.station_id IN (
      SELECT asked.place_id FROM fuel.station AS asked WHERE asked.station_id = ANY (p_station_ids)))
    AND (p_fuel_id IS NULL OR pair.fuel_id = p_fuel_id)
    AND p_at < fuel.believed_until(
      held.until_at, held.lapses_at, held.is_open, sight.seen_until_at);
END
$$;
COMMENT ON FUNCTION fuel.held_at IS
  'The prices in effect at an instant, of the given stations and fuel (NULL: all), whether averages count them, as far '
  'as the price decides, and how late the feed that reported each last publishes.';

-- The clock by which the days of a region are counted: the clock of its state, or of the nation for a region in several
-- states.
CREATE OR REPLACE VIEW fuel.region_clock AS
SELECT
  region.region,
  coalesce(state.time_zone, country.time_zone) AS time_zone,
  coalesce(state.price_day_starts, '0') AS starts
FROM fuel.region
CROSS JOIN fuel.country
LEFT JOIN fuel.state USING (state);
COMMENT ON VIEW fuel.region_clock IS 'The clock by which the days of a region are counted. One row per region.';

-- How late a state publishes. Its soonest feed decides. An archive, which publishes after months, does not.
CREATE OR REPLACE VIEW fuel.state_delay AS
SELECT state.state, coalesce(min(source.delay), '0') AS delay
FROM fuel.state
LEFT JOIN fuel.source ON source.state = state.state AND source.kind <> 'archive'
GROUP BY state.state;
COMMENT ON VIEW fuel.state_delay IS 'How late states publish. One row per state.';

-- Where every feed of a state publishes late, the averages of the state are of an earlier instant and say so. In any
-- other region a late price would pass for a price of now, so it is left out and counted.
CREATE OR REPLACE VIEW fuel.region_delay AS
SELECT
  region.region,
  coalesce(state_delay.delay, '0') AS delay,
  -- Today's average of a nation is not known either while one of its feeds publishes late.
  coalesce(state_delay.delay >= interval '12 hours', false) OR region.state IS NULL AND EXISTS (
    SELECT
    FROM fuel.source
    WHERE source.delay >= interval '12 hours' AND source.is_enabled AND source.first_taken_at IS NOT NULL
  ) AS is_late
FROM fuel.region
LEFT JOIN fuel.state_delay USING (state)
-- OFFSET 0 keeps the server from merging the view, so that the delay is found once for a region and not for every price
-- in it.
OFFSET 0;
COMMENT ON VIEW fuel.region_delay IS 'How old prices may be to count in a region. One row per region.';
COMMENT ON COLUMN fuel.region_delay.delay  IS 'Prices of feeds with a longer delay are left out.';
COMMENT ON COLUMN fuel.region_delay.is_late IS 'Whether today''s average is not known today.';

-- Computes how the average of each region moved over a day and over a week. Only stations that had a price at both ends
-- are compared, so that stations which come or go do not look like price moves. Reads pg_temp.price_now.
CREATE OR REPLACE FUNCTION fuel.refresh_changes(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM fuel.region_change;
  -- Where prices are published late, the present lies earlier by that delay, and the day and the week are counted back
  -- from there.
  CREATE TEMPORARY TABLE price_before ON COMMIT DROP AS
  SELECT late.delay, span.span, before.station_id, before.fuel_id, before.price_tenths
  FROM (
    SELECT source.delay, array_agg(DISTINCT pair.station_id) AS station_ids
    FROM fuel.present_span AS pair
    JOIN fuel.source ON source.source_id = pair.seen_by
    GROUP BY source.delay
  ) AS late
  CROSS JOIN (VALUES (interval '24 hours'), (interval '7 days')) AS span (span)
  CROSS JOIN LATERAL fuel.held_at(
    p_clock - late.delay - span.span, CASE WHEN late.delay > '0' THEN late.station_ids END) AS before
  WHERE before.is_counted;
  ANALYZE pg_temp.price_before;

  INSERT INTO fuel.region_change (region, fuel_id, change_24h_cpl, change_7d_cpl, as_of_at)
  SELECT
    region_station.region,
    present.fuel_id,
    CASE
      WHEN count(*) FILTER (WHERE before.span = interval '24 hours') >= fuel.minimum_stations()
        THEN round(avg(present.price_tenths - before.price_tenths) FILTER (WHERE before.span = interval '24 hours') / 10, 2)
    END,
    CASE
      WHEN count(*) FILTER (WHERE before.span = interval '7 days') >= fuel.minimum_stations()
        THEN round(avg(present.price_tenths - before.price_tenths) FILTER (WHERE before.span = interval '7 days') / 10, 2)
    END,
    p_clock
  FROM pg_temp.price_now AS present
  JOIN fuel.region_station ON region_station.station_id = present.station_id
  JOIN fuel.region_delay
    ON region_delay.region = region_station.region AND present.delay <= region_delay.delay
  LEFT JOIN pg_temp.price_before AS before
    ON before.delay = present.delay
    AND before.station_id = present.station_id
    AND before.fuel_id = present.fuel_id
  WHERE present.is_counted
  GROUP BY region_station.region, present.fuel_id;
  DROP TABLE pg_temp.price_before;
END
$$;
COMMENT ON FUNCTION fuel.refresh_changes IS 'Computes the changes over 24 hours and 7 days of every region and fuel.';

CREATE OR REPLACE FUNCTION fuel.region_today(p_clock timestamptz)
RETURNS TABLE (
  region text, region_name text, state text, day date, day_ends_at timestamptz, is_late boolean,
  announced_at timestamptz, announced_clock text)
LANGUAGE sql STABLE AS $$
  SELECT
    region.region, region.name, region.state, local.day,
    fuel.price_day_begin(local.day + 1, region_clock.time_zone, region_clock.starts), region_delay.is_late,
    announced.at, to_char(announced.at AT TIME ZONE region_clock.time_zone, 'HH24:MI')
  FROM fuel.region
  JOIN fuel.region_delay USING (region)
  JOIN fuel.region_clock USING (region)
  CROSS JOIN LATERAL (
    SELECT fuel.price_day(p_clock, region_clock.time_zone, region_clock.starts) AS day
  ) AS local
  CROSS JOIN LATERAL (
    SELECT min((local.day + source.publishes_tomorrow_at) AT TIME ZONE state.time_zone) AS at
    FROM fuel.source
    JOIN fuel.state USING (state)
    WHERE state.state = region.state
  ) AS announced
$$;
COMMENT ON FUNCTION fuel.region_today IS
  'The price day of every region at an instant, and when the prices of the day after it are published (NULL: not in advance).';

-- Returns the means from which verdicts follow, over the stations of each region. They are rounded to two decimals, so
-- that equal means compare as equal on every machine. Prices are grouped first, so that everything else is looked up for
-- each region and not for each price. Reads pg_temp.price_now.
CREATE OR REPLACE FUNCTION fuel.regions_now()
RETURNS TABLE (
  region text, fuel_id smallint, stations bigint, stations_with_next bigint, today_cpl numeric, tomorrow_cpl numeric,
  tomorrow_begins_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT
    region_station.region,
    present.fuel_id,
    count(*),
    count(next.next_tenths),
    round(avg(present.price_tenths) FILTER (WHERE next.next_tenths > 0) / 10, 2),
    round(avg(next.next_tenths) / 10, 2),
    min(next.next_effective_at)
  FROM fuel.region_station
  JOIN fuel.region_delay USING (region)
  JOIN pg_temp.price_now AS present USING (station_id)
  LEFT JOIN LATERAL (
    SELECT present.next_tenths, present.next_effective_at
    WHERE present.next_tenths > 0
      AND present.next_effective_at < present.now_at + interval '36 hours'
  ) AS next ON true
  WHERE present.is_counted AND present.delay <= region_delay.delay
  GROUP BY region_station.region, present.fuel_id;
END
$$;
COMMENT ON FUNCTION fuel.regions_now IS
  'The stations of every region and fuel with a price now, and the means of today''s and of tomorrow''s prices.';

-- Returns for regions and fuels the share of stations whose price has risen by at least five cents since the end of a
-- price day. Reads pg_temp.price_now.
CREATE OR REPLACE FUNCTION fuel.shares_raised(p_regions text[], p_fuel_ids smallint[], p_trough_ons date[])
RETURNS TABLE (region text, fuel_id smallint, share numeric) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH market AS (
    SELECT
      asked.region,
      asked.fuel_id,
      fuel.price_day_begin(asked.trough_on + 1, region_clock.time_zone, region_clock.starts) AS since
    FROM unnest(p_regions, p_fuel_ids, p_trough_ons) AS asked (region, fuel_id, trough_on)
    JOIN fuel.region_clock USING (region)
  ),
  -- Neighbouring regions often rise from the same day on. The prices of an instant are read once for all of them.
  before AS MATERIALIZED (
    SELECT moment.since, before.station_id, before.fuel_id, before.price_tenths
    FROM (SELECT DISTINCT market.since, market.fuel_id FROM market) AS moment
    CROSS JOIN LATERAL fuel.held_at(moment.since, NULL, moment.fuel_id) AS before
    WHERE before.is_counted AND before.price_tenths > 0
  )
  SELECT
    market.region, market.fuel_id, round(avg((present.price_tenths >= before.price_tenths + 50)::integer), 3)
  FROM market
  JOIN before USING (since, fuel_id)
  JOIN fuel.region_station USING (region, station_id)
  JOIN pg_temp.price_now AS present USING (station_id, fuel_id)
  WHERE present.is_counted
  GROUP BY market.region, market.fuel_id
  HAVING count(*) >= fuel.minimum_stations();
END
$$;
COMMENT ON FUNCTION fuel.shares_raised IS
  'The share of stations of regions and fuels whose price has risen since a day; left out where there are too few.';

GRANT EXECUTE ON FUNCTION fuel.span_around TO fuel_reader, fuel_writer;
GRANT EXECUTE ON FUNCTION
  fuel.take_present, fuel.held_at, fuel.refresh_changes, fuel.region_today, fuel.regions_now, fuel.shares_raised
  TO fuel_writer;
