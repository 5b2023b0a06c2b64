-- Which stations belong to which region, by state and by distance from its centre; one without a
-- position by its postcode.
CREATE OR REPLACE FUNCTION fuel.refresh_regions() RETURNS void
LANGUAGE plpgsql AS $$
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
  )
  INSERT INTO fuel.region_station (region, station_id)
  SELECT wanted.region, wanted.station_id
  FROM wanted
  WHERE NOT EXISTS (
    SELECT
    FROM fuel.region_station
    WHERE region_station.region = wanted.region
      AND region_station.station_id = wanted.station_id);

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
END
$$;
COMMENT ON FUNCTION fuel.refresh_regions() IS
  'Brings the stations of all regions up to date.';
GRANT EXECUTE ON FUNCTION fuel.refresh_regions() TO fuel_writer;
