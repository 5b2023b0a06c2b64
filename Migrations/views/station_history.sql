-- Descriptions that differ from a fuller one of the same station record only by empty fields. Such a difference is no
-- change of the station. Victoria's brands, for example, are read once a day, and the runs between leave them empty.
CREATE OR REPLACE VIEW fuel.sketch AS
SELECT
  part.station_id,
  part.wording_md5,
  whole.wording_md5 AS whole_md5,
  -- If several descriptions are fuller, the sketch does not tell which of them held when it was first seen.
  CASE WHEN whole.fitting = 1 THEN part.first_seen_at END AS first_seen_at,
  part.last_seen_at
FROM fuel.station_description AS part
CROSS JOIN LATERAL (
  SELECT fuller.wording_md5, count(*) OVER () AS fitting
  FROM fuel.station_description AS fuller
  WHERE fuller.station_id = part.station_id
    AND (fuller.state, fuller.name, fuller.address, fuller.is_public)
      = (part.state, part.name, part.address, part.is_public)
    AND (fuller.latitude, fuller.longitude, fuller.details)
      IS NOT DISTINCT FROM (part.latitude, part.longitude, part.details)
    AND coalesce(fuller.brand = part.brand, part.brand IS NULL)
    AND coalesce(fuller.suburb = part.suburb, part.suburb IS NULL)
    AND coalesce(fuller.postcode = part.postcode, part.postcode IS NULL)
    AND num_nonnulls(fuller.brand, fuller.suburb, fuller.postcode)
      > num_nonnulls(part.brand, part.suburb, part.postcode)
  ORDER BY
    num_nonnulls(fuller.brand, fuller.suburb, fuller.postcode) DESC, fuller.last_seen_at DESC, fuller.wording_md5
  LIMIT 1
) AS whole
-- What has every field is not compared.
WHERE num_nonnulls(part.brand, part.suburb, part.postcode) < 3;
COMMENT ON VIEW fuel.sketch IS
  'Descriptions that state less than another one and nothing else. One row per station record and such a description.';
COMMENT ON COLUMN fuel.sketch.whole_md5     IS 'The fullest description that it fits; of several, the newest.';
COMMENT ON COLUMN fuel.sketch.first_seen_at IS 'Oldest document with it; NULL: it fits several fuller descriptions.';
GRANT SELECT ON fuel.sketch TO fuel_writer;

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
  least(description.first_seen_at, sketched.first_seen_at) AS first_seen_at,
  greatest(description.last_seen_at, sketched.last_seen_at) AS last_seen_at,
  source.source,
  description.details::text AS details
FROM fuel.station_description AS description
JOIN fuel.station AS record USING (station_id)
JOIN fuel.source USING (source_id)
CROSS JOIN LATERAL (
  SELECT min(sketch.first_seen_at) AS first_seen_at, max(sketch.last_seen_at) AS last_seen_at
  FROM fuel.sketch
  WHERE sketch.station_id = description.station_id AND sketch.whole_md5 = description.wording_md5
) AS sketched
WHERE NOT EXISTS (
  SELECT
  FROM fuel.sketch
  WHERE sketch.station_id = description.station_id AND sketch.wording_md5 = description.wording_md5);
COMMENT ON VIEW fuel_v1.station_history IS
  'How stations were described over time: renamed, rebranded, moved. One row per station and description, '
  'with the first and last time it was seen. A description that only leaves fields of another one empty is '
  'a sighting of that one.';
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
