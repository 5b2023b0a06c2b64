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
  'Records that were refused. One row per distinct record and reason of a feed: a record that occurs '
  'again in later runs is counted there and not repeated here.';
COMMENT ON COLUMN fuel_v1.rejects.run_id      IS 'The run that refused it first.';
COMMENT ON COLUMN fuel_v1.rejects.feed        IS 'The feed.';
COMMENT ON COLUMN fuel_v1.rejects.reason      IS 'Why, from a fixed list.';
COMMENT ON COLUMN fuel_v1.rejects.raw         IS 'The record as it was received, or its fields.';
COMMENT ON COLUMN fuel_v1.rejects.rejected_at IS 'When it was first refused.';
GRANT SELECT ON fuel_v1.rejects TO fuel_reader, fuel_writer;
