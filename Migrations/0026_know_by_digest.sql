-- A program knows by one digest that the database has the schema it was built with.

CREATE TABLE fuel.program (
  digest text NOT NULL,
  CONSTRAINT program_digest_ck CHECK (digest ~ '^[0-9a-f]{16}$')
);
CREATE UNIQUE INDEX program_one_idx ON fuel.program ((true));
COMMENT ON TABLE  fuel.program        IS
  'The program whose files were all applied last. No row: a migration is under way or was interrupted.';
COMMENT ON COLUMN fuel.program.digest IS 'Digest of its files: their names and texts.';
COMMENT ON CONSTRAINT program_digest_ck ON fuel.program IS 'Sixteen hex digits.';
GRANT SELECT ON fuel.program TO fuel_writer;
