-- What came, as it came: the documents of every run are kept before anything reads them, so that a
-- run that died, a fixed parser or a new mapping never needs the provider again.

CREATE TABLE fuel.body (
  sha256  bytea       NOT NULL,
  bytes   bytea       NOT NULL,
  kept_at timestamptz NOT NULL,
  CONSTRAINT body_pk PRIMARY KEY (sha256)
);
COMMENT ON TABLE  fuel.body         IS
  'Documents of providers, byte for byte; equal ones once. Compressed by the server.';
COMMENT ON COLUMN fuel.body.sha256  IS 'Digest of the bytes.';
COMMENT ON COLUMN fuel.body.bytes   IS 'The bytes.';
COMMENT ON COLUMN fuel.body.kept_at IS 'When they first came.';
COMMENT ON CONSTRAINT body_pk ON fuel.body IS 'The same bytes are kept once.';

CREATE TABLE fuel.run_body (
  run_id     integer     NOT NULL,
  name       text        NOT NULL,
  sha256     bytea       NOT NULL,
  fetched_at timestamptz NOT NULL,
  CONSTRAINT run_body_pk PRIMARY KEY (run_id, name),
  CONSTRAINT run_body_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT run_body_body_fk FOREIGN KEY (sha256) REFERENCES fuel.body (sha256)
);
CREATE INDEX run_body_sha256_idx ON fuel.run_body (sha256);
COMMENT ON TABLE  fuel.run_body            IS 'Which documents a run had, as long as they are kept.';
COMMENT ON COLUMN fuel.run_body.run_id     IS 'The run.';
COMMENT ON COLUMN fuel.run_body.name       IS 'The document''s name within its run.';
COMMENT ON COLUMN fuel.run_body.sha256     IS 'Digest of its bytes.';
COMMENT ON COLUMN fuel.run_body.fetched_at IS 'When it came.';
COMMENT ON CONSTRAINT run_body_pk      ON fuel.run_body IS 'A name means one document of a run.';
COMMENT ON CONSTRAINT run_body_run_fk  ON fuel.run_body IS 'A known run.';
COMMENT ON CONSTRAINT run_body_body_fk ON fuel.run_body IS 'Kept bytes.';

ALTER TABLE fuel.run
  ADD COLUMN kind text NOT NULL DEFAULT 'live',
  ADD COLUMN fetched_at timestamptz,
  ADD COLUMN replaces_run_id integer,
  ADD COLUMN warnings text[] NOT NULL DEFAULT '{}',
  ADD COLUMN clock_skew interval,
  ADD COLUMN unmapped integer NOT NULL DEFAULT 0,
  ADD COLUMN pairs integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT run_kind_ck CHECK (kind IN ('live', 'replay', 'reprocess')),
  ADD CONSTRAINT run_replaces_fk FOREIGN KEY (replaces_run_id) REFERENCES fuel.run (run_id),
  DROP CONSTRAINT run_outcome_ck,
  ADD CONSTRAINT run_outcome_ck CHECK (
    outcome IN (
      'running', 'stored', 'unchanged', 'rehearsed', 'refused', 'failed', 'interrupted',
      'superseded'));
UPDATE fuel.run SET
  fetched_at = taken_at,
  kind = CASE WHEN requests = 0 AND outcome IN ('stored', 'unchanged') THEN 'replay' ELSE 'live' END;
CREATE INDEX run_replaces_idx ON fuel.run (replaces_run_id) WHERE replaces_run_id IS NOT NULL;
COMMENT ON COLUMN fuel.run.kind            IS
  'live (fetched), replay (from a recording) or reprocess (kept documents read again).';
COMMENT ON COLUMN fuel.run.fetched_at      IS
  'When its last document came. Later than taken_at by the feed''s delay. NULL: none came.';
COMMENT ON COLUMN fuel.run.replaces_run_id IS
  'The run whose documents it read again. NULL: it brought its own.';
COMMENT ON COLUMN fuel.run.warnings        IS 'What was odd about the feed as a whole.';
COMMENT ON COLUMN fuel.run.clock_skew      IS
  'The provider''s clock less ours, by its Date header. NULL: it sent none.';
COMMENT ON COLUMN fuel.run.unmapped        IS
  'Records stored under a fuel code that nobody has mapped yet.';
COMMENT ON COLUMN fuel.run.pairs           IS
  'Of a list that is not complete: for how many stations and fuels it told a price.';
COMMENT ON COLUMN fuel.run.taken_at        IS
  'The instant whose state its documents show: when the last one was fetched or recorded, less the '
  'feed''s delay. NULL: none came.';
COMMENT ON COLUMN fuel.run.outcome         IS
  'running; stored (something new); unchanged (nothing new); rehearsed (a dry run that fetched); '
  'refused (the documents); failed (the fetch or the store); interrupted (the process died); '
  'superseded (its documents were read again by a later run).';
COMMENT ON CONSTRAINT run_kind_ck     ON fuel.run IS 'A known kind.';
COMMENT ON CONSTRAINT run_outcome_ck  ON fuel.run IS 'A known outcome.';
COMMENT ON CONSTRAINT run_replaces_fk ON fuel.run IS 'A known run.';

CREATE TABLE fuel.withdrawn_price (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  source_id    smallint    NOT NULL,
  effective_at timestamptz NOT NULL,
  price_tenths integer     NOT NULL,
  run_id       integer     NOT NULL,
  learnt_at    timestamptz NOT NULL,
  withdrawn_by integer     NOT NULL,
  CONSTRAINT withdrawn_price_pk PRIMARY KEY (
    station_id, fuel_id, effective_at, source_id, price_tenths, withdrawn_by),
  CONSTRAINT withdrawn_price_run_fk FOREIGN KEY (withdrawn_by) REFERENCES fuel.run (run_id)
);
COMMENT ON TABLE  fuel.withdrawn_price              IS
  'Facts that turned out to be misread when their documents were read again. Nothing uses them.';
COMMENT ON COLUMN fuel.withdrawn_price.station_id   IS 'The station. It may be gone with them.';
COMMENT ON COLUMN fuel.withdrawn_price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.withdrawn_price.source_id    IS 'Who was thought to say so.';
COMMENT ON COLUMN fuel.withdrawn_price.effective_at IS 'When the price was thought to begin.';
COMMENT ON COLUMN fuel.withdrawn_price.price_tenths IS 'Tenths of a cent per litre; 0: not offered.';
COMMENT ON COLUMN fuel.withdrawn_price.run_id       IS 'The run that had brought it.';
COMMENT ON COLUMN fuel.withdrawn_price.learnt_at    IS 'When its document was fetched.';
COMMENT ON COLUMN fuel.withdrawn_price.withdrawn_by IS 'The run that read the document again.';
COMMENT ON CONSTRAINT withdrawn_price_pk     ON fuel.withdrawn_price IS 'Withdrawn once by a run.';
COMMENT ON CONSTRAINT withdrawn_price_run_fk ON fuel.withdrawn_price IS 'A known run.';

-- Which facts a run brought. Rows lie in the order of runs, so that a few bytes per page range do.
CREATE INDEX price_run_idx ON fuel.price USING brin (run_id);

GRANT SELECT, INSERT ON fuel.body, fuel.run_body, fuel.withdrawn_price TO fuel_writer;

-- Routines whose shape has changed; their present texts are applied after this.
DROP FUNCTION IF EXISTS fuel.absorb(integer, timestamptz, boolean, numeric, numeric, timestamptz);

-- It led the server astray: for one pair's last listing the primary key is the way.
DROP INDEX fuel.listing_source_idx;
