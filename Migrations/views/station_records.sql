CREATE OR REPLACE VIEW fuel_v1.station_records AS
SELECT
  record.place_id AS station_id,
  source.source,
  record.station_code AS source_station_code,
  coalesce(newest.name, record.name) AS name,
  CASE WHEN newest.name IS NULL THEN record.brand ELSE newest.brand END AS written_brand,
  coalesce(newest.address, record.address) AS address,
  CASE WHEN newest.name IS NULL THEN record.suburb ELSE newest.suburb END AS suburb,
  CASE WHEN newest.name IS NULL THEN record.postcode ELSE newest.postcode END AS postcode,
  record.matched_by,
  record.match_doubt,
  record.station_id AS record_id
FROM fuel.station AS record
JOIN fuel.source USING (source_id)
-- A field that the newest description leaves empty is taken from the newest one that has it, as in stations.
CROSS JOIN LATERAL (
  SELECT
    (array_agg(description.name ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS name,
    (array_agg(description.brand ORDER BY description.last_seen_at DESC, description.wording_md5)
      FILTER (WHERE description.brand IS NOT NULL))[1] AS brand,
    (array_agg(description.address ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS address,
    (array_agg(description.suburb ORDER BY description.last_seen_at DESC, description.wording_md5)
      FILTER (WHERE description.suburb IS NOT NULL))[1] AS suburb,
    (array_agg(description.postcode ORDER BY description.last_seen_at DESC, description.wording_md5)
      FILTER (WHERE description.postcode IS NOT NULL))[1] AS postcode
  FROM fuel.station_description AS description
  WHERE description.station_id = record.station_id
) AS newest
-- A station record is left out if only runs that do not count reported it.
WHERE newest.name IS NOT NULL
  OR EXISTS (SELECT FROM fuel.shown_price AS pair WHERE pair.station_id = record.station_id);
COMMENT ON VIEW fuel_v1.station_records IS
  'What feeds and archives call each station, and how their station records were matched. One row per '
  'station record of a source.';
COMMENT ON COLUMN fuel_v1.station_records.station_id          IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_records.source              IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.station_records.source_station_code IS 'Its code there; in archives without codes, its name and address in a normal form.';
COMMENT ON COLUMN fuel_v1.station_records.name                IS 'Trading name there; NULL until described.';
COMMENT ON COLUMN fuel_v1.station_records.written_brand       IS 'Brand as it was last written there; NULL: none named.';
COMMENT ON COLUMN fuel_v1.station_records.address             IS 'Address there; NULL until described.';
COMMENT ON COLUMN fuel_v1.station_records.suburb              IS 'Suburb or town as last stated; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_records.postcode            IS 'Postcode as last stated; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_records.matched_by          IS 'itself, code, address, name (the address alone does not decide), position or person.';
COMMENT ON COLUMN fuel_v1.station_records.match_doubt         IS 'Why a person should check the match; NULL: nothing is in doubt.';
COMMENT ON COLUMN fuel_v1.station_records.record_id           IS 'Number of the record; the station has the number of the record that represents it.';
GRANT SELECT ON fuel_v1.station_records TO fuel_reader, fuel_writer;
