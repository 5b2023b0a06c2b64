CREATE OR REPLACE VIEW fuel_v1.trend_summary AS
SELECT
  region.region,
  fuel.fuel,
  summary.average_cpl::numeric(6, 2) AS average_cpl,
  summary.low_cpl::numeric(6, 2) AS low_30d_cpl,
  summary.low_on,
  summary.high_cpl::numeric(6, 2) AS high_30d_cpl,
  summary.high_on,
  summary.position_pct,
  summary.slope_cpl_per_day::numeric(6, 2) AS slope_cpl_per_day,
  summary.direction,
  coalesce(market.is_cycling, false) AS is_cycling,
  CASE
    WHEN market.is_cycling
      THEN fuel.price_day(fuel.clock(), region_clock.time_zone, region_clock.starts) - market.trough_on + 1
  END AS cycle_day,
  CASE WHEN market.is_cycling THEN market.typical_days END AS typical_cycle_days
FROM fuel.region
JOIN fuel.fuel ON fuel.is_averaged
JOIN fuel.region_clock USING (region)
LEFT JOIN fuel.market ON market.region = region.region AND market.fuel_id = fuel.fuel_id
CROSS JOIN LATERAL fuel_v1.trend_summary(region.region, fuel.fuel, 30) AS summary
WHERE EXISTS (
  SELECT
  FROM fuel.daily_rollup
  WHERE daily_rollup.region = region.region
    AND daily_rollup.fuel_id = fuel.fuel_id
    AND daily_rollup.day > (fuel.clock() AT TIME ZONE 'UTC')::date - 33);
COMMENT ON VIEW fuel_v1.trend_summary IS
  'Where the price is within the range of its last 30 days. One row per region and fuel with a daily average in it.';
COMMENT ON COLUMN fuel_v1.trend_summary.region            IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.trend_summary.fuel              IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.trend_summary.average_cpl       IS 'The newest daily average of the month, or that of today so far if there is one, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.low_30d_cpl       IS 'Lowest daily average, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.low_on            IS 'The day of it; the latest if there are several.';
COMMENT ON COLUMN fuel_v1.trend_summary.high_30d_cpl      IS 'Highest daily average, cents per litre.';
COMMENT ON COLUMN fuel_v1.trend_summary.high_on           IS 'The day of it; the latest if there are several.';
COMMENT ON COLUMN fuel_v1.trend_summary.position_pct      IS '0 at the month''s low, 100 at its high; NULL where both are equal.';
COMMENT ON COLUMN fuel_v1.trend_summary.slope_cpl_per_day IS 'Slope of the straight line through the daily averages, cents per litre per day; NULL below seven days.';
COMMENT ON COLUMN fuel_v1.trend_summary.direction         IS 'rising, falling or steady: whether the newest average differs from that of two or more days before by 0.3 c; NULL: not known.';
COMMENT ON COLUMN fuel_v1.trend_summary.is_cycling         IS 'Whether there is a price cycle: the last three cycles are alike, each rise is followed by a fall, and the current cycle is not overdue.';
COMMENT ON COLUMN fuel_v1.trend_summary.cycle_day          IS 'Day of the current cycle; 1 is the day of the trough that it began with; NULL: no cycle.';
COMMENT ON COLUMN fuel_v1.trend_summary.typical_cycle_days IS 'The median length of the last three cycles, in days; NULL: no cycle.';
GRANT SELECT ON fuel_v1.trend_summary TO fuel_reader, fuel_writer;
