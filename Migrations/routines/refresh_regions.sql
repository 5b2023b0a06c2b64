-- Which stations belong to which region, by state and by distance from its centre; one without a
-- position by its postcode. A station that
-- enters or leaves makes its days dirty.
CREATE OR REPLACE FUNCTION fuel.refresh_regions(p_clock timestamptz) RETURNS integer
LANGUAGE sql AS $$
  WITH wanted AS (
    SELECT region.region, station.station_id
    FROM fuel.region
    JOIN fuel.station ON region.state IS NULL OR region.state = station.state
    -- Of the records of one place one counts.
    WHERE station.place_id = station.station_id AND (
      region.radius_km IS NULL
      OR fuel.kilometres(region.latitude, region.longitude, station.latitude, station.longitude)
        <= region.radius_km
      OR (
        station.latitude IS NULL
        AND EXISTS (
          SELECT
          FROM unnest(region.postcodes) AS range (text)
          WHERE station.postcode
            BETWEEN split_part(range.text, '-', 1) AND split_part(range.text, '-', 2))))
  ),
  removed AS (
    DELETE FROM fuel.region_station
    WHERE NOT EXISTS (
      SELECT
      FROM wanted
      WHERE wanted.region = region_station.region
        AND wanted.station_id = region_station.station_id)
    RETURNING region_station.station_id
  ),
  added AS (
    INSERT INTO fuel.region_station (region, station_id)
    SELECT wanted.region, wanted.station_id
    FROM wanted
    WHERE NOT EXISTS (
      SELECT
      FROM fuel.region_station
      WHERE region_station.region = wanted.region
        AND region_station.station_id = wanted.station_id)
    RETURNING region_station.station_id
  ),
  moved AS (
    SELECT removed.station_id FROM removed
    UNION
    SELECT added.station_id FROM added
  ),
  dirtied AS (
    INSERT INTO fuel.dirty_day (fuel_id, day)
    SELECT DISTINCT pair.fuel_id, day.day::date
    FROM (
      SELECT
        current_price.fuel_id,
        min(greatest(station.first_seen_at, source.first_taken_at)) AS begins_at,
        p_clock AS ends_at
      FROM moved
      JOIN fuel.station USING (station_id)
      JOIN fuel.current_price USING (station_id)
      JOIN fuel.source ON source.source_id = station.source_id
      GROUP BY current_price.fuel_id
      UNION ALL
      SELECT fuel.fuel_id, told.begins_at, told.ends_at
      FROM (
        SELECT
          min(record.first_seen_at) AS begins_at,
          max(seen.last_at + source.price_lapses_after) AS ends_at
        FROM moved
        JOIN fuel.station AS record ON record.place_id = moved.station_id
        JOIN fuel.source ON source.source_id = record.source_id AND source.kind = 'archive'
        CROSS JOIN LATERAL (
          SELECT max(sighting.month) + interval '1 month' AS last_at
          FROM fuel.station_sighting AS sighting
          WHERE sighting.station_id = record.station_id
        ) AS seen
      ) AS told
      JOIN fuel.fuel ON fuel.is_averaged
      WHERE told.begins_at IS NOT NULL
    ) AS pair
    CROSS JOIN LATERAL generate_series(
      (pair.begins_at - interval '1 day')::date, least(pair.ends_at, p_clock)::date,
      interval '1 day') AS day (day)
    ORDER BY pair.fuel_id, day.day::date
    ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
  )
  SELECT count(*)::integer FROM moved
$$;
COMMENT ON FUNCTION fuel.refresh_regions(timestamptz) IS
  'Brings the stations of all regions up to date. Answers how many stations changed.';
GRANT EXECUTE ON FUNCTION fuel.refresh_regions(timestamptz) TO fuel_writer;
