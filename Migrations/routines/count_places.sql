-- Stores where each station counts from now on: its state, its regions, whether anybody may buy there, and where it lies.
--
-- If a station counted elsewhere before, the averages of all its days are made again from all stations. This is rare,
-- but may concern years. If it has other neighbours than before, the suspects of its state are judged again: a price that
-- lies far from the others of its station is believed where a neighbour charges about as much.
CREATE OR REPLACE FUNCTION fuel.count_places(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  moved_ids integer[];
  stirred   text[];
BEGIN
  WITH wanted AS (
    SELECT
      station.station_id,
      station.state,
      station.is_public,
      coalesce(
        array_agg(region_station.region ORDER BY region_station.region)
          FILTER (WHERE region_station.region IS NOT NULL), '{}') AS regions,
      -- A station that no run names any more is nobody's neighbour.
      CASE WHEN station.first_seen_at < 'infinity' THEN station.latitude END AS latitude,
      CASE WHEN station.first_seen_at < 'infinity' THEN station.longitude END AS longitude
    FROM fuel.station
    LEFT JOIN fuel.region_station USING (station_id)
    -- Of the records of one station only the record that stands for the station counts.
    WHERE station.place_id = station.station_id
    GROUP BY station.station_id
  ),
  changed AS MATERIALIZED (
    SELECT
      wanted.*,
      counted.state AS former_state,
      (counted.state, counted.is_public, counted.regions)
        IS DISTINCT FROM (wanted.state, wanted.is_public, wanted.regions) AS counts_elsewhere,
      coalesce(counted.latitude, wanted.latitude) IS NOT NULL
        AND (counted.state, counted.is_public, counted.latitude, counted.longitude)
          IS DISTINCT FROM (wanted.state, wanted.is_public, wanted.latitude, wanted.longitude) AS lies_elsewhere
    FROM wanted
    LEFT JOIN fuel.counted_place AS counted USING (station_id)
    WHERE (counted.state, counted.is_public, counted.regions, counted.latitude, counted.longitude)
      IS DISTINCT FROM (wanted.state, wanted.is_public, wanted.regions, wanted.latitude, wanted.longitude)
  ),
  counted AS (
    INSERT INTO fuel.counted_place AS known (station_id, state, is_public, regions, latitude, longitude)
    SELECT
      changed.station_id, changed.state, changed.is_public, changed.regions, changed.latitude, changed.longitude
    FROM changed
    ORDER BY changed.station_id
    ON CONFLICT ON CONSTRAINT counted_place_pk DO UPDATE SET
      state = excluded.state, is_public = excluded.is_public, regions = excluded.regions,
      latitude = excluded.latitude, longitude = excluded.longitude
  )
  SELECT
    array_agg(changed.station_id) FILTER (WHERE changed.counts_elsewhere),
    array_agg(DISTINCT changed.state) FILTER (WHERE changed.lies_elsewhere)
      || array_agg(DISTINCT changed.former_state) FILTER (WHERE changed.lies_elsewhere)
  INTO moved_ids, stirred
  FROM changed;

  -- These notes stand for spans that are made, and whose doubts are judged by this aggregate.
  INSERT INTO fuel.touched AS known (station_id, fuel_id, from_at, is_made)
  SELECT span.station_id, span.fuel_id, min(span.from_at), true
  FROM fuel.span
  JOIN fuel.station USING (station_id)
  WHERE span.is_suspect AND station.state = ANY (stirred)
  GROUP BY span.station_id, span.fuel_id
  ORDER BY span.station_id, span.fuel_id
  ON CONFLICT ON CONSTRAINT touched_pk DO UPDATE SET from_at = least(known.from_at, excluded.from_at);

  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT marked.fuel_id, series.day::date
  FROM (
    SELECT
      station_month.fuel_id,
      unnest(range_agg(daterange(
        station_month.month, (station_month.month + interval '1 month')::date))) AS days
    FROM fuel.station_month
    WHERE station_month.station_id = ANY (moved_ids)
    GROUP BY station_month.fuel_id
  ) AS marked
  CROSS JOIN LATERAL generate_series(
    lower(marked.days)::timestamp,
    least(upper(marked.days) - interval '1 day', p_clock AT TIME ZONE 'UTC' + interval '14 hours'),
    interval '1 day') AS series (day)
  ORDER BY 1, 2
  -- Not DO NOTHING: see mark_changed_days.
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day;
END
$$;
COMMENT ON FUNCTION fuel.count_places(timestamptz) IS
  'Updates where stations count and lie, marks the days of stations that counted elsewhere, and has suspects judged '
  'again that have other neighbours.';
GRANT EXECUTE ON FUNCTION fuel.count_places(timestamptz) TO fuel_writer;
