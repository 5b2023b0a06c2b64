-- Stores where each station counts from now on: its state, its regions, and whether anybody may buy there. If a station
-- counted elsewhere before, the averages of all its days are made again from all stations. This is rare, but may
-- concern years.
CREATE OR REPLACE FUNCTION fuel.count_places(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  moved_ids integer[];
BEGIN
  WITH wanted AS (
    SELECT
      station.station_id,
      station.state,
      station.is_public,
      coalesce(
        array_agg(region_station.region ORDER BY region_station.region)
          FILTER (WHERE region_station.region IS NOT NULL), '{}') AS regions
    FROM fuel.station
    LEFT JOIN fuel.region_station USING (station_id)
    -- Of the records of one station only the record that stands for the station counts.
    WHERE station.place_id = station.station_id
    GROUP BY station.station_id
  ),
  counted AS (
    INSERT INTO fuel.counted_place AS known (station_id, state, is_public, regions)
    SELECT wanted.station_id, wanted.state, wanted.is_public, wanted.regions
    FROM wanted
    LEFT JOIN fuel.counted_place AS counted USING (station_id)
    WHERE (counted.state, counted.is_public, counted.regions)
      IS DISTINCT FROM (wanted.state, wanted.is_public, wanted.regions)
    ORDER BY wanted.station_id
    ON CONFLICT ON CONSTRAINT counted_place_pk DO UPDATE SET
      state = excluded.state, is_public = excluded.is_public, regions = excluded.regions
    RETURNING known.station_id
  )
  SELECT array_agg(counted.station_id) INTO moved_ids FROM counted;

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
  'Updates in which regions stations count, and marks the days of stations that counted elsewhere.';
GRANT EXECUTE ON FUNCTION fuel.count_places(timestamptz) TO fuel_writer;
