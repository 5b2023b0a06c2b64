-- The prices of each region and fuel are collected in arrays, because collecting needs no order: to sort all prices by
-- region would cost more than everything else. Changes are those of the last aggregate. A session whose clock stands
-- before it has none; the present has them even if the clock of the aggregate was ahead of the server's.
CREATE OR REPLACE VIEW fuel_v1.averages_now AS
SELECT
  market.region,
  fuel.fuel,
  region.state,
  (CASE WHEN middle.stations >= fuel.minimum_stations() THEN round(middle.mean / 10, 2) END)::numeric(6, 2)
    AS average_cpl,
  (CASE WHEN middle.stations >= fuel.minimum_stations() THEN round(middle.median::numeric / 10, 2) END)::numeric(6, 2)
    AS median_cpl,
  (CASE WHEN middle.stations >= fuel.minimum_stations() THEN round(middle.quartile::numeric / 10, 2) END)::numeric(6, 2)
    AS p25_cpl,
  (middle.low / 10.0)::numeric(6, 2) AS min_cpl,
  (middle.high / 10.0)::numeric(6, 2) AS max_cpl,
  region_change.change_24h_cpl,
  region_change.change_7d_cpl,
  middle.stations,
  middle.stale AS excluded_stale,
  middle.flagged AS excluded_flagged,
  middle.restricted AS excluded_restricted,
  middle.delayed AS excluded_delayed,
  (extract(epoch FROM market.delay) / 3600)::integer AS delay_hours,
  market.now_at - market.delay AS as_of_at
FROM fuel.fuel
-- Fuel by fuel, so that only the prices of the fuels that are asked for are read.
CROSS JOIN LATERAL (
  SELECT
    region_station.region,
    region_delay.delay,
    max(price_now.now_at) AS now_at,
    array_agg(price_now.price_tenths) AS prices,
    array_agg(
      CASE
        WHEN price_now.is_counted THEN CASE WHEN price_now.delay <= region_delay.delay THEN 'counts' ELSE 'delayed' END
        WHEN NOT price_now.is_fresh THEN 'stale'
        WHEN price_now.is_flagged THEN 'flagged'
        WHEN NOT price_now.is_public THEN 'restricted'
      END) AS standings
  -- With those of fuel.price_now, eight relations are joined. Among more than eight the server does not search for the
  -- best order, and would make the prices of all stations for the smallest region.
  FROM fuel.region_station
  JOIN fuel.region_delay USING (region)
  JOIN fuel.price_now USING (station_id)
  -- Not "> 0", which the server expects to be true of a third of the rows.
  WHERE price_now.fuel_id = fuel.fuel_id
    AND price_now.price_tenths <> 0
    AND price_now.lapses_at > price_now.now_at - fuel.dormant_after()
  GROUP BY region_station.region, region_delay.delay
) AS market
CROSS JOIN LATERAL (
  SELECT
    avg(price.tenths) FILTER (WHERE price.standing = 'counts') AS mean,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY price.tenths) FILTER (WHERE price.standing = 'counts') AS median,
    percentile_cont(0.25) WITHIN GROUP (ORDER BY price.tenths) FILTER (WHERE price.standing = 'counts') AS quartile,
    min(price.tenths) FILTER (WHERE price.standing = 'counts') AS low,
    max(price.tenths) FILTER (WHERE price.standing = 'counts') AS high,
    (count(*) FILTER (WHERE price.standing = 'counts'))::integer AS stations,
    (count(*) FILTER (WHERE price.standing = 'stale'))::integer AS stale,
    (count(*) FILTER (WHERE price.standing = 'flagged'))::integer AS flagged,
    (count(*) FILTER (WHERE price.standing = 'restricted'))::integer AS restricted,
    (count(*) FILTER (WHERE price.standing = 'delayed'))::integer AS delayed
  FROM unnest(market.prices, market.standings) AS price (tenths, standing)
) AS middle
JOIN fuel.region USING (region)
LEFT JOIN fuel.region_change
  ON region_change.region = market.region
  AND region_change.fuel_id = fuel.fuel_id
  AND (region_change.as_of_at <= fuel.clock() OR fuel.clock() = now())
WHERE fuel.is_averaged;
COMMENT ON VIEW fuel_v1.averages_now IS
  'Averages over stations of the price in effect at this moment. One row per region and fuel. Stale, '
  'doubtful and members-only prices, and prices that are published late, are left out, and their stations are '
  'counted. In a state that publishes all its prices late, the row shows an earlier instant: see as_of_at and '
  'delay_hours.';
