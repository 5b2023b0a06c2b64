-- Forgets records of a feed that were refused a year ago, by the clock of the server. What is said of them in their runs
-- stays. The writer may not delete; whoever calls this without need takes nothing that was to stay. Rows of archives
-- stay, whose files nobody may have any more.
CREATE OR REPLACE FUNCTION fuel.prune_rejects(p_source_id smallint)
RETURNS integer LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH pruned AS (
    DELETE FROM fuel.reject
    USING fuel.source
    WHERE reject.source_id = p_source_id
      AND source.source_id = reject.source_id
      AND source.kind = 'feed'
      AND reject.rejected_at < now() - interval '365 days'
    RETURNING 1
  )
  SELECT count(*)::integer FROM pruned
$$;
COMMENT ON FUNCTION fuel.prune_rejects(smallint) IS
  'Forgets records of a feed that were refused a year ago. Answers how many.';
REVOKE EXECUTE ON FUNCTION fuel.prune_rejects(smallint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.prune_rejects(smallint) TO fuel_writer;
