-- In which order runs were committed, so that another service can catch up from where it stopped, and
-- every run of the aggregate. Runs of before are numbered as they began. The index over fuel.price is built once over all of it.

ALTER TABLE fuel.run ADD COLUMN change_number bigint;
COMMENT ON COLUMN fuel.run.change_number IS
  'Its place in the order of commits: nobody sees a number before all smaller ones. NULL: nothing was stored.';
UPDATE fuel.run SET change_number = numbered.place
FROM (
  SELECT run.run_id, row_number() OVER (ORDER BY run.run_id) AS place
  FROM fuel.run
  WHERE run.outcome IN ('stored', 'unchanged', 'superseded')
) AS numbered
WHERE run.run_id = numbered.run_id;
CREATE UNIQUE INDEX run_change_idx ON fuel.run (change_number);
-- Whether a run came late, after one that told of a later instant.
CREATE INDEX run_taken_idx ON fuel.run (source_id, taken_at) WHERE change_number IS NOT NULL;

CREATE TABLE fuel.change_counter (
  newest bigint NOT NULL
);
COMMENT ON TABLE  fuel.change_counter        IS 'One row, whose lock puts commits in order. A lock that readers cannot take.';
COMMENT ON COLUMN fuel.change_counter.newest IS 'The highest change_number of fuel.run.';
INSERT INTO fuel.change_counter (newest) SELECT coalesce(max(run.change_number), 0) FROM fuel.run;
GRANT SELECT, UPDATE ON fuel.change_counter TO fuel_writer;

-- In place of one that knows ranges of blocks: who catches up asks run by run, and the last range of every
-- month was read whole each time.
DROP INDEX fuel.price_run_idx;
CREATE INDEX price_run_idx ON fuel.price (run_id);

CREATE TABLE fuel.aggregate_run (
  aggregate_run_id integer     NOT NULL GENERATED ALWAYS AS IDENTITY,
  started_at       timestamptz NOT NULL,
  finished_at      timestamptz,
  outcome          text        NOT NULL,
  days             integer     NOT NULL,
  verdicts         integer     NOT NULL,
  new_verdicts     integer     NOT NULL,
  CONSTRAINT aggregate_run_pk PRIMARY KEY (aggregate_run_id),
  CONSTRAINT aggregate_run_outcome_ck CHECK (outcome IN ('running', 'done', 'interrupted')),
  CONSTRAINT aggregate_run_finished_ck CHECK ((finished_at IS NULL) = (outcome = 'running'))
);
COMMENT ON TABLE  fuel.aggregate_run                  IS 'Every run of the aggregate, good or bad.';
COMMENT ON COLUMN fuel.aggregate_run.aggregate_run_id IS 'Number of the run.';
COMMENT ON COLUMN fuel.aggregate_run.started_at       IS 'When it began.';
COMMENT ON COLUMN fuel.aggregate_run.finished_at      IS 'When it ended; NULL while it runs.';
COMMENT ON COLUMN fuel.aggregate_run.outcome          IS 'running, done, or interrupted (it failed, or its process died).';
COMMENT ON COLUMN fuel.aggregate_run.days             IS 'Days of averages made again.';
COMMENT ON COLUMN fuel.aggregate_run.verdicts         IS 'Verdicts judged.';
COMMENT ON COLUMN fuel.aggregate_run.new_verdicts     IS 'Verdicts that differ from the last one.';
COMMENT ON CONSTRAINT aggregate_run_pk          ON fuel.aggregate_run IS 'One row per run.';
COMMENT ON CONSTRAINT aggregate_run_outcome_ck  ON fuel.aggregate_run IS 'The fixed words.';
COMMENT ON CONSTRAINT aggregate_run_finished_ck ON fuel.aggregate_run IS 'It has an end unless it runs.';
GRANT SELECT, INSERT, UPDATE ON fuel.aggregate_run TO fuel_writer;
