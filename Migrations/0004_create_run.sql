-- Every attempt on a feed, good or bad, and what it turned away.

CREATE TABLE fuel.run (
  run_id             integer     NOT NULL GENERATED ALWAYS AS IDENTITY,
  source_id          smallint    NOT NULL,
  started_at         timestamptz NOT NULL,
  finished_at        timestamptz,
  taken_at           timestamptz,
  outcome            text        NOT NULL,
  is_complete        boolean     NOT NULL,
  describes_stations boolean     NOT NULL,
  documents          text[]      NOT NULL,
  payload_sha256     bytea,
  payload_bytes      bigint      NOT NULL,
  requests           integer     NOT NULL,
  received           integer     NOT NULL,
  stored             integer     NOT NULL,
  unchanged          integer     NOT NULL,
  duplicate          integer     NOT NULL,
  rejected           integer     NOT NULL,
  rejected_by_reason jsonb       NOT NULL,
  flagged            integer     NOT NULL,
  error              text,
  CONSTRAINT run_pk PRIMARY KEY (run_id),
  CONSTRAINT run_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT run_outcome_ck CHECK (
    outcome IN (
      'running', 'stored', 'unchanged', 'rehearsed', 'refused', 'failed', 'interrupted')),
  CONSTRAINT run_counts_ck CHECK (received = stored + unchanged + duplicate + rejected),
  CONSTRAINT run_taken_ck CHECK (taken_at IS NOT NULL OR outcome NOT IN ('stored', 'unchanged'))
);
-- The complete lists of a feed in order of time: which one came before and which after.
CREATE INDEX run_complete_idx ON fuel.run (source_id, taken_at) WHERE is_complete;
CREATE INDEX run_started_idx ON fuel.run (source_id, started_at DESC);
COMMENT ON TABLE  fuel.run                    IS 'Attempts to read a feed.';
COMMENT ON COLUMN fuel.run.run_id             IS
  'Number of the run. At 2,000 runs a day an integer lasts 2,900 years.';
COMMENT ON COLUMN fuel.run.source_id          IS 'The feed.';
COMMENT ON COLUMN fuel.run.started_at         IS 'When it began.';
COMMENT ON COLUMN fuel.run.finished_at        IS 'When it ended. NULL while it runs.';
COMMENT ON COLUMN fuel.run.taken_at           IS
  'When its last document was fetched; in a replay, when it was recorded. NULL: none came.';
COMMENT ON COLUMN fuel.run.outcome            IS
  'running; stored (something new); unchanged (nothing new); rehearsed (a dry run that fetched); '
  'refused (the documents); failed (the fetch or the store); interrupted (the process died).';
COMMENT ON COLUMN fuel.run.is_complete        IS
  'Whether it stored a complete list of the feed, whose gaps mean «not offered».';
COMMENT ON COLUMN fuel.run.describes_stations IS 'Whether it described the stations too.';
COMMENT ON COLUMN fuel.run.documents          IS 'Names of the documents that came.';
COMMENT ON COLUMN fuel.run.payload_sha256     IS
  'Digest over the names and bytes of its documents. NULL: none came.';
COMMENT ON COLUMN fuel.run.payload_bytes      IS 'Size of its documents together.';
COMMENT ON COLUMN fuel.run.requests           IS 'Requests sent, retries and token calls included.';
COMMENT ON COLUMN fuel.run.received           IS 'Price records that came.';
COMMENT ON COLUMN fuel.run.stored             IS 'Records that told something new.';
COMMENT ON COLUMN fuel.run.unchanged          IS 'Records that were known already.';
COMMENT ON COLUMN fuel.run.duplicate          IS 'Records that repeated another of the same run.';
COMMENT ON COLUMN fuel.run.rejected           IS 'Records turned away.';
COMMENT ON COLUMN fuel.run.rejected_by_reason IS 'How many for which reason.';
COMMENT ON COLUMN fuel.run.flagged            IS 'Records stored but marked as doubtful.';
COMMENT ON COLUMN fuel.run.error              IS 'Why it was refused or failed. NULL: it was not.';
COMMENT ON CONSTRAINT run_pk         ON fuel.run IS 'One row per run.';
COMMENT ON CONSTRAINT run_source_fk  ON fuel.run IS 'A known feed.';
COMMENT ON CONSTRAINT run_outcome_ck ON fuel.run IS 'A known outcome.';
COMMENT ON CONSTRAINT run_counts_ck  ON fuel.run IS 'Every record received is accounted for.';
COMMENT ON CONSTRAINT run_taken_ck   ON fuel.run IS 'What was stored was taken at some instant.';

CREATE TABLE fuel.reject (
  source_id   smallint    NOT NULL,
  reason      text        NOT NULL,
  raw_md5     uuid        NOT NULL,
  raw         text        NOT NULL,
  run_id      integer     NOT NULL,
  rejected_at timestamptz NOT NULL,
  CONSTRAINT reject_pk PRIMARY KEY (source_id, reason, raw_md5),
  CONSTRAINT reject_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT reject_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT reject_raw_ck CHECK (length(raw) <= 2000)
);
COMMENT ON TABLE  fuel.reject             IS
  'Records turned away. A record that comes again in a later run is kept once; the runs count it.';
COMMENT ON COLUMN fuel.reject.source_id   IS 'The feed.';
COMMENT ON COLUMN fuel.reject.reason      IS 'Why, from a fixed list.';
COMMENT ON COLUMN fuel.reject.raw_md5     IS 'Digest of the record, to know it again.';
COMMENT ON COLUMN fuel.reject.raw         IS 'The record as it came, or its fields.';
COMMENT ON COLUMN fuel.reject.run_id      IS 'The run that turned it away first.';
COMMENT ON COLUMN fuel.reject.rejected_at IS 'When that was.';
COMMENT ON CONSTRAINT reject_pk        ON fuel.reject IS 'A record and reason once per feed.';
COMMENT ON CONSTRAINT reject_source_fk ON fuel.reject IS 'A known feed.';
COMMENT ON CONSTRAINT reject_run_fk    ON fuel.reject IS 'A known run.';
COMMENT ON CONSTRAINT reject_raw_ck    ON fuel.reject IS 'The reader cuts longer ones.';

GRANT SELECT, INSERT, UPDATE ON fuel.run TO fuel_writer;
GRANT SELECT, INSERT ON fuel.reject TO fuel_writer;
