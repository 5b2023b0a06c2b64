CREATE OR REPLACE VIEW fuel_v1.region_stations AS
SELECT
  region_station.region,
  region_station.station_id
FROM fuel.region_station
JOIN fuel.station USING (station_id)
WHERE station.place_id = station.station_id;
COMMENT ON VIEW fuel_v1.region_stations IS
  'Which stations are in which region, as of the last aggregate. One row per region and station; a station may be in several.';
COMMENT ON COLUMN fuel_v1.region_stations.region     IS 'The region.';
COMMENT ON COLUMN fuel_v1.region_stations.station_id IS 'The station.';
GRANT SELECT ON fuel_v1.region_stations TO fuel_reader, fuel_writer;
