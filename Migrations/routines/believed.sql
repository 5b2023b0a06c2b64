-- Returns until when a span is believed. This is the one place that knows how lists keep an open span alive. The body
-- is a single expression, so that the server can inline it.
CREATE OR REPLACE FUNCTION fuel.believed_until(
  p_until_at timestamptz, p_lapses_at timestamptz, p_is_open boolean, p_seen_until_at timestamptz)
RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN p_is_open THEN least(p_lapses_at, greatest(p_until_at, p_seen_until_at))
  ELSE p_until_at
END;
COMMENT ON FUNCTION fuel.believed_until IS
  'The end of a span as it is believed now: until_at, lapses_at and is_open of fuel.span, and seen_until_at of '
  'fuel.sight.';

-- Averages, comparisons and verdicts ask further whether anybody may buy there. The body is a single expression, so
-- that the server can inline it.
CREATE OR REPLACE FUNCTION fuel.counts_at(
  p_at timestamptz, p_believed_until_at timestamptz, p_doubt_from_at timestamptz, p_doubt_until_at timestamptz,
  p_counts_from_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_at < p_believed_until_at
  AND NOT coalesce(p_doubt_from_at <= p_at AND p_at < p_doubt_until_at, false)
  AND coalesce(p_at >= p_counts_from_at, true);
COMMENT ON FUNCTION fuel.counts_at IS
  'Whether a price counts at an instant: until when it is believed, the beginning and the end of its doubt, and from '
  'when its feed counts.';

-- This is the one place that knows how long a sighting is believed.
CREATE OR REPLACE VIEW fuel.sight AS
SELECT
  source.source_id,
  source.last_listed_at,
  source.last_listed_at + source.sight_lapses_after AS seen_until_at,
  CASE WHEN source.kind = 'feed' AND NOT source.tells_whole_days THEN source.first_taken_at END
    AS counts_from_at,
  source.sight_lapses_after AS lapses_after,
  source.delay
FROM fuel.source;
COMMENT ON VIEW fuel.sight IS 'How long the newest list of a feed is believed. One row per feed and archive.';
COMMENT ON COLUMN fuel.sight.counts_from_at IS
  'From when its prices count in averages: the first run of a feed. Before it, only prices that have not '
  'changed since are known. NULL: always, as for archives and prices of whole days.';

-- Spans with their ends as they are believed now. An open span lasts for as long as lists show it.
CREATE OR REPLACE VIEW fuel.believed AS
SELECT
  span.station_id,
  span.fuel_id,
  span.from_at,
  fuel.believed_until(span.until_at, span.lapses_at, span.is_open, sight.seen_until_at) AS until_at,
  span.lapses_at,
  span.is_open,
  span.price_tenths,
  span.source_id,
  span.seen_by,
  span.learnt_at,
  span.doubt,
  span.doubt_from_at,
  span.doubt_until_at
FROM fuel.span
LEFT JOIN fuel.sight ON sight.source_id = span.seen_by;
COMMENT ON VIEW fuel.believed IS 'The spans of fuel.span with their ends as they are believed now.';

GRANT EXECUTE ON FUNCTION fuel.believed_until, fuel.counts_at TO fuel_reader, fuel_writer;
