-- The clock is an input. `SET bowser.now = '2026-07-02T12:00:00Z'` shows what the views would have shown at that
-- instant, as far as prices in effect and freshness are concerned.
CREATE OR REPLACE FUNCTION fuel.clock() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('bowser.now', true), '')::timestamptz, now());
COMMENT ON FUNCTION fuel.clock() IS 'The instant that counts as now in this session.';
GRANT EXECUTE ON FUNCTION fuel.clock() TO fuel_reader, fuel_writer;

-- Returns when a run can have begun at the latest. A later one began on a machine whose clock was ahead. The program
-- accepts the same ten minutes (clockLimitSeconds in Ingest+calls.swift).
CREATE OR REPLACE FUNCTION fuel.latest_start() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN fuel.clock() + interval '10 minutes';
COMMENT ON FUNCTION fuel.latest_start() IS 'When a run can have begun at the latest, by the clock of this session.';
GRANT EXECUTE ON FUNCTION fuel.latest_start() TO fuel_reader, fuel_writer;

-- Returns how many stations an average needs at least. Two stations do not represent a region.
CREATE OR REPLACE FUNCTION fuel.minimum_stations() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 3;
COMMENT ON FUNCTION fuel.minimum_stations() IS 'The smallest sample that is published as an average.';
GRANT EXECUTE ON FUNCTION fuel.minimum_stations() TO fuel_reader, fuel_writer;
