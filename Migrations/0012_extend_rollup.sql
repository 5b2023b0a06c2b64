-- What daily averages leave out, and why.

ALTER TABLE fuel.daily_rollup
  ADD COLUMN excluded_stale integer NOT NULL DEFAULT 0,
  ADD COLUMN excluded_flagged integer NOT NULL DEFAULT 0,
  ADD COLUMN excluded_restricted integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN fuel.daily_rollup.excluded_stale      IS
  'Stations left out: told of, but not seen for too long to be believed.';
COMMENT ON COLUMN fuel.daily_rollup.excluded_flagged    IS 'Stations left out: only doubtful prices.';
COMMENT ON COLUMN fuel.daily_rollup.excluded_restricted IS 'Stations left out: for members only.';

-- Daily averages are computed by the program: one pass over the events of each station and fuel.
DROP FUNCTION IF EXISTS fuel.rebuild_days(smallint[], date, date, timestamptz);
