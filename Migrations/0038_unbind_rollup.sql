-- The server looked a region up for each daily average that was written, which was a third of writing it. Only an
-- aggregate writes averages and removes regions, under its lock, and it removes the averages of a region first.

ALTER TABLE fuel.daily_rollup DROP CONSTRAINT daily_rollup_region_fk;
