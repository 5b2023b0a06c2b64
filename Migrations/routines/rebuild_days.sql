-- Makes the averages of a span of price days again, whole: deletes them and inserts them.
--
-- A station counts once, with its time-weighted price over the part of the day for which a price is
-- believed. Stations that only members may use are left out, and so are doubtful prices.
CREATE OR REPLACE FUNCTION fuel.rebuild_days(
  p_fuel_ids smallint[], p_from date, p_to date, p_clock timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  rebuilt          integer;
  -- Ends of the window over all states, for the server to leave out months by.
  window_begins_at timestamptz := p_from - interval '1 day';
  window_ends_at   timestamptz := p_to + interval '2 days';
  archives_from_at timestamptz;
BEGIN
  SELECT window_begins_at - max(source.price_lapses_after) INTO archives_from_at
  FROM fuel.source
  WHERE source.kind = 'archive';
  -- First of all: a run that commits from here on finds no row, waits for us, and marks its days
  -- anew; one that marked them before has committed once we hold the rows. Deleting at the end
  -- would drop the mark of a run that committed in between.
  PERFORM FROM fuel.dirty_day
  WHERE dirty_day.fuel_id = ANY (p_fuel_ids) AND dirty_day.day BETWEEN p_from AND p_to
  ORDER BY dirty_day.fuel_id, dirty_day.day
  FOR UPDATE;
  DELETE FROM fuel.dirty_day
  WHERE dirty_day.fuel_id = ANY (p_fuel_ids) AND dirty_day.day BETWEEN p_from AND p_to;

  DELETE FROM fuel.daily_rollup
  WHERE daily_rollup.fuel_id = ANY (p_fuel_ids) AND daily_rollup.day BETWEEN p_from AND p_to;

  -- Where every feed of a state publishes late, nothing is known of the hours before now.
  WITH known_state AS MATERIALIZED (
    SELECT
      state.state,
      state.time_zone,
      state.price_day_starts,
      p_clock - coalesce((
        SELECT min(source.delay) FROM fuel.source WHERE source.state = state.state
      ), '0') AS until_at
    FROM fuel.state
  ),
  price_day AS MATERIALIZED (
    SELECT
      state.state,
      day.day::date AS day,
      fuel.price_day_begin(day.day::date, state.time_zone, state.price_day_starts) AS begins_at,
      least(
        fuel.price_day_begin(day.day::date + 1, state.time_zone, state.price_day_starts),
        state.until_at
      ) AS ends_at
    FROM known_state AS state
    CROSS JOIN generate_series(p_from, p_to, interval '1 day') AS day (day)
    WHERE fuel.price_day_begin(day.day::date, state.time_zone, state.price_day_starts)
      < state.until_at
  ),
  price_window AS MATERIALIZED (
    SELECT
      price_day.state,
      min(price_day.begins_at) AS begins_at,
      max(price_day.ends_at) AS ends_at
    FROM price_day
    GROUP BY price_day.state
  ),
  -- Every record with the place that it means, and what its source is believed for.
  teller AS MATERIALIZED (
    SELECT
      record.station_id,
      record.source_id,
      place.station_id AS place_id,
      place.state,
      price_window.begins_at,
      price_window.ends_at,
      source.kind,
      source.price_lapses_after,
      source.sight_lapses_after,
      source.holding_confirms,
      -- Before its first run a feed's unchanged prices are known and its changed ones are not.
      CASE
        WHEN source.tells_whole_days OR source.kind = 'archive' THEN '-infinity'
        ELSE source.first_taken_at
      END AS speaks_from_at
    FROM fuel.station AS record
    JOIN fuel.station AS place ON place.station_id = record.place_id
    JOIN price_window ON price_window.state = place.state
    JOIN fuel.source ON source.source_id = record.source_id
    WHERE place.is_public
  ),
  happened AS (
    -- What held when the window began ...
    SELECT
      cached.station_id,
      cached.fuel_id,
      greatest(carried.effective_at, shown.changed_at) AS effective_at,
      CASE WHEN shown.is_listed IS FALSE THEN 0 ELSE carried.price_tenths END AS price_tenths,
      carried.effective_at AS stamped_at,
      CASE
        WHEN shown.changed_at > carried.effective_at THEN shown.changed_at ELSE carried.learnt_at
      END AS learnt_at
    FROM fuel.current_price AS cached
    JOIN teller USING (station_id)
    CROSS JOIN LATERAL (
      SELECT price.effective_at, price.price_tenths, price.learnt_at
      FROM fuel.price
      WHERE price.station_id = cached.station_id
        AND price.fuel_id = cached.fuel_id
        AND price.source_id = cached.source_id
        AND price.effective_at <= teller.begins_at
        AND price.effective_at > teller.begins_at - teller.price_lapses_after
      ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
      LIMIT 1
    ) AS carried
    LEFT JOIN LATERAL fuel.shown_at(
      cached.station_id, cached.fuel_id, cached.source_id, carried.effective_at,
      teller.begins_at) AS shown ON true
    WHERE cached.fuel_id = ANY (p_fuel_ids)
    UNION ALL
    -- ... by an archive, whose month is read anyway ...
    SELECT
      archived.station_id,
      archived.fuel_id,
      archived.effective_at,
      archived.price_tenths,
      archived.effective_at,
      archived.effective_at
    FROM fuel.archive_price AS archived
    JOIN teller USING (station_id)
    WHERE archived.fuel_id = ANY (p_fuel_ids)
      AND archived.effective_at > archives_from_at
      AND archived.effective_at <= window_ends_at
      AND archived.effective_at <= teller.begins_at
      AND archived.effective_at > teller.begins_at - teller.price_lapses_after
    UNION ALL
    -- ... and what happened in it.
    SELECT
      event.station_id,
      event.fuel_id,
      event.effective_at,
      event.price_tenths,
      event.stamped_at,
      event.learnt_at
    FROM fuel.price_event AS event
    JOIN teller USING (station_id)
    WHERE event.fuel_id = ANY (p_fuel_ids)
      AND event.effective_at > window_begins_at
      AND event.effective_at < window_ends_at
      AND event.effective_at > teller.begins_at
      AND event.effective_at < teller.ends_at
  ),
  -- Before its first run a feed says nothing: what it tells of the time before it, it tells from then
  -- on, unless others told something newer by then; and until then others speak.
  placed AS (
    SELECT
      happened.*,
      teller.place_id,
      teller.source_id,
      teller.state,
      teller.ends_at AS window_ends_at,
      teller.price_lapses_after,
      teller.sight_lapses_after,
      teller.holding_confirms,
      teller.speaks_from_at,
      max(teller.speaks_from_at) OVER (
        PARTITION BY teller.place_id, happened.fuel_id) AS all_speak_from_at
    FROM happened
    JOIN teller USING (station_id)
  ),
  told AS (
    SELECT
      newest.*,
      newest.effective_at AS told_at,
      greatest(newest.effective_at, newest.speaks_from_at) AS begins_at
    FROM (
      SELECT
        placed.*,
        -- Of those that are believed by then, which every window sees that holds that instant.
        max(placed.effective_at) FILTER (
          WHERE placed.effective_at <= placed.all_speak_from_at
            AND placed.effective_at + placed.price_lapses_after > placed.all_speak_from_at
        ) OVER (PARTITION BY placed.place_id, placed.fuel_id) AS newest_by_then_at
      FROM placed
    ) AS newest
    WHERE greatest(newest.effective_at, newest.speaks_from_at) < newest.window_ends_at
      AND (
        newest.effective_at >= newest.speaks_from_at
        OR newest.newest_by_then_at IS NULL
        OR newest.effective_at >= newest.newest_by_then_at)
  ),
  followed AS (
    SELECT
      told.*,
      lead(told.begins_at) OVER (
        PARTITION BY told.place_id, told.fuel_id
        ORDER BY told.begins_at, told.told_at, told.learnt_at, told.price_tenths
      ) AS next_at
    FROM told
  ),
  -- Once per event: pulled into the join below it would be computed once per event and day.
  believed AS MATERIALIZED (
    SELECT
      followed.state,
      followed.source_id,
      followed.holding_confirms,
      followed.station_id,
      followed.place_id,
      followed.fuel_id,
      followed.price_tenths,
      followed.effective_at,
      followed.begins_at,
      least(
        coalesce(followed.next_at, followed.window_ends_at),
        followed.stamped_at + followed.price_lapses_after,
        CASE
          WHEN coalesce(followed.next_at, followed.window_ends_at) - followed.stamped_at
            <= followed.sight_lapses_after
            THEN 'infinity'
          ELSE greatest(followed.stamped_at, (
            SELECT max(run.taken_at)
            FROM fuel.run
            WHERE run.source_id = followed.source_id
              AND run.is_complete
              AND run.taken_at <= p_clock
              AND run.taken_at < coalesce(followed.next_at, fuel.next_event_at(
                followed.station_id, followed.fuel_id, followed.source_id,
                followed.window_ends_at, p_clock), 'infinity')
          )) + followed.sight_lapses_after
        END
      ) AS ends_at
    FROM followed
    WHERE followed.price_tenths > 0
  ),
  part AS MATERIALIZED (
    SELECT
      believed.*,
      price_day.day,
      price_day.ends_at - price_day.begins_at AS day_length,
      greatest(believed.begins_at, price_day.begins_at) AS from_at,
      extract(epoch FROM
        least(believed.ends_at, price_day.ends_at)
        - greatest(believed.begins_at, price_day.begins_at)) AS seconds
    FROM believed
    JOIN price_day
      ON price_day.state = believed.state
      AND price_day.begins_at < believed.ends_at
      AND price_day.ends_at > believed.begins_at
  ),
  -- The level of each state on each day, to tell doubtful prices by (see flag_prices).
  middle AS MATERIALIZED (
    SELECT
      part.state,
      part.fuel_id,
      part.day,
      percentile_disc(0.5) WITHIN GROUP (ORDER BY part.price_tenths) AS tenths
    FROM part
    GROUP BY part.state, part.fuel_id, part.day
    HAVING count(DISTINCT part.place_id) >= 8
  ),
  level AS MATERIALIZED (
    SELECT
      middle.state,
      middle.fuel_id,
      middle.day,
      middle.tenths AS middle_tenths,
      greatest(
        percentile_disc(0.5) WITHIN GROUP (ORDER BY abs(part.price_tenths - middle.tenths)) * 1.4826,
        middle.tenths * 0.04)::integer AS spread_tenths
    FROM middle
    JOIN part USING (state, fuel_id, day)
    GROUP BY middle.state, middle.fuel_id, middle.day, middle.tenths
  ),
  -- The few that lie far from it, and of them those that nobody nearby shares.
  far AS MATERIALIZED (
    SELECT part.*, place.latitude, place.longitude
    FROM part
    JOIN level USING (state, fuel_id, day)
    JOIN fuel.station AS place ON place.station_id = part.place_id
    WHERE part.seconds > 0
      AND fuel.is_far(part.price_tenths, level.middle_tenths, level.spread_tenths)
  ),
  doubtful AS MATERIALIZED (
    SELECT far.place_id, far.fuel_id, far.day, far.from_at
    FROM far
    WHERE NOT EXISTS (
        SELECT
        FROM fuel.price_confirmation
        JOIN fuel.station AS confirmed USING (station_id)
        WHERE confirmed.place_id = far.place_id
          AND price_confirmation.fuel_id = far.fuel_id
          AND price_confirmation.price_tenths = far.price_tenths)
      AND NOT fuel.is_own_way(
        far.station_id, far.fuel_id, far.source_id, far.price_tenths, far.effective_at)
      AND NOT (
        far.holding_confirms
        AND far.from_at >= interval '24 hours' + fuel.held_since(
          far.station_id, far.fuel_id, far.source_id, far.price_tenths, far.effective_at))
      AND NOT EXISTS (
        SELECT
        FROM far AS other
        WHERE other.state = far.state
          AND other.fuel_id = far.fuel_id
          AND other.day = far.day
          AND other.place_id <> far.place_id
          AND abs(other.price_tenths - far.price_tenths) * 10 <= far.price_tenths
          AND fuel.kilometres(other.latitude, other.longitude, far.latitude, far.longitude) <= 40)
  ),
  station_day AS (
    SELECT
      part.place_id AS station_id,
      part.fuel_id,
      part.day,
      sum(part.price_tenths * part.seconds) / sum(part.seconds) AS price_tenths,
      -- A day lasts as long as it has passed.
      sum(part.seconds) / extract(epoch FROM min(part.day_length)) AS covered
    FROM part
    WHERE part.seconds > 0
      AND NOT EXISTS (
        SELECT
        FROM doubtful
        WHERE doubtful.place_id = part.place_id
          AND doubtful.fuel_id = part.fuel_id
          AND doubtful.day = part.day
          AND doubtful.from_at = part.from_at)
    GROUP BY part.place_id, part.fuel_id, part.day
  )
  INSERT INTO fuel.daily_rollup (
    region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage,
    is_ended)
  SELECT
    region_station.region,
    station_day.fuel_id,
    station_day.day,
    round(avg(station_day.price_tenths) / 10, 2),
    round((percentile_cont(0.5) WITHIN GROUP (ORDER BY station_day.price_tenths))::numeric / 10, 2),
    round((percentile_cont(0.25) WITHIN GROUP (ORDER BY station_day.price_tenths))::numeric / 10, 2),
    round(min(station_day.price_tenths) / 10, 2),
    round(max(station_day.price_tenths) / 10, 2),
    count(*),
    round(least(avg(station_day.covered), 1), 3),
    (
      SELECT bool_and(state.until_at
        >= fuel.price_day_begin(station_day.day + 1, state.time_zone, state.price_day_starts))
      FROM known_state AS state
      WHERE state.state = region.state OR region.state IS NULL)
  FROM station_day
  JOIN fuel.region_station USING (station_id)
  JOIN fuel.region USING (region)
  WHERE station_day.day >= region.valid_from AND station_day.day < region.valid_to
  GROUP BY region_station.region, region.state, station_day.fuel_id, station_day.day;
  GET DIAGNOSTICS rebuilt = ROW_COUNT;
  RETURN rebuilt;
END
$$;
COMMENT ON FUNCTION fuel.rebuild_days(smallint[], date, date, timestamptz) IS
  'Makes the daily averages of some fuels over a span of days again. Answers how many rows it made.';
GRANT EXECUTE ON FUNCTION fuel.rebuild_days(smallint[], date, date, timestamptz) TO fuel_writer;
