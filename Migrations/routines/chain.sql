-- The evidence of each run is summed as it comes: the answers of feeds and the facts of archives. A sum does not depend on
-- the order of its rows. The facts of feeds follow from their answers; only those from before answers were kept have sums.

-- The hash of a fact covers what it says and which run says so. PostgreSQL keeps these hashes the same over its
-- releases, because partitions by hash depend on them. The columns of a table of facts stand in the order in which its
-- hash takes them. The argument is the seed of that hash.
CREATE OR REPLACE FUNCTION fuel.sum_facts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
  SELECT added.run_id, count(*), sum(hash_record_extended(added, TG_ARGV[0]::bigint))
  FROM added
  GROUP BY added.run_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.sum_facts IS 'Sums the facts that a statement stored.';
CREATE OR REPLACE TRIGGER answer_sum AFTER INSERT ON fuel.answer
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_facts('4');
CREATE OR REPLACE TRIGGER archive_price_sum AFTER INSERT ON fuel.archive_price
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_facts('3');

-- The order of commits, and the chain of digests over it. The row of the counter is locked until the commit, so that
-- whoever has seen a number has seen all smaller ones. These functions are called last in a transaction, because other
-- transactions wait for the lock. The writer cannot write these tables itself: each change gets its number from these
-- functions, and only once.

CREATE OR REPLACE FUNCTION fuel.link_text(p_change_number bigint) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET bytea_output = 'hex' AS $$
  SELECT jsonb_build_object(
    'change', p_change_number,
    'run', (
      SELECT jsonb_build_array(
        run.run_id, run.source_id, run.kind, run.replaces_run_id, run.started_at, run.finished_at, run.taken_at,
        run.fetched_at, run.documents, run.payload_sha256, run.payload_bytes, run.content_digest, run.requests,
        run.received, run.stored, run.unchanged, run.duplicate, run.rejected, run.rejected_by_reason, run.flagged,
        run.unmapped, run.pairs, run.clock_skew, run.stamps, run.told_days)
      FROM fuel.run
      WHERE run.change_number = p_change_number
    ),
    'withdrawal', (
      SELECT jsonb_agg(to_jsonb(withdrawal) ORDER BY withdrawal.withdrawal_id)
      FROM fuel.withdrawal
      WHERE withdrawal.change_number = p_change_number
    ),
    'facts', (
      SELECT jsonb_agg(
        jsonb_build_array(sums.run_id, sums.facts, sums.hash_sum) ORDER BY sums.run_id, sums.facts, sums.hash_sum)
      FROM fuel.fact_sum AS sums
      WHERE sums.change_number = p_change_number
    ),
    'log', (
      SELECT jsonb_agg(to_jsonb(entry) ORDER BY entry.entry_id)
      FROM fuel.audit_log AS entry
      WHERE entry.change_number = p_change_number
    ))::text
$$;
COMMENT ON FUNCTION fuel.link_text IS 'The text of a change that goes into the chain of digests.';

-- The link also covers the sums and log entries that transactions without a number left.
CREATE OR REPLACE FUNCTION fuel.add_link(p_change_number bigint) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE fuel.fact_sum SET change_number = p_change_number WHERE fact_sum.change_number IS NULL;
  UPDATE fuel.audit_log SET change_number = p_change_number WHERE audit_log.change_number IS NULL;
  INSERT INTO fuel.chain_link (change_number, digest)
  SELECT
    p_change_number,
    sha256(coalesce((
      SELECT before.digest FROM fuel.chain_link AS before ORDER BY before.change_number DESC LIMIT 1
    ), '') || convert_to(fuel.link_text(p_change_number), 'UTF8'));
END
$$;
COMMENT ON FUNCTION fuel.add_link IS 'Appends a link to the chain of digests.';

CREATE OR REPLACE FUNCTION fuel.number_change(p_run_id integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  number bigint;
BEGIN
  UPDATE fuel.change_counter SET newest = change_counter.newest + 1 RETURNING change_counter.newest INTO number;
  UPDATE fuel.run SET
    change_number = number,
    -- The newest instant is found at the end of an index. For EXISTS the server may read all runs of the feed.
    is_overtaken = coalesce(run.taken_at < (
      SELECT max(overtaking.taken_at)
      FROM fuel.run AS overtaking
      WHERE overtaking.source_id = run.source_id AND overtaking.change_number IS NOT NULL), false)
  WHERE run.run_id = p_run_id AND run.change_number IS NULL AND run.outcome <> 'running';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'run % does not exist, is under way or already has a number', p_run_id;
  END IF;
  PERFORM fuel.add_link(number);
END
$$;
COMMENT ON FUNCTION fuel.number_change IS
  'Gives a run its number in the order of commits, and its link in the chain of digests.';

CREATE OR REPLACE FUNCTION fuel.note_withdrawal(
  p_run_id integer, p_decided_at timestamptz, p_counts_again boolean, p_reason text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  number bigint;
BEGIN
  UPDATE fuel.change_counter SET newest = change_counter.newest + 1 RETURNING change_counter.newest INTO number;
  INSERT INTO fuel.withdrawal (run_id, decided_at, counts_again, reason, change_number)
  VALUES (p_run_id, p_decided_at, p_counts_again, p_reason, number);
  PERFORM fuel.add_link(number);
END
$$;
COMMENT ON FUNCTION fuel.note_withdrawal IS 'Stores that a person withdrew a run, or made it count again.';

CREATE OR REPLACE VIEW fuel.fact_hash AS
SELECT price.run_id, hash_record_extended(price, 1) AS hash
FROM fuel.price
WHERE (price.run_id, price.source_id) NOT IN (
  SELECT answer.run_id, run.source_id FROM fuel.answer JOIN fuel.run USING (run_id) WHERE NOT answer.is_adopted)
UNION ALL
-- In version 0.5 there was no is_proof.
SELECT
  listing.run_id,
  hash_record_extended(
    ROW (listing.station_id, listing.fuel_id, listing.source_id, listing.changed_at, listing.is_listed, listing.run_id), 2)
FROM fuel.listing
WHERE (listing.run_id, listing.source_id) NOT IN (
  SELECT answer.run_id, run.source_id FROM fuel.answer JOIN fuel.run USING (run_id) WHERE NOT answer.is_adopted)
UNION ALL
SELECT answer.run_id, hash_record_extended(answer, 4)
FROM fuel.answer
UNION ALL
SELECT archived.run_id, hash_record_extended(archived, 3)
FROM (
  SELECT kept.* FROM fuel.archive_price AS kept
  UNION ALL
  SELECT aside.* FROM fuel.withdrawn_archive_price AS aside
) AS archived;
COMMENT ON VIEW fuel.fact_hash IS 'All stored evidence with its hash: answers, facts of archives, and facts from before answers were kept.';

GRANT EXECUTE ON FUNCTION fuel.link_text, fuel.number_change, fuel.note_withdrawal TO fuel_writer;
