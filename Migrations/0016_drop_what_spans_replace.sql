-- What spans know was known in other ways before. The views and functions that used them have their present
-- texts by now: this file is applied last.

DROP FUNCTION IF EXISTS fuel.prices_at(timestamptz, integer[], smallint);
DROP FUNCTION IF EXISTS fuel.shown_at(integer, smallint, smallint, timestamptz, timestamptz);
DROP FUNCTION IF EXISTS fuel.next_event_at(integer, smallint, smallint, timestamptz, timestamptz);
DROP FUNCTION IF EXISTS fuel.doubtful_prices(
  integer[], integer[], smallint[], smallint[], integer[], timestamptz[], date[], timestamptz[],
  timestamptz);
DROP FUNCTION IF EXISTS fuel.refresh_flags();
DROP FUNCTION IF EXISTS fuel.flag_prices(integer[], smallint[]);
DROP FUNCTION IF EXISTS fuel.is_shared(integer, smallint, integer);
DROP FUNCTION IF EXISTS fuel.held_since(integer, smallint, smallint, integer, timestamptz);
DROP FUNCTION IF EXISTS fuel.is_own_way(integer, smallint, smallint, integer, timestamptz);
DROP FUNCTION IF EXISTS fuel.is_far(integer, integer, integer);
DROP FUNCTION IF EXISTS fuel.mark_dirty(smallint, timestamptz, boolean, timestamptz);
DROP FUNCTION IF EXISTS fuel.finish_backfill(
  smallint, timestamptz, timestamptz, smallint[], timestamptz);
DROP TABLE fuel.area_level;
ALTER TABLE fuel.current_price
  DROP COLUMN since_at,
  DROP COLUMN is_flagged,
  DROP COLUMN flag_lapses_at,
  DROP COLUMN is_next_flagged;
COMMENT ON TABLE fuel.current_price IS
  'What the lists of a feed show of every station and fuel, so that a run is compared with it and not with '
  'the history. The present of readers is fuel.present_span.';
