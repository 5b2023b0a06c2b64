-- Whole fuels and brands that were listed before and are not in the staged list at all. A brand is gone
-- when none of its stations is there, so that a chain under a new name is not missed.
CREATE OR REPLACE FUNCTION fuel.missing_of_list(p_source_id smallint)
RETURNS TABLE (what text, listed integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT fuel.fuel, before.listed
  FROM (
    SELECT listed_pair.fuel_id, count(*)::integer AS listed
    FROM pg_temp.listed_pair
    GROUP BY listed_pair.fuel_id
  ) AS before
  JOIN fuel.fuel USING (fuel_id)
  WHERE before.listed >= 10
    AND NOT EXISTS (
      SELECT FROM pg_temp.staged_price WHERE staged_price.fuel_id = before.fuel_id)
  UNION ALL
  SELECT 'brand ' || gone.brand, gone.stations
  FROM (
    SELECT station.brand, count(*)::integer AS stations
    FROM (
      SELECT listed_pair.station_id FROM pg_temp.listed_pair
      EXCEPT
      SELECT station.station_id
      FROM pg_temp.staged_price
      JOIN fuel.station
        ON station.source_id = p_source_id AND station.station_code = staged_price.station_code
    ) AS absent
    JOIN fuel.station USING (station_id)
    WHERE station.brand IS NOT NULL
    GROUP BY station.brand
    HAVING count(*) >= 10
  ) AS gone
  WHERE gone.stations = (
    SELECT count(DISTINCT station.station_id)
    FROM pg_temp.listed_pair
    JOIN fuel.station USING (station_id)
    WHERE station.brand = gone.brand);
END
$$;
COMMENT ON FUNCTION fuel.missing_of_list(smallint) IS
  'Fuels and brands of at least ten prices or stations that the staged list lacks altogether.';
GRANT EXECUTE ON FUNCTION fuel.missing_of_list(smallint) TO fuel_writer;
