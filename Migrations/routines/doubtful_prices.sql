-- Which of some prices that lie far from the level of their state and day are doubtful in the past: not
-- confirmed by a person, not their station's own way, not held for a day (where that confirms), and shared
-- by nobody within forty kilometres that lies as far. Answers their positions, counted from 1.
CREATE OR REPLACE FUNCTION fuel.doubtful_prices(
  p_place_ids integer[], p_station_ids integer[], p_fuel_ids smallint[], p_source_ids smallint[],
  p_prices integer[], p_effective_at timestamptz[], p_days date[], p_from_at timestamptz[],
  p_known_at timestamptz)
RETURNS SETOF integer LANGUAGE sql STABLE AS $$
  WITH far AS MATERIALIZED (
    SELECT given.*, place.state, place.latitude, place.longitude
    FROM unnest(
      p_place_ids, p_station_ids, p_fuel_ids, p_source_ids, p_prices, p_effective_at, p_days, p_from_at
    ) WITH ORDINALITY AS given (
      place_id, station_id, fuel_id, source_id, price_tenths, effective_at, day, from_at, position)
    JOIN fuel.station AS place ON place.station_id = given.place_id
  ),
  -- Once per price, however many days it lasts.
  excused AS MATERIALIZED (
    SELECT
      told.*,
      EXISTS (
        SELECT
        FROM fuel.price_confirmation
        JOIN fuel.station AS confirmed USING (station_id)
        WHERE confirmed.place_id = told.place_id
          AND price_confirmation.fuel_id = told.fuel_id
          AND price_confirmation.price_tenths = told.price_tenths
          AND price_confirmation.confirmed_at <= p_known_at
      ) OR fuel.is_own_way(
        told.station_id, told.fuel_id, told.source_id, told.price_tenths, told.effective_at
      ) AS is_believed,
      CASE
        WHEN source.holding_confirms THEN interval '24 hours' + fuel.held_since(
          told.station_id, told.fuel_id, told.source_id, told.price_tenths, told.effective_at)
        ELSE 'infinity'
      END AS believed_from_at
    FROM (
      SELECT DISTINCT far.place_id, far.station_id, far.fuel_id, far.source_id, far.price_tenths,
        far.effective_at
      FROM far
    ) AS told
    JOIN fuel.source USING (source_id)
  )
  SELECT far.position::integer
  FROM far
  JOIN excused USING (place_id, station_id, fuel_id, source_id, price_tenths, effective_at)
  WHERE NOT excused.is_believed
    AND (far.from_at >= excused.believed_from_at) IS NOT TRUE
    AND NOT EXISTS (
      SELECT
      FROM far AS other
      WHERE other.state = far.state
        AND other.fuel_id = far.fuel_id
        AND other.day = far.day
        AND other.place_id <> far.place_id
        AND abs(other.price_tenths - far.price_tenths) * 10 <= far.price_tenths
        AND fuel.kilometres(other.latitude, other.longitude, far.latitude, far.longitude) <= 40)
$$;
COMMENT ON FUNCTION fuel.doubtful_prices(
  integer[], integer[], smallint[], smallint[], integer[], timestamptz[], date[], timestamptz[],
  timestamptz) IS
  'Which of some far prices of the past are doubtful, by their positions.';
GRANT EXECUTE ON FUNCTION fuel.doubtful_prices(
  integer[], integer[], smallint[], smallint[], integer[], timestamptz[], date[], timestamptz[],
  timestamptz)
  TO fuel_writer;
