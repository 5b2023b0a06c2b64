-- Returns the prices in effect at an instant, from the spans, each with the delay of the feed that reported it last. By
-- that delay averages_now and average_at leave out what is published late.
--
-- The query is planned anew each time, with the instant known, so that the server reads only the years that matter.
CREATE OR REPLACE FUNCTION fuel.held_at(
  p_at timestamptz, p_station_ids integer[] DEFAULT NULL, p_fuel_id smallint DEFAULT NULL)
RETURNS TABLE (station_id integer, fuel_id smallint, price_tenths integer, is_counted boolean, delay interval)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT
    pair.station_id,
    pair.fuel_id,
    held.price_tenths,
    fuel.counts_at(
      p_at, fuel.believed_until(held.until_at, held.lapses_at, held.is_open, sight.seen_until_at), held.doubt_from_at,
      held.doubt_until_at, reporter.counts_from_at),
    sight.delay
  FROM fuel.present_span AS pair
  CROSS JOIN LATERAL (
    SELECT span.*
    FROM fuel.span
    WHERE span.station_id = pair.station_id
      AND span.fuel_id = pair.fuel_id
      AND span.from_at <= p_at
    ORDER BY span.from_at DESC
    LIMIT 1
  ) AS held
  LEFT JOIN fuel.sight ON sight.source_id = held.seen_by
  LEFT JOIN fuel.sight AS reporter ON reporter.source_id = held.source_id
  WHERE (p_station_ids IS NULL OR pair.station_id IN (
      SELECT asked.place_id FROM fuel.station AS asked WHERE asked.station_id = ANY (p_station_ids)))
    AND (p_fuel_id IS NULL OR pair.fuel_id = p_fuel_id)
    AND p_at < fuel.believed_until(
      held.until_at, held.lapses_at, held.is_open, sight.seen_until_at);
END
$$;
COMMENT ON FUNCTION fuel.held_at(timestamptz, integer[], smallint) IS
  'The prices in effect at an instant, of the given stations and fuel (NULL: all), whether averages count them, as far '
  'as the price decides, and how late the feed that reported each last publishes.';
GRANT EXECUTE ON FUNCTION fuel.held_at(timestamptz, integer[], smallint) TO fuel_writer;
