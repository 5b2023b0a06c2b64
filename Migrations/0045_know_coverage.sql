-- Which price days a feed covers follows from its lists, and an aggregate looked at the lists of all years each time
-- (F-S23). It now looks at those from days_known_until_at on. A run that begins or ceases to count, or whose list is
-- judged anew, moves this instant back to its own.
ALTER TABLE fuel.source ADD COLUMN days_known_until_at timestamptz;
COMMENT ON COLUMN fuel.source.days_known_until_at IS
  'What fuel.source_day states about the lists of a feed before this instant is up to date. NULL: nothing is.';
GRANT UPDATE (days_known_until_at) ON fuel.source TO fuel_writer;

CREATE FUNCTION fuel.forget_coverage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- The row is locked in any case. Otherwise an aggregate that does not see this run yet could take its days for known.
  PERFORM FROM fuel.source WHERE source.source_id = NEW.source_id FOR NO KEY UPDATE;
  UPDATE fuel.source SET days_known_until_at = NEW.taken_at
  WHERE source.source_id = NEW.source_id AND source.days_known_until_at > NEW.taken_at;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.forget_coverage() IS 'Notes that the days a feed covers may have changed from a run on.';
REVOKE EXECUTE ON FUNCTION fuel.forget_coverage() FROM PUBLIC;
CREATE TRIGGER run_coverage AFTER UPDATE OF outcome, is_complete ON fuel.run FOR EACH ROW
  WHEN (OLD.outcome <> NEW.outcome OR OLD.is_complete <> NEW.is_complete)
  EXECUTE FUNCTION fuel.forget_coverage();

-- The routine that follows has a further parameter.
DROP FUNCTION IF EXISTS fuel.covered_days(timestamptz);
