-- Whether the kept averages still are those of this moment: nothing has arrived since, and no price has taken effect by
-- itself.
CREATE OR REPLACE VIEW fuel.average_holding AS
SELECT EXISTS (
  SELECT
  FROM fuel.average_keeping
  WHERE fuel.clock() >= average_keeping.kept_at
    AND fuel.clock() < average_keeping.holds_until
    AND average_keeping.changes = (SELECT coalesce(sum(source.changes), 0) FROM fuel.source)
) AS holds;
COMMENT ON VIEW fuel.average_holding         IS 'Whether fuel.average_kept is valid at this moment. One row.';
COMMENT ON COLUMN fuel.average_holding.holds IS 'Whether it is valid.';
GRANT SELECT ON fuel.average_holding TO fuel_writer;

-- Stores the averages of this moment. Reads pg_temp.price_now, and belongs to the transaction that took it, whose
-- snapshot is one for all its statements.
CREATE OR REPLACE FUNCTION fuel.keep_averages(p_clock timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  -- The counters are those of the snapshot from which the present was taken. What has arrived since then raises their
  -- sum, and the kept averages do not hold.
  seen numeric := (SELECT coalesce(sum(source.changes), 0) FROM fuel.source);
  -- By name, so that the view may gain columns.
  kept_columns text := (
    SELECT string_agg(quote_ident(attribute.attname), ', ')
    FROM pg_attribute AS attribute
    WHERE attribute.attrelid = 'fuel.average_kept'::regclass AND attribute.attnum > 0 AND NOT attribute.attisdropped);
BEGIN
  DELETE FROM fuel.average_keeping;
  DELETE FROM fuel.average_kept;
  -- The query of the view, over the present that was taken.
  EXECUTE format(
    'INSERT INTO fuel.average_kept (%1$s) SELECT %1$s FROM (%2$s) AS live', kept_columns,
    rtrim(replace(pg_get_viewdef('fuel.average_live'::regclass), 'fuel.price_now', 'pg_temp.price_now'), ';'));
  INSERT INTO fuel.average_keeping (kept_at, holds_until, changes)
  SELECT
    p_clock,
    least(
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
      )),
    seen;
END
$$;
COMMENT ON FUNCTION fuel.keep_averages(timestamptz) IS 'Stores the averages at this moment in fuel.average_kept.';
GRANT EXECUTE ON FUNCTION fuel.keep_averages(timestamptz) TO fuel_writer;
