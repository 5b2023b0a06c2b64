CREATE OR REPLACE VIEW fuel_v1.quarantined AS
SELECT
  broken.run_id,
  broken.feed,
  broken.kind,
  broken.started_at,
  broken.error
FROM fuel_v1.ingest_runs AS broken
CROSS JOIN fuel_v1.pipeline
WHERE broken.outcome = 'refused' AND strpos(broken.error, 'quarantined: ') > 0
  AND broken.started_at > pipeline.now_at - interval '720 hours'
  AND broken.started_at <= pipeline.now_at
  AND NOT EXISTS (
    SELECT
    FROM fuel_v1.ingest_runs AS later
    WHERE later.replaces_run_id = broken.run_id
      AND later.outcome IN ('stored', 'unchanged', 'superseded'));
COMMENT ON VIEW fuel_v1.quarantined IS
  'Documents and files of the last thirty days that broke their reader and have not been read since.';
COMMENT ON COLUMN fuel_v1.quarantined.run_id     IS 'The run; `bowser ingest --reprocess RUN` reads kept documents again.';
COMMENT ON COLUMN fuel_v1.quarantined.feed       IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.quarantined.kind       IS 'As in ingest_runs; load the file of a backfill again with bowser backfill.';
COMMENT ON COLUMN fuel_v1.quarantined.started_at IS 'When it was read.';
COMMENT ON COLUMN fuel_v1.quarantined.error      IS 'How its reader ended.';
GRANT SELECT ON fuel_v1.quarantined TO fuel_reader, fuel_writer;
