CREATE OR REPLACE VIEW fuel_v1.trend_30d AS
SELECT
  series.region,
  series.fuel,
  series.day,
  series.average_cpl::numeric(6, 2) AS average_cpl,
  series.min_cpl::numeric(6, 2) AS min_cpl,
  series.max_cpl::numeric(6, 2) AS max_cpl,
  round(series.moving_average_7d_cpl, 2)::numeric(6, 2) AS moving_average_7d_cpl,
  series.stations
FROM (
  SELECT
    pair.region,
    fuel.fuel,
    day.day::date AS day,
    present.today,
    sample.average_cpl,
    sample.min_cpl,
    sample.max_cpl,
    coalesce(daily_rollup.stations, 0) AS stations,
    CASE
      WHEN count(sample.average_cpl) OVER week >= 4 THEN avg(sample.average_cpl) OVER week
    END AS moving_average_7d_cpl
  FROM (
    SELECT DISTINCT daily_rollup.region, daily_rollup.fuel_id
    FROM fuel.daily_rollup
    WHERE daily_rollup.day > (fuel.clock() AT TIME ZONE 'UTC')::date - 33
  ) AS pair
  JOIN fuel.region USING (region)
  JOIN fuel.fuel ON fuel.fuel_id = pair.fuel_id AND fuel.is_averaged
  LEFT JOIN fuel.state ON state.state = region.state
  CROSS JOIN LATERAL (
    SELECT fuel.price_day(
      fuel.clock(), coalesce(state.time_zone, 'Australia/Sydney'),
      coalesce(state.price_day_starts, '0')) AS today
  ) AS present
  CROSS JOIN LATERAL generate_series(
    present.today - 36, present.today, interval '1 day') AS day (day)
  LEFT JOIN fuel.daily_rollup
    ON daily_rollup.region = pair.region
    AND daily_rollup.fuel_id = pair.fuel_id
    AND daily_rollup.day = day.day::date
  CROSS JOIN LATERAL (
    SELECT
      CASE WHEN daily_rollup.stations >= fuel.minimum_stations() THEN daily_rollup.average_cpl END
        AS average_cpl,
      CASE WHEN daily_rollup.stations >= fuel.minimum_stations() THEN daily_rollup.min_cpl END
        AS min_cpl,
      CASE WHEN daily_rollup.stations >= fuel.minimum_stations() THEN daily_rollup.max_cpl END
        AS max_cpl
  ) AS sample
  WINDOW week AS (
    PARTITION BY pair.region, fuel.fuel
    ORDER BY day.day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
) AS series
WHERE series.day >= series.today - 30;
COMMENT ON VIEW fuel_v1.trend_30d IS
  'The last 30 price days and today so far. One row per region, fuel and day; a day without enough '
  'stations has NULL and is never filled in.';
COMMENT ON COLUMN fuel_v1.trend_30d.region      IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.trend_30d.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.trend_30d.day         IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.trend_30d.average_cpl IS 'Daily average, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.min_cpl     IS 'Cheapest station''s day, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.max_cpl     IS 'Dearest station''s day, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.moving_average_7d_cpl IS 'Mean of the daily averages of this and the six days before; NULL below four days.';
COMMENT ON COLUMN fuel_v1.trend_30d.stations    IS 'How many stations the day rests on; 0: none.';
GRANT SELECT ON fuel_v1.trend_30d TO fuel_reader, fuel_writer;
