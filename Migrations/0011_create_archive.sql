-- Archives: files in which the states publish years of prices at once, told apart from the feeds because
-- they are loaded in bulk and matched to stations by what they call them.
--
-- A station record is what one source calls a place. Records that mean one place share place_id, the
-- record that speaks for it; no record and no fact is ever rewritten, so that a link can be taken back.

ALTER TABLE fuel.source
  ADD COLUMN kind text NOT NULL DEFAULT 'feed',
  ADD COLUMN scheme text,
  ADD COLUMN are_links_due boolean NOT NULL DEFAULT false,
  ADD COLUMN has_codes boolean NOT NULL DEFAULT true,
  ADD CONSTRAINT source_kind_ck CHECK (kind IN ('feed', 'archive'));
UPDATE fuel.source SET scheme = source, has_codes = NOT tells_whole_days;
ALTER TABLE fuel.source ALTER COLUMN scheme SET NOT NULL;
COMMENT ON COLUMN fuel.source.kind          IS 'feed (asked again and again) or archive (files of the past).';
COMMENT ON COLUMN fuel.source.scheme        IS
  'The official scheme it publishes, by the name of its feed: records of one scheme may be one place.';
COMMENT ON COLUMN fuel.source.are_links_due IS
  'It brought stations, wordings or sightings since its records were last matched.';
COMMENT ON COLUMN fuel.source.has_codes     IS
  'Its station codes are the scheme''s own numbers: two codes are two stations. False: they are made of '
  'name and address.';
COMMENT ON CONSTRAINT source_kind_ck ON fuel.source IS 'A known kind.';

GRANT USAGE ON SEQUENCE fuel.station_station_id_seq TO fuel_writer;
ALTER TABLE fuel.station
  ADD COLUMN place_id integer,
  ADD COLUMN matched_by text NOT NULL DEFAULT 'itself',
  ADD COLUMN match_doubt text;
UPDATE fuel.station SET place_id = station_id;
ALTER TABLE fuel.station
  -- A new record speaks for itself: the number that it has just been given.
  ALTER COLUMN place_id SET DEFAULT currval('fuel.station_station_id_seq'),
  ALTER COLUMN place_id SET NOT NULL,
  ADD CONSTRAINT station_place_fk FOREIGN KEY (place_id) REFERENCES fuel.station (station_id),
  ADD CONSTRAINT station_matched_ck CHECK (
    matched_by IN ('itself', 'code', 'address', 'name', 'position', 'person'));
CREATE INDEX station_place_idx ON fuel.station (place_id);
COMMENT ON COLUMN fuel.station.place_id    IS
  'The record that speaks for the same place; its own number where it speaks for itself.';
COMMENT ON COLUMN fuel.station.matched_by  IS
  'How that was found: itself, code, address, name (several stations share the address), position, '
  'or person (config/stations.json5).';
COMMENT ON COLUMN fuel.station.match_doubt IS
  'Why a person should look at it. NULL: nothing is in doubt.';
COMMENT ON CONSTRAINT station_place_fk   ON fuel.station IS 'A known record.';
COMMENT ON CONSTRAINT station_matched_ck ON fuel.station IS 'A known way.';

CREATE TABLE fuel.station_sighting (
  station_id  integer NOT NULL,
  wording_md5 uuid    NOT NULL,
  month       date    NOT NULL,
  days        integer NOT NULL,
  CONSTRAINT station_sighting_pk PRIMARY KEY (station_id, wording_md5, month),
  CONSTRAINT station_sighting_days_ck CHECK (days > 0)
);
COMMENT ON TABLE  fuel.station_sighting             IS
  'On which local days an archive tells of a station under a wording: what tells a renamed station '
  'from two at one address, and which days are there at all.';
COMMENT ON COLUMN fuel.station_sighting.station_id  IS 'The station record.';
COMMENT ON COLUMN fuel.station_sighting.wording_md5 IS 'The wording; see station_description.';
COMMENT ON COLUMN fuel.station_sighting.month       IS 'First day of the month.';
COMMENT ON COLUMN fuel.station_sighting.days        IS 'One bit a day; the lowest is the first day.';
COMMENT ON CONSTRAINT station_sighting_pk         ON fuel.station_sighting IS 'A month once.';
COMMENT ON CONSTRAINT station_sighting_days_ck    ON fuel.station_sighting IS 'At least one day.';

