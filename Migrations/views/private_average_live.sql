-- Averages of the prices in effect now, made from fuel.price_now. The query reads every station of the regions that are
-- asked for. The prices of each region and fuel are collected in arrays, because collecting needs no order: to sort all
-- prices by region would cost more than everything else.
CREATE OR REPLACE VIEW fuel.average_live AS
SELECT
  market.region,
  market.fuel_id,
  round(middle.mean / 10, 2)::numeric(6, 2) AS average_cpl,
  round(middle.median::numeric / 10, 2)::numeric(6, 2) AS median_cpl,
  round(middle.quartile::numeric / 10, 2)::numeric(6, 2) AS p25_cpl,
  (middle.low / 10.0)::numeric(5, 1) AS min_cpl,
  (middle.high / 10.0)::numeric(5, 1) AS max_cpl,
  middle.stations,
  middle.stale AS excluded_stale,
  middle.flagged AS excluded_flagged,
  middle.restricted AS excluded_restricted,
  middle.delayed AS excluded_delayed,
  (extract(epoch FROM market.delay) / 3600)::integer AS delay_hours,
  market.now_at - market.delay AS as_of_at
FROM (
  SELECT
    region_station.region,
    region_delay.delay,
    price_now.fuel_id,
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
  WHERE price_now.price_tenths <> 0 AND price_now.lapses_at > price_now.now_at - fuel.dormant_after()
  GROUP BY region_station.region, region_delay.delay, price_now.fuel_id
) AS market
JOIN fuel.fuel ON fuel.fuel_id = market.fuel_id AND fuel.is_averaged
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
) AS middle;
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