COMMENT ON COLUMN fuel_v1.averages_now.region              IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.averages_now.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.averages_now.state               IS 'Its state; NULL for the nation and areas across borders.';
COMMENT ON COLUMN fuel_v1.averages_now.average_cpl         IS 'Mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.median_cpl          IS 'Median, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.p25_cpl             IS 'Lower quartile, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.min_cpl             IS 'Lowest price, cents per litre; NULL where no station counts.';
COMMENT ON COLUMN fuel_v1.averages_now.max_cpl             IS 'Highest price, cents per litre; NULL where no station counts.';
COMMENT ON COLUMN fuel_v1.averages_now.change_24h_cpl      IS 'Change over 24 hours, over the stations with a price at both ends, as of the last aggregate, cents per litre; NULL: fewer than three such stations, or the clock of the session stands before that aggregate.';
COMMENT ON COLUMN fuel_v1.averages_now.change_7d_cpl       IS 'Change over 7 days, over the stations with a price at both ends, as of the last aggregate, cents per litre; NULL: fewer than three such stations, or the clock of the session stands before that aggregate.';
COMMENT ON COLUMN fuel_v1.averages_now.stations            IS 'Number of stations that the averages are computed from.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_stale      IS 'Stations left out because their price is too old to believe.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_flagged    IS 'Stations left out because their price is doubtful.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_restricted IS 'Stations left out because only members or permit holders may use them.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_delayed    IS 'Stations left out because their state publishes prices late, such as Victoria by a day.';
COMMENT ON COLUMN fuel_v1.averages_now.delay_hours         IS 'How late the prices of the region are published, in hours; 0: without delay. The national average now leaves out states that publish late; the national daily averages include them.';
COMMENT ON COLUMN fuel_v1.averages_now.as_of_at            IS 'The instant whose prices these are: now less delay_hours.';

CREATE OR REPLACE VIEW fuel_v1.daily_averages AS
SELECT
  daily_rollup.region,
  fuel.fuel,
  daily_rollup.day,
  region.state,
  (CASE WHEN sample.is_enough THEN daily_rollup.average_cpl END)::numeric(6, 2) AS average_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.median_cpl END)::numeric(6, 2) AS median_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.p25_cpl END)::numeric(6, 2) AS p25_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.min_cpl END)::numeric(6, 2) AS min_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.max_cpl END)::numeric(6, 2) AS max_cpl,
  daily_rollup.coverage,
  coalesce(daily_rollup.is_complete, false) AS is_complete,
  daily_rollup.stations,
  daily_rollup.stations_expected,
  daily_rollup.complete_states::integer AS states_complete,
  daily_rollup.states::integer AS states_expected,
  daily_rollup.excluded_stale,
  daily_rollup.excluded_flagged,
  daily_rollup.excluded_restricted
FROM fuel.daily_rollup
JOIN fuel.region USING (region)
JOIN fuel.fuel USING (fuel_id)
CROSS JOIN LATERAL (
  SELECT daily_rollup.stations >= fuel.minimum_stations() AS is_enough
) AS sample
WHERE fuel.is_averaged;
COMMENT ON VIEW fuel_v1.daily_averages IS
  'Averages over stations of each station''s time-weighted price over a local price day. One row per '
  'region, fuel and day with any price. The price day is the state''s calendar day, in WA from 06:00 to 06:00.';
COMMENT ON COLUMN fuel_v1.daily_averages.region              IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.daily_averages.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.daily_averages.day                 IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.daily_averages.state               IS 'Its state; NULL for the nation and areas across borders.';
COMMENT ON COLUMN fuel_v1.daily_averages.average_cpl         IS 'Mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.median_cpl          IS 'Median, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.p25_cpl             IS 'Lower quartile, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.min_cpl             IS 'Lowest station average of the day, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.max_cpl             IS 'Highest station average of the day, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.coverage            IS 'Share of the day, as far as it has passed (less the delay of a feed that publishes late), for which the stations that count have a believed price, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.daily_averages.is_complete         IS 'Whether the day is over, it is settled (a source states every price, or an archive of changes has covered as many days before as a price is believed), and prices of enough of the expected stations are known for most of it; for the nation, whether this holds in every state. Today is never complete.';
COMMENT ON COLUMN fuel_v1.daily_averages.stations            IS 'Number of stations that the averages are computed from.';
COMMENT ON COLUMN fuel_v1.daily_averages.stations_expected   IS 'Number of stations with an expected price: those with a price in this month or the one before; NULL: not known.';
COMMENT ON COLUMN fuel_v1.daily_averages.states_complete     IS 'Number of complete states; of a region within a state, 1 or 0. A state counts as complete too if its day is settled and nobody there sells the fuel.';
COMMENT ON COLUMN fuel_v1.daily_averages.states_expected     IS 'Number of states that states_complete is counted out of.';
COMMENT ON COLUMN fuel_v1.daily_averages.excluded_stale      IS 'Stations left out: their prices are known but were not seen for too long to be believed.';
COMMENT ON COLUMN fuel_v1.daily_averages.excluded_flagged    IS 'Stations left out: they have only doubtful prices.';
COMMENT ON COLUMN fuel_v1.daily_averages.excluded_restricted IS 'Stations left out: for members only.';

