-- An aggregate is not due when nothing has arrived, no work is left over, and the kept averages still hold: it would
-- only make again what is there. Stations are matched before this function is called, so stations whose links changed
-- have their notes in fuel.touched already.
CREATE OR REPLACE FUNCTION fuel.is_aggregate_due(p_aggregate_run_id integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT NOT (SELECT average_holding.holds FROM fuel.average_holding)
    OR EXISTS (SELECT FROM fuel.touched)
    OR EXISTS (SELECT FROM fuel.touched_month)
    OR EXISTS (SELECT FROM fuel.stale_days)
    OR EXISTS (SELECT FROM fuel.dirty_day)
    -- A station that sells to members only now, or no longer does.
    OR EXISTS (
      SELECT
      FROM fuel.counted_place AS counted
      JOIN fuel.station USING (station_id)
      WHERE station.place_id = station.station_id AND station.is_public <> counted.is_public)
    -- A verdict that has lapsed meanwhile needs a new one, for example once tomorrow's prices are due.
    OR EXISTS (
      SELECT
      FROM fuel.latest_verdict
      CROSS JOIN fuel.average_keeping
      WHERE latest_verdict.valid_until_at > average_keeping.kept_at
        AND latest_verdict.valid_until_at <= fuel.clock())
    -- An aggregate that broke off may have kept its averages without giving verdicts.
    OR 'done' IS DISTINCT FROM (
      SELECT earlier.outcome
      FROM fuel.aggregate_run AS earlier
      WHERE earlier.aggregate_run_id < p_aggregate_run_id
      ORDER BY earlier.aggregate_run_id DESC
      LIMIT 1)
$$;
COMMENT ON FUNCTION fuel.is_aggregate_due(integer) IS
  'Whether an aggregate has anything to compute that the one before it has not computed.';
GRANT EXECUTE ON FUNCTION fuel.is_aggregate_due(integer) TO fuel_writer;
