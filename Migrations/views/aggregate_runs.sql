CREATE OR REPLACE VIEW fuel_v1.aggregate_runs AS
SELECT
  aggregate_run.aggregate_run_id,
  aggregate_run.started_at,
  aggregate_run.finished_at,
  aggregate_run.outcome,
  aggregate_run.days,
  aggregate_run.verdicts,
  aggregate_run.new_verdicts
FROM fuel.aggregate_run;
COMMENT ON VIEW fuel_v1.aggregate_runs IS
  'Every run of bowser aggregate, which computes averages, trends and verdicts. One row per run.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.aggregate_run_id IS 'Number of the run.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.started_at       IS 'When it began.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.finished_at      IS 'When it ended; NULL while it runs.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.outcome          IS 'running, done, or interrupted (it failed, or its process died).';
COMMENT ON COLUMN fuel_v1.aggregate_runs.days             IS 'Days whose averages were recomputed.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.verdicts         IS 'Verdicts computed. 0: nothing had come in since the run before, or nothing is known yet.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.new_verdicts     IS 'Verdicts that differ from the verdict before for the same region and fuel.';
GRANT SELECT ON fuel_v1.aggregate_runs TO fuel_reader, fuel_writer;
