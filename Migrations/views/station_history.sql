CREATE OR REPLACE VIEW fuel_v1.station_history AS
SELECT
  record.place_id AS station_id,
  description.state,
  description.name,
  description.brand AS written_brand,
  description.address,
  description.suburb,
  description.postcode,
  description.latitude,
  description.longitude,
  description.is_public,
  description.first_seen_at,
  description.last_seen_at,
  source.source,
  description.details::text AS details
FROM fuel.station_description AS description
JOIN fuel.station AS record USING (station_id)
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.station_history IS
  'How stations were described over time: renamed, rebranded, moved. One row per station and description, '
  'with the first and last time it was seen.';
COMMENT ON COLUMN fuel_v1.station_history.station_id    IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_history.state         IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.station_history.name          IS 'Trading name.';
COMMENT ON COLUMN fuel_v1.station_history.written_brand IS 'Brand as the feed wrote it; NULL: none named.';
COMMENT ON COLUMN fuel_v1.station_history.address       IS 'Address as the feed wrote it.';
COMMENT ON COLUMN fuel_v1.station_history.suburb        IS 'Suburb or town; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_history.postcode      IS 'Postcode; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_history.latitude      IS 'Degrees; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.station_history.longitude     IS 'Degrees; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.station_history.is_public     IS 'False: members or permit holders only.';
COMMENT ON COLUMN fuel_v1.station_history.first_seen_at IS 'Instant of the oldest document with this description.';
COMMENT ON COLUMN fuel_v1.station_history.last_seen_at  IS 'Instant of the newest document with this description.';
COMMENT ON COLUMN fuel_v1.station_history.source        IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel_v1.station_history.details       IS 'What else the feed stated of it, as a JSON object of texts by name, such as phone; NULL: nothing.';
GRANT SELECT ON fuel_v1.station_history TO fuel_reader, fuel_writer;
