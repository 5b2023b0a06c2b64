-- The two schemas, the list of applied files, and the roles. Roles belong to the whole cluster, so another database of it may
-- have made them already.

CREATE SCHEMA fuel;
COMMENT ON SCHEMA fuel IS
  'Private tables of Bowser. Nothing here is an interface: read fuel_v1.';

-- In a database of an earlier version it stays, with the views of others that read its views.
CREATE SCHEMA IF NOT EXISTS fuel_v1;
COMMENT ON SCHEMA fuel_v1 IS
  'Australian retail fuel prices, averages, trends and verdicts. Columns are only ever added. '
  'Instants end in _at, local calendar days are named day or end in _on, prices end in _cpl and '
  'are Australian cents per litre.';

DO $roles$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fuel_reader') THEN
    CREATE ROLE fuel_reader NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fuel_writer') THEN
    CREATE ROLE fuel_writer NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fuel_hub') THEN
    CREATE ROLE fuel_hub NOLOGIN;
  END IF;
EXCEPTION
  -- Two databases of one cluster may be set up in the same moment.
  WHEN duplicate_object OR unique_violation THEN NULL;
END
$roles$;
COMMENT ON ROLE fuel_reader IS 'Reads the views of fuel_v1 and nothing else.';
COMMENT ON ROLE fuel_writer IS 'What ingest and aggregate need; no DDL, no deletion of history.';
COMMENT ON ROLE fuel_hub IS 'What a hub reads of a member beside fuel_v1, to make the nation.';

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA fuel_v1 TO fuel_reader, fuel_writer;
GRANT USAGE ON SCHEMA fuel TO fuel_writer;

-- Anybody may make temporary tables unless told otherwise. The writer stages runs in them.
DO $database$
BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO fuel_writer', current_database());
END
$database$;

-- Functions are callable by everybody unless told otherwise.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- Readers may read and call what fuel_v1 has; the writer may read all. Later views and functions have these rights too.
ALTER DEFAULT PRIVILEGES IN SCHEMA fuel GRANT SELECT ON TABLES TO fuel_writer;
ALTER DEFAULT PRIVILEGES IN SCHEMA fuel_v1 GRANT SELECT ON TABLES TO fuel_reader, fuel_writer;
ALTER DEFAULT PRIVILEGES IN SCHEMA fuel_v1 GRANT EXECUTE ON FUNCTIONS TO fuel_reader, fuel_writer;

CREATE TABLE fuel.migration (
  name       text        NOT NULL,
  sha256     text        NOT NULL,
  applied_at timestamptz NOT NULL,
  CONSTRAINT migration_pk PRIMARY KEY (name),
  CONSTRAINT migration_sha256_ck CHECK (sha256 ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE fuel.migration IS 'The schema files applied to this database.';
COMMENT ON COLUMN fuel.migration.name       IS 'File name below Migrations/.';
COMMENT ON COLUMN fuel.migration.sha256     IS 'Digest of its text, in hex.';
COMMENT ON COLUMN fuel.migration.applied_at IS 'When this text was applied.';

CREATE TABLE fuel.program (
  digest text NOT NULL,
  CONSTRAINT program_digest_ck CHECK (digest ~ '^[0-9a-f]{16}$')
);
CREATE UNIQUE INDEX program_one_idx ON fuel.program ((true));
COMMENT ON TABLE fuel.program IS
  'The program whose files were all applied last. No row: a migration is under way or was interrupted.';
COMMENT ON COLUMN fuel.program.digest IS 'Digest of its files: their names and texts.';
