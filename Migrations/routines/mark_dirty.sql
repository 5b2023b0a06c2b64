-- Notes which days' averages the run being absorbed may have changed.
--
-- A fact changes the days from its own to that of the pair's next one. Where it lies in an outage it
-- also cuts short the belief in the price before it, which the list after the outage had confirmed:
-- then the days from the end of that belief. A list that confirms prices across an outage, or that is
-- the oldest of all, changes whole days of its feed. One statement in one order, because two feeds
-- may mark the same days at once.
CREATE OR REPLACE FUNCTION fuel.mark_dirty(
  p_source_id smallint, p_taken_at timestamptz, p_is_complete boolean, p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  feed          fuel.source;
  gap_begins_at timestamptz;
  gap_ends_at   timestamptz;
BEGIN
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;

  -- In a live run after a live run there is no such gap.
  IF p_is_complete THEN
    SELECT max(run.taken_at) INTO gap_begins_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at < p_taken_at;
    SELECT min(run.taken_at) INTO gap_ends_at
    FROM fuel.run
    WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at > p_taken_at;
    gap_ends_at := least(coalesce(gap_ends_at, p_taken_at + feed.sight_lapses_after), p_clock);
    IF gap_ends_at - gap_begins_at <= feed.sight_lapses_after THEN
      gap_ends_at := NULL;
    END IF;
    gap_begins_at := coalesce(gap_begins_at, p_taken_at);
    -- The oldest of all: the feed speaks from now on where it spoke from the next one on.
    IF p_taken_at <= feed.first_taken_at THEN
      SELECT greatest(gap_ends_at, min(run.taken_at)) INTO gap_ends_at
      FROM fuel.run
      WHERE run.source_id = p_source_id
        AND run.outcome IN ('stored', 'unchanged')
        AND run.taken_at > p_taken_at;
    END IF;
  ELSIF p_taken_at <= feed.first_taken_at THEN
    gap_begins_at := p_taken_at;
    gap_ends_at := p_clock;
  END IF;

  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT marked.fuel_id, marked.day
  FROM (
    SELECT span.fuel_id, day.day::date AS day
    FROM (
      SELECT
        changed.fuel_id,
        fuel.price_day(
          greatest(
            least(changed.begins_at, seen.last_at + feed.sight_lapses_after),
            CASE WHEN feed.tells_whole_days THEN '-infinity' ELSE feed.first_taken_at END
          ), state.time_zone, state.price_day_starts
        ) AS first_day,
        fuel.price_day(
          least(
            coalesce(doubted.ends_at, following.effective_at),
            coalesce(following.effective_at, changed.begins_at) + feed.price_lapses_after, p_clock),
          state.time_zone, state.price_day_starts
        ) AS last_day
      FROM pg_temp.changed
      JOIN fuel.station USING (station_id)
      JOIN fuel.state USING (state)
      LEFT JOIN LATERAL (
        SELECT price.effective_at, price.price_tenths
        FROM fuel.price
        WHERE price.station_id = changed.station_id
          AND price.fuel_id = changed.fuel_id
          AND price.source_id = p_source_id
          AND price.effective_at > changed.begins_at
        ORDER BY price.effective_at
        LIMIT 1
      ) AS following ON true
      -- Whether the next price is doubtful hangs on the one before it, if it lies far from any of them:
      -- then as long as that one holds.
      LEFT JOIN LATERAL (
        SELECT coalesce(min(later.effective_at), 'infinity') AS ends_at
        FROM fuel.price AS later
        WHERE later.station_id = changed.station_id
          AND later.fuel_id = changed.fuel_id
          AND later.source_id = p_source_id
          AND later.effective_at > following.effective_at
          AND later.price_tenths <> following.price_tenths
      ) AS doubted ON (
        SELECT max(abs(near.price_tenths - following.price_tenths) * 3 - near.price_tenths) > 0
        FROM (
          SELECT before.price_tenths
          FROM fuel.price AS before
          WHERE before.station_id = changed.station_id
            AND before.fuel_id = changed.fuel_id
            AND before.source_id = p_source_id
            AND before.effective_at < following.effective_at
            AND before.price_tenths > 0
          ORDER BY before.effective_at DESC
          LIMIT 3
        ) AS near)
      LEFT JOIN LATERAL (
        SELECT max(run.taken_at) AS last_at
        FROM fuel.run
        WHERE run.source_id = p_source_id
          AND run.is_complete
          AND run.taken_at < changed.begins_at
      ) AS seen ON true
      WHERE changed.begins_at <= p_clock
    ) AS span
    CROSS JOIN LATERAL generate_series(span.first_day, span.last_day, interval '1 day')
      AS day (day)
    UNION
    SELECT pair.fuel_id, day.day::date
    FROM (
      SELECT DISTINCT current_price.fuel_id
      FROM fuel.current_price
      WHERE current_price.source_id = p_source_id AND gap_ends_at IS NOT NULL
    ) AS pair
    CROSS JOIN generate_series(
      gap_begins_at::date - 1, least(gap_ends_at, p_clock)::date + 1, interval '1 day'
    ) AS day (day)
  ) AS marked
  ORDER BY marked.fuel_id, marked.day
  -- Not DO NOTHING: the row must be locked, so that the aggregator cannot clear a mark that
  -- stands for facts it has not seen.
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day;
END
$$;
COMMENT ON FUNCTION fuel.mark_dirty(smallint, timestamptz, boolean, timestamptz) IS
  'Marks the days whose averages the run being absorbed may have changed.';
GRANT EXECUTE ON FUNCTION fuel.mark_dirty(smallint, timestamptz, boolean, timestamptz)
  TO fuel_writer;
