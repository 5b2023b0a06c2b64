-- What a stolen writer login may write about runs and sources stops no later run. It chooses no number of a run or of a
-- change, which a later run would find taken, and no instant without an end, which the program cannot read.

REVOKE INSERT ON fuel.run FROM fuel_writer;
GRANT INSERT (
  source_id, started_at, finished_at, taken_at, outcome, is_complete, describes_stations, documents, payload_sha256,
  payload_bytes, requests, received, stored, unchanged, duplicate, rejected, rejected_by_reason, flagged, error, kind,
  fetched_at, replaces_run_id, warnings, clock_skew, unmapped, pairs, content_digest, composition_id, stamps,
  shortcomings, awaits_tomorrow, told_days
) ON fuel.run TO fuel_writer;

ALTER TABLE fuel.run ADD CONSTRAINT run_instants_ck CHECK (
  isfinite(started_at) AND isfinite(finished_at) AND isfinite(taken_at) AND isfinite(fetched_at));
COMMENT ON CONSTRAINT run_instants_ck ON fuel.run IS 'The instants of a run are on the calendar.';
ALTER TABLE fuel.source ADD CONSTRAINT source_instants_ck CHECK (
  isfinite(first_taken_at) AND isfinite(last_taken_at) AND isfinite(last_listed_at));
COMMENT ON CONSTRAINT source_instants_ck ON fuel.source IS 'Lists came at instants of the calendar.';
