-- The marks of the price days that have to be made again.

-- Notes which price days change because spans of stations changed: those of stations in fuel.stale_days, and those whose
-- averages have to be made again in fuel.dirty_day. Days after fuel.state.days_made_until are not made yet and need no
-- note of stations. Only the aggregate removes marks from fuel.dirty_day, so when the aggregate calls this function
-- itself (p_is_aggregate), only the missing marks are added.
CREATE OR REPLACE FUNCTION fuel.mark_changed_days(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[],
  p_until_ats timestamptz[], p_is_aggregate boolean, p_clock timestamptz)
RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT
      pair.station_id,
      pair.fuel_id,
      -- The state of a station that no longer exists is unknown. Its range of days is one day longer at each end, which
      -- is enough for any time zone.
      coalesce(
        fuel.price_day(pair.from_at, state.time_zone, state.price_day_starts),
        (pair.from_at - interval '1 day')::date) AS first_day,
      coalesce(
        fuel.price_day(least(pair.until_at, p_clock), state.time_zone, state.price_day_starts),
        (least(pair.until_at, p_clock) + interval '1 day')::date) AS last_day,
      CASE WHEN state.state IS NULL THEN 'infinity' ELSE state.days_made_until END AS days_made_until
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats, p_until_ats) AS pair (
      station_id, fuel_id, from_at, until_at)
    LEFT JOIN fuel.station USING (station_id)
    LEFT JOIN fuel.state USING (state)
    WHERE pair.from_at <= p_clock AND pair.from_at <= pair.until_at
  ),
  stale AS (
    INSERT INTO fuel.stale_days AS known (station_id, fuel_id, first_month, last_month)
    SELECT
      changed.station_id, changed.fuel_id, min(date_trunc('month', changed.first_day::timestamp))::date,
      max(date_trunc('month', least(changed.last_day, changed.days_made_until)::timestamp))::date
    FROM changed
    WHERE changed.first_day <= changed.days_made_until
    GROUP BY changed.station_id, changed.fuel_id
    ORDER BY changed.station_id, changed.fuel_id
    ON CONFLICT ON CONSTRAINT stale_days_pk DO UPDATE SET
      first_month = least(known.first_month, excluded.first_month),
      last_month = greatest(known.last_month, excluded.last_month)
  ),
  changed_days AS (
    SELECT changed.fuel_id, unnest(range_agg(daterange(changed.first_day, changed.last_day + 1))) AS days
    FROM changed
    GROUP BY changed.fuel_id
  )
  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT changed_days.fuel_id, series.day::date
  FROM changed_days
  CROSS JOIN LATERAL generate_series(
    lower(changed_days.days)::timestamp, upper(changed_days.days)::timestamp - interval '1 day',
    interval '1 day') AS series (day)
  LEFT JOIN fuel.dirty_day AS known
    ON p_is_aggregate AND known.fuel_id = changed_days.fuel_id AND known.day = series.day::date
  WHERE known.day IS NULL
  ORDER BY 1, 2
  -- DO NOTHING would not lock the row. The lock keeps the aggregate from clearing a mark for facts that it has not
  -- seen.
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
$$;
COMMENT ON FUNCTION fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], boolean, timestamptz) IS
  'Marks the days of stations and fuels whose prices changed between two instants.';
GRANT EXECUTE ON FUNCTION fuel.mark_changed_days(
  integer[], smallint[], timestamptz[], timestamptz[], boolean, timestamptz) TO fuel_writer;

-- Notes the price days that have ended since the last call, for every station and fuel whose price may last into them,
-- and moves fuel.state.days_made_until to the last of them. These days count as made from then on, and
-- fuel.mark_changed_days notes them when something changes them later. If a clock that was ahead had days made before
-- they ended, their averages are deleted, days_made_until goes back, and the days are made again when they end.
CREATE OR REPLACE FUNCTION fuel.mark_ended_days(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMPORARY TABLE ended ON COMMIT DROP AS
  SELECT
    state.state,
    state.time_zone,
    state.price_day_starts,
    state.days_made_until AS made_until,
    -- Where every feed of a state publishes late, nothing is known about the hours just before now. The shortest delay
    -- of its feeds counts.
    fuel.price_day(p_clock - state_delay.delay, state.time_zone, state.price_day_starts) - 1 AS ended_until
  FROM fuel.state
  JOIN fuel.state_delay USING (state);
  DELETE FROM pg_temp.ended WHERE ended.made_until = ended.ended_until;
  DELETE FROM fuel.daily_rollup
  WHERE daily_rollup.day > (
    SELECT min(ended.ended_until) FROM pg_temp.ended WHERE ended.made_until > ended.ended_until
  );
  INSERT INTO fuel.stale_days AS known (station_id, fuel_id, first_month, last_month)
  SELECT
    pair.station_id,
    pair.fuel_id,
    date_trunc('month', (ended.ended_until + 1)::timestamp)::date,
    date_trunc('month', ended.made_until::timestamp)::date
  FROM pg_temp.ended
  JOIN fuel.station ON station.state = ended.state AND station.place_id = station.station_id
  JOIN fuel.present_span AS pair USING (station_id)
  WHERE ended.made_until > ended.ended_until
  ORDER BY pair.station_id, pair.fuel_id
  ON CONFLICT ON CONSTRAINT stale_days_pk DO UPDATE SET
    first_month = least(known.first_month, excluded.first_month),
    last_month = greatest(known.last_month, excluded.last_month);
  INSERT INTO fuel.stale_days AS known (station_id, fuel_id, first_month, last_month)
  SELECT noted.station_id, noted.fuel_id, noted.first_month, noted.last_month
  FROM (
    SELECT
      pair.station_id,
      pair.fuel_id,
      date_trunc('month', greatest(
        ended.made_until + 1,
        fuel.price_day(first.from_at, ended.time_zone, ended.price_day_starts))::timestamp)::date
        AS first_month,
      date_trunc('month', ended.ended_until::timestamp)::date AS last_month
    FROM pg_temp.ended
    JOIN fuel.station ON station.state = ended.state AND station.place_id = station.station_id
    JOIN fuel.present_span AS pair USING (station_id)
    CROSS JOIN LATERAL (
      SELECT span.from_at
      FROM fuel.span
      WHERE span.station_id = pair.station_id AND span.fuel_id = pair.fuel_id
      ORDER BY span.from_at
      LIMIT 1
    ) AS first
    WHERE ended.made_until IS NULL
      OR ended.made_until < ended.ended_until AND (pair.lapses_at > fuel.price_day_begin(
        ended.made_until + 1, ended.time_zone, ended.price_day_starts)
      OR pair.next_from_at IS NOT NULL)
  ) AS noted
  WHERE noted.first_month <= noted.last_month
  ORDER BY noted.station_id, noted.fuel_id
  ON CONFLICT ON CONSTRAINT stale_days_pk DO UPDATE SET
    first_month = least(known.first_month, excluded.first_month),
    last_month = greatest(known.last_month, excluded.last_month);
  UPDATE fuel.state SET days_made_until = ended.ended_until
  FROM pg_temp.ended
  WHERE state.state = ended.state;
  DROP TABLE pg_temp.ended;
END
$$;
COMMENT ON FUNCTION fuel.mark_ended_days(timestamptz) IS
  'Notes the price days that have ended since the last time, station by station.';
GRANT EXECUTE ON FUNCTION fuel.mark_ended_days(timestamptz) TO fuel_writer;
