-- What a writer may not change by itself, even with the rights that it has on a table. So a stolen writer's login cannot
-- bend the history.

-- The owner's own routines, and a person as the owner, may do what the writer may not.
CREATE OR REPLACE FUNCTION fuel.is_owner(p_table oid) RETURNS boolean LANGUAGE sql STABLE
RETURN pg_has_role(current_user, (SELECT class.relowner FROM pg_catalog.pg_class AS class WHERE class.oid = p_table), 'USAGE');
COMMENT ON FUNCTION fuel.is_owner IS 'Whether the present role has the rights of the owner of a table.';
GRANT EXECUTE ON FUNCTION fuel.is_owner TO fuel_writer;

-- What came with a run is written while it runs, and stays. Afterwards only its standing changes.
CREATE OR REPLACE FUNCTION fuel.guard_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- The last of them is generated after this trigger.
  standing text[] := '{outcome, is_complete, is_repeat, describes_stations, error, shortcomings, frozen_since_at, confirms}';
BEGIN
  IF OLD.outcome = 'running' OR fuel.is_owner(TG_RELID) THEN
    RETURN NEW;
  END IF;
  IF to_jsonb(OLD) - standing <> to_jsonb(NEW) - standing THEN
    RAISE EXCEPTION 'run % has ended: what it stored cannot be changed', OLD.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- Only lists are complete, or repeat the past.
  IF NEW.composition_id IS NULL AND (NEW.is_repeat OR NEW.is_complete AND NOT OLD.is_complete) THEN
    RAISE EXCEPTION 'run % brought no list, so it is neither complete nor a repeat', OLD.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- Words belong to a judgement: they come with a refused list, and go when it counts again.
  IF NEW.error IS DISTINCT FROM OLD.error
      AND NOT (NEW.outcome = 'refused' AND NEW.composition_id IS NOT NULL AND NEW.error IS NOT NULL)
      AND NOT (NEW.outcome IN ('stored', 'unchanged') AND NEW.error IS NULL)
    OR NEW.shortcomings IS DISTINCT FROM OLD.shortcomings AND NEW.composition_id IS NULL
    OR NEW.frozen_since_at IS DISTINCT FROM OLD.frozen_since_at AND NEW.content IS NULL
    OR NEW.describes_stations AND NOT OLD.describes_stations THEN
    RAISE EXCEPTION 'run % has ended: these columns change only with its standing', OLD.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.outcome IS DISTINCT FROM OLD.outcome AND NOT (CASE
      WHEN NEW.outcome IN ('stored', 'unchanged') THEN
        (OLD.outcome = 'withdrawn' OR OLD.outcome = 'refused' AND OLD.stored + OLD.unchanged > 0)
        AND NEW.outcome = CASE WHEN OLD.stored > 0 THEN 'stored' ELSE 'unchanged' END
      WHEN NEW.outcome = 'withdrawn' THEN OLD.outcome IN ('stored', 'unchanged')
      WHEN NEW.outcome = 'refused' THEN OLD.outcome IN ('stored', 'unchanged') AND OLD.composition_id IS NOT NULL
      WHEN NEW.outcome = 'superseded' THEN EXISTS (
        SELECT
        FROM fuel.run AS later
        WHERE later.replaces_run_id = coalesce(OLD.replaces_run_id, OLD.run_id) AND later.run_id > OLD.run_id)
      ELSE false
    END) THEN
    RAISE EXCEPTION 'run % is % and cannot become %', OLD.run_id, OLD.outcome, NEW.outcome
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION fuel.guard_run IS 'Refuses changes of what came with a run that has ended.';
CREATE OR REPLACE TRIGGER run_guard BEFORE UPDATE ON fuel.run FOR EACH ROW EXECUTE FUNCTION fuel.guard_run();

-- Checked when the transaction ends, because decisions and reasons are written last.
CREATE OR REPLACE FUNCTION fuel.guard_reasons() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF fuel.is_owner(TG_RELID) THEN
    RETURN NULL;
  END IF;
  IF (NEW.outcome = 'withdrawn') IS DISTINCT FROM NOT coalesce((
      SELECT withdrawal.counts_again
      FROM fuel.withdrawal
      WHERE withdrawal.run_id = NEW.run_id
      ORDER BY withdrawal.withdrawal_id DESC
      LIMIT 1
    ), true) THEN
    RAISE EXCEPTION 'run % has no row in fuel.withdrawal with this decision', NEW.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF EXISTS (
      SELECT FROM fuel.run WHERE run.run_id = NEW.run_id AND run.outcome = 'refused' AND run.error IS NULL) THEN
    RAISE EXCEPTION 'run % cannot be refused without a reason', NEW.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.guard_reasons IS 'Refuses a withdrawal or a refusal without its reason.';
DROP TRIGGER IF EXISTS run_reasons_ck ON fuel.run;
CREATE CONSTRAINT TRIGGER run_reasons_ck AFTER UPDATE OF outcome ON fuel.run DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.outcome <> NEW.outcome AND ('withdrawn' IN (OLD.outcome, NEW.outcome) OR NEW.outcome = 'refused'))
  EXECUTE FUNCTION fuel.guard_reasons();
