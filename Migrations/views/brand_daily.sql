CREATE OR REPLACE VIEW fuel_v1.brand_daily AS
SELECT
  station.state,
  coalesce(brand_name.brand, station.brand) AS brand,
  day.fuel,
  day.day,
  round(avg(day.mean) / 655360, 2)::numeric(6, 2) AS average_cpl,
  (min(day.low) / 10.0)::numeric(5, 1) AS low_cpl,
  (max(day.high) / 10.0)::numeric(5, 1) AS high_cpl,
  count(*)::integer AS stations,
  day.month
FROM fuel.station_day AS day
JOIN fuel.station USING (station_id)
LEFT JOIN fuel.brand_name
  ON brand_name.written = lower(station.brand)
  AND brand_name.valid_from <= day.day
  AND brand_name.valid_to > day.day
WHERE station.is_public
  AND day.is_complete
  AND station.brand IS NOT NULL
GROUP BY station.state, coalesce(brand_name.brand, station.brand), day.fuel, day.day, day.month;
COMMENT ON VIEW fuel_v1.brand_daily IS
  'What the stations of a brand charged over each price day that has ended. One row per state, brand, fuel and day; '
  'computed from station_days at each query: filter by month as there.';
COMMENT ON COLUMN fuel_v1.brand_daily.state       IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.brand_daily.brand       IS 'The brand that the stations have now, under the name configured for that day.';
COMMENT ON COLUMN fuel_v1.brand_daily.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.brand_daily.day         IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.brand_daily.average_cpl IS 'Mean over stations of their average of the day, cents per litre; rounded once.';
COMMENT ON COLUMN fuel_v1.brand_daily.low_cpl     IS 'Lowest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.brand_daily.high_cpl    IS 'Highest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.brand_daily.stations    IS 'Number of stations it is computed from: those with a price for three quarters of the day.';
COMMENT ON COLUMN fuel_v1.brand_daily.month       IS 'The first day of its month. Filter by month as well as by day, and only those months are read.';
GRANT SELECT ON fuel_v1.brand_daily TO fuel_reader, fuel_writer;
