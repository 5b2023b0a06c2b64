-- Returns whether a postcode lies in one of several ranges, such as 2000-2234.
CREATE OR REPLACE FUNCTION fuel.is_among(p_postcode text, p_ranges text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN EXISTS (
  SELECT
  FROM unnest(p_ranges) AS range (text)
  WHERE p_postcode BETWEEN split_part(range.text, '-', 1) AND split_part(range.text, '-', 2));
COMMENT ON FUNCTION fuel.is_among(text, text[]) IS 'Whether a postcode lies in one of several ranges.';
GRANT EXECUTE ON FUNCTION fuel.is_among(text, text[]) TO fuel_writer;

-- Returns whether a station lies in the circle of a region. A station without a position is matched by its postcode.
-- The server puts the expression in place of a call as long as the expression has no subquery. Every station is
-- compared with every region, so calls would be most of the work.
CREATE OR REPLACE FUNCTION fuel.is_within(p_region fuel.region, p_station fuel.station)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
  (p_region.state IS NULL OR p_region.state = p_station.state)
  AND (
    coalesce(
      -- A degree of latitude is 111.2 km. This comparison spares the distance for most stations, which are too far
      -- north or south.
      abs(p_region.latitude - p_station.latitude) * 111 <= p_region.radius_km
        AND fuel.kilometres(p_region.latitude, p_region.longitude, p_station.latitude, p_station.longitude)
          <= p_region.radius_km,
      false)
    OR (p_station.latitude IS NULL AND fuel.is_among(p_station.postcode, p_region.postcodes)));
COMMENT ON FUNCTION fuel.is_within(fuel.region, fuel.station) IS 'Whether a station lies in the circle of a region.';
GRANT EXECUTE ON FUNCTION fuel.is_within(fuel.region, fuel.station) TO fuel_writer;

-- Brings up to date which stations belong to which region: by state, by circle, or, for the rest of a state, because
-- the station lies in no capital.
CREATE OR REPLACE FUNCTION fuel.refresh_regions() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH wanted AS (
    SELECT area.region, station.station_id
    FROM fuel.region AS area
    JOIN fuel.station ON area.state IS NULL OR area.state = station.state
    -- A station may have several records. Only the one that represents it counts, and none that only runs that do not
    -- count reported.
    WHERE station.place_id = station.station_id AND station.first_seen_at < 'infinity' AND CASE area.kind
      WHEN 'nation' THEN true
      WHEN 'state' THEN true
      WHEN 'rest' THEN NOT EXISTS (
        SELECT FROM fuel.region AS capital WHERE capital.kind = 'capital' AND fuel.is_within(capital, station))
      ELSE fuel.is_within(area, station)
    END
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
      -- The smallest region is the nearest: a circle, then the rest of a state, then the state. It is never the nation.
      region.kind <> 'nation' AND row_number() OVER (
        PARTITION BY member.station_id
        ORDER BY
          region.kind = 'nation', coalesce(region.radius_km, CASE region.kind WHEN 'rest' THEN 50000 ELSE 100000 END),
          region.region
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
  'Updates the stations of all regions.';
GRANT EXECUTE ON FUNCTION fuel.refresh_regions() TO fuel_writer;
