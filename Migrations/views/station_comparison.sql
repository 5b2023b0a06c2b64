CREATE OR REPLACE VIEW fuel_v1.station_comparison AS
SELECT
  price.station_id,
  price.region,
  fuel.fuel,
  (price.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  (CASE WHEN price.stations >= fuel.minimum_stations() THEN price.average_tenths / 10 END)::numeric(6, 2)
    AS region_average_cpl,
  (CASE WHEN price.stations >= fuel.minimum_stations() THEN (price.price_tenths - price.average_tenths) / 10
  END)::numeric(6, 2) AS difference_cpl,
  price.rank_in_region::integer,
  price.stations::integer
FROM fuel.fuel
-- Fuel by fuel, so that only the prices of the fuels that are asked for are read.
CROSS JOIN LATERAL (
  SELECT
    region_station.station_id,
    region_station.region,
    price_now.price_tenths,
    avg(price_now.price_tenths) OVER market AS average_tenths,
    rank() OVER market AS rank_in_region,
    count(*) OVER market AS stations
  -- Eight relations are joined, as in fuel.average_live.
  FROM fuel.region_station
  JOIN fuel.region_delay USING (region)
  JOIN fuel.price_now USING (station_id)
  WHERE price_now.fuel_id = fuel.fuel_id
    -- Of a CASE the server expects half of the rows to pass. Of the plain conditions it would expect too few.
    AND CASE WHEN price_now.is_counted THEN true END
    AND CASE WHEN price_now.delay <= region_delay.delay THEN true END
  -- One window for all columns, so that the prices are sorted and read once.
  WINDOW market AS (
    PARTITION BY region_station.region ORDER BY price_now.price_tenths
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
) AS price
WHERE fuel.is_averaged;
COMMENT ON VIEW fuel_v1.station_comparison IS
  'The price of a station compared with its region. One row per station, region that it is in, and fuel.';
COMMENT ON COLUMN fuel_v1.station_comparison.station_id         IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_comparison.region             IS 'The region it is compared with.';
COMMENT ON COLUMN fuel_v1.station_comparison.fuel               IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.station_comparison.price_cpl          IS 'Price in effect, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_comparison.region_average_cpl IS 'Mean of the region, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.station_comparison.difference_cpl     IS 'Price of the station minus the mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.station_comparison.rank_in_region     IS '1 is the cheapest; equal prices share a rank.';
COMMENT ON COLUMN fuel_v1.station_comparison.stations           IS 'Number of stations that are compared.';
GRANT SELECT ON fuel_v1.station_comparison TO fuel_reader, fuel_writer;
