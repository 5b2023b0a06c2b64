-- Gives a run its place in the order of commits: the counter's row is locked until the commit, so that
-- whoever has seen a number has seen all smaller ones. The last act of a run's transaction, because others
-- wait for it.
CREATE OR REPLACE FUNCTION fuel.number_change(p_run_id integer) RETURNS void LANGUAGE sql AS $$
  WITH counted AS (
    UPDATE fuel.change_counter SET newest = change_counter.newest + 1
    RETURNING change_counter.newest
  )
  UPDATE fuel.run SET change_number = counted.newest
  FROM counted
  WHERE run.run_id = p_run_id
$$;
COMMENT ON FUNCTION fuel.number_change(integer) IS 'Gives a run its place in the order of commits.';
GRANT EXECUTE ON FUNCTION fuel.number_change(integer) TO fuel_writer;

-- Keeps a person's decision that a run does not count, or counts again, with its place in that order.
CREATE OR REPLACE FUNCTION fuel.note_withdrawal(
  p_run_id integer, p_decided_at timestamptz, p_counts_again boolean, p_reason text)
RETURNS void LANGUAGE sql AS $$
  WITH counted AS (
    UPDATE fuel.change_counter SET newest = change_counter.newest + 1
    RETURNING change_counter.newest
  )
  INSERT INTO fuel.withdrawal (run_id, decided_at, counts_again, reason, change_number)
  SELECT p_run_id, p_decided_at, p_counts_again, p_reason, counted.newest
  FROM counted
$$;
COMMENT ON FUNCTION fuel.note_withdrawal(integer, timestamptz, boolean, text) IS
  'Keeps that a person withdrew a run, or what it reported counts again.';
GRANT EXECUTE ON FUNCTION fuel.note_withdrawal(integer, timestamptz, boolean, text) TO fuel_writer;
