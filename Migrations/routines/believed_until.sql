-- Returns until when a span is believed. This is the one place that knows how lists keep an open span alive. The body
-- is a single expression, so that the server can inline it.
CREATE OR REPLACE FUNCTION fuel.believed_until(
  p_until_at timestamptz, p_lapses_at timestamptz, p_is_open boolean, p_seen_until_at timestamptz)
RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN p_is_open THEN least(p_lapses_at, greatest(p_until_at, p_seen_until_at))
  ELSE p_until_at
END;
COMMENT ON FUNCTION fuel.believed_until(timestamptz, timestamptz, boolean, timestamptz) IS
  'The end of a span as it is believed now: until_at, lapses_at and is_open of fuel.span, and seen_until_at of '
  'fuel.sight.';
GRANT EXECUTE ON FUNCTION fuel.believed_until(timestamptz, timestamptz, boolean, timestamptz)
  TO fuel_reader, fuel_writer;
