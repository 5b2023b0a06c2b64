-- The newest fifty runs keep their documents whatever the clock says, so that a clock that jumps ahead empties nothing.
-- Documents that were fetched in the last seven days by the clock of the server stay too. The writer may not delete
-- rows. This function therefore runs with the owner's rights, and deletes documents only, never what they reported.
CREATE OR REPLACE FUNCTION fuel.prune_bodies(p_source_id smallint, p_before timestamptz)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
  WITH newest AS (
    SELECT run.run_id
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.fetched_at IS NOT NULL
    ORDER BY run.run_id DESC
    LIMIT 50
  ),
  pruned AS (
    DELETE FROM fuel.run_body
    USING fuel.run
    WHERE run_body.run_id = run.run_id
      AND run.source_id = p_source_id
      AND run_body.fetched_at < least(p_before, now() - interval '7 days')
      AND run.run_id NOT IN (SELECT newest.run_id FROM newest)
    RETURNING run_body.run_id, run_body.name, run_body.sha256
  )
  DELETE FROM fuel.body
  WHERE body.sha256 IN (SELECT pruned.sha256 FROM pruned)
    AND NOT EXISTS (
      SELECT
      FROM fuel.run_body AS held
      WHERE held.sha256 = body.sha256
        AND (held.run_id, held.name) NOT IN (SELECT pruned.run_id, pruned.name FROM pruned))
$$;
COMMENT ON FUNCTION fuel.prune_bodies IS 'Deletes documents of a feed that were fetched before an instant.';

-- The clock is that of the server. The counts of the records in the runs remain. The writer may not delete. Calling
-- this function without need removes nothing that was to stay. Rejected rows of archives stay, because their files may
-- no longer be available anywhere.
CREATE OR REPLACE FUNCTION fuel.prune_rejects(p_source_id smallint)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
  DELETE FROM fuel.reject
  USING fuel.source
  WHERE reject.source_id = p_source_id
    AND source.source_id = reject.source_id
    AND source.kind = 'feed'
    AND reject.rejected_at < now() - interval '365 days'
$$;
COMMENT ON FUNCTION fuel.prune_rejects IS 'Deletes records of a feed that were refused more than a year ago.';

GRANT EXECUTE ON FUNCTION fuel.prune_bodies, fuel.prune_rejects TO fuel_writer;
