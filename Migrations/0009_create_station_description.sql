-- How feeds described stations over time, as a set: each wording with its first and last sighting, so
-- that it does not matter in which order documents arrive.

CREATE TABLE fuel.station_description (
  station_id    integer     NOT NULL,
  wording_md5   uuid        NOT NULL,
  state         text        NOT NULL,
  time_zone     text        NOT NULL,
  name          text        NOT NULL,
  brand         text,
  address       text        NOT NULL,
  suburb        text,
  postcode      text,
  latitude      numeric(9, 6),
  longitude     numeric(9, 6),
  is_public     boolean     NOT NULL,
  run_id        integer     NOT NULL,
  first_seen_at timestamptz NOT NULL,
  last_seen_at  timestamptz NOT NULL,
  CONSTRAINT station_description_pk PRIMARY KEY (station_id, wording_md5),
  CONSTRAINT station_description_station_fk FOREIGN KEY (station_id)
    REFERENCES fuel.station (station_id),
  CONSTRAINT station_description_order_ck CHECK (first_seen_at <= last_seen_at)
) WITH (fillfactor = 80);
COMMENT ON TABLE  fuel.station_description               IS
  'Every wording in which a feed described a station. fuel.station holds the one seen last.';
COMMENT ON COLUMN fuel.station_description.station_id    IS 'The station.';
COMMENT ON COLUMN fuel.station_description.wording_md5   IS 'Digest of the description.';
COMMENT ON COLUMN fuel.station_description.state         IS 'State or territory.';
COMMENT ON COLUMN fuel.station_description.time_zone     IS 'IANA zone of the place.';
COMMENT ON COLUMN fuel.station_description.name          IS 'Trading name.';
COMMENT ON COLUMN fuel.station_description.brand         IS 'Brand. NULL: none named.';
COMMENT ON COLUMN fuel.station_description.address       IS 'Address.';
COMMENT ON COLUMN fuel.station_description.suburb        IS 'Suburb or town. NULL: none.';
COMMENT ON COLUMN fuel.station_description.postcode      IS 'Postcode. NULL: none.';
COMMENT ON COLUMN fuel.station_description.latitude      IS 'Degrees. NULL: none, or impossible.';
COMMENT ON COLUMN fuel.station_description.longitude     IS 'Degrees. NULL: none, or impossible.';
COMMENT ON COLUMN fuel.station_description.is_public     IS 'False: members or permit holders only.';
COMMENT ON COLUMN fuel.station_description.run_id        IS 'The run that brought it first.';
COMMENT ON COLUMN fuel.station_description.first_seen_at IS 'Oldest document with it.';
COMMENT ON COLUMN fuel.station_description.last_seen_at  IS 'Newest document with it.';
COMMENT ON CONSTRAINT station_description_pk         ON fuel.station_description IS 'A wording once.';
COMMENT ON CONSTRAINT station_description_station_fk ON fuel.station_description IS 'A known station.';
COMMENT ON CONSTRAINT station_description_order_ck   ON fuel.station_description IS 'First is not after last.';

-- What earlier schemas kept of a station is one wording, seen when its feed last described stations.
INSERT INTO fuel.station_description (
  station_id, wording_md5, state, time_zone, name, brand, address, suburb, postcode, latitude,
  longitude, is_public, run_id, first_seen_at, last_seen_at)
SELECT
  station.station_id,
  md5(ROW(
    station.state, station.time_zone, station.name, station.brand, station.address, station.suburb,
    station.postcode, station.latitude, station.longitude, station.is_public)::text)::uuid,
  station.state, station.time_zone, station.name, station.brand, station.address, station.suburb,
  station.postcode, station.latitude, station.longitude, station.is_public, described.run_id,
  least(station.first_seen_at, described.taken_at), described.taken_at
FROM fuel.station
CROSS JOIN LATERAL (
  SELECT run.run_id, run.taken_at
  FROM fuel.run
  WHERE run.source_id = station.source_id AND run.describes_stations
  ORDER BY run.taken_at DESC
  LIMIT 1
) AS described
WHERE station.name IS NOT NULL;

ALTER TABLE fuel.station ADD COLUMN has_moved boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.station.has_moved IS
  'Its feed lately put it far from where it was; the old position counts for a week.';

GRANT SELECT, INSERT, UPDATE (first_seen_at, last_seen_at, run_id) ON fuel.station_description
  TO fuel_writer;
