-- The prices of each region and fuel are collected in arrays, because collecting needs no order: to sort all prices by
-- region would cost more than everything else. Changes are those of the last aggregate. A session whose clock stands
-- before it has none; the present has them even if the clock of the aggregate was ahead of the server's.
CREATE OR REPLACE VIEW fuel_v1.averages_now AS
SELECT
  market.region,
  region.state,
  fuel.fuel,
  (CASE WHEN middle.stations >= fuel.minimum_stations() THEN round(middle.mean / 10, 2) END)::numeric(6, 2)
    AS average_cpl,
  (CASE WHEN middle.stations >= fuel.minimum_stations() THEN round(middle.median::numeric / 10, 2) END)::numeric(6, 2)
    AS median_cpl,
  (CASE WHEN middle.stations >= fuel.minimum_stations() THEN round(middle.quartile::numeric / 10, 2) END)::numeric(6, 2)
    AS p25_cpl,
  (middle.low / 10.0)::numeric(5, 1) AS min_cpl,
  (middle.high / 10.0)::numeric(5, 1) AS max_cpl,
  middle.stations,
  middle.stale AS excluded_stale,
  middle.flagged AS excluded_flagged,
  market.now_at - market.delay AS as_of_at,
  region_change.change_24h_cpl,
  region_change.change_7d_cpl,
  middle.restricted AS excluded_restricted,
  middle.delayed AS excluded_delayed,
  (extract(epoch FROM market.delay) / 3600)::integer AS delay_hours
FROM fuel.fuel
-- Fuel by fuel, so that only the prices of the fuels that are asked for are read.
CROSS JOIN LATERAL (
  SELECT
    region_station.region,
    region_delay.delay,
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
  WHERE price_now.fuel_id = fuel.fuel_id
    AND price_now.price_tenths <> 0
    AND price_now.lapses_at > price_now.now_at - fuel.dormant_after()
  GROUP BY region_station.region, region_delay.delay
) AS market
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
) AS middle
JOIN fuel.region USING (region)
LEFT JOIN fuel.region_change
  ON region_change.region = market.region
  AND region_change.fuel_id = fuel.fuel_id
  AND (region_change.as_of_at <= fuel.clock() OR fuel.clock() = now())
WHERE fuel.is_averaged;
COMMENT ON VIEW fuel_v1.averages_now IS
  'Averages over stations of the price in effect at this moment. One row per region and fuel. Stale, '
  'doubtful and members-only prices, and prices that are published late, are left out, and their stations are '
  'counted. In a state that publishes all its prices late, the row shows an earlier instant: see as_of_at and '
  'delay_hours.';
COMMENT ON COLUMN fuel_v1.averages_now.region           IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.averages_now.state            IS 'Its state; NULL for the nation and areas across borders.';
COMMENT ON COLUMN fuel_v1.averages_now.fuel             IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.averages_now.average_cpl      IS 'Mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.median_cpl       IS 'Median, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.p25_cpl          IS 'Lower quartile, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.min_cpl          IS 'Lowest price, cents per litre; NULL where no station counts.';
COMMENT ON COLUMN fuel_v1.averages_now.max_cpl          IS 'Highest price, cents per litre; NULL where no station counts.';
COMMENT ON COLUMN fuel_v1.averages_now.stations         IS 'Number of stations that the averages are computed from.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_stale   IS 'Stations left out because their price is too old to believe.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_flagged IS 'Stations left out because their price is doubtful.';
COMMENT ON COLUMN fuel_v1.averages_now.as_of_at         IS 'The instant whose prices these are: now, earlier by delay_hours.';
COMMENT ON COLUMN fuel_v1.averages_now.change_24h_cpl   IS 'Change over 24 hours, over the stations with a price at both ends, as of the last aggregate, cents per litre; NULL: fewer than three such stations, or the clock of the session stands before that aggregate.';
COMMENT ON COLUMN fuel_v1.averages_now.change_7d_cpl    IS 'Change over 7 days, over the stations with a price at both ends, as of the last aggregate, cents per litre; NULL: fewer than three such stations, or the clock of the session stands before that aggregate.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_restricted IS 'Stations left out because only members or permit holders may use them.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_delayed IS 'Stations left out because their state publishes prices late, such as Victoria by a day.';
COMMENT ON COLUMN fuel_v1.averages_now.delay_hours IS 'How late the prices of the region are published, in hours; 0: without delay. The national average now leaves out states that publish late; the national daily averages include them.';
GRANT SELECT ON fuel_v1.averages_now TO fuel_reader, fuel_writer;
