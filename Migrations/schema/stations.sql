-- Stations. A record is what one source calls a place; records of one place share place_id. No record is rewritten, so
-- that a link can be taken back.

CREATE TABLE fuel.station (
  station_id    integer       NOT NULL GENERATED ALWAYS AS IDENTITY,
  source_id     smallint      NOT NULL,
  station_code  text          NOT NULL,
  state         text          NOT NULL,
  time_zone     text          NOT NULL,
  name          text,
  brand         text,
  address       text,
  suburb        text,
  postcode      text,
  latitude      numeric(9, 6),
  longitude     numeric(9, 6),
  is_public     boolean       NOT NULL,
  first_seen_at timestamptz   NOT NULL,
  has_moved     boolean       NOT NULL DEFAULT false,
  place_id      integer       NOT NULL DEFAULT currval('fuel.station_station_id_seq'),
  matched_by    text          NOT NULL DEFAULT 'itself',
  match_doubt   text,
  CONSTRAINT station_pk PRIMARY KEY (station_id),
  CONSTRAINT station_code_uq UNIQUE (source_id, station_code),
  CONSTRAINT station_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT station_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT station_place_fk FOREIGN KEY (place_id) REFERENCES fuel.station (station_id),
  CONSTRAINT station_matched_ck CHECK (matched_by IN ('itself', 'code', 'address', 'name', 'position', 'person')),
  CONSTRAINT station_position_ck CHECK (
    (latitude IS NULL) = (longitude IS NULL) AND latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180)
);
CREATE INDEX station_place_idx ON fuel.station (place_id);
COMMENT ON TABLE fuel.station IS 'Places that sell fuel.';
COMMENT ON COLUMN fuel.station.station_id    IS 'Our own number, never reused.';
COMMENT ON COLUMN fuel.station.source_id     IS 'The feed that names it.';
COMMENT ON COLUMN fuel.station.station_code  IS 'The feed''s own id.';
COMMENT ON COLUMN fuel.station.state         IS 'By feed and address, never by postcode alone.';
COMMENT ON COLUMN fuel.station.time_zone     IS 'IANA zone of the place.';
COMMENT ON COLUMN fuel.station.name          IS 'Trading name. NULL while only prices of it were seen.';
COMMENT ON COLUMN fuel.station.brand         IS 'As the feed writes it. NULL: none named.';
COMMENT ON COLUMN fuel.station.address       IS 'Street, as the feed writes it. NULL: none.';
COMMENT ON COLUMN fuel.station.suburb        IS 'Suburb or town. NULL: none.';
COMMENT ON COLUMN fuel.station.postcode      IS 'Four digits. NULL: the feed gives none.';
COMMENT ON COLUMN fuel.station.latitude      IS 'Degrees. NULL: none, or impossible.';
COMMENT ON COLUMN fuel.station.longitude     IS 'Degrees. NULL: none, or impossible.';
COMMENT ON COLUMN fuel.station.is_public     IS 'False: members or permit holders only.';
COMMENT ON COLUMN fuel.station.first_seen_at IS 'When the oldest document that names it was fetched.';
COMMENT ON COLUMN fuel.station.has_moved IS
  'Its feed lately put it far from where it was; the old position counts for a week.';
COMMENT ON COLUMN fuel.station.place_id IS
  'The record that speaks for the same place; its own number where it speaks for itself.';
COMMENT ON COLUMN fuel.station.matched_by IS
  'How that was found: itself, code, address, name (several stations share the address), position, or person '
  '(config/stations.json5).';
COMMENT ON COLUMN fuel.station.match_doubt   IS 'Why a person should look at it. NULL: nothing is in doubt.';
GRANT
  SELECT, INSERT,
  UPDATE (
    state, time_zone, name, brand, address, suburb, postcode, latitude, longitude, is_public, first_seen_at,
    has_moved, place_id, matched_by, match_doubt)
ON fuel.station TO fuel_writer;
GRANT USAGE ON SEQUENCE fuel.station_station_id_seq TO fuel_writer;

CREATE TABLE fuel.station_description (
  station_id    integer       NOT NULL,
  wording_md5   uuid          NOT NULL,
  state         text          NOT NULL,
  time_zone     text          NOT NULL,
  name          text          NOT NULL,
  brand         text,
  address       text          NOT NULL,
  suburb        text,
  postcode      text,
  latitude      numeric(9, 6),
  longitude     numeric(9, 6),
  is_public     boolean       NOT NULL,
  run_id        integer       NOT NULL,
  first_seen_at timestamptz   NOT NULL,
  last_seen_at  timestamptz   NOT NULL,
  details       jsonb,
  CONSTRAINT station_description_pk PRIMARY KEY (station_id, wording_md5),
  CONSTRAINT station_description_station_fk FOREIGN KEY (station_id) REFERENCES fuel.station (station_id),
  CONSTRAINT station_description_order_ck CHECK (first_seen_at <= last_seen_at)
) WITH (fillfactor = 80);
COMMENT ON TABLE fuel.station_description IS
  'Every wording in which a feed described a station. fuel.station holds the one seen last.';
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
COMMENT ON COLUMN fuel.station_description.details IS
  'What only views show of the station, as texts by name, such as a telephone number. NULL: nothing.';
GRANT SELECT, INSERT, UPDATE (run_id, first_seen_at, last_seen_at) ON fuel.station_description TO fuel_writer;

