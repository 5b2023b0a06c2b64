-- Whole fuels and brands that are not in the staged list at all although they were listed before, judged
-- by the pairs that vanished. A brand is gone when none of its stations is there, so that a chain under
-- a new name is not missed.
CREATE OR REPLACE FUNCTION fuel.missing_of_list(p_source_id smallint)
RETURNS TABLE (what text, listed integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT fuel.fuel, gone.pairs
  FROM (
    SELECT vanished.fuel_id, count(*)::integer AS pairs
    FROM pg_temp.vanished
    GROUP BY vanished.fuel_id
    HAVING count(*) >= 10
  ) AS gone
  JOIN fuel.fuel USING (fuel_id)
  WHERE NOT EXISTS (
    SELECT FROM pg_temp.staged_price WHERE staged_price.fuel_id = gone.fuel_id)
  UNION ALL
  SELECT 'brand ' || gone.brand, gone.stations
  FROM (
    SELECT station.brand, count(DISTINCT vanished.station_id)::integer AS stations
    FROM pg_temp.vanished
    JOIN fuel.station USING (station_id)
    WHERE station.brand IS NOT NULL
    GROUP BY station.brand
    HAVING count(DISTINCT vanished.station_id) >= 10
  ) AS gone
  WHERE NOT EXISTS (
    SELECT
    FROM fuel.station
    JOIN pg_temp.staged_price USING (station_code)
    WHERE station.source_id = p_source_id AND station.brand = gone.brand);
END
$$;
COMMENT ON FUNCTION fuel.missing_of_list(smallint) IS
  'Fuels and brands of at least ten prices or stations that the staged list lacks altogether.';
GRANT EXECUTE ON FUNCTION fuel.missing_of_list(smallint) TO fuel_writer;
