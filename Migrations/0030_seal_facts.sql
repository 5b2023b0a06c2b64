-- A history that cannot be bent: facts are summed as they come, in a chain of digests; what is known of a run is not
-- changed after its end; changes of what decides whether facts count are logged. The writer can do none of it by itself.

-- The sums of the facts of each run. A sum does not depend on the order of its rows, so that a run may be given more
-- facts later, and a whole history is summed in one pass.
CREATE TABLE fuel.fact_sum (
  run_id        integer NOT NULL,
  change_number bigint,
  facts         bigint  NOT NULL,
  hash_sum      numeric NOT NULL,
  CONSTRAINT fact_sum_facts_ck CHECK (facts > 0)
);
CREATE INDEX fact_sum_open_idx ON fuel.fact_sum (run_id) WHERE change_number IS NULL;
CREATE INDEX fact_sum_change_idx ON fuel.fact_sum (change_number);
COMMENT ON TABLE  fuel.fact_sum               IS
  'Sums over the facts of runs as they were stored: rows of price, listing and archive_price. Only grows.';
COMMENT ON COLUMN fuel.fact_sum.run_id        IS 'The run that the facts name.';
COMMENT ON COLUMN fuel.fact_sum.change_number IS
  'The link of the chain that covers it. NULL: the next one will.';
COMMENT ON COLUMN fuel.fact_sum.facts         IS 'How many rows.';
COMMENT ON COLUMN fuel.fact_sum.hash_sum      IS 'The sum of their hashes.';
COMMENT ON CONSTRAINT fact_sum_facts_ck ON fuel.fact_sum IS 'A sum of something.';

CREATE TABLE fuel.chain_link (
  change_number bigint NOT NULL,
  digest        bytea  NOT NULL,
  CONSTRAINT chain_link_pk PRIMARY KEY (change_number),
  CONSTRAINT chain_link_digest_ck CHECK (length(digest) = 32)
);
COMMENT ON TABLE  fuel.chain_link               IS
  'The chain of digests, a link for each change: SHA-256 over the link before and what the change says.';
COMMENT ON COLUMN fuel.chain_link.change_number IS 'The change: of a run or of a withdrawal.';
COMMENT ON COLUMN fuel.chain_link.digest        IS 'The digest.';
COMMENT ON CONSTRAINT chain_link_pk        ON fuel.chain_link IS 'A link for each change.';
COMMENT ON CONSTRAINT chain_link_digest_ck ON fuel.chain_link IS 'A SHA-256.';

CREATE TABLE fuel.audit_log (
  entry_id      bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
  changed_at    timestamptz NOT NULL,
  login         text        NOT NULL,
  table_name    text        NOT NULL,
  was           jsonb,
  became        jsonb,
  change_number bigint,
  CONSTRAINT audit_log_pk PRIMARY KEY (entry_id),
  CONSTRAINT audit_log_row_ck CHECK (was IS NOT NULL OR became IS NOT NULL)
);
CREATE INDEX audit_log_open_idx ON fuel.audit_log (entry_id) WHERE change_number IS NULL;
CREATE INDEX audit_log_change_idx ON fuel.audit_log (change_number);
COMMENT ON TABLE  fuel.audit_log               IS
  'Changes of rows that decide what counts: whether a finished run counts, settings of sources, decisions about '
  'stations, descriptions that were taken back. Only grows.';
COMMENT ON COLUMN fuel.audit_log.entry_id      IS 'Its number.';
COMMENT ON COLUMN fuel.audit_log.changed_at    IS 'When, by the clock of the server.';
COMMENT ON COLUMN fuel.audit_log.login         IS 'The login that did it.';
COMMENT ON COLUMN fuel.audit_log.table_name    IS 'The table, in schema fuel.';
COMMENT ON COLUMN fuel.audit_log.was           IS 'The row before. NULL: there was none.';
COMMENT ON COLUMN fuel.audit_log.became        IS 'The row after. NULL: there is none.';
COMMENT ON COLUMN fuel.audit_log.change_number IS
  'The link of the chain that covers it. NULL: the next one will.';
COMMENT ON CONSTRAINT audit_log_pk     ON fuel.audit_log IS 'A number means one change.';
COMMENT ON CONSTRAINT audit_log_row_ck ON fuel.audit_log IS 'Something was there before or after.';

ALTER TABLE fuel.fact_sum REPLICA IDENTITY FULL;
GRANT SELECT ON fuel.fact_sum, fuel.chain_link, fuel.audit_log TO fuel_writer;