CREATE TABLE fuel.station_sighting (
  station_id  integer NOT NULL,
  wording_md5 uuid    NOT NULL,
  month       date    NOT NULL,
  days        integer NOT NULL,
  CONSTRAINT station_sighting_pk PRIMARY KEY (station_id, wording_md5, month),
  CONSTRAINT station_sighting_days_ck CHECK (days > 0)
);
COMMENT ON TABLE fuel.station_sighting IS
  'On which local days an archive tells of a station under a wording: what tells a renamed station from two at one '
  'address, and which days are there at all. And on which days prices of a feed without codes began; its wording is the '
  'digest of nothing.';
COMMENT ON COLUMN fuel.station_sighting.station_id  IS 'The station record.';
COMMENT ON COLUMN fuel.station_sighting.wording_md5 IS 'The wording; see station_description.';
COMMENT ON COLUMN fuel.station_sighting.month       IS 'First day of the month.';
COMMENT ON COLUMN fuel.station_sighting.days        IS 'One bit a day; the lowest is the first day.';
GRANT SELECT, INSERT, UPDATE (days) ON fuel.station_sighting TO fuel_writer;

CREATE TABLE fuel.station_decision (
  decided_on     date    NOT NULL,
  first_source   text    NOT NULL,
  first_station  text    NOT NULL,
  second_source  text    NOT NULL,
  second_station text    NOT NULL,
  is_same        boolean NOT NULL,
  reason         text    NOT NULL,
  CONSTRAINT station_decision_pk PRIMARY KEY (first_source, first_station, second_source, second_station)
);
COMMENT ON TABLE fuel.station_decision IS
  'What a person decided about two records: config/stations.json5 as of the last match.';
COMMENT ON COLUMN fuel.station_decision.decided_on     IS 'When.';
COMMENT ON COLUMN fuel.station_decision.first_source   IS 'Feed or archive of the one.';
COMMENT ON COLUMN fuel.station_decision.first_station  IS 'Its code there.';
COMMENT ON COLUMN fuel.station_decision.second_source  IS 'Feed or archive of the other.';
COMMENT ON COLUMN fuel.station_decision.second_station IS 'Its code there.';
COMMENT ON COLUMN fuel.station_decision.is_same        IS 'Whether they are one place.';
COMMENT ON COLUMN fuel.station_decision.reason         IS 'Why.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.station_decision TO fuel_writer;

CREATE TABLE fuel.station_doubt (
  first_id  integer  NOT NULL,
  second_id integer  NOT NULL,
  score     smallint NOT NULL,
  why       text     NOT NULL,
  CONSTRAINT station_doubt_pk PRIMARY KEY (first_id, second_id),
  CONSTRAINT station_doubt_first_fk FOREIGN KEY (first_id) REFERENCES fuel.station (station_id),
  CONSTRAINT station_doubt_second_fk FOREIGN KEY (second_id) REFERENCES fuel.station (station_id),
  CONSTRAINT station_doubt_score_ck CHECK (score BETWEEN 0 AND 100)
);
COMMENT ON TABLE fuel.station_doubt IS
  'Pairs of station records that may be one station, as matching left them. A person decides in stations.json5.';
COMMENT ON COLUMN fuel.station_doubt.first_id  IS 'The record that was seen last.';
COMMENT ON COLUMN fuel.station_doubt.second_id IS 'The other record.';
COMMENT ON COLUMN fuel.station_doubt.score     IS 'How likely they are one: from 0 to 100, by name, address and time.';
COMMENT ON COLUMN fuel.station_doubt.why       IS 'What speaks for it, or which rule left it open.';
GRANT SELECT, INSERT, DELETE ON fuel.station_doubt TO fuel_writer;

CREATE TABLE fuel.region_station (
  region     text    NOT NULL,
  station_id integer NOT NULL,
  is_nearest boolean NOT NULL DEFAULT false,
  CONSTRAINT region_station_pk PRIMARY KEY (region, station_id),
  CONSTRAINT region_station_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region) ON DELETE CASCADE,
  CONSTRAINT region_station_station_fk FOREIGN KEY (station_id) REFERENCES fuel.station (station_id)
);
CREATE INDEX region_station_station_idx ON fuel.region_station (station_id);
COMMENT ON TABLE fuel.region_station IS 'Which stations a region averages over.';
COMMENT ON COLUMN fuel.region_station.station_id IS 'A station in it.';
COMMENT ON COLUMN fuel.region_station.is_nearest IS
  'Whether it is the smallest region that the station lies in, whose verdict the station follows.';
GRANT SELECT, INSERT, DELETE, UPDATE (is_nearest) ON fuel.region_station TO fuel_writer;

CREATE TABLE fuel.counted_place (
  station_id integer       NOT NULL,
  state      text          NOT NULL,
  is_public  boolean       NOT NULL,
  regions    text[]        NOT NULL,
  latitude   numeric(9, 6),
  longitude  numeric(9, 6),
  CONSTRAINT counted_place_pk PRIMARY KEY (station_id)
);
COMMENT ON TABLE fuel.counted_place IS
  'Where the days of each station are counted, and where it lies as a neighbour of others, as of the last aggregate. '
  'Averages are made by this alone, so that what was counted can be taken out again.';
COMMENT ON COLUMN fuel.counted_place.station_id IS 'The station; one that has become part of another stays.';
COMMENT ON COLUMN fuel.counted_place.state      IS 'The state whose price days are its own.';
COMMENT ON COLUMN fuel.counted_place.is_public  IS 'Whether anybody may buy there.';
COMMENT ON COLUMN fuel.counted_place.regions    IS 'The regions it counts in, in order.';
COMMENT ON COLUMN fuel.counted_place.latitude IS
  'Degrees. NULL: the station is nobody''s neighbour: its position is not known, it sells to members only, it has '
  'become part of another one, or no run that counts names it.';
COMMENT ON COLUMN fuel.counted_place.longitude  IS 'Degrees. NULL as latitude is.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.counted_place TO fuel_writer;
