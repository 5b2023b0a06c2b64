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
COMMENT ON VIEW fuel_v1.regions IS 'What averages, trends and verdicts are made over. One row per region.';
COMMENT ON COLUMN fuel_v1.regions.region    IS 'Code, as in the other views.';
COMMENT ON COLUMN fuel_v1.regions.name      IS 'As it stands in a sentence.';
COMMENT ON COLUMN fuel_v1.regions.kind      IS 'nation, state, capital, area, or rest: what a state has outside of its capitals.';
COMMENT ON COLUMN fuel_v1.regions.state     IS 'The state or territory that it lies in; NULL: the nation, or an area across borders.';
COMMENT ON COLUMN fuel_v1.regions.latitude  IS 'Of its centre, degrees; NULL: the nation and states.';
COMMENT ON COLUMN fuel_v1.regions.longitude IS 'Of its centre, degrees; NULL: the nation and states.';
COMMENT ON COLUMN fuel_v1.regions.radius_km IS 'How far it reaches from its centre; NULL: the nation and states.';
COMMENT ON COLUMN fuel_v1.regions.stations  IS 'Stations in it, open or not, as of the last aggregate; see region_stations.';
COMMENT ON COLUMN fuel_v1.regions.time_zone IS 'IANA zone in which its days are counted: its state''s, or the nation''s.';
GRANT SELECT ON fuel_v1.regions TO fuel_reader, fuel_writer;