-- The hash of a fact, over what it says and which run says so. PostgreSQL keeps these hashes as they are over its
-- releases, because partitions by hash depend on them.
CREATE FUNCTION fuel.price_hash(
  station_id integer, fuel_id smallint, source_id smallint, effective_at timestamptz, price_tenths integer,
  run_id integer, learnt_at timestamptz)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(
  ROW (station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at), 1);
COMMENT ON FUNCTION fuel.price_hash(integer, smallint, smallint, timestamptz, integer, integer, timestamptz) IS
  'The hash of a row of fuel.price.';
CREATE FUNCTION fuel.listing_hash(
  station_id integer, fuel_id smallint, source_id smallint, changed_at timestamptz, is_listed boolean, run_id integer)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW (station_id, fuel_id, source_id, changed_at, is_listed, run_id), 2);
COMMENT ON FUNCTION fuel.listing_hash(integer, smallint, smallint, timestamptz, boolean, integer) IS
  'The hash of a row of fuel.listing.';
CREATE FUNCTION fuel.archive_price_hash(
  station_id integer, fuel_id smallint, source_id smallint, effective_at timestamptz, price_tenths integer,
  run_id integer)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW (station_id, fuel_id, source_id, effective_at, price_tenths, run_id), 3);
COMMENT ON FUNCTION fuel.archive_price_hash(integer, smallint, smallint, timestamptz, integer, integer) IS
  'The hash of a row of fuel.archive_price.';
GRANT EXECUTE ON FUNCTION
  fuel.price_hash(integer, smallint, smallint, timestamptz, integer, integer, timestamptz),
  fuel.listing_hash(integer, smallint, smallint, timestamptz, boolean, integer),
  fuel.archive_price_hash(integer, smallint, smallint, timestamptz, integer, integer)
  TO fuel_writer;

CREATE FUNCTION fuel.sum_prices() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
  SELECT
    added.run_id, count(*),
    sum(fuel.price_hash(
      added.station_id, added.fuel_id, added.source_id, added.effective_at, added.price_tenths, added.run_id,
      added.learnt_at))
  FROM added
  GROUP BY added.run_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.sum_prices() IS 'Sums the prices that a statement stored.';
CREATE FUNCTION fuel.sum_listings() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
  SELECT
    added.run_id, count(*),
    sum(fuel.listing_hash(
      added.station_id, added.fuel_id, added.source_id, added.changed_at, added.is_listed, added.run_id))
  FROM added
  GROUP BY added.run_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.sum_listings() IS 'Sums the listings that a statement stored.';
CREATE FUNCTION fuel.sum_archive_prices() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
  SELECT
    added.run_id, count(*),
    sum(fuel.archive_price_hash(
      added.station_id, added.fuel_id, added.source_id, added.effective_at, added.price_tenths, added.run_id))
  FROM added
  GROUP BY added.run_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.sum_archive_prices() IS 'Sums the prices of archives that a statement stored.';
CREATE TRIGGER price_sum AFTER INSERT ON fuel.price
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_prices();
CREATE TRIGGER listing_sum AFTER INSERT ON fuel.listing
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_listings();
CREATE TRIGGER archive_price_sum AFTER INSERT ON fuel.archive_price
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_archive_prices();

-- What is there already.
INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
SELECT fact.run_id, count(*), sum(fact.hash)
FROM (
  SELECT
    run_id, fuel.price_hash(station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at) AS hash
  FROM fuel.price
  UNION ALL
  SELECT run_id, fuel.listing_hash(station_id, fuel_id, source_id, changed_at, is_listed, run_id) FROM fuel.listing
  UNION ALL
  SELECT run_id, fuel.archive_price_hash(station_id, fuel_id, source_id, effective_at, price_tenths, run_id)
  FROM fuel.archive_price
) AS fact
GROUP BY fact.run_id;

-- Facts come in by the tables that are summed, not by their parts.
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT relid FROM pg_catalog.pg_partition_tree('fuel.archive_price') WHERE parentrelid IS NOT NULL LOOP
    EXECUTE format('REVOKE INSERT ON %s FROM fuel_writer', part);
  END LOOP;
END
$$;

-- The owner's own routines, and a person as the owner, may do what the writer may not.
CREATE FUNCTION fuel.is_owner(p_table oid) RETURNS boolean LANGUAGE sql STABLE
RETURN pg_has_role(current_user, (SELECT class.relowner FROM pg_catalog.pg_class AS class WHERE class.oid = p_table), 'USAGE');
COMMENT ON FUNCTION fuel.is_owner(oid) IS 'Whether the present role has the rights of the owner of a table.';
GRANT EXECUTE ON FUNCTION fuel.is_owner(oid) TO fuel_writer;

