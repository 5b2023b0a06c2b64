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
GRANT SELECT ON fuel.believed TO fuel_writer;