CREATE TABLE fuel.station_decision (
  decided_on     date NOT NULL,
  first_source   text NOT NULL,
  first_station  text NOT NULL,
  second_source  text NOT NULL,
  second_station text NOT NULL,
  is_same        boolean NOT NULL,
  reason         text NOT NULL,
  CONSTRAINT station_decision_pk PRIMARY KEY (
    first_source, first_station, second_source, second_station)
);
COMMENT ON TABLE  fuel.station_decision                IS
  'What a person decided about two records: config/stations.json5 as of the last match.';
COMMENT ON COLUMN fuel.station_decision.decided_on     IS 'When.';
COMMENT ON COLUMN fuel.station_decision.first_source   IS 'Feed or archive of the one.';
COMMENT ON COLUMN fuel.station_decision.first_station  IS 'Its code there.';
COMMENT ON COLUMN fuel.station_decision.second_source  IS 'Feed or archive of the other.';
COMMENT ON COLUMN fuel.station_decision.second_station IS 'Its code there.';
COMMENT ON COLUMN fuel.station_decision.is_same        IS 'Whether they are one place.';
COMMENT ON COLUMN fuel.station_decision.reason         IS 'Why.';
COMMENT ON CONSTRAINT station_decision_pk ON fuel.station_decision IS 'Decided once.';

CREATE TABLE fuel.archive_price (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  source_id    smallint    NOT NULL,
  effective_at timestamptz NOT NULL,
  price_tenths integer     NOT NULL,
  run_id       integer     NOT NULL,
  CONSTRAINT archive_price_plausible_ck CHECK (price_tenths BETWEEN 0 AND 30000)
) PARTITION BY LIST (source_id);
COMMENT ON TABLE  fuel.archive_price              IS
  'Reported facts of archives, as fuel.price has those of feeds. Partitioned by archive and by its '
  'local month, so that a new month is loaded into a table of its own. An archive does not tell when '
  'it was published: its facts count as known when they took effect, because the scheme published '
  'them then. Each month has a primary key of its own: station_id, fuel_id, effective_at, '
  'price_tenths. A fact is kept once; two files that give one instant two prices are two facts, and '
  'the higher counts.';
COMMENT ON COLUMN fuel.archive_price.station_id   IS 'The station record.';
COMMENT ON COLUMN fuel.archive_price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.archive_price.source_id    IS 'The archive.';
COMMENT ON COLUMN fuel.archive_price.effective_at IS 'When the price began.';
COMMENT ON COLUMN fuel.archive_price.price_tenths IS
  'Tenths of a cent per litre: 1899 is 189.9 c/L. 0: the archive says that it is not offered.';
COMMENT ON COLUMN fuel.archive_price.run_id       IS 'The run that loaded it.';
COMMENT ON CONSTRAINT archive_price_plausible_ck ON fuel.archive_price IS 'As in fuel.price.';

ALTER TABLE fuel.run
  ADD COLUMN content_digest bytea,
  DROP CONSTRAINT run_kind_ck,
  ADD CONSTRAINT run_kind_ck CHECK (kind IN ('live', 'replay', 'reprocess', 'backfill'));
CREATE INDEX run_content_idx ON fuel.run (content_digest) WHERE content_digest IS NOT NULL;
COMMENT ON COLUMN fuel.run.content_digest IS
  'BLAKE2 digest of the file that a backfill loaded; the file is known by it. NULL: no backfill.';
COMMENT ON COLUMN fuel.run.kind IS
  'live (fetched), replay (from a recording), reprocess (kept documents read again) or backfill (a '
  'file of an archive).';
COMMENT ON CONSTRAINT run_kind_ck ON fuel.run IS 'A known kind.';

GRANT SELECT, INSERT ON fuel.archive_price TO fuel_writer;
GRANT SELECT, INSERT, UPDATE ON fuel.station_sighting TO fuel_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.station_decision TO fuel_writer;

-- Routines whose shape has changed; their present texts are applied after this.
DROP FUNCTION IF EXISTS fuel.prune_listing(smallint, integer[], smallint[]);
