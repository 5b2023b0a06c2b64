-- The clock by which the days of a region are counted: the clock of its state, or of the nation for a region in several
-- states.
CREATE OR REPLACE VIEW fuel.region_clock AS
SELECT
  region.region,
  coalesce(state.time_zone, country.time_zone) AS time_zone,
  coalesce(state.price_day_starts, '0') AS starts
FROM fuel.region
CROSS JOIN fuel.country
LEFT JOIN fuel.state USING (state);
COMMENT ON VIEW fuel.region_clock IS 'The clock by which the days of a region are counted. One row per region.';
GRANT SELECT ON fuel.region_clock TO fuel_writer;
