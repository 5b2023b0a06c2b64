-- A change of one station changes its days in the averages, without the days of all others.

ALTER TABLE fuel.daily_rollup ADD COLUMN totals bytea;
COMMENT ON COLUMN fuel.daily_rollup.totals IS
  'Exact sums and the means beside each published rank, as DayTotals writes them. NULL: made by a version that '
  'kept none.';

ALTER TABLE fuel.stale_days ADD COLUMN is_marked boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN fuel.stale_days.is_marked IS
  'Whether the changed days are marked as dirty for all stations. False: they are changed by this station alone.';

CREATE TABLE fuel.counted_place (
  station_id integer NOT NULL,
  state      text    NOT NULL,
  is_public  boolean NOT NULL,
  regions    text[]  NOT NULL,
  CONSTRAINT counted_place_pk PRIMARY KEY (station_id)
);
COMMENT ON TABLE  fuel.counted_place            IS
  'Where the days of each station are counted, as of the last aggregate. Averages are made by this alone, so that '
  'what was counted can be taken out again.';
COMMENT ON COLUMN fuel.counted_place.station_id IS 'The station; one that has become part of another stays.';
COMMENT ON COLUMN fuel.counted_place.state      IS 'The state whose price days are its own.';
COMMENT ON COLUMN fuel.counted_place.is_public  IS 'Whether anybody may buy there.';
COMMENT ON COLUMN fuel.counted_place.regions    IS 'The regions it counts in, in order.';
COMMENT ON CONSTRAINT counted_place_pk ON fuel.counted_place IS 'A station counts in one way.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.counted_place TO fuel_writer;
INSERT INTO fuel.counted_place (station_id, state, is_public, regions)
SELECT
  station.station_id,
  station.state,
  station.is_public,
  ARRAY(
    SELECT region_station.region
    FROM fuel.region_station
    WHERE region_station.station_id = station.station_id
    ORDER BY region_station.region)
FROM fuel.station
WHERE station.place_id = station.station_id;

-- Where stations count is compared by each aggregate.
DROP FUNCTION IF EXISTS fuel.mark_places_dirty(integer[], timestamptz);
DROP FUNCTION IF EXISTS fuel.refresh_regions(timestamptz);
DROP FUNCTION IF EXISTS fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], timestamptz);
DROP FUNCTION IF EXISTS fuel.link_stations(text[], timestamptz);
DROP FUNCTION IF EXISTS fuel.take_stations(integer, timestamptz, timestamptz);
DROP FUNCTION IF EXISTS fuel.describe_stations(smallint, integer, timestamptz, boolean);
