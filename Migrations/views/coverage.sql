CREATE OR REPLACE VIEW fuel_v1.coverage AS
SELECT
  region.region,
  source.source,
  source_day.day,
  source_day.why IS NULL AS is_covered,
  CASE WHEN source_day.why IS NULL AND expected.stations IS NULL THEN 'no_prices' ELSE source_day.why END AS why,
  expected.stations AS stations_expected
FROM fuel.region
JOIN fuel.source
  ON region.kind = 'nation'
  OR source.state = region.state
  -- The stations of the ACT are in the list of New South Wales.
  OR EXISTS (
    SELECT
    FROM fuel.station
    WHERE station.state = region.state AND station.source_id = source.source_id)
  -- Of an area across borders, the sources that have a record of one of its stations.
  OR region.state IS NULL AND EXISTS (
    SELECT
    FROM fuel.region_station AS member
    JOIN fuel.station AS record ON record.place_id = member.station_id
    WHERE member.region = region.region AND record.source_id = source.source_id)
JOIN fuel.source_day USING (source_id)
-- A join, so that the averages of a region are read once and not for each of its sources and days.
LEFT JOIN (
  SELECT daily_rollup.region, daily_rollup.day, max(daily_rollup.stations_expected) AS stations
  FROM fuel.daily_rollup
  GROUP BY daily_rollup.region, daily_rollup.day
) AS expected USING (region, day);
COMMENT ON VIEW fuel_v1.coverage IS
  'Which days each source covers. One row per region, feed or archive that reports on it, and local day since '
  'the first day of its scheme; updated by the aggregate. A day that no source covers is not complete.';
COMMENT ON COLUMN fuel_v1.coverage.region            IS 'The region.';
COMMENT ON COLUMN fuel_v1.coverage.source            IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.coverage.day               IS 'The local price day.';
COMMENT ON COLUMN fuel_v1.coverage.is_covered        IS 'Whether the source covers the day, or a part of it: daily_averages.coverage has the share.';
COMMENT ON COLUMN fuel_v1.coverage.why               IS 'Why nothing is known of the day: not_loaded (no loaded file of the archive covers it), outage (no list), frozen (lists that have changed nothing for too long), late (the day has not ended, or its prices are not due yet) or before_first_run; no_prices: it is covered, but no price of the region is known; NULL: prices are known.';
COMMENT ON COLUMN fuel_v1.coverage.stations_expected IS 'Number of stations of the region with an expected price, for the fuel that is known best; NULL: there is no average of that day.';
GRANT SELECT ON fuel_v1.coverage TO fuel_reader, fuel_writer;