-- Unpacks the days of fuel.station_month.days. A run of equal days takes sixteen bytes: the number of days, and then
-- one day as StationDay.bytes (Sources/Timeline/StationDay.swift) writes it. The highest byte of a number comes first.
CREATE OR REPLACE FUNCTION fuel.days_of(p_days bytea)
RETURNS TABLE (
  place integer, standing integer, mean integer, low integer, high integer, last integer, seconds integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT
    series.place::integer,
    get_byte(p_days, run.at + 1),
    ((get_byte(p_days, run.at + 2) * 256 + get_byte(p_days, run.at + 3)) * 256
      + get_byte(p_days, run.at + 4)) * 256 + get_byte(p_days, run.at + 5),
    get_byte(p_days, run.at + 6) * 256 + get_byte(p_days, run.at + 7),
    get_byte(p_days, run.at + 8) * 256 + get_byte(p_days, run.at + 9),
    get_byte(p_days, run.at + 10) * 256 + get_byte(p_days, run.at + 11),
    ((get_byte(p_days, run.at + 12) * 256 + get_byte(p_days, run.at + 13)) * 256
      + get_byte(p_days, run.at + 14)) * 256 + get_byte(p_days, run.at + 15)
  FROM (
    SELECT begins.at, sum(get_byte(p_days, begins.at)) OVER (ORDER BY begins.at) AS until
    FROM generate_series(0, octet_length(p_days) - 16, 16) AS begins (at)
  ) AS run
  CROSS JOIN LATERAL generate_series(run.until - get_byte(p_days, run.at) + 1, run.until) AS series (place)
$$;
COMMENT ON FUNCTION fuel.days_of IS
  'The days of a month of a station. place: 1 is the first of the month; standing: 0 nothing was reported, 1 a price is '
  'known, 2 every price is doubtful, 3 the price is too old; mean: over the time for which a price is believed, in '
  '65,536ths of a tenth of a cent per litre; low, high, last: tenths of a cent per litre; seconds: for how many seconds '
  'of the day a price is believed.';
GRANT EXECUTE ON FUNCTION fuel.days_of TO fuel_reader, fuel_writer;

-- On a hub this is a view of all members' months.
CREATE OR REPLACE VIEW fuel.known_month AS SELECT station_month.* FROM fuel.station_month;
COMMENT ON VIEW fuel.known_month IS 'The months that days and averages are made of.';

-- Makes the station habits anew: how a station's price usually compares with the average of the smallest region in which
-- it lies. This is the median over days that have ended, for averaged fuels. With fewer than p_least_days there is no
-- habit.
CREATE OR REPLACE FUNCTION fuel.refresh_habits(p_first date, p_last date, p_least_days integer)
RETURNS void LANGUAGE sql AS $$
  DELETE FROM fuel.station_habit;
  INSERT INTO fuel.station_habit (station_id, fuel_id, region, difference_cpl, days, until_day)
  SELECT pair.station_id, pair.fuel_id, near.region, round(usual.difference::numeric) / 100, usual.days, p_last
  FROM fuel.present_span AS pair
  JOIN fuel.fuel ON fuel.fuel_id = pair.fuel_id AND fuel.is_averaged
  JOIN fuel.region_station AS near ON near.station_id = pair.station_id AND near.is_nearest
  -- One station and fuel at a time, so that the plan is the same without statistics.
  CROSS JOIN LATERAL (
    SELECT
      count(*) AS days,
      -- A mean is in 65,536ths of a tenth of a cent; both prices are rounded to hundredths of a cent.
      percentile_cont(0.5) WITHIN GROUP (ORDER BY
        ((entry.mean::bigint * 10 + 32768) / 65536 - (average.average_cpl * 100)::integer)::float8) AS difference
    FROM fuel.known_month AS made
    CROSS JOIN LATERAL fuel.days_of(made.days) AS entry
    JOIN fuel.daily_rollup AS average ON average.day = made.month + entry.place - 1
    WHERE made.station_id = pair.station_id
      AND made.fuel_id = pair.fuel_id
      AND made.month >= date_trunc('month', p_first::timestamp)
      AND entry.standing = 1
      AND average.region = near.region
      AND average.fuel_id = pair.fuel_id
      AND average.day BETWEEN p_first AND p_last
      AND average.is_ended
      AND average.stations >= fuel.minimum_stations()
  ) AS usual
  WHERE usual.days >= p_least_days
$$;
COMMENT ON FUNCTION fuel.refresh_habits IS
  'Makes the usual differences of stations to their regions anew, over the days from p_first to p_last.';
GRANT EXECUTE ON FUNCTION fuel.refresh_habits TO fuel_writer;

-- The days of stations that have ended, with means that are not rounded, so that what is averaged over stations is
-- rounded once.
CREATE OR REPLACE VIEW fuel.station_day AS
SELECT
  made.station_id,
  fuel.fuel,
  series.day,
  entry.mean,
  entry.low,
  entry.high,
  entry.last,
  share.coverage,
  share.coverage >= fuel.minimum_coverage() AS is_complete,
  made.month
FROM fuel.known_month AS made
JOIN fuel.fuel USING (fuel_id)
-- A subquery keeps the number of joined relations low. Where a view is joined to another one, the server searches for
-- the best join order among at most eight relations.
CROSS JOIN LATERAL (
  SELECT state.time_zone, state.price_day_starts
  FROM fuel.station
  JOIN fuel.state USING (state)
  WHERE station.station_id = made.station_id
  OFFSET 0
) AS state
CROSS JOIN LATERAL fuel.days_of(made.days) AS entry
CROSS JOIN LATERAL (SELECT made.month + entry.place - 1 AS day) AS series
-- A day on which clocks change has 23 or 25 hours, so its length is computed.
CROSS JOIN LATERAL (
  SELECT least(1, round(
    entry.seconds / extract(epoch FROM
      fuel.price_day_begin(series.day + 1, state.time_zone, state.price_day_starts)
      - fuel.price_day_begin(series.day, state.time_zone, state.price_day_starts)), 3)
  )::numeric(4, 3) AS coverage
) AS share
WHERE entry.standing = 1;
COMMENT ON VIEW fuel.station_day IS
  'The price days that have ended, of each station and fuel with a price that is not doubtful.';
COMMENT ON COLUMN fuel.station_day.mean       IS 'Time-weighted mean, in 65,536ths of a tenth of a cent per litre.';

CREATE OR REPLACE VIEW fuel_v1.station_days AS
SELECT
  made.station_id,
  made.fuel,
  made.day,
  made.month AS month_on,
  round(made.mean / 655360.0, 2)::numeric(6, 2) AS average_cpl,
  -- Multiplied by 1/655360, which is exact: a division stops at sixteen decimals.
  (made.mean * 0.00000152587890625)::numeric(20, 17) AS exact_average_cpl,
  (made.low / 10.0)::numeric(6, 2) AS min_cpl,
  (made.high / 10.0)::numeric(6, 2) AS max_cpl,
  (made.last / 10.0)::numeric(6, 2) AS last_cpl,
  made.coverage,
  made.is_complete
FROM fuel.station_day AS made;
COMMENT ON VIEW fuel_v1.station_days IS
  'What each station charged over each price day that has ended. One row per station, fuel and day with a '
  'price that is not doubtful; updated by the aggregate. The averages of regions are computed from these.';
COMMENT ON COLUMN fuel_v1.station_days.station_id        IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_days.fuel              IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.station_days.day               IS 'The price day: the state''s calendar day, in WA from 06:00 to 06:00.';
COMMENT ON COLUMN fuel_v1.station_days.month_on          IS 'The first day of its month. When you read all stations, filter by month_on as well as by day, and only those months are read; region_days does so by itself.';
COMMENT ON COLUMN fuel_v1.station_days.average_cpl       IS 'Time-weighted mean of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.exact_average_cpl IS 'The same, not rounded: the average of a region is the mean of it over all stations that are not for members only, rounded once.';
COMMENT ON COLUMN fuel_v1.station_days.min_cpl           IS 'Lowest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.max_cpl           IS 'Highest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.last_cpl          IS 'Last price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.coverage          IS 'Share of the day for which a price is believed, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.station_days.is_complete       IS 'Whether coverage is three quarters or more.';

CREATE OR REPLACE VIEW fuel_v1.brand_daily AS
-- Which brand a rebranded station had, and from which day on. A brand begins on the day it is first seen. Where two were
-- seen at the same time, the one that was first seen later counts. Before the first sighting the first brand counts.
WITH rebranding AS MATERIALIZED (
  SELECT
    turn.station_id,
    nullif(turn.from_on, min(turn.from_on) OVER station) AS from_on,
    lead(turn.from_on) OVER (station ORDER BY turn.from_on) AS until_on,
    (
      SELECT description.brand
      FROM fuel.station AS record
      JOIN fuel.station_description AS description USING (station_id)
      WHERE record.place_id = turn.station_id AND description.brand IS NOT NULL
      ORDER BY
        turn.from_on BETWEEN (description.first_seen_at AT TIME ZONE record.time_zone)::date
          AND (description.last_seen_at AT TIME ZONE record.time_zone)::date DESC,
        (description.first_seen_at AT TIME ZONE record.time_zone)::date <= turn.from_on DESC,
        CASE WHEN (description.last_seen_at AT TIME ZONE record.time_zone)::date < turn.from_on
          THEN description.last_seen_at END DESC NULLS LAST,
        description.first_seen_at DESC, description.wording_md5
      LIMIT 1
    ) AS brand
  FROM (
    SELECT DISTINCT record.place_id AS station_id, seen.from_on
    FROM fuel.station_description AS description
    JOIN fuel.station AS record USING (station_id)
    CROSS JOIN LATERAL (
      VALUES ((description.first_seen_at AT TIME ZONE record.time_zone)::date),
        ((description.last_seen_at AT TIME ZONE record.time_zone)::date + 1)) AS seen (from_on)
    WHERE description.brand IS NOT NULL
      AND record.place_id IN (
        SELECT branded.place_id
        FROM fuel.station AS branded
        JOIN fuel.station_description AS wording USING (station_id)
        GROUP BY branded.place_id
        HAVING min(wording.brand) <> max(wording.brand) OR count(wording.brand) BETWEEN 1 AND count(*) - 1)
  ) AS turn
  WINDOW station AS (PARTITION BY turn.station_id)
)
SELECT
  member.region,
  coalesce(brand_name.brand, branded.brand) AS brand,
  day.fuel,
  day.day,
  day.month AS month_on,
  region.state,
  round(avg(day.mean) / 655360, 2)::numeric(6, 2) AS average_cpl,
  (min(day.low) / 10.0)::numeric(6, 2) AS min_cpl,
  (max(day.high) / 10.0)::numeric(6, 2) AS max_cpl,
  count(*)::integer AS stations
FROM fuel.station_day AS day
JOIN fuel.station USING (station_id)
JOIN fuel.region_station AS member USING (station_id)
JOIN fuel.region USING (region)
LEFT JOIN rebranding
  ON rebranding.station_id = day.station_id
  AND (rebranding.from_on IS NULL OR rebranding.from_on <= day.day)
  AND (rebranding.until_on IS NULL OR rebranding.until_on > day.day)
CROSS JOIN LATERAL (SELECT coalesce(rebranding.brand, station.brand) AS brand) AS branded
LEFT JOIN fuel.brand_name
  ON brand_name.written = lower(branded.brand)
  AND brand_name.valid_from <= day.day
  AND brand_name.valid_to > day.day
WHERE station.is_public
  AND day.is_complete
  AND branded.brand IS NOT NULL
GROUP BY
  member.region, region.state, coalesce(brand_name.brand, branded.brand), day.fuel, day.day, day.month;
COMMENT ON VIEW fuel_v1.brand_daily IS
  'What the stations of a brand charged over each price day that has ended. One row per region, brand, fuel and day; '
  'computed from station_days at each query: filter by month_on as there. Days that are not complete, stations for '
  'members only and those without a brand are left out.';
COMMENT ON COLUMN fuel_v1.brand_daily.region      IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.brand_daily.brand       IS 'The brand that the stations had on that day, as far as they were described, under the name configured for that day.';
COMMENT ON COLUMN fuel_v1.brand_daily.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.brand_daily.day         IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.brand_daily.month_on    IS 'The first day of its month. Filter by month_on as well as by day, and only those months are read.';
COMMENT ON COLUMN fuel_v1.brand_daily.state       IS 'The state of the region; NULL for the nation and areas across borders.';
COMMENT ON COLUMN fuel_v1.brand_daily.average_cpl IS 'Mean over stations of their average of the day, cents per litre; rounded once.';
COMMENT ON COLUMN fuel_v1.brand_daily.min_cpl     IS 'Lowest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.brand_daily.max_cpl     IS 'Highest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.brand_daily.stations    IS 'Number of stations it is computed from: those with a price for three quarters of the day.';

CREATE OR REPLACE VIEW fuel_v1.coverage AS
SELECT
  region.region,
  source.source,
  source_day.day,
  source_day.why IS NULL AS is_covered,
  CASE
    WHEN source_day.why IS NOT NULL OR expected.stations IS NOT NULL THEN source_day.why
    WHEN region_delay.is_late AND source_day.day > newest.day THEN 'late'
    ELSE 'no_prices'
  END AS why,
  expected.stations AS stations_expected
FROM fuel.region
JOIN fuel.region_delay USING (region)
JOIN fuel.source
  ON region.kind = 'nation'
  OR source.state = region.state
  -- The stations of the ACT are in the list of New South Wales.
  OR EXISTS (
    SELECT
    FROM fuel.station
    WHERE station.state = region.state AND station.source_id = source.source_id)
  -- Of an area across borders, the sources that have a record of one of its stations.
  OR region.state IS NULL AND EXISTS (
    SELECT
    FROM fuel.region_station AS member
    JOIN fuel.station AS record ON record.place_id = member.station_id
    WHERE member.region = region.region AND record.source_id = source.source_id)
JOIN fuel.source_day USING (source_id)
-- A join, so that the averages of a region are read once and not for each of its sources and days.
LEFT JOIN (
  SELECT daily_rollup.region, daily_rollup.day, max(daily_rollup.stations_expected) AS stations
  FROM fuel.daily_rollup
  GROUP BY daily_rollup.region, daily_rollup.day
) AS expected USING (region, day)
LEFT JOIN (SELECT region, max(day) AS day FROM fuel.daily_rollup GROUP BY region) AS newest USING (region);
COMMENT ON VIEW fuel_v1.coverage IS
  'Which days each source covers. One row per region, feed or archive that reports on it, and local day since '
  'the first day of its scheme; updated by the aggregate. A day that no source covers is not complete.';
COMMENT ON COLUMN fuel_v1.coverage.region            IS 'The region.';
COMMENT ON COLUMN fuel_v1.coverage.source            IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.coverage.day               IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.coverage.is_covered        IS 'Whether the source covers the day, or a part of it: daily_averages.coverage has the share.';
COMMENT ON COLUMN fuel_v1.coverage.why               IS 'What the day lacks: not_loaded (no loaded file of the archive covers it), outage (no list), frozen (lists that have changed nothing for too long), late (the day has not ended, or its prices are not due yet) or before_first_run; no_prices: it is covered, but the region has no average, of the nation also if the states without a price are too many; NULL: nothing.';
COMMENT ON COLUMN fuel_v1.coverage.stations_expected IS 'Number of stations of the region with an expected price, for the fuel that is known best; NULL: there is no average of that day.';

CREATE OR REPLACE VIEW fuel_v1.market_events AS
SELECT
  market_event.day,
  market_event.state,
  market_event.fuel,
  market_event.what,
  market_event.cpl AS change_cpl
FROM fuel.market_event;
COMMENT ON VIEW fuel_v1.market_events IS
  'Events that affected the whole market, from the configuration (events.json5). One row per event.';
COMMENT ON COLUMN fuel_v1.market_events.day        IS 'The day on which it took effect.';
COMMENT ON COLUMN fuel_v1.market_events.state      IS 'The state; NULL: the whole nation.';
COMMENT ON COLUMN fuel_v1.market_events.fuel       IS 'Fuel code; NULL: all of them.';
COMMENT ON COLUMN fuel_v1.market_events.what       IS 'What happened.';
COMMENT ON COLUMN fuel_v1.market_events.change_cpl IS 'Change of the fuel excise on petrol and diesel before GST, cents per litre; the price at the pump changes by 1.1 times as much. NULL: not stated.';

-- Trends of one region and fuel over a number of days. The views trend_30d and trend_summary show 30 days for all
-- regions and fuels. The functions read private tables for readers who have no rights on them.

CREATE OR REPLACE FUNCTION fuel_v1.trend(region text, fuel text, days integer DEFAULT 30)
RETURNS TABLE (
  day date, average_cpl numeric, min_cpl numeric, max_cpl numeric, moving_average_7d_cpl numeric,
  stations integer)
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- The views call it for hundreds of regions and fuels. Planning each call takes longer than running it.
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  -- NULL, and so without any row, for an unknown region or fuel.
  today date;
BEGIN
  IF trend.days NOT BETWEEN 1 AND 3660 THEN
    RAISE EXCEPTION 'days must be between 1 and 3660, not %', trend.days
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT fuel.price_day(fuel.clock(), known.time_zone, known.starts) INTO today
  FROM fuel.region_clock AS known
  JOIN fuel.fuel AS sold ON sold.fuel = trend.fuel AND sold.is_averaged
  WHERE known.region = trend.region;
  RETURN QUERY
  SELECT
    series.day, series.average_cpl, series.min_cpl, series.max_cpl, series.moving_average_7d_cpl,
    series.stations
  FROM (
    SELECT
      dates.day,
      made.average_cpl,
      made.min_cpl,
      made.max_cpl,
      CASE
        WHEN count(made.average_cpl) OVER week >= 4 THEN round(avg(made.average_cpl) OVER week, 2)
      END AS moving_average_7d_cpl,
      coalesce(made.stations, 0) AS stations
    FROM (
      SELECT today - back.days AS day FROM generate_series(0, trend.days + 6) AS back (days)
    ) AS dates
    LEFT JOIN fuel_v1.daily_averages AS made
      ON made.region = trend.region
      AND made.fuel = trend.fuel
      AND made.day = dates.day
      AND made.day BETWEEN today - trend.days - 6 AND today
    WINDOW week AS (ORDER BY dates.day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
  ) AS series
  WHERE series.day >= today - trend.days
  ORDER BY series.day;
END
$$;
COMMENT ON FUNCTION fuel_v1.trend IS
  'The last price days of a region and fuel and today so far, as trend_30d shows them for 30 days. A day '
  'without enough stations has NULL. There is no row for an unknown region or fuel.';

CREATE OR REPLACE FUNCTION fuel_v1.trend_summary(region text, fuel text, days integer DEFAULT 30)
RETURNS TABLE (
  average_cpl numeric, min_cpl numeric, min_on date, max_cpl numeric, max_on date,
  position_pct integer, slope_cpl_per_day numeric, direction text)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT
    span.average_cpl,
    span.min_cpl,
    span.min_on,
    span.max_cpl,
    span.max_on,
    CASE
      WHEN span.max_cpl > span.min_cpl THEN least(100, greatest(0, round(
        100 * (span.average_cpl - span.min_cpl) / (span.max_cpl - span.min_cpl))))::integer
    END,
    round(span.slope, 2),
    CASE
      WHEN span.step > 0.3 THEN 'rising'
      WHEN span.step < -0.3 THEN 'falling'
      WHEN span.step IS NOT NULL THEN 'steady'
    END
  FROM (
    SELECT
      (array_agg(made.average_cpl ORDER BY made.day DESC))[1] AS average_cpl,
      min(made.average_cpl) AS min_cpl,
      (array_agg(made.day ORDER BY made.average_cpl, made.day DESC))[1] AS min_on,
      max(made.average_cpl) AS max_cpl,
      (array_agg(made.day ORDER BY made.average_cpl DESC, made.day DESC))[1] AS max_on,
      -- As regr_slope computes it, but exactly, so that halves are rounded as everywhere.
      CASE
        WHEN count(*) >= 7
          THEN (count(*) * sum(place.x * made.average_cpl) - sum(place.x) * sum(made.average_cpl))
            / (count(*) * sum(place.x * place.x) - sum(place.x) * sum(place.x))
      END AS slope,
      (array_agg(made.average_cpl ORDER BY made.day DESC))[1]
        - (array_agg(made.average_cpl ORDER BY made.day DESC) FILTER (WHERE made.day <= made.newest_day - 2))[1]
        AS step,
      count(*) AS days
    FROM (
      SELECT each.day, each.average_cpl, max(each.day) OVER () AS today,
        max(each.day) FILTER (WHERE each.average_cpl IS NOT NULL) OVER () AS newest_day
      FROM fuel_v1.trend(trend_summary.region, trend_summary.fuel, trend_summary.days) AS each
    ) AS made
    CROSS JOIN LATERAL (SELECT made.day - made.today AS x) AS place
    WHERE made.average_cpl IS NOT NULL
  ) AS span
  WHERE span.days > 0
$$;
COMMENT ON FUNCTION fuel_v1.trend_summary IS
  'Where the price of a region and fuel is within the range of its last days, as trend_summary shows it for 30 days. '
  'There is no row without a daily average among them.';

CREATE OR REPLACE VIEW fuel.trending AS
SELECT region.region, fuel.fuel, fuel.fuel_id
FROM fuel.region
JOIN fuel.fuel ON fuel.is_averaged
WHERE EXISTS (
  SELECT
  FROM fuel.daily_rollup
  WHERE daily_rollup.region = region.region
    AND daily_rollup.fuel_id = fuel.fuel_id
    AND daily_rollup.day > (fuel.clock() AT TIME ZONE 'UTC')::date - 33);
COMMENT ON VIEW fuel.trending IS
  'Regions and fuels with a daily average in the last 30 price days, whatever the clock of the region. One row each.';

CREATE OR REPLACE VIEW fuel_v1.trend_30d AS
SELECT
  trending.region,
  trending.fuel,
  trend.day,
  trend.average_cpl::numeric(6, 2) AS average_cpl,
  trend.min_cpl::numeric(6, 2) AS min_cpl,
  trend.max_cpl::numeric(6, 2) AS max_cpl,
  trend.moving_average_7d_cpl::numeric(6, 2) AS moving_average_7d_cpl,
  trend.stations
FROM fuel.trending
CROSS JOIN LATERAL fuel_v1.trend(trending.region, trending.fuel, 30) AS trend;
COMMENT ON VIEW fuel_v1.trend_30d IS
  'The last 30 price days and today so far. One row per region, fuel and day; a day without enough '
  'stations has NULL and is never filled in.';
COMMENT ON COLUMN fuel_v1.trend_30d.region                IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.trend_30d.fuel                  IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.trend_30d.day                   IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.trend_30d.average_cpl           IS 'Daily average, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.min_cpl               IS 'Lowest station average of the day, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.max_cpl               IS 'Highest station average of the day, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.moving_average_7d_cpl IS 'Mean of the daily averages of this day and the six days before, cents per litre; NULL below four days.';
COMMENT ON COLUMN fuel_v1.trend_30d.stations              IS 'Number of stations that the averages are computed from; 0: none.';

CREATE OR REPLACE VIEW fuel_v1.trend_summary AS
SELECT
  trending.region,
  trending.fuel,
  summary.average_cpl::numeric(6, 2) AS average_cpl,
  summary.min_cpl::numeric(6, 2) AS min_30d_cpl,
  summary.max_cpl::numeric(6, 2) AS max_30d_cpl,
  summary.min_on,
  summary.max_on,
  summary.position_pct,
  summary.slope_cpl_per_day::numeric(6, 2) AS slope_cpl_per_day,
  summary.direction,
  coalesce(market.is_cycling, false) AS is_cycling,
  CASE
    WHEN market.is_cycling
      THEN fuel.price_day(fuel.clock(), region_clock.time_zone, region_clock.starts) - market.trough_on + 1
  END AS cycle_day,
  CASE WHEN market.is_cycling THEN market.typical_days END AS typical_cycle_days
FROM fuel.trending
JOIN fuel.region_clock USING (region)
LEFT JOIN fuel.market USING (region, fuel_id)
CROSS JOIN LATERAL fuel_v1.trend_summary(trending.region, trending.fuel, 30) AS summary;
COMMENT ON VIEW fuel_v1.trend_summary IS
  'Where the price is within the range of its last 30 days. One row per region and fuel with a daily average in it.';
COMMENT ON COLUMN fuel_v1.trend_summary.region             IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.trend_summary.fuel               IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.trend_summary.average_cpl        IS 'The newest daily average of the month, or that of today so far if there is one, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.min_30d_cpl        IS 'Lowest daily average, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.max_30d_cpl        IS 'Highest daily average, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.min_on             IS 'The day of min_30d_cpl; the latest if there are several.';
COMMENT ON COLUMN fuel_v1.trend_summary.max_on             IS 'The day of max_30d_cpl; the latest if there are several.';
COMMENT ON COLUMN fuel_v1.trend_summary.position_pct       IS '0 at the month''s low, 100 at its high; NULL where both are equal.';
COMMENT ON COLUMN fuel_v1.trend_summary.slope_cpl_per_day  IS 'Slope of the straight line through the daily averages, cents per litre per day; NULL below seven days.';
COMMENT ON COLUMN fuel_v1.trend_summary.direction          IS 'rising, falling or steady: whether the newest average differs from that of two or more days before by more than 0.3 c; NULL: not known.';
COMMENT ON COLUMN fuel_v1.trend_summary.is_cycling         IS 'Whether there is a price cycle: the last three cycles are alike, each rise is followed by a fall, and the current cycle is not overdue.';
COMMENT ON COLUMN fuel_v1.trend_summary.cycle_day          IS 'Day of the current cycle; 1 is the day of the trough that it began with; NULL: no cycle.';
COMMENT ON COLUMN fuel_v1.trend_summary.typical_cycle_days IS 'The median length of the last three cycles, in days; NULL: no cycle.';
