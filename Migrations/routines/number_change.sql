-- Gives a run its place in the order of commits: the lock is held until the commit, so that whoever
-- has seen a number has seen all smaller ones. The last act of a run's transaction, because others
-- wait for it.
CREATE OR REPLACE FUNCTION fuel.number_change(p_run_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(4, 0);
  UPDATE fuel.run SET change_number = nextval('fuel.change_number') WHERE run.run_id = p_run_id;
END
$$;
COMMENT ON FUNCTION fuel.number_change(integer) IS 'Gives a run its place in the order of commits.';
GRANT EXECUTE ON FUNCTION fuel.number_change(integer) TO fuel_writer;