COMMENT ON CONSTRAINT run_reasons_ck ON fuel.run IS 'A withdrawal and a refusal have their reasons.';

-- What only grows.
CREATE OR REPLACE FUNCTION fuel.guard_growth() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF fuel.is_owner(TG_RELID) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of % can only gain days', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
COMMENT ON FUNCTION fuel.guard_growth IS 'Refuses a change that takes back what was known.';
CREATE OR REPLACE TRIGGER station_sighting_guard BEFORE UPDATE ON fuel.station_sighting
  FOR EACH ROW WHEN (OLD.days & NEW.days <> OLD.days) EXECUTE FUNCTION fuel.guard_growth();
CREATE OR REPLACE TRIGGER archive_coverage_guard BEFORE UPDATE ON fuel.archive_coverage
  FOR EACH ROW WHEN (NEW.last_day < OLD.last_day OR OLD.days & NEW.days <> OLD.days)
  EXECUTE FUNCTION fuel.guard_growth();

-- Wordings of archives are dated by sightings, which grow.
CREATE OR REPLACE FUNCTION fuel.guard_description() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF fuel.is_owner(TG_RELID) OR NEW.run_id = OLD.run_id AND EXISTS (
      SELECT
      FROM fuel.station
      JOIN fuel.source USING (source_id)
      WHERE station.station_id = NEW.station_id AND source.kind = 'archive') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the instants at which station % was described cannot be changed', OLD.station_id
    USING ERRCODE = 'insufficient_privilege';
END
$$;
COMMENT ON FUNCTION fuel.guard_description IS 'Refuses a change that takes back when a feed described a station.';
CREATE OR REPLACE TRIGGER station_description_guard BEFORE UPDATE ON fuel.station_description
  FOR EACH ROW WHEN (NEW.first_seen_at > OLD.first_seen_at OR NEW.last_seen_at < OLD.last_seen_at
    OR (NEW.run_id <> OLD.run_id AND NEW.first_seen_at >= OLD.first_seen_at))
  EXECUTE FUNCTION fuel.guard_description();

-- Changes of rows that decide whether facts count, and when, are logged with the login that made them.
CREATE OR REPLACE FUNCTION fuel.log_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.audit_log (changed_at, login, table_name, was, became)
  VALUES (
    clock_timestamp(), session_user, TG_TABLE_NAME, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
    CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END);
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.log_change IS 'Keeps a row as it was and as it became.';
CREATE OR REPLACE TRIGGER run_log AFTER UPDATE ON fuel.run FOR EACH ROW
  WHEN (OLD.outcome <> 'running' AND (
    (OLD.outcome, OLD.is_complete, OLD.is_repeat, OLD.frozen_since_at)
    IS DISTINCT FROM (NEW.outcome, NEW.is_complete, NEW.is_repeat, NEW.frozen_since_at)))
  EXECUTE FUNCTION fuel.log_change();
CREATE OR REPLACE TRIGGER source_log AFTER UPDATE ON fuel.source FOR EACH ROW
  WHEN ((
      OLD.state, OLD.price_lapses_after, OLD.sight_lapses_after, OLD.tells_whole_days, OLD.attribution,
      OLD.is_enabled, OLD.calls_per_month, OLD.not_before_at, OLD.account, OLD.delay, OLD.holding_confirms,
      OLD.scheme, OLD.has_codes, OLD.publishes_tomorrow_at
    ) IS DISTINCT FROM (
      NEW.state, NEW.price_lapses_after, NEW.sight_lapses_after, NEW.tells_whole_days, NEW.attribution,
      NEW.is_enabled, NEW.calls_per_month, NEW.not_before_at, NEW.account, NEW.delay, NEW.holding_confirms,
      NEW.scheme, NEW.has_codes, NEW.publishes_tomorrow_at))
  EXECUTE FUNCTION fuel.log_change();
CREATE OR REPLACE TRIGGER price_lapse_log AFTER INSERT OR UPDATE OR DELETE ON fuel.price_lapse
  FOR EACH ROW EXECUTE FUNCTION fuel.log_change();
CREATE OR REPLACE TRIGGER station_decision_log AFTER INSERT OR UPDATE OR DELETE ON fuel.station_decision
  FOR EACH ROW EXECUTE FUNCTION fuel.log_change();
CREATE OR REPLACE TRIGGER station_description_log AFTER DELETE ON fuel.station_description
  FOR EACH ROW EXECUTE FUNCTION fuel.log_change();
-- Whether anybody may buy at a station, and where it is, decides what is counted where. A new one has no name yet.
CREATE OR REPLACE TRIGGER station_log AFTER UPDATE ON fuel.station FOR EACH ROW
  WHEN (OLD.name IS NOT NULL AND (OLD.is_public, OLD.state, OLD.time_zone) IS DISTINCT FROM (NEW.is_public, NEW.state, NEW.time_zone))
  EXECUTE FUNCTION fuel.log_change();
