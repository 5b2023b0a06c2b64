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
COMMENT ON COLUMN fuel.believed.station_id     IS 'The station.';
COMMENT ON COLUMN fuel.believed.fuel_id        IS 'The fuel.';
COMMENT ON COLUMN fuel.believed.from_at        IS 'When the price began.';
COMMENT ON COLUMN fuel.believed.until_at       IS 'Until when it is believed.';
COMMENT ON COLUMN fuel.believed.lapses_at      IS 'Until when it would be believed if it had been seen all the time.';
COMMENT ON COLUMN fuel.believed.is_open        IS 'Whether future lists can extend it.';
COMMENT ON COLUMN fuel.believed.price_tenths   IS 'Tenths of a cent per litre.';
COMMENT ON COLUMN fuel.believed.source_id      IS 'Who reported its beginning.';
COMMENT ON COLUMN fuel.believed.seen_by        IS 'Who reported it last.';
COMMENT ON COLUMN fuel.believed.learnt_at      IS 'When its last report was first fetched.';
COMMENT ON COLUMN fuel.believed.doubt          IS 'Why it is doubtful; NULL: it is not.';
COMMENT ON COLUMN fuel.believed.doubt_from_at  IS 'From when it is doubtful.';
COMMENT ON COLUMN fuel.believed.doubt_until_at IS 'Until when it is doubtful.';
GRANT SELECT ON fuel.believed TO fuel_writer;
