CREATE OR REPLACE VIEW fuel_v1.trend_summary AS
SELECT
  month.region,
  month.fuel,
  month.average_cpl::numeric(6, 2) AS average_cpl,
  month.low_30d_cpl::numeric(6, 2) AS low_30d_cpl,
  month.low_on,
  month.high_30d_cpl::numeric(6, 2) AS high_30d_cpl,
  month.high_on,
  CASE
    WHEN month.high_30d_cpl > month.low_30d_cpl THEN least(100, greatest(0, round(
      100 * (month.average_cpl - month.low_30d_cpl) / (month.high_30d_cpl - month.low_30d_cpl))))
      ::integer
  END AS position_pct,
  round(month.slope_cpl_per_day, 2)::numeric(6, 2) AS slope_cpl_per_day,
  CASE
    WHEN month.step_cpl > 0.3 THEN 'rising'
    WHEN month.step_cpl < -0.3 THEN 'falling'
    WHEN month.step_cpl IS NOT NULL THEN 'steady'
  END AS direction
FROM (
  SELECT
    dated.region,
    dated.fuel,
    (array_agg(dated.average_cpl ORDER BY dated.day DESC))[1] AS average_cpl,
    min(dated.average_cpl) AS low_30d_cpl,
    (array_agg(dated.day ORDER BY dated.average_cpl, dated.day DESC))[1] AS low_on,
    max(dated.average_cpl) AS high_30d_cpl,
    (array_agg(dated.day ORDER BY dated.average_cpl DESC, dated.day DESC))[1] AS high_on,
    CASE WHEN count(*) >= 7 THEN regr_slope(dated.average_cpl, dated.age)::numeric END
      AS slope_cpl_per_day,
    (array_agg(dated.average_cpl ORDER BY dated.day DESC))[1]
      - (array_agg(dated.average_cpl ORDER BY dated.day DESC) FILTER (WHERE dated.age <= -2))[1]
      AS step_cpl
  FROM (
    SELECT
      daily_rollup.region,
      fuel.fuel,
      daily_rollup.day,
      daily_rollup.average_cpl,
      daily_rollup.day - present.today AS age
    FROM fuel.daily_rollup
    JOIN fuel.region USING (region)
    JOIN fuel.fuel ON fuel.fuel_id = daily_rollup.fuel_id AND fuel.is_averaged
    LEFT JOIN fuel.state ON state.state = region.state
    CROSS JOIN LATERAL (
      SELECT fuel.price_day(
        fuel.clock(), coalesce(state.time_zone, 'Australia/Sydney'),
        coalesce(state.price_day_starts, '0')) AS today
    ) AS present
    WHERE daily_rollup.day BETWEEN present.today - 30 AND present.today
      AND daily_rollup.stations >= fuel.minimum_stations()
  ) AS dated
  GROUP BY dated.region, dated.fuel
) AS month;
COMMENT ON VIEW fuel_v1.trend_summary IS
  'Where the price stands in its month. One row per region and fuel with a daily average in it.';
COMMENT ON COLUMN fuel_v1.trend_summary.region            IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.trend_summary.fuel              IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.trend_summary.average_cpl       IS 'The newest daily average of the month, today''s so far where there is one, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.low_30d_cpl       IS 'Lowest daily average, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.low_on            IS 'Its day; the latest of several.';
COMMENT ON COLUMN fuel_v1.trend_summary.high_30d_cpl      IS 'Highest daily average, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.high_on           IS 'Its day; the latest of several.';
COMMENT ON COLUMN fuel_v1.trend_summary.position_pct      IS '0 at the month''s low, 100 at its high; NULL where both are equal.';
COMMENT ON COLUMN fuel_v1.trend_summary.slope_cpl_per_day IS 'Slope of the straight line through the daily averages, cents per litre and day; NULL below seven days.';
COMMENT ON COLUMN fuel_v1.trend_summary.direction         IS 'rising, falling or steady: the newest average against that of two or more days before, by 0.3 c; NULL: not known.';
GRANT SELECT ON fuel_v1.trend_summary TO fuel_reader, fuel_writer;
