CREATE OR REPLACE VIEW fuel_v1.station_comparison AS
SELECT
  price.station_id,
  price.region,
  price.fuel,
  (price.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  (CASE WHEN count(*) OVER market >= fuel.minimum_stations()
    THEN avg(price.price_tenths) OVER market / 10
  END)::numeric(6, 2) AS region_average_cpl,
  (CASE WHEN count(*) OVER market >= fuel.minimum_stations()
    THEN (price.price_tenths - avg(price.price_tenths) OVER market) / 10
  END)::numeric(6, 2) AS difference_cpl,
  (rank() OVER market)::integer AS rank_in_region,
  (count(*) OVER market)::integer AS stations
FROM (
  SELECT
    present.station_id,
    region_station.region,
    fuel.fuel,
    present.price_tenths
  FROM fuel.fuel
  -- Fuel by fuel, so that a single fuel is found by its index. OFFSET 0 keeps the server from merging the subquery. The
  -- server cannot estimate how many prices count, and would compare every price with every station.
  CROSS JOIN LATERAL (
    SELECT price_now.station_id, price_now.price_tenths, price_now.is_counted, price_now.delay
    FROM fuel.price_now
    WHERE price_now.fuel_id = fuel.fuel_id
    OFFSET 0
  ) AS present
  JOIN fuel.region_station USING (station_id)
  JOIN fuel.region_delay USING (region)
  -- One condition, of which the server expects half of the rows to pass. Of two conditions it would expect too few.
  WHERE CASE WHEN present.is_counted THEN present.delay <= region_delay.delay END
    AND fuel.is_averaged
) AS price
-- One window for all columns, so that the prices are sorted and read once.
WINDOW market AS (
  PARTITION BY price.fuel, price.region ORDER BY price.price_tenths
  ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);
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