-- What came with a run is written while it runs and stays; afterwards only its standing changes.
CREATE FUNCTION fuel.guard_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.outcome = 'running' OR fuel.is_owner(TG_RELID) THEN
    RETURN NEW;
  END IF;
  IF (
      OLD.finished_at, OLD.taken_at, OLD.fetched_at, OLD.documents, OLD.payload_sha256, OLD.payload_bytes,
      OLD.requests, OLD.received, OLD.stored, OLD.unchanged, OLD.duplicate, OLD.rejected, OLD.rejected_by_reason,
      OLD.flagged, OLD.unmapped, OLD.pairs, OLD.clock_skew, OLD.composition_id, OLD.stamps, OLD.told_days
    ) IS DISTINCT FROM (
      NEW.finished_at, NEW.taken_at, NEW.fetched_at, NEW.documents, NEW.payload_sha256, NEW.payload_bytes,
      NEW.requests, NEW.received, NEW.stored, NEW.unchanged, NEW.duplicate, NEW.rejected, NEW.rejected_by_reason,
      NEW.flagged, NEW.unmapped, NEW.pairs, NEW.clock_skew, NEW.composition_id, NEW.stamps, NEW.told_days) THEN
    RAISE EXCEPTION 'run % has ended: what came with it stays', OLD.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.outcome IS DISTINCT FROM OLD.outcome AND NOT (CASE
      WHEN NEW.outcome IN ('stored', 'unchanged') THEN
        OLD.outcome IN ('withdrawn', 'refused') AND OLD.stored + OLD.unchanged > 0
        AND NEW.outcome = CASE WHEN OLD.stored > 0 THEN 'stored' ELSE 'unchanged' END
      WHEN NEW.outcome = 'withdrawn' THEN OLD.outcome IN ('stored', 'unchanged')
      WHEN NEW.outcome = 'refused' THEN OLD.outcome IN ('stored', 'unchanged') AND OLD.composition_id IS NOT NULL
      WHEN NEW.outcome = 'superseded' THEN EXISTS (
        SELECT
        FROM fuel.run AS later
        WHERE later.replaces_run_id = coalesce(OLD.replaces_run_id, OLD.run_id) AND later.run_id > OLD.run_id)
      ELSE false
    END) THEN
    RAISE EXCEPTION 'run % is %, which does not become %', OLD.run_id, OLD.outcome, NEW.outcome
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION fuel.guard_run() IS 'Refuses changes of what came with a run that has ended.';
CREATE TRIGGER run_guard BEFORE UPDATE ON fuel.run FOR EACH ROW EXECUTE FUNCTION fuel.guard_run();

-- Looked at when the transaction ends, because the decision is written last.
CREATE FUNCTION fuel.guard_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT fuel.is_owner(TG_RELID) AND (NEW.outcome = 'withdrawn') IS DISTINCT FROM NOT coalesce((
      SELECT withdrawal.counts_again
      FROM fuel.withdrawal
      WHERE withdrawal.run_id = NEW.run_id
      ORDER BY withdrawal.withdrawal_id DESC
      LIMIT 1
    ), true) THEN
    RAISE EXCEPTION 'nobody decided that of run %', NEW.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.guard_withdrawal() IS 'Refuses a withdrawal without its reason.';
CREATE CONSTRAINT TRIGGER run_withdrawal_ck AFTER UPDATE OF outcome ON fuel.run DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.outcome <> NEW.outcome AND 'withdrawn' IN (OLD.outcome, NEW.outcome))
  EXECUTE FUNCTION fuel.guard_withdrawal();
COMMENT ON CONSTRAINT run_withdrawal_ck ON fuel.run IS 'A withdrawal has its reason.';

REVOKE UPDATE ON fuel.run FROM fuel_writer;
GRANT UPDATE (
  finished_at, taken_at, fetched_at, outcome, is_complete, describes_stations, documents, payload_sha256,
  payload_bytes, requests, received, stored, unchanged, duplicate, rejected, rejected_by_reason, flagged, error,
  warnings, clock_skew, unmapped, pairs, composition_id, stamps, shortcomings, awaits_tomorrow, told_days
) ON fuel.run TO fuel_writer;

-- What only grows.
CREATE FUNCTION fuel.guard_growth() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF fuel.is_owner(TG_RELID) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'what % holds is not taken back', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
COMMENT ON FUNCTION fuel.guard_growth() IS 'Refuses a change that takes back what was known.';
CREATE TRIGGER station_sighting_guard BEFORE UPDATE ON fuel.station_sighting
  FOR EACH ROW WHEN (OLD.days & NEW.days <> OLD.days) EXECUTE FUNCTION fuel.guard_growth();
CREATE TRIGGER archive_coverage_guard BEFORE UPDATE ON fuel.archive_coverage
  FOR EACH ROW WHEN (NEW.last_day < OLD.last_day) EXECUTE FUNCTION fuel.guard_growth();
