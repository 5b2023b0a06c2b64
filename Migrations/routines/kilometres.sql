CREATE OR REPLACE FUNCTION fuel.kilometres(
  p_latitude numeric, p_longitude numeric, p_latitude2 numeric, p_longitude2 numeric)
RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- Haversine formula on a sphere of 6,371 km. It is within 0.5 % of the distance on the ellipsoid.
RETURN 12742 * asin(sqrt(
  power(sind((p_latitude2 - p_latitude)::float8 / 2), 2)
  + cosd(p_latitude::float8) * cosd(p_latitude2::float8)
  * power(sind((p_longitude2 - p_longitude)::float8 / 2), 2)));
COMMENT ON FUNCTION fuel.kilometres(numeric, numeric, numeric, numeric) IS
  'The distance in kilometres between two points given in degrees.';
GRANT EXECUTE ON FUNCTION fuel.kilometres(numeric, numeric, numeric, numeric)
  TO fuel_reader, fuel_writer;
