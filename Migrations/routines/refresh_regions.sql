-- Which stations belong to which region, by state and by distance from its centre; one without a
-- position by its postcode. A station that enters or leaves makes its days dirty.
CREATE OR REPLACE FUNCTION fuel.refresh_regions(p_clock timestamptz) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  moved_ids integer[];
BEGIN
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
  )
  SELECT array_agg(moved.station_id) INTO moved_ids FROM moved;
  PERFORM fuel.mark_places_dirty(moved_ids, p_clock);

  UPDATE fuel.region_station SET is_nearest = found.is_nearest
  FROM (
    SELECT
      member.region,
      member.station_id,
      -- The nation is nobody's neighbourhood.
      region.kind <> 'nation' AND row_number() OVER (
        PARTITION BY member.station_id
        ORDER BY region.kind = 'nation', coalesce(region.radius_km, 100000), region.region
      ) = 1 AS is_nearest
    FROM fuel.region_station AS member
    JOIN fuel.region USING (region)
  ) AS found
  WHERE found.region = region_station.region
    AND found.station_id = region_station.station_id
    AND found.is_nearest <> region_station.is_nearest;
  RETURN coalesce(cardinality(moved_ids), 0);
END
$$;
COMMENT ON FUNCTION fuel.refresh_regions(timestamptz) IS
  'Brings the stations of all regions up to date. Answers how many stations changed.';
GRANT EXECUTE ON FUNCTION fuel.refresh_regions(timestamptz) TO fuel_writer;
