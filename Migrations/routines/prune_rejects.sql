-- Deletes records of a feed that were rejected more than 365 days ago, by the clock of the server. Their counts in the
-- runs remain. The writer may not delete. Calling this function without need removes nothing that was to stay. Rejected
-- rows of archives stay, because their files may no longer be available anywhere.
CREATE OR REPLACE FUNCTION fuel.prune_rejects(p_source_id smallint)
RETURNS integer LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
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
  'Deletes records of a feed that were refused more than a year ago. Returns how many.';
GRANT EXECUTE ON FUNCTION fuel.prune_rejects(smallint) TO fuel_writer;