-- Wordings of archives are dated by sightings, which grow.
CREATE FUNCTION fuel.guard_description() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF fuel.is_owner(TG_RELID) OR NEW.run_id = OLD.run_id AND EXISTS (
      SELECT
      FROM fuel.station
      JOIN fuel.source USING (source_id)
      WHERE station.station_id = NEW.station_id AND source.kind = 'archive') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'when station % was described is not taken back', OLD.station_id
    USING ERRCODE = 'insufficient_privilege';
END
$$;
COMMENT ON FUNCTION fuel.guard_description() IS 'Refuses a change that takes back when a feed described a station.';
CREATE TRIGGER station_description_guard BEFORE UPDATE ON fuel.station_description
  FOR EACH ROW WHEN (NEW.first_seen_at > OLD.first_seen_at OR NEW.last_seen_at < OLD.last_seen_at
    OR (NEW.run_id <> OLD.run_id AND NEW.first_seen_at >= OLD.first_seen_at))
  EXECUTE FUNCTION fuel.guard_description();
-- fuel.note_withdrawal keeps them, with their place in the chain.
REVOKE INSERT ON fuel.withdrawal FROM fuel_writer;
REVOKE UPDATE ON fuel.station_sighting, fuel.archive_coverage, fuel.station, fuel.source, fuel.change_counter
  FROM fuel_writer;
GRANT UPDATE (days) ON fuel.station_sighting TO fuel_writer;
GRANT UPDATE (last_day) ON fuel.archive_coverage TO fuel_writer;
GRANT UPDATE (
  state, time_zone, name, brand, address, suburb, postcode, latitude, longitude, is_public, first_seen_at, has_moved,
  place_id, matched_by, match_doubt
) ON fuel.station TO fuel_writer;
GRANT UPDATE (
  state, cadence, price_lapses_after, sight_lapses_after, tells_whole_days, attribution, is_enabled, calls_per_month,
  first_taken_at, last_taken_at, last_listed_at, not_before_at, account, delay, holding_confirms, scheme,
  are_links_due, has_codes, changes, publishes_tomorrow_at
) ON fuel.source TO fuel_writer;

-- Documents are what their digest says. Those that are there already are looked at by bowser verify.
ALTER TABLE fuel.body ADD CONSTRAINT body_digest_ck CHECK (sha256 = sha256(bytes)) NOT VALID;
COMMENT ON CONSTRAINT body_digest_ck ON fuel.body IS 'The digest is that of the bytes.';

-- What decides whether facts count, and when, is logged by whom it was changed.
CREATE FUNCTION fuel.log_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.audit_log (changed_at, login, table_name, was, became)
  VALUES (
    clock_timestamp(), session_user, TG_TABLE_NAME, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
    CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END);
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.log_change() IS 'Keeps a row as it was and as it became.';
CREATE TRIGGER run_log AFTER UPDATE ON fuel.run FOR EACH ROW
  WHEN (OLD.outcome <> 'running' AND (OLD.outcome <> NEW.outcome OR OLD.is_complete <> NEW.is_complete))
  EXECUTE FUNCTION fuel.log_change();
CREATE TRIGGER source_log AFTER UPDATE ON fuel.source FOR EACH ROW
  WHEN ((
      OLD.state, OLD.price_lapses_after, OLD.sight_lapses_after, OLD.tells_whole_days, OLD.attribution,
      OLD.is_enabled, OLD.calls_per_month, OLD.not_before_at, OLD.account, OLD.delay, OLD.holding_confirms,
      OLD.scheme, OLD.has_codes, OLD.publishes_tomorrow_at
    ) IS DISTINCT FROM (
      NEW.state, NEW.price_lapses_after, NEW.sight_lapses_after, NEW.tells_whole_days, NEW.attribution,
      NEW.is_enabled, NEW.calls_per_month, NEW.not_before_at, NEW.account, NEW.delay, NEW.holding_confirms,
      NEW.scheme, NEW.has_codes, NEW.publishes_tomorrow_at))
  EXECUTE FUNCTION fuel.log_change();
CREATE TRIGGER price_lapse_log AFTER INSERT OR UPDATE OR DELETE ON fuel.price_lapse
  FOR EACH ROW EXECUTE FUNCTION fuel.log_change();
CREATE TRIGGER station_decision_log AFTER INSERT OR UPDATE OR DELETE ON fuel.station_decision
  FOR EACH ROW EXECUTE FUNCTION fuel.log_change();
CREATE TRIGGER station_description_log AFTER DELETE ON fuel.station_description
  FOR EACH ROW EXECUTE FUNCTION fuel.log_change();
