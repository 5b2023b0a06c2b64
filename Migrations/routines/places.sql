CREATE OR REPLACE FUNCTION fuel.kilometres(
  p_latitude numeric, p_longitude numeric, p_latitude2 numeric, p_longitude2 numeric)
RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- Haversine formula on a sphere of 6,371 km. It is within 0.5 % of the distance on the ellipsoid.
RETURN 12742 * asin(sqrt(
  power(sind((p_latitude2 - p_latitude)::float8 / 2), 2)
  + cosd(p_latitude::float8) * cosd(p_latitude2::float8)
  * power(sind((p_longitude2 - p_longitude)::float8 / 2), 2)));
COMMENT ON FUNCTION fuel.kilometres IS 'The distance in kilometres between two points given in degrees.';

CREATE OR REPLACE FUNCTION fuel.is_among(p_postcode text, p_ranges text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN EXISTS (
  SELECT
  FROM unnest(p_ranges) AS range (text)
  WHERE p_postcode BETWEEN split_part(range.text, '-', 1) AND split_part(range.text, '-', 2));
COMMENT ON FUNCTION fuel.is_among IS 'Whether a postcode lies in one of several ranges.';

-- A station without a position is matched by its postcode. The server puts the expression in place of a call as long as
-- the expression has no subquery. Every station is compared with every region, so calls would be most of the work.
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
COMMENT ON FUNCTION fuel.is_within IS 'Whether a station lies in the circle of a region.';

-- A station belongs to a region by state, by circle, or, for the rest of a state, because it lies in no capital.
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
      WHEN 'rest' THEN NOT EXISTS (
        SELECT FROM fuel.region AS capital WHERE capital.kind = 'capital' AND fuel.is_within(capital, station))
      ELSE area.kind IN ('nation', 'state') OR fuel.is_within(area, station)
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
  ON CONFLICT ON CONSTRAINT region_station_pk DO NOTHING;

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
COMMENT ON FUNCTION fuel.refresh_regions IS 'Updates the stations of all regions.';

-- If a station counted elsewhere before, the averages of all its days are made again from all stations. This is rare,
-- but may concern years.
--
-- Stations are returned where they lay before and where they lie now, with the instant from which their prices are
-- known.
CREATE OR REPLACE FUNCTION fuel.count_places(p_clock timestamptz)
RETURNS TABLE (
  station_id integer, state text, latitude numeric, longitude numeric, known_from_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moved_ids integer[];
BEGIN
  CREATE TEMPORARY TABLE changed_place ON COMMIT DROP AS
  WITH wanted AS (
    SELECT
      station.station_id,
      station.state,
      station.is_public,
      coalesce(
        array_agg(region_station.region ORDER BY region_station.region)
          FILTER (WHERE region_station.region IS NOT NULL), '{}') AS regions,
      -- Members-only prices, and a station that no run names any more, are nobody's neighbours.
      CASE WHEN station.is_public AND station.first_seen_at < 'infinity' THEN station.latitude END AS latitude,
      CASE WHEN station.is_public AND station.first_seen_at < 'infinity' THEN station.longitude END AS longitude
    FROM fuel.station
    LEFT JOIN fuel.region_station USING (station_id)
    -- Of the records of one station only the record that stands for the station counts.
    WHERE station.place_id = station.station_id
    GROUP BY station.station_id
    UNION ALL
    -- One that has become part of another stays where its days were counted, but is nobody's neighbour any more.
    SELECT counted.station_id, counted.state, counted.is_public, counted.regions, NULL, NULL
    FROM fuel.counted_place AS counted
    JOIN fuel.station USING (station_id)
    WHERE station.place_id <> station.station_id AND counted.latitude IS NOT NULL
  )
  SELECT
    wanted.*,
    counted.state AS former_state,
    counted.latitude AS former_latitude,
    counted.longitude AS former_longitude,
    (counted.state, counted.is_public, counted.regions)
      IS DISTINCT FROM (wanted.state, wanted.is_public, wanted.regions) AS counts_elsewhere
  FROM wanted
  LEFT JOIN fuel.counted_place AS counted USING (station_id)
  WHERE (counted.state, counted.is_public, counted.regions, counted.latitude, counted.longitude)
    IS DISTINCT FROM (wanted.state, wanted.is_public, wanted.regions, wanted.latitude, wanted.longitude);

  INSERT INTO fuel.counted_place AS known (station_id, state, is_public, regions, latitude, longitude)
  SELECT
    changed.station_id, changed.state, changed.is_public, changed.regions, changed.latitude, changed.longitude
  FROM pg_temp.changed_place AS changed
  ORDER BY changed.station_id
  ON CONFLICT ON CONSTRAINT counted_place_pk DO UPDATE SET
    state = excluded.state, is_public = excluded.is_public, regions = excluded.regions,
    latitude = excluded.latitude, longitude = excluded.longitude;

  SELECT array_agg(changed.station_id) INTO moved_ids
  FROM pg_temp.changed_place AS changed
  WHERE changed.counts_elsewhere;
  PERFORM fuel.touch_averages(
    array_agg(marked.fuel_id),
    array_agg(marked.days * daterange(NULL, (p_clock AT TIME ZONE 'UTC' + interval '14 hours')::date, '[]')), false)
  FROM (
    SELECT
      station_month.fuel_id,
      -- A station is expected in the month after one with a known price too.
      unnest(range_agg(daterange(
        station_month.month, (station_month.month + interval '2 months')::date))) AS days
    FROM fuel.station_month
    WHERE station_month.station_id = ANY (moved_ids)
    GROUP BY station_month.fuel_id
  ) AS marked;

  RETURN QUERY
  SELECT place.station_id, place.state, place.latitude, place.longitude, known.from_at
  FROM pg_temp.changed_place AS changed
  CROSS JOIN LATERAL (
    VALUES
      (changed.station_id, changed.former_state, changed.former_latitude, changed.former_longitude),
      (changed.station_id, changed.state, changed.latitude, changed.longitude)
  ) AS place (station_id, state, latitude, longitude)
  CROSS JOIN LATERAL (
    SELECT min(span.from_at) AS from_at
    FROM fuel.span
    WHERE span.station_id = changed.station_id
  ) AS known
  WHERE place.latitude IS NOT NULL
    AND (changed.former_state, changed.former_latitude, changed.former_longitude)
      IS DISTINCT FROM (changed.state, changed.latitude, changed.longitude);
  DROP TABLE pg_temp.changed_place;
END
$$;
COMMENT ON FUNCTION fuel.count_places IS
  'Updates where stations count and lie, and marks the days of stations that counted elsewhere. Returns those that came, '
  'went or moved as neighbours.';

GRANT EXECUTE ON FUNCTION fuel.kilometres TO fuel_reader, fuel_writer;
GRANT EXECUTE ON FUNCTION
  fuel.is_among, fuel.is_within, fuel.refresh_regions, fuel.count_places TO fuel_writer;
