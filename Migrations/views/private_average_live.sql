-- Averages of the prices in effect now, made from fuel.price_now. The query reads every station.
CREATE OR REPLACE VIEW fuel.average_live AS
SELECT
  region.region,
  fuel.fuel_id,
  round(avg(price.price_tenths) FILTER (WHERE price.counts) / 10, 2)::numeric(6, 2)
    AS average_cpl,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY price.price_tenths)
    FILTER (WHERE price.counts))::numeric / 10, 2)::numeric(6, 2) AS median_cpl,
  round((percentile_cont(0.25) WITHIN GROUP (ORDER BY price.price_tenths)
    FILTER (WHERE price.counts))::numeric / 10, 2)::numeric(6, 2) AS p25_cpl,
  (min(price.price_tenths) FILTER (WHERE price.counts) / 10.0)::numeric(5, 1) AS min_cpl,
  (max(price.price_tenths) FILTER (WHERE price.counts) / 10.0)::numeric(5, 1) AS max_cpl,
  (count(*) FILTER (WHERE price.counts))::integer AS stations,
  (count(*) FILTER (WHERE NOT price.is_fresh))::integer AS excluded_stale,
  (count(*) FILTER (WHERE price.is_fresh AND price.is_flagged))::integer AS excluded_flagged,
  (count(*) FILTER (WHERE price.is_fresh AND NOT price.is_flagged AND NOT price.is_public))
    ::integer AS excluded_restricted,
  (count(*) FILTER (WHERE price.is_counted AND NOT price.counts))::integer AS excluded_delayed,
  (extract(epoch FROM region_delay.delay) / 3600)::integer AS delay_hours,
  max(price.now_at) - region_delay.delay AS as_of_at
FROM fuel.region
JOIN fuel.region_delay USING (region)
JOIN fuel.region_station USING (region)
CROSS JOIN LATERAL (
  SELECT price_now.*, price_now.is_counted AND price_now.delay <= region_delay.delay AS counts
  FROM fuel.price_now
  WHERE price_now.station_id = region_station.station_id
    AND price_now.price_tenths > 0
    AND price_now.lapses_at > price_now.now_at - interval '720 hours'
) AS price
JOIN fuel.fuel ON fuel.fuel_id = price.fuel_id AND fuel.is_averaged
GROUP BY region.region, region_delay.delay, fuel.fuel_id;
COMMENT ON VIEW fuel.average_live IS 'Averages at this moment. One row per region and fuel.';
COMMENT ON COLUMN fuel.average_live.region IS 'The region.';
COMMENT ON COLUMN fuel.average_live.fuel_id IS 'The fuel.';
COMMENT ON COLUMN fuel.average_live.average_cpl IS 'Mean, c/L; NULL: none counts.';
COMMENT ON COLUMN fuel.average_live.median_cpl IS 'Median, c/L.';
COMMENT ON COLUMN fuel.average_live.p25_cpl IS 'Lower quartile, c/L.';
COMMENT ON COLUMN fuel.average_live.min_cpl IS 'Lowest, c/L.';
COMMENT ON COLUMN fuel.average_live.max_cpl IS 'Highest, c/L.';
COMMENT ON COLUMN fuel.average_live.stations IS 'How many stations count.';
COMMENT ON COLUMN fuel.average_live.excluded_stale IS 'Left out: too old to believe.';
COMMENT ON COLUMN fuel.average_live.excluded_flagged IS 'Left out: doubtful.';
COMMENT ON COLUMN fuel.average_live.excluded_restricted IS 'Left out: for members only.';
COMMENT ON COLUMN fuel.average_live.excluded_delayed IS 'Left out: published late.';
COMMENT ON COLUMN fuel.average_live.delay_hours IS 'How late the region publishes.';
COMMENT ON COLUMN fuel.average_live.as_of_at IS 'The instant whose prices these are.';
GRANT SELECT ON fuel.average_live TO fuel_writer;
