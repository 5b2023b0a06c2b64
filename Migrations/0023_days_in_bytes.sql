-- The days of a station are read and written by the month, all at once: one value of bytes costs a tenth of six arrays,
-- and most days are like the day before. They are made of spans, so the next aggregate makes them again.

-- Views of others may read it, so it stays, without what it reads.
CREATE OR REPLACE VIEW fuel_v1.station_days AS
SELECT
  0 AS station_id, '' AS fuel, '-infinity'::date AS day, 0::numeric(6, 2) AS average_cpl, 0::numeric(5, 1) AS low_cpl,
  0::numeric(5, 1) AS high_cpl, 0::numeric(5, 1) AS last_cpl, 0::numeric(4, 3) AS coverage, false AS is_complete
WHERE false;

TRUNCATE fuel.station_month;
ALTER TABLE fuel.station_month
  DROP CONSTRAINT station_month_days_ck,
  DROP COLUMN standing,
  DROP COLUMN mean,
  DROP COLUMN low,
  DROP COLUMN high,
  DROP COLUMN last,
  DROP COLUMN seconds,
  ADD COLUMN days bytea NOT NULL,
  ADD CONSTRAINT station_month_days_ck CHECK (
    octet_length(days) BETWEEN 16 AND 31 * 16 AND octet_length(days) % 16 = 0);
ALTER TABLE fuel.station_month ALTER COLUMN days SET STORAGE PLAIN;
COMMENT ON COLUMN fuel.station_month.days IS
  'Runs of equal days from the first of the month on, as fuel.days_of reads them: sixteen bytes a run.';
COMMENT ON CONSTRAINT station_month_days_ck ON fuel.station_month IS 'Whole runs, 31 at most.';
COMMENT ON TABLE fuel.station_month IS
  'What a station charged for a fuel on each price day that has ended, by month: the layer between spans and '
  'the averages of regions. One partition per year.';

UPDATE fuel.state SET days_made_until = NULL;
UPDATE fuel.stale_days SET is_marked = true;

-- The aggregate marks what is not marked yet.
DROP FUNCTION IF EXISTS fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], integer, timestamptz);
