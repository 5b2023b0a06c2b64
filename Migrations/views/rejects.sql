CREATE OR REPLACE VIEW fuel_v1.rejects AS
SELECT
  reject.run_id,
  source.source AS feed,
  reject.reason,
  reject.raw,
  reject.rejected_at
FROM fuel.reject
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.rejects IS
  'Records that were turned away. One row per distinct record and reason of a feed: one that comes '
  'again in later runs is counted there and not repeated here.';
COMMENT ON COLUMN fuel_v1.rejects.run_id      IS 'The run that turned it away first.';
COMMENT ON COLUMN fuel_v1.rejects.feed        IS 'The feed.';
COMMENT ON COLUMN fuel_v1.rejects.reason      IS 'Why, from a fixed list.';
COMMENT ON COLUMN fuel_v1.rejects.raw         IS 'The record as it came, or its fields.';
COMMENT ON COLUMN fuel_v1.rejects.rejected_at IS 'When that was.';
GRANT SELECT ON fuel_v1.rejects TO fuel_reader, fuel_writer;
