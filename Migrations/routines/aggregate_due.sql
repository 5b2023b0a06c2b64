-- Stores what an aggregate has seen of the present, by which the next one knows whether anything is due. Reads
-- pg_temp.price_now, and belongs to the transaction that took it, whose snapshot is one for all its statements: what has
-- arrived since then raises the counters of the sources.
CREATE OR REPLACE FUNCTION fuel.note_present(p_aggregate_run_id integer, p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE fuel.aggregate_run SET
    changes = (SELECT coalesce(sum(source.changes), 0) FROM fuel.source),
    due_at = least(
      p_clock + interval '15 minutes',
      (
        SELECT least(
          min(pair.next_from_at) FILTER (WHERE pair.next_from_at > p_clock),
          min(pair.doubt_from_at) FILTER (WHERE pair.doubt_from_at > p_clock),
          min(pair.doubt_until_at) FILTER (WHERE pair.doubt_until_at > p_clock))
        FROM fuel.present_span AS pair
      ),
      -- When prices stop being believed. The first thousandth of a feed's prices is enough to wait for, because one
      -- price more or less changes no average noticeably.
      (
        SELECT min(lapsing.at)
        FROM (
          SELECT percentile_disc(0.001) WITHIN GROUP (ORDER BY price_now.lapses_at) AS at
          FROM pg_temp.price_now
          WHERE price_now.is_fresh
          GROUP BY price_now.source_id
        ) AS lapsing
      ),
      -- When the current price day of a state ends. In a state that publishes late, that is its delay later.
      (
        SELECT min(
          state_delay.delay + fuel.price_day_begin(
            fuel.price_day(p_clock - state_delay.delay, state.time_zone, state.price_day_starts) + 1, state.time_zone,
            state.price_day_starts))
        FROM fuel.state
        JOIN fuel.state_delay USING (state)
      ))
  WHERE aggregate_run.aggregate_run_id = p_aggregate_run_id;
END
$$;
COMMENT ON FUNCTION fuel.note_present IS
  'Stores what an aggregate has seen of the present, and when the next one is due.';

-- An aggregate is not due when nothing has arrived, no work is left over, and no price has taken effect by itself: it
-- would only make again what is there. Stations are matched before this function is called, so stations whose links
-- changed are listed already.
CREATE OR REPLACE FUNCTION fuel.is_aggregate_due(p_aggregate_run_id integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (
      SELECT
      FROM (
        SELECT made.*
        FROM fuel.aggregate_run AS made
        WHERE made.due_at IS NOT NULL
        ORDER BY made.aggregate_run_id DESC
        LIMIT 1
      ) AS made
      WHERE fuel.clock() >= made.started_at
        AND fuel.clock() < made.due_at
        AND made.changes = (SELECT coalesce(sum(source.changes), 0) FROM fuel.source)
        -- A verdict that has lapsed meanwhile needs a new one, for example once tomorrow's prices are due.
        AND NOT EXISTS (
          SELECT
          FROM fuel.latest_verdict
          WHERE latest_verdict.valid_until_at > made.started_at
            AND latest_verdict.valid_until_at <= fuel.clock()))
    OR EXISTS (SELECT FROM fuel.due)
    -- A station that sells to members only now, or no longer does.
    OR EXISTS (
      SELECT
      FROM fuel.counted_place AS counted
      JOIN fuel.station USING (station_id)
      WHERE station.place_id = station.station_id AND station.is_public <> counted.is_public)
    -- An aggregate that broke off may have noted the present without giving verdicts.
    OR 'done' IS DISTINCT FROM (
      SELECT earlier.outcome
      FROM fuel.aggregate_run AS earlier
      WHERE earlier.aggregate_run_id < p_aggregate_run_id
      ORDER BY earlier.aggregate_run_id DESC
      LIMIT 1)
$$;
COMMENT ON FUNCTION fuel.is_aggregate_due IS
  'Whether an aggregate has anything to compute that the one before it has not computed.';

GRANT EXECUTE ON FUNCTION fuel.note_present, fuel.is_aggregate_due TO fuel_writer;
