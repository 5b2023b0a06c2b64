CREATE OR REPLACE VIEW fuel_v1.ingest_runs AS
SELECT
  run.run_id,
  source.source AS feed,
  run.started_at,
  run.finished_at,
  run.outcome,
  run.received,
  run.stored,
  run.unchanged,
  run.duplicate,
  run.rejected,
  run.flagged,
  run.error,
  run.taken_at,
  run.is_complete,
  run.requests,
  run.payload_bytes,
  encode(run.payload_sha256, 'hex') AS payload_sha256,
  run.kind,
  run.fetched_at,
  run.replaces_run_id,
  run.unmapped,
  array_to_string(run.shortcomings || run.warnings, '; ') AS warnings,
  round(extract(epoch FROM run.clock_skew))::integer AS clock_skew_seconds,
  (
    SELECT string_agg(format('%s=%s', counted.key, counted.value), ' ' ORDER BY counted.key)
    FROM jsonb_each_text(run.rejected_by_reason) AS counted
  ) AS rejected_by_reason,
  run.change_number,
  (
    SELECT withdrawal.reason
    FROM fuel.withdrawal
    WHERE withdrawal.run_id = run.run_id AND run.outcome = 'withdrawn'
    ORDER BY withdrawal.withdrawal_id DESC
    LIMIT 1
  ) AS withdrawn_because
FROM fuel.run
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.ingest_runs IS
  'Every attempt to read a feed, good or bad. One row per run. received = stored + unchanged + '
  'duplicate + rejected.';
COMMENT ON COLUMN fuel_v1.ingest_runs.run_id         IS 'Number of the run.';
COMMENT ON COLUMN fuel_v1.ingest_runs.feed           IS 'The feed.';
COMMENT ON COLUMN fuel_v1.ingest_runs.started_at     IS 'When it began.';
COMMENT ON COLUMN fuel_v1.ingest_runs.finished_at    IS 'When it ended; NULL while it runs.';
COMMENT ON COLUMN fuel_v1.ingest_runs.outcome        IS 'running, stored (something new), unchanged (nothing new), rehearsed (a dry run that fetched), refused (its documents), failed (to fetch or to store), interrupted (its process died), superseded (its documents were read again) or withdrawn (by a person). Only what stored and unchanged runs reported counts.';
COMMENT ON COLUMN fuel_v1.ingest_runs.received       IS 'Price records that were received.';
COMMENT ON COLUMN fuel_v1.ingest_runs.stored         IS 'Records that reported something new.';
COMMENT ON COLUMN fuel_v1.ingest_runs.unchanged      IS 'Records that were known already.';
COMMENT ON COLUMN fuel_v1.ingest_runs.duplicate      IS 'Records that repeated another of the same run.';
COMMENT ON COLUMN fuel_v1.ingest_runs.rejected       IS 'Records that were refused; see rejects.';
COMMENT ON COLUMN fuel_v1.ingest_runs.flagged        IS 'Records stored but marked as doubtful.';
COMMENT ON COLUMN fuel_v1.ingest_runs.error          IS 'Why it was refused, failed or was interrupted; NULL: it was not.';
COMMENT ON COLUMN fuel_v1.ingest_runs.taken_at       IS 'The instant whose state its documents show: fetched_at minus the delay of the feed; NULL: no document was received.';
COMMENT ON COLUMN fuel_v1.ingest_runs.is_complete    IS 'Whether it stored a complete list, in which a missing price means not offered. Judged by the lists around it, and judged again when one of them arrives late or no longer counts.';
COMMENT ON COLUMN fuel_v1.ingest_runs.requests       IS 'Requests sent, retries and token calls included.';
COMMENT ON COLUMN fuel_v1.ingest_runs.payload_bytes  IS 'Total size of its documents, bytes.';
COMMENT ON COLUMN fuel_v1.ingest_runs.payload_sha256 IS 'Digest of its documents, hex; NULL: no document was received, or it is a backfill.';
COMMENT ON COLUMN fuel_v1.ingest_runs.kind           IS 'live, replay (from a recording), reprocess (kept documents read again) or backfill (a file of an archive).';
COMMENT ON COLUMN fuel_v1.ingest_runs.fetched_at     IS 'When its last document was fetched, or recorded; NULL: no document was received.';
COMMENT ON COLUMN fuel_v1.ingest_runs.replaces_run_id IS 'The run whose documents it read again; NULL: it has its own documents.';
COMMENT ON COLUMN fuel_v1.ingest_runs.unmapped       IS 'Records kept under a fuel code that nobody has mapped yet.';
COMMENT ON COLUMN fuel_v1.ingest_runs.warnings       IS 'What was odd about the answer of the feed as a whole; empty: nothing.';
COMMENT ON COLUMN fuel_v1.ingest_runs.clock_skew_seconds IS 'The provider''s clock minus ours, by its Date header, in seconds; NULL: it sent none.';
COMMENT ON COLUMN fuel_v1.ingest_runs.rejected_by_reason IS 'How many records were refused for which reason, such as price_zero=2 unsupported_fuel=8; NULL: none.';
COMMENT ON COLUMN fuel_v1.ingest_runs.change_number  IS 'Its position in changes; NULL: nothing was stored.';
COMMENT ON COLUMN fuel_v1.ingest_runs.withdrawn_because IS 'Why a person withdrew it; NULL: it is not withdrawn.';
GRANT SELECT ON fuel_v1.ingest_runs TO fuel_reader, fuel_writer;
