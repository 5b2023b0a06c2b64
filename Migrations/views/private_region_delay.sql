-- Where every feed of a state publishes late, its averages are of then and say so. Everywhere else a
-- late price would pass for one of now, and is left out and counted.
CREATE OR REPLACE VIEW fuel.region_delay AS
SELECT
  region.region,
  coalesce(soonest.delay, '0') AS delay
FROM fuel.region
-- Joined, so that it is found once for a region and not for every price that is beside it.
LEFT JOIN (
  SELECT source.state, min(source.delay) AS delay
  FROM fuel.source
  GROUP BY source.state
) AS soonest ON soonest.state = region.state;
COMMENT ON VIEW fuel.region_delay IS 'How old prices may be that count in a region. One row per region.';
COMMENT ON COLUMN fuel.region_delay.region IS 'The region.';
COMMENT ON COLUMN fuel.region_delay.delay  IS 'Prices of feeds with a longer delay are left out.';
GRANT SELECT ON fuel.region_delay TO fuel_writer;
