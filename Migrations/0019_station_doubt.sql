-- Stations through time: which pairs of station records may be one station, with a score. And what a feed publishes
-- ahead becomes a column.

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
COMMENT ON TABLE  fuel.station_doubt           IS
  'Pairs of station records that may be one station, as matching left them. A person decides in stations.json5.';
COMMENT ON COLUMN fuel.station_doubt.first_id  IS 'The record that was seen last.';
COMMENT ON COLUMN fuel.station_doubt.second_id IS 'The other record.';
COMMENT ON COLUMN fuel.station_doubt.score     IS 'How likely they are one: from 0 to 100, by name, address and time.';
COMMENT ON COLUMN fuel.station_doubt.why       IS 'What speaks for it, or which rule left it open.';
COMMENT ON CONSTRAINT station_doubt_pk        ON fuel.station_doubt IS 'A pair once.';
COMMENT ON CONSTRAINT station_doubt_first_fk  ON fuel.station_doubt IS 'A known record.';
COMMENT ON CONSTRAINT station_doubt_second_fk ON fuel.station_doubt IS 'A known record.';
COMMENT ON CONSTRAINT station_doubt_score_ck  ON fuel.station_doubt IS 'A percentage.';
GRANT SELECT, INSERT, DELETE ON fuel.station_doubt TO fuel_writer;

-- What a feed publishes ahead, and whether a run found that it was not there yet.
ALTER TABLE fuel.source ADD COLUMN publishes_tomorrow_at time;
COMMENT ON COLUMN fuel.source.publishes_tomorrow_at IS
  'Local time from which on the feed has the prices of the next price day. NULL: it never has.';
UPDATE fuel.source SET publishes_tomorrow_at = '14:30' WHERE source.source = 'wa-fuelwatch';
ALTER TABLE fuel.run ADD COLUMN awaits_tomorrow boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.run.awaits_tomorrow IS
  'Whether tomorrow''s prices were not published yet when they should have been: the feed stays due.';
UPDATE fuel.run SET awaits_tomorrow = true
WHERE 'tomorrow''s prices are not published yet' = ANY (run.warnings);

-- Codes that followed one another at an address are one station from now on.
UPDATE fuel.source SET are_links_due = true WHERE source.kind = 'feed';
DROP FUNCTION IF EXISTS fuel.link_stations(timestamptz);
DROP FUNCTION IF EXISTS fuel.known_days();
