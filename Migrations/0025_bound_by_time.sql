-- What looks at the history of a station and fuel is told how far back to look.

DROP FUNCTION IF EXISTS fuel.refresh_current(smallint, integer[], smallint[], timestamptz[], integer[], timestamptz);
DROP FUNCTION IF EXISTS fuel.evidence(integer[], smallint[], timestamptz[], timestamptz, timestamptz);

-- 0023 took the days of stations away. Until an aggregate has made them again, no average can be changed by single
-- stations: all are due.
INSERT INTO fuel.dirty_day (fuel_id, day)
SELECT DISTINCT daily_rollup.fuel_id, daily_rollup.day
FROM fuel.daily_rollup
WHERE NOT EXISTS (SELECT FROM fuel.state WHERE state.days_made_until IS NOT NULL)
ON CONFLICT DO NOTHING;
