-- Runs whose kept answers have to be read again, noted where that was decided: a program that dies in between leaves
-- them to the next one.

CREATE TABLE fuel.run_to_read (
  run_id integer NOT NULL,
  CONSTRAINT run_to_read_pk PRIMARY KEY (run_id),
  CONSTRAINT run_to_read_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id)
);
COMMENT ON TABLE  fuel.run_to_read        IS
  'Runs whose kept answers have to be read again: they count again, or would be believed now.';
COMMENT ON COLUMN fuel.run_to_read.run_id IS 'The run.';
COMMENT ON CONSTRAINT run_to_read_pk     ON fuel.run_to_read IS 'Once each.';
COMMENT ON CONSTRAINT run_to_read_run_fk ON fuel.run_to_read IS 'A known run.';
GRANT SELECT, INSERT, DELETE ON fuel.run_to_read TO fuel_writer;
