CREATE OR REPLACE VIEW fuel_v1.averages_now AS
SELECT
  present.region,
  present.state,
  present.fuel,
  (CASE WHEN present.stations >= fuel.minimum_stations() THEN present.average_cpl END)::numeric(6, 2)
    AS average_cpl,
  (CASE WHEN present.stations >= fuel.minimum_stations() THEN present.median_cpl END)::numeric(6, 2)
    AS median_cpl,
  (CASE WHEN present.stations >= fuel.minimum_stations() THEN present.p25_cpl END)::numeric(6, 2)
    AS p25_cpl,
  present.min_cpl,
  present.max_cpl,
  present.stations,
  present.excluded_stale,
  present.excluded_flagged,
  present.as_of_at,
  region_change.change_24h_cpl,
  region_change.change_7d_cpl,
  present.excluded_restricted,
  present.excluded_delayed,
  present.delay_hours
FROM (
  SELECT
    region.region,
    region.state,
    fuel.fuel,
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
      AND price_now.lapses_at > price_now.now_at - interval '30 days'
  ) AS price
  JOIN fuel.fuel ON fuel.fuel_id = price.fuel_id AND fuel.is_averaged
  GROUP BY region.region, region.state, region_delay.delay, fuel.fuel, fuel.fuel_id
) AS present
LEFT JOIN fuel.region_change
  ON region_change.region = present.region AND region_change.fuel_id = present.fuel_id;
COMMENT ON VIEW fuel_v1.averages_now IS
  'Averages over stations of the price in effect at this moment. One row per region and fuel. Stale, '
  'doubtful, future, members-only and late published prices are left out and counted. Where a state '
  'publishes late altogether, the row is of then: see as_of_at and delay_hours.';
COMMENT ON COLUMN fuel_v1.averages_now.region           IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.averages_now.state            IS 'Its state; NULL for the nation and areas across borders.';
COMMENT ON COLUMN fuel_v1.averages_now.fuel             IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.averages_now.average_cpl      IS 'Mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.median_cpl       IS 'Median, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.p25_cpl          IS 'Lower quartile, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.averages_now.min_cpl          IS 'Lowest price, cents per litre; NULL where no station counts.';
COMMENT ON COLUMN fuel_v1.averages_now.max_cpl          IS 'Highest price, cents per litre; NULL where no station counts.';
COMMENT ON COLUMN fuel_v1.averages_now.stations         IS 'How many stations the averages rest on.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_stale   IS 'Stations left out because their price is too old to believe.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_flagged IS 'Stations left out because their price is doubtful.';
COMMENT ON COLUMN fuel_v1.averages_now.as_of_at         IS 'The instant whose prices these are: now, or earlier by delay_hours.';
COMMENT ON COLUMN fuel_v1.averages_now.change_24h_cpl   IS 'Change over 24 hours of the stations priced at both ends, as of the last aggregate; NULL: fewer than three.';
COMMENT ON COLUMN fuel_v1.averages_now.change_7d_cpl    IS 'Change over 7 days of the stations priced at both ends, as of the last aggregate; NULL: fewer than three.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_restricted IS 'Stations left out because only members or permit holders may use them.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_delayed IS 'Stations left out because their state publishes prices late, such as Victoria''s a day.';
COMMENT ON COLUMN fuel_v1.averages_now.delay_hours IS 'How late the region''s prices are published; 0: they are of now.';
GRANT SELECT ON fuel_v1.averages_now TO fuel_reader, fuel_writer;
