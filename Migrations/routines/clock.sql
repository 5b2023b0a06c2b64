-- The clock is an input. `SET bowser.now = '2026-07-02T12:00:00Z'` shows what the views would have shown at that
-- instant, as far as prices in effect and freshness are concerned.
CREATE OR REPLACE FUNCTION fuel.clock() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('bowser.now', true), '')::timestamptz, now());
COMMENT ON FUNCTION fuel.clock IS 'The instant that counts as now in this session.';

-- Returns when a run can have begun at the latest. A later one began on a machine whose clock was ahead. The program
-- accepts the same ten minutes (clockLimitSeconds in Ingest+calls.swift).
CREATE OR REPLACE FUNCTION fuel.latest_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN fuel.clock() + interval '10 minutes';
COMMENT ON FUNCTION fuel.latest_start IS 'When a run can have begun at the latest, by the clock of this session.';

-- After thirty days of silence a station or a price is dormant, not merely stale. Hours, because a day of an interval
-- has 23 or 25 of them where the clocks of the session's time zone change.
CREATE OR REPLACE FUNCTION fuel.dormant_after() RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN interval '720 hours';
COMMENT ON FUNCTION fuel.dormant_after IS 'For how long what has lapsed is shown as stale.';

-- Returns how many stations an average needs at least. Two stations do not represent a region.
CREATE OR REPLACE FUNCTION fuel.minimum_stations() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 3;
COMMENT ON FUNCTION fuel.minimum_stations IS 'The smallest sample that is published as an average.';

CREATE OR REPLACE FUNCTION fuel.minimum_coverage() RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 0.75;
COMMENT ON FUNCTION fuel.minimum_coverage IS 'The share of a day that must be known at least.';

-- The server's time zone rules are used, so that a day may have 23 or 25 hours.
CREATE OR REPLACE FUNCTION fuel.price_day(p_at timestamptz, p_time_zone text, p_starts interval)
RETURNS date LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN ((p_at AT TIME ZONE p_time_zone) - p_starts)::date;
COMMENT ON FUNCTION fuel.price_day IS 'The local price day that an instant belongs to.';

CREATE OR REPLACE FUNCTION fuel.price_day_begin(p_day date, p_time_zone text, p_starts interval)
RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (p_day + p_starts) AT TIME ZONE p_time_zone;
COMMENT ON FUNCTION fuel.price_day_begin IS
  'The instant at which a local price day begins; it ends where the next one begins.';

GRANT EXECUTE ON FUNCTION
  fuel.clock, fuel.latest_start, fuel.dormant_after, fuel.minimum_stations, fuel.minimum_coverage,
  fuel.price_day, fuel.price_day_begin TO fuel_reader, fuel_writer;
