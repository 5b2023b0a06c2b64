-- Where every feed of a state publishes late, its averages are of then and say so. Everywhere else a
-- late price would pass for one of now, and is left out and counted.
CREATE OR REPLACE VIEW fuel.region_delay AS
SELECT
  region.region,
  coalesce((
    SELECT min(source.delay) FROM fuel.source WHERE source.state = region.state
  ), '0') AS delay
FROM fuel.region;
COMMENT ON VIEW fuel.region_delay IS 'How old prices may be that count in a region. One row per region.';
COMMENT ON COLUMN fuel.region_delay.region IS 'The region.';
COMMENT ON COLUMN fuel.region_delay.delay  IS 'Prices of feeds with a longer delay are left out.';
GRANT SELECT ON fuel.region_delay TO fuel_writer;
