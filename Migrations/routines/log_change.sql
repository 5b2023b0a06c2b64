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
COMMENT ON FUNCTION fuel.log_change() IS 'Keeps a row as it was and as it became.';
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
