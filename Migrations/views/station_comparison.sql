CREATE OR REPLACE VIEW fuel_v1.station_comparison AS
SELECT
  price.station_id,
  price.region,
  price.fuel,
  (price.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  (CASE WHEN count(*) OVER market >= fuel.minimum_stations()
    THEN round(avg(price.price_tenths) OVER market / 10, 2)
  END)::numeric(6, 2) AS region_average_cpl,
  (CASE WHEN count(*) OVER market >= fuel.minimum_stations()
    THEN round((price.price_tenths - avg(price.price_tenths) OVER market) / 10, 2)
  END)::numeric(6, 2) AS difference_cpl,
  (rank() OVER (PARTITION BY price.region, price.fuel ORDER BY price.price_tenths))::integer
    AS rank_in_region,
  (count(*) OVER market)::integer AS stations
FROM (
  SELECT
    price_now.station_id,
    region_station.region,
    fuel.fuel,
    price_now.price_tenths
  FROM fuel.price_now
  JOIN fuel.fuel USING (fuel_id)
  JOIN fuel.region_station USING (station_id)
  JOIN fuel.region_delay USING (region)
  WHERE price_now.is_counted AND price_now.delay <= region_delay.delay AND fuel.is_averaged
) AS price
WINDOW market AS (PARTITION BY price.region, price.fuel);
COMMENT ON VIEW fuel_v1.station_comparison IS
  'A station''s price beside its region''s. One row per station, region it is in, and fuel.';
COMMENT ON COLUMN fuel_v1.station_comparison.station_id         IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_comparison.region             IS 'The region it is compared with.';
COMMENT ON COLUMN fuel_v1.station_comparison.fuel               IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.station_comparison.price_cpl          IS 'Price in effect, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_comparison.region_average_cpl IS 'Mean of the region, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.station_comparison.difference_cpl     IS 'Station less mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.station_comparison.rank_in_region     IS '1 is cheapest; equal prices share a rank.';
COMMENT ON COLUMN fuel_v1.station_comparison.stations           IS 'How many stations are compared.';
GRANT SELECT ON fuel_v1.station_comparison TO fuel_reader, fuel_writer;
