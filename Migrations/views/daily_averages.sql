CREATE OR REPLACE VIEW fuel_v1.daily_averages AS
SELECT
  daily_rollup.region,
  region.state,
  fuel.fuel,
  daily_rollup.day,
  (CASE WHEN sample.is_enough THEN daily_rollup.average_cpl END)::numeric(6, 2) AS average_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.median_cpl END)::numeric(6, 2) AS median_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.p25_cpl END)::numeric(6, 2) AS p25_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.min_cpl END)::numeric(6, 2) AS min_cpl,
  (CASE WHEN sample.is_enough THEN daily_rollup.max_cpl END)::numeric(6, 2) AS max_cpl,
  daily_rollup.stations,
  daily_rollup.coverage,
  coalesce(daily_rollup.is_complete, false) AS is_complete,
  daily_rollup.excluded_stale,
  daily_rollup.excluded_flagged,
  daily_rollup.excluded_restricted,
  daily_rollup.stations_expected,
  daily_rollup.complete_states || ' of ' || daily_rollup.states AS states
FROM fuel.daily_rollup
JOIN fuel.region USING (region)
JOIN fuel.fuel USING (fuel_id)
CROSS JOIN LATERAL (
  SELECT daily_rollup.stations >= fuel.minimum_stations() AS is_enough
) AS sample
WHERE fuel.is_averaged;
COMMENT ON VIEW fuel_v1.daily_averages IS
  'Averages over stations of each station''s time-weighted price over a local price day. One row per '
  'region, fuel and day with any price. The price day is the state''s calendar day, in WA from 06:00 to 06:00.';
COMMENT ON COLUMN fuel_v1.daily_averages.region      IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.daily_averages.state       IS 'Its state; NULL for the nation and areas across borders.';
COMMENT ON COLUMN fuel_v1.daily_averages.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.daily_averages.day         IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.daily_averages.average_cpl IS 'Mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.median_cpl  IS 'Median, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.p25_cpl     IS 'Lower quartile, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.min_cpl     IS 'Lowest station average of the day, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.max_cpl     IS 'Highest station average of the day, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.daily_averages.stations    IS 'Number of stations that the averages are computed from.';
COMMENT ON COLUMN fuel_v1.daily_averages.coverage    IS 'Share of the day, as far as it has passed (less the delay of a feed that publishes late), for which those stations have a believed price, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.daily_averages.is_complete IS 'Whether the day is over, it is settled (a source states every price, or an archive of changes has covered as many days before as a price is believed), and prices of enough of the expected stations are known for most of it; for the nation, whether this holds in every state. Today is never complete.';
COMMENT ON COLUMN fuel_v1.daily_averages.excluded_stale      IS 'Stations left out: their prices are known but were not seen for too long to be believed.';
COMMENT ON COLUMN fuel_v1.daily_averages.excluded_flagged    IS 'Stations left out: they have only doubtful prices.';
COMMENT ON COLUMN fuel_v1.daily_averages.excluded_restricted IS 'Stations left out: for members only.';
COMMENT ON COLUMN fuel_v1.daily_averages.stations_expected IS 'Number of stations with an expected price: those with a price in this month or the one before.';
COMMENT ON COLUMN fuel_v1.daily_averages.states    IS 'How many states are complete, out of how many, such as 7 of 8; 1 of 1 or 0 of 1 for a region within a state. A state counts as complete too if its day is settled and nobody there sells the fuel.';
GRANT SELECT ON fuel_v1.daily_averages TO fuel_reader, fuel_writer;
