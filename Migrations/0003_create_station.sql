-- Stations and what regions they belong to. A station is known by its feed's code; the same code
-- means another station in another feed.

CREATE TABLE fuel.station (
  station_id    integer     NOT NULL GENERATED ALWAYS AS IDENTITY,
  source_id     smallint    NOT NULL,
  station_code  text        NOT NULL,
  state         text        NOT NULL,
  time_zone     text        NOT NULL,
  name          text,
  brand         text,
  address       text,
  suburb        text,
  postcode      text,
  latitude      numeric(9, 6),
  longitude     numeric(9, 6),
  is_public     boolean     NOT NULL,
  first_seen_at timestamptz NOT NULL,
  CONSTRAINT station_pk PRIMARY KEY (station_id),
  CONSTRAINT station_code_uq UNIQUE (source_id, station_code),
  CONSTRAINT station_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT station_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT station_position_ck CHECK (
    (latitude IS NULL) = (longitude IS NULL)
    AND latitude BETWEEN -44.5 AND -9.0 AND longitude BETWEEN 96 AND 168)
);
COMMENT ON TABLE  fuel.station               IS 'Places that sell fuel.';
COMMENT ON COLUMN fuel.station.station_id    IS 'Our own number, never reused.';
COMMENT ON COLUMN fuel.station.source_id     IS 'The feed that names it.';
COMMENT ON COLUMN fuel.station.station_code  IS 'The feed''s own id.';
COMMENT ON COLUMN fuel.station.state         IS 'By feed and address, never by postcode alone.';
COMMENT ON COLUMN fuel.station.time_zone     IS 'IANA zone of the place.';
COMMENT ON COLUMN fuel.station.name          IS
  'Trading name. NULL while only prices of it were seen.';
COMMENT ON COLUMN fuel.station.brand         IS 'As the feed writes it. NULL: none named.';
COMMENT ON COLUMN fuel.station.address       IS 'Street, as the feed writes it. NULL: none.';
COMMENT ON COLUMN fuel.station.suburb        IS 'Suburb or town. NULL: none.';
COMMENT ON COLUMN fuel.station.postcode      IS 'Four digits. NULL: the feed gives none.';
COMMENT ON COLUMN fuel.station.latitude      IS 'Degrees. NULL: none, or impossible.';
COMMENT ON COLUMN fuel.station.longitude     IS 'Degrees. NULL: none, or impossible.';
COMMENT ON COLUMN fuel.station.is_public     IS 'False: members or permit holders only.';
COMMENT ON COLUMN fuel.station.first_seen_at IS 'When the oldest document that names it was fetched.';
COMMENT ON CONSTRAINT station_pk          ON fuel.station IS 'One row per station.';
COMMENT ON CONSTRAINT station_code_uq     ON fuel.station IS 'A feed''s code means one station.';
COMMENT ON CONSTRAINT station_source_fk   ON fuel.station IS 'A known feed.';
COMMENT ON CONSTRAINT station_state_fk    ON fuel.station IS 'A known state.';
COMMENT ON CONSTRAINT station_position_ck ON fuel.station IS 'In or near Australia, or unknown.';

CREATE TABLE fuel.region_station (
  region     text    NOT NULL,
  station_id integer NOT NULL,
  CONSTRAINT region_station_pk PRIMARY KEY (region, station_id),
  CONSTRAINT region_station_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region),
  CONSTRAINT region_station_station_fk FOREIGN KEY (station_id) REFERENCES fuel.station (station_id)
);
CREATE INDEX region_station_station_idx ON fuel.region_station (station_id);
COMMENT ON TABLE  fuel.region_station            IS 'Which stations a region averages over.';
COMMENT ON COLUMN fuel.region_station.region     IS 'The region.';
COMMENT ON COLUMN fuel.region_station.station_id IS 'A station in it.';
COMMENT ON CONSTRAINT region_station_pk         ON fuel.region_station IS 'A station counts once.';
COMMENT ON CONSTRAINT region_station_region_fk  ON fuel.region_station IS 'A known region.';
COMMENT ON CONSTRAINT region_station_station_fk ON fuel.region_station IS 'A known station.';

GRANT SELECT, INSERT, UPDATE ON fuel.station TO fuel_writer;
GRANT SELECT, INSERT, DELETE ON fuel.region_station TO fuel_writer;
