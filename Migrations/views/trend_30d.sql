CREATE OR REPLACE VIEW fuel_v1.trend_30d AS
SELECT
  region.region,
  fuel.fuel,
  trend.day,
  trend.average_cpl::numeric(6, 2) AS average_cpl,
  trend.min_cpl::numeric(6, 2) AS min_cpl,
  trend.max_cpl::numeric(6, 2) AS max_cpl,
  trend.moving_average_7d_cpl::numeric(6, 2) AS moving_average_7d_cpl,
  trend.stations
FROM fuel.region
JOIN fuel.fuel ON fuel.is_averaged
CROSS JOIN LATERAL fuel_v1.trend(region.region, fuel.fuel, 30) AS trend
WHERE EXISTS (
  SELECT
  FROM fuel.daily_rollup
  WHERE daily_rollup.region = region.region
    AND daily_rollup.fuel_id = fuel.fuel_id
    AND daily_rollup.day > (fuel.clock() AT TIME ZONE 'UTC')::date - 33);
COMMENT ON VIEW fuel_v1.trend_30d IS
  'The last 30 price days and today so far. One row per region, fuel and day; a day without enough '
  'stations has NULL and is never filled in.';
COMMENT ON COLUMN fuel_v1.trend_30d.region      IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.trend_30d.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.trend_30d.day         IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.trend_30d.average_cpl IS 'Daily average, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.min_cpl     IS 'Lowest station average of the day, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.max_cpl     IS 'Highest station average of the day, cents per litre; NULL: a gap.';
COMMENT ON COLUMN fuel_v1.trend_30d.moving_average_7d_cpl IS 'Mean of the daily averages of this day and the six days before, cents per litre; NULL below four days.';
COMMENT ON COLUMN fuel_v1.trend_30d.stations    IS 'Number of stations that the averages are computed from; 0: none.';
GRANT SELECT ON fuel_v1.trend_30d TO fuel_reader, fuel_writer;
