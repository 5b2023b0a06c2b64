-- Makes the country and its states equal to those of the configuration. The states are given as arrays of equal length.
CREATE OR REPLACE FUNCTION fuel.keep_country(
  p_country text, p_name text, p_time_zone text, p_states text[], p_names text[], p_time_zones text[],
  p_price_day_starts integer[])
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  -- Days that are stored already were made with the old time zones and day starts.
  IF EXISTS (SELECT FROM fuel.run) AND (
    EXISTS (
      SELECT FROM fuel.country WHERE (country.country, country.time_zone) IS DISTINCT FROM (p_country, p_time_zone))
    OR EXISTS (
      SELECT
      FROM unnest(p_states, p_time_zones, p_price_day_starts) AS wanted (state, time_zone, starts)
      JOIN fuel.state AS known USING (state)
      WHERE (known.time_zone, known.price_day_starts)
        IS DISTINCT FROM (wanted.time_zone, make_interval(hours => wanted.starts))))
  THEN
    RETURN false;
  END IF;
  UPDATE fuel.country SET country = p_country, name = p_name, time_zone = p_time_zone
  WHERE (country.country, country.name, country.time_zone) IS DISTINCT FROM (p_country, p_name, p_time_zone);
  INSERT INTO fuel.state AS known (state, name, time_zone, price_day_starts)
  SELECT wanted.state, wanted.name, wanted.time_zone, make_interval(hours => wanted.starts)
  FROM unnest(p_states, p_names, p_time_zones, p_price_day_starts) AS wanted (state, name, time_zone, starts)
  ON CONFLICT ON CONSTRAINT state_pk DO UPDATE SET
    name = excluded.name, time_zone = excluded.time_zone, price_day_starts = excluded.price_day_starts
  WHERE (known.name, known.time_zone, known.price_day_starts)
    IS DISTINCT FROM (excluded.name, excluded.time_zone, excluded.price_day_starts);
  -- States of another country are removed if nothing was ever stored of them.
  DELETE FROM fuel.state
  WHERE state.state <> ALL (p_states)
    AND NOT EXISTS (SELECT FROM fuel.region WHERE region.state = state.state)
    AND NOT EXISTS (SELECT FROM fuel.source WHERE source.state = state.state)
    AND NOT EXISTS (SELECT FROM fuel.station WHERE station.state = state.state);
  RETURN true;
END
$$;
COMMENT ON FUNCTION fuel.keep_country(text, text, text, text[], text[], text[], integer[]) IS
  'Stores the country of the configuration and its states. Returns false, and changes nothing, if there are runs of '
  'another country.';
REVOKE EXECUTE ON FUNCTION fuel.keep_country(text, text, text, text[], text[], text[], integer[]) FROM PUBLIC;
