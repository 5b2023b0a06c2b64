-- The functions of the public schema fuel_v1. They read private tables for readers who have no rights on them. Each
-- function therefore runs with its owner's rights, a fixed search path and bound arguments only.

CREATE OR REPLACE FUNCTION fuel_v1.price_at(station_id integer, fuel text, at timestamptz)
RETURNS numeric LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (
  SELECT (found.price_tenths / 10.0)::numeric(5, 1)
  FROM fuel.fuel AS known
  CROSS JOIN LATERAL fuel.held_at(price_at.at, ARRAY[price_at.station_id], known.fuel_id) AS found
  WHERE known.fuel = price_at.fuel);
COMMENT ON FUNCTION fuel_v1.price_at(integer, text, timestamptz) IS
  'The price of a station and fuel in effect at an instant, cents per litre; NULL: no price was believed. After now: '
  'the price that is announced for then, or the present one for as long as it is believed.';
GRANT EXECUTE ON FUNCTION fuel_v1.price_at(integer, text, timestamptz) TO fuel_reader, fuel_writer;

CREATE OR REPLACE FUNCTION fuel_v1.average_at(region text, fuel text, at timestamptz)
RETURNS numeric LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (
  SELECT CASE
    WHEN count(*) >= fuel.minimum_stations() THEN round(avg(found.price_tenths) / 10, 2)
  END
  FROM fuel.fuel AS known
  JOIN fuel.region_delay ON region_delay.region = average_at.region
  CROSS JOIN LATERAL fuel.held_at(
    average_at.at,
    ARRAY(
      SELECT station.station_id
      FROM fuel.region_station
      JOIN fuel.station USING (station_id)
      WHERE region_station.region = average_at.region AND station.is_public),
    known.fuel_id) AS found
  WHERE known.fuel = average_at.fuel
    AND found.is_counted
    -- A feed that publishes late does not yet have prices for the latest instants. Its older prices do not count for
    -- them.
    AND (found.delay <= region_delay.delay OR average_at.at <= fuel.clock() - found.delay)
    -- Tomorrow's prices enter no average.
    AND average_at.at <= fuel.clock());
COMMENT ON FUNCTION fuel_v1.average_at(text, text, timestamptz) IS
  'The mean over a region''s stations of the price in effect at an instant, cents per litre; NULL '
  'below three stations, and for an instant after now. In a region of several states, prices of a feed that publishes '
  'late count once those of that instant are published.';
GRANT EXECUTE ON FUNCTION fuel_v1.average_at(text, text, timestamptz) TO fuel_reader, fuel_writer;

CREATE OR REPLACE FUNCTION fuel_v1.prices_between("from" timestamptz, "to" timestamptz)
RETURNS TABLE (
  station_id integer, fuel text, price_cpl numeric, valid_from timestamptz, valid_to timestamptz,
  source text, is_flagged boolean, flag_reason text)
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  begins_at timestamptz := $1;
  ends_at   timestamptz := least($2, fuel.clock());
BEGIN
  RETURN QUERY
  SELECT
    held.station_id,
    fuel.fuel,
    (held.price_tenths / 10.0)::numeric(5, 1),
    greatest(held.from_at, begins_at),
    least(held.until_at, ends_at),
    source.source,
    held.doubt IS NOT NULL,
    held.doubt
  FROM (
    SELECT believed.*
    FROM fuel.believed
    WHERE believed.from_at >= begins_at AND believed.from_at < ends_at
    UNION ALL
    -- For each station and fuel, the price that held when the window began.
    SELECT carried.*
    FROM fuel.present_span AS pair
    CROSS JOIN LATERAL (
      SELECT believed.*
      FROM fuel.believed
      WHERE believed.station_id = pair.station_id
        AND believed.fuel_id = pair.fuel_id
        AND believed.from_at < begins_at
      ORDER BY believed.from_at DESC
      LIMIT 1
    ) AS carried
    WHERE carried.until_at > begins_at AND begins_at < ends_at
  ) AS held
  JOIN fuel.fuel USING (fuel_id)
  JOIN fuel.source ON source.source_id = held.source_id
  WHERE held.from_at < held.until_at;
END
$$;
COMMENT ON FUNCTION fuel_v1.prices_between(timestamptz, timestamptz) IS
  'What each station charged within a window of time: like price_history, cut to the window. Does not read the whole '
  'history before the window.';
GRANT EXECUTE ON FUNCTION fuel_v1.prices_between(timestamptz, timestamptz) TO fuel_reader, fuel_writer;

CREATE OR REPLACE FUNCTION fuel_v1.stations_near(
  latitude numeric, longitude numeric, radius_km numeric)
RETURNS TABLE (station_id integer, name text, brand text, suburb text, state text, distance_km numeric)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT
    station.station_id,
    station.name,
    coalesce(brand_name.brand, station.brand),
    station.suburb,
    station.state,
    round(distance.kilometres::numeric, 2)
  FROM fuel.station
  LEFT JOIN fuel.brand_name
    ON brand_name.written = lower(station.brand)
    AND brand_name.valid_from <= (fuel.clock() AT TIME ZONE station.time_zone)::date
    AND brand_name.valid_to > (fuel.clock() AT TIME ZONE station.time_zone)::date
  CROSS JOIN LATERAL (
    SELECT fuel.kilometres(
      stations_near.latitude, stations_near.longitude, station.latitude, station.longitude
    ) AS kilometres
  ) AS distance
  -- A degree of latitude is about 111 km. The comparison of latitudes spares the trigonometry for most stations.
  WHERE station.latitude BETWEEN stations_near.latitude - stations_near.radius_km / 110.0
    AND stations_near.latitude + stations_near.radius_km / 110.0
    AND distance.kilometres <= stations_near.radius_km
    AND station.place_id = station.station_id
    -- As in stations: a station is left out if only runs that do not count reported it.
    AND station.first_seen_at < 'infinity'
  ORDER BY distance.kilometres, station.station_id
$$;
COMMENT ON FUNCTION fuel_v1.stations_near(numeric, numeric, numeric) IS
  'The stations within a radius of a point in degrees, nearest first.';
GRANT EXECUTE ON FUNCTION fuel_v1.stations_near(numeric, numeric, numeric) TO fuel_reader, fuel_writer;
