-- Returns the price day that an instant belongs to. price_day_begin returns the instant at which a price day begins.
-- The server's time zone rules are used, so that a day may have 23 or 25 hours.
CREATE OR REPLACE FUNCTION fuel.price_day(p_at timestamptz, p_time_zone text, p_starts interval)
RETURNS date LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN ((p_at AT TIME ZONE p_time_zone) - p_starts)::date;
COMMENT ON FUNCTION fuel.price_day(timestamptz, text, interval) IS
  'The local price day that an instant belongs to.';
GRANT EXECUTE ON FUNCTION fuel.price_day(timestamptz, text, interval) TO fuel_reader, fuel_writer;

CREATE OR REPLACE FUNCTION fuel.price_day_begin(p_day date, p_time_zone text, p_starts interval)
RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN (p_day + p_starts) AT TIME ZONE p_time_zone;
COMMENT ON FUNCTION fuel.price_day_begin(date, text, interval) IS
  'The instant at which a local price day begins; it ends where the next one begins.';
GRANT EXECUTE ON FUNCTION fuel.price_day_begin(date, text, interval) TO fuel_reader, fuel_writer;

CREATE OR REPLACE FUNCTION fuel.tomorrow_published_at(p_state text, p_day date)
RETURNS timestamptz LANGUAGE sql STABLE
RETURN (
  SELECT min((p_day + source.publishes_tomorrow_at) AT TIME ZONE state.time_zone)
  FROM fuel.source
  JOIN fuel.state USING (state)
  WHERE state.state = p_state);
COMMENT ON FUNCTION fuel.tomorrow_published_at(text, date) IS
  'When the prices of the day after a price day are published in a state; NULL: they are not published in advance.';
GRANT EXECUTE ON FUNCTION fuel.tomorrow_published_at(text, date) TO fuel_writer;
