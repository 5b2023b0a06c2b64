-- Notes which days' averages the run being absorbed may have changed: from the price day of each
-- new fact to that of the pair's next one, and no day before the feed was first read.
CREATE OR REPLACE FUNCTION fuel.mark_dirty(
  p_source_id smallint, p_taken_at timestamptz, p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  feed fuel.source;
  gap_begins_at timestamptz;
  gap_ends_at timestamptz;
BEGIN
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;

  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT DISTINCT span.fuel_id, day.day::date
  FROM (
    SELECT
      changed.fuel_id,
      fuel.price_day(
        greatest(changed.begins_at, feed.first_taken_at), state.time_zone, state.price_day_starts
      ) AS first_day,
      fuel.price_day(
        least(
          following.effective_at, changed.begins_at + feed.price_lapses_after,
          p_clock
        ), state.time_zone, state.price_day_starts
      ) AS last_day
    FROM (
      SELECT new_fact.station_id, new_fact.fuel_id, new_fact.effective_at AS begins_at
      FROM pg_temp.new_fact
      UNION
      SELECT listing.station_id, listing.fuel_id, listing.changed_at
      FROM fuel.listing
      WHERE listing.source_id = p_source_id AND listing.changed_at >= p_taken_at
    ) AS changed
    JOIN fuel.station USING (station_id)
    JOIN fuel.state USING (state)
    LEFT JOIN LATERAL (
      SELECT price.effective_at
      FROM fuel.price
      WHERE price.station_id = changed.station_id
        AND price.fuel_id = changed.fuel_id
        AND price.source_id = p_source_id
        AND price.effective_at > changed.begins_at
      ORDER BY price.effective_at
      LIMIT 1
    ) AS following ON true
    WHERE changed.begins_at <= p_clock
  ) AS span
  CROSS JOIN LATERAL generate_series(span.first_day, span.last_day, interval '1 day') AS day (day)
  ORDER BY span.fuel_id, day.day::date
  -- Not DO NOTHING: the row must be locked, so that the aggregator cannot clear a mark that
  -- stands for facts it has not seen.
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day;

  -- A list also says that prices were still believed around it. Where the lists before and after it
  -- are far apart, whole days of the feed change; and so they do where it is the oldest of all. In
  -- a live run after a live run neither is so.
  SELECT max(run.taken_at) INTO gap_begins_at
  FROM fuel.run
  WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at < p_taken_at;
  SELECT min(run.taken_at) INTO gap_ends_at
  FROM fuel.run
  WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at > p_taken_at;
  gap_ends_at := least(
    coalesce(gap_ends_at, p_taken_at + feed.sight_lapses_after), p_clock);
  IF gap_begins_at IS NULL
    OR gap_ends_at - gap_begins_at > feed.sight_lapses_after
    OR p_taken_at <= feed.first_taken_at
  THEN
    INSERT INTO fuel.dirty_day (fuel_id, day)
    SELECT DISTINCT pair.fuel_id, day.day::date
    FROM fuel.current_price AS pair
    CROSS JOIN generate_series(
      coalesce(gap_begins_at, p_taken_at)::date - 1, gap_ends_at::date + 1, interval '1 day'
    ) AS day (day)
    WHERE pair.source_id = p_source_id AND day.day <= p_clock::date + 1
    ORDER BY pair.fuel_id, day.day::date
    ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day;
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.mark_dirty(smallint, timestamptz, timestamptz) IS
  'Marks the days whose averages the run being absorbed may have changed.';
GRANT EXECUTE ON FUNCTION fuel.mark_dirty(smallint, timestamptz, timestamptz)
  TO fuel_writer;
