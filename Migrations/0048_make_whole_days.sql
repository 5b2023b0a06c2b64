-- A region's day is always made from the days of its stations. Before, the averages of few changed stations were edited:
-- their former days were taken out and the new ones put in, which needed the sums of each day and the means around each
-- published rank, two thirds of a row.
ALTER TABLE fuel.daily_rollup DROP COLUMN totals;
ALTER TABLE fuel.stale_days DROP COLUMN is_marked;
-- What would have been edited is made from all stations.
INSERT INTO fuel.dirty_day (fuel_id, day)
SELECT DISTINCT noted.fuel_id, series.day::date
FROM fuel.stale_days AS noted
CROSS JOIN LATERAL generate_series(
  noted.first_month::timestamp,
  least(noted.last_month + interval '2 months' - interval '1 day', current_date + interval '1 day'),
  interval '1 day') AS series (day)
ON CONFLICT DO NOTHING;
DROP FUNCTION IF EXISTS fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], integer, boolean, timestamptz);
