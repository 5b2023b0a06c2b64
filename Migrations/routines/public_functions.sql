-- The functions of the public schema fuel_v1. They read private tables for readers who have no rights on them. Each
-- function therefore runs with its owner's rights, a fixed search path and bound arguments only.

CREATE OR REPLACE FUNCTION fuel_v1.price_at(station_id integer, fuel text, at timestamptz)
RETURNS numeric LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (
  SELECT (found.price_tenths / 10.0)::numeric(5, 1)
  FROM fuel.fuel AS known
  CROSS JOIN LATERAL fuel.held_at(price_at.at, ARRAY[price_at.station_id], known.fuel_id) AS found
  WHERE known.fuel = price_at.fuel);
COMMENT ON FUNCTION fuel_v1.price_at IS
  'The price of a station and fuel in effect at an instant, cents per litre; NULL: no price was believed, or there is no such station or fuel. After now: '
  'the price that is announced for then, or the present one for as long as it is believed.';

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
COMMENT ON FUNCTION fuel_v1.average_at IS
  'The mean over a region''s stations of the price in effect at an instant, cents per litre; NULL '
  'below three stations, and for an instant after now. In a region of several states, prices of a feed that publishes '
  'late count once those of that instant are published. NULL also for an unknown region or fuel.';

CREATE OR REPLACE FUNCTION fuel_v1.prices_between("from" timestamptz, "to" timestamptz)
RETURNS TABLE (
  station_id integer, fuel text, price_cpl numeric, valid_from_at timestamptz, valid_until_at timestamptz,
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
COMMENT ON FUNCTION fuel_v1.prices_between IS
  'What each station charged within a window of time, which ends now at the latest: like price_history, cut to the '
  'window. Does not read the whole history before the window.';

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
COMMENT ON FUNCTION fuel_v1.stations_near IS 'The stations within a radius of a point in degrees, nearest first.';

CREATE OR REPLACE FUNCTION fuel_v1.prices_near(
  latitude numeric, longitude numeric, fuel text, max_stations integer DEFAULT 10)
RETURNS TABLE (
  station_id integer, name text, brand text, address text, suburb text, latitude numeric, longitude numeric,
  distance_km numeric, price_cpl numeric, tomorrow_cpl numeric, verdict text, effective_at timestamptz,
  confirmed_at timestamptz)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT
    present.station_id,
    present.name,
    present.brand,
    near.address,
    present.suburb,
    present.latitude,
    present.longitude,
    round(near.kilometres::numeric, 2),
    present.price_cpl,
    present.next_price_cpl,
    (
      SELECT advice.verdict
      FROM fuel_v1.station_fill_up AS advice
      WHERE advice.station_id = present.station_id AND advice.fuel = present.fuel
    ),
    present.effective_at,
    present.confirmed_at
  FROM (
    SELECT
      place.station_id,
      place.address,
      fuel.kilometres(prices_near.latitude, prices_near.longitude, place.latitude, place.longitude) AS kilometres
    FROM fuel.fuel AS known
    JOIN fuel.present_span AS sold USING (fuel_id)
    JOIN fuel.station AS place USING (station_id)
    WHERE known.fuel = prices_near.fuel
      AND place.latitude IS NOT NULL
      AND prices_near.latitude BETWEEN -90 AND 90
      AND prices_near.longitude BETWEEN -180 AND 180
    -- Sorted first, so that only the nearest prices are looked at.
    ORDER BY kilometres, place.station_id
    OFFSET 0
  ) AS near
  CROSS JOIN LATERAL (
    SELECT price.*
    FROM fuel_v1.current_prices AS price
    WHERE price.station_id = near.station_id
      AND price.fuel = prices_near.fuel
      AND price.is_public
      AND price.is_fresh
      AND NOT price.is_flagged
  ) AS present
  ORDER BY near.kilometres, near.station_id
  LIMIT greatest(0, least(prices_near.max_stations, 1000))
$$;
COMMENT ON FUNCTION fuel_v1.prices_near IS
  'The nearest stations to a point in degrees where anybody can buy a fuel at a price that is believed and not doubtful now, nearest first, '
  'with that price, the next one where it is known, and the verdict of station_fill_up. At most 1,000.';

CREATE OR REPLACE FUNCTION fuel_v1.region_days(region text, first_day date, last_day date)
RETURNS TABLE (
  station_id integer, fuel text, day date, average_cpl numeric, exact_average_cpl numeric, min_cpl numeric,
  max_cpl numeric, last_cpl numeric, coverage numeric, is_complete boolean, region_average_cpl numeric,
  difference_cpl numeric, rank_in_region integer, stations integer)
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  -- A value, which a hub's members get with the question.
  first_month date := date_trunc('month', $2)::date;
BEGIN
  RETURN QUERY
  SELECT
    made.station_id,
    made.fuel,
    made.day,
    made.average_cpl,
    made.exact_average_cpl,
    made.min_cpl,
    made.max_cpl,
    made.last_cpl,
    made.coverage,
    made.is_complete,
    daily.average_cpl,
    (made.exact_average_cpl - daily.average_cpl)::numeric(6, 2),
    (rank() OVER (PARTITION BY made.fuel, made.day ORDER BY made.exact_average_cpl))::integer,
    (count(*) OVER (PARTITION BY made.fuel, made.day))::integer
  FROM fuel_v1.station_days AS made
  JOIN fuel.region_station AS member USING (station_id)
  JOIN fuel.station USING (station_id)
  LEFT JOIN fuel_v1.daily_averages AS daily
    ON daily.region = member.region AND daily.fuel = made.fuel AND daily.day = made.day
  WHERE member.region = $1
    AND made.month_on BETWEEN first_month AND $3
    AND made.day BETWEEN $2 AND $3
    AND station.is_public;
END
$$;
COMMENT ON FUNCTION fuel_v1.region_days IS
  'What each public station of a region charged from one price day to another, as station_days has it, beside the average of '
  'the region (NULL below three stations), with its rank: 1 is the cheapest of the stations of that day. Reads only '
  'the months of these days, of all fuels: one fuel over years comes faster from station_days. AU: all stations; until a '
  'day has ended in every state, its average counts more stations than are listed.';

-- A restore without privileges has lost the default ones.
GRANT SELECT ON ALL TABLES IN SCHEMA fuel TO fuel_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA fuel_v1 TO fuel_reader, fuel_writer;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fuel_v1 TO fuel_reader, fuel_writer;
