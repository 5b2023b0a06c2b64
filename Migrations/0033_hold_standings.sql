-- What is known of a run that has ended stays, its words included; a list is refused with a reason; no feed is left
-- alone for ever.

CREATE OR REPLACE FUNCTION fuel.guard_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.outcome = 'running' OR fuel.is_owner(TG_RELID) THEN
    RETURN NEW;
  END IF;
  IF (
      OLD.finished_at, OLD.taken_at, OLD.fetched_at, OLD.documents, OLD.payload_sha256, OLD.payload_bytes,
      OLD.requests, OLD.received, OLD.stored, OLD.unchanged, OLD.duplicate, OLD.rejected, OLD.rejected_by_reason,
      OLD.flagged, OLD.unmapped, OLD.pairs, OLD.clock_skew, OLD.composition_id, OLD.stamps, OLD.told_days,
      OLD.warnings, OLD.awaits_tomorrow
    ) IS DISTINCT FROM (
      NEW.finished_at, NEW.taken_at, NEW.fetched_at, NEW.documents, NEW.payload_sha256, NEW.payload_bytes,
      NEW.requests, NEW.received, NEW.stored, NEW.unchanged, NEW.duplicate, NEW.rejected, NEW.rejected_by_reason,
      NEW.flagged, NEW.unmapped, NEW.pairs, NEW.clock_skew, NEW.composition_id, NEW.stamps, NEW.told_days,
      NEW.warnings, NEW.awaits_tomorrow) THEN
    RAISE EXCEPTION 'run % has ended: what came with it stays', OLD.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- Words belong to a judgement: they come with a refused list, and go when it counts again.
  IF NEW.error IS DISTINCT FROM OLD.error
      AND NOT (NEW.outcome = 'refused' AND NEW.composition_id IS NOT NULL AND NEW.error IS NOT NULL)
      AND NOT (NEW.outcome IN ('stored', 'unchanged') AND NEW.error IS NULL)
    OR NEW.shortcomings IS DISTINCT FROM OLD.shortcomings AND NEW.composition_id IS NULL
    OR NEW.describes_stations AND NOT OLD.describes_stations THEN
    RAISE EXCEPTION 'run % has ended: nothing was judged', OLD.run_id USING ERRCODE = 'insufficient_privilege';
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

-- Looked at when the transaction ends, because the reason is written last.
CREATE FUNCTION fuel.guard_refusal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT fuel.is_owner(TG_RELID) AND EXISTS (
      SELECT FROM fuel.run WHERE run.run_id = NEW.run_id AND run.outcome = 'refused' AND run.error IS NULL) THEN
    RAISE EXCEPTION 'run % was refused for no reason', NEW.run_id USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.guard_refusal() IS 'Refuses a refusal without its reason.';
CREATE CONSTRAINT TRIGGER run_refusal_ck AFTER UPDATE OF outcome ON fuel.run DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.outcome <> NEW.outcome AND NEW.outcome = 'refused')
  EXECUTE FUNCTION fuel.guard_refusal();
COMMENT ON CONSTRAINT run_refusal_ck ON fuel.run IS 'A refusal has its reason.';

UPDATE fuel.source SET not_before_at = NULL WHERE NOT isfinite(not_before_at);
ALTER TABLE fuel.source ADD CONSTRAINT source_not_before_ck CHECK (isfinite(not_before_at));
COMMENT ON CONSTRAINT source_not_before_ck ON fuel.source IS 'No provider is left alone for ever.';

-- Whether anybody may buy at a station, and where it is, decides what is counted where. A new one has no name yet.
CREATE TRIGGER station_log AFTER UPDATE ON fuel.station FOR EACH ROW
  WHEN (OLD.name IS NOT NULL AND (OLD.is_public, OLD.state, OLD.time_zone) IS DISTINCT FROM (NEW.is_public, NEW.state, NEW.time_zone))
  EXECUTE FUNCTION fuel.log_change();
