CREATE OR REPLACE VIEW fuel_v1.regions AS
SELECT
  region.region,
  region.name,
  region.kind,
  region.state,
  region.latitude,
  region.longitude,
  region.radius_km,
  (
    SELECT count(*)::integer FROM fuel.region_station
    JOIN fuel.station USING (station_id)
    WHERE region_station.region = region.region AND station.place_id = station.station_id
  ) AS stations,
  region_clock.time_zone
FROM fuel.region
JOIN fuel.region_clock USING (region);
COMMENT ON VIEW fuel_v1.regions IS 'The regions over which averages, trends and verdicts are computed. One row per region.';
COMMENT ON COLUMN fuel_v1.regions.region    IS 'Code, as in the other views.';
COMMENT ON COLUMN fuel_v1.regions.name      IS 'Name, as it is written within a sentence.';
COMMENT ON COLUMN fuel_v1.regions.kind      IS 'nation, state, capital, area, or rest: the part of a state outside its capitals.';
COMMENT ON COLUMN fuel_v1.regions.state     IS 'The state or territory that it lies in; NULL: the nation, or an area across borders.';
COMMENT ON COLUMN fuel_v1.regions.latitude  IS 'Degrees, of its centre; NULL: the nation and states.';
COMMENT ON COLUMN fuel_v1.regions.longitude IS 'Degrees, of its centre; NULL: the nation and states.';
COMMENT ON COLUMN fuel_v1.regions.radius_km IS 'How far it reaches from its centre, in kilometres; NULL: the nation and states.';
COMMENT ON COLUMN fuel_v1.regions.stations  IS 'Stations in it, open or not, as of the last aggregate; see region_stations.';
COMMENT ON COLUMN fuel_v1.regions.time_zone IS 'IANA zone in which its days are counted: that of its state, or of the nation.';
GRANT SELECT ON fuel_v1.regions TO fuel_reader, fuel_writer;
