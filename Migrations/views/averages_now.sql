-- The averages that the last aggregate kept, as long as no price has arrived or taken effect since. After that the view
-- computes the averages itself. Changes are those of the last aggregate. A session whose clock stands before it has none;
-- the present has them even if the clock of the aggregate was ahead of the server's.
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
FROM fuel.fuel
-- Fuel by fuel, so that only the prices of the fuels that are asked for are read.
CROSS JOIN LATERAL (
  SELECT
    kept.region, kept.fuel_id, kept.average_cpl, kept.median_cpl, kept.p25_cpl, kept.min_cpl, kept.max_cpl, kept.stations,
    kept.excluded_stale, kept.excluded_flagged, kept.excluded_restricted, kept.excluded_delayed, kept.delay_hours,
    kept.as_of_at
  FROM fuel.average_kept AS kept
  WHERE kept.fuel_id = fuel.fuel_id AND (SELECT average_holding.holds FROM fuel.average_holding)
  UNION ALL
  SELECT
    live.region, live.fuel_id, live.average_cpl, live.median_cpl, live.p25_cpl, live.min_cpl, live.max_cpl, live.stations,
    live.excluded_stale, live.excluded_flagged, live.excluded_restricted, live.excluded_delayed, live.delay_hours,
    live.as_of_at
  FROM fuel.average_live AS live
  WHERE live.fuel_id = fuel.fuel_id AND NOT (SELECT average_holding.holds FROM fuel.average_holding)
) AS made
JOIN fuel.region USING (region)
CROSS JOIN LATERAL (
  SELECT made.*, region.state, fuel.fuel
) AS present
LEFT JOIN fuel.region_change
  ON region_change.region = present.region
  AND region_change.fuel_id = present.fuel_id
  AND (region_change.as_of_at <= fuel.clock() OR fuel.clock() = now());
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
COMMENT ON COLUMN fuel_v1.averages_now.as_of_at         IS 'The instant whose prices these are: now, or up to a quarter of an hour ago while nothing has changed since the last aggregate; in both cases earlier by delay_hours.';
COMMENT ON COLUMN fuel_v1.averages_now.change_24h_cpl   IS 'Change over 24 hours, over the stations with a price at both ends, as of the last aggregate, cents per litre; NULL: fewer than three such stations, or the clock of the session stands before that aggregate.';
COMMENT ON COLUMN fuel_v1.averages_now.change_7d_cpl    IS 'Change over 7 days, over the stations with a price at both ends, as of the last aggregate, cents per litre; NULL: fewer than three such stations, or the clock of the session stands before that aggregate.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_restricted IS 'Stations left out because only members or permit holders may use them.';
COMMENT ON COLUMN fuel_v1.averages_now.excluded_delayed IS 'Stations left out because their state publishes prices late, such as Victoria by a day.';
COMMENT ON COLUMN fuel_v1.averages_now.delay_hours IS 'How late the prices of the region are published, in hours; 0: without delay. The national average now leaves out states that publish late; the national daily averages include them.';
GRANT SELECT ON fuel_v1.averages_now TO fuel_reader, fuel_writer;
