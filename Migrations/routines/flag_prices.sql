-- Which prices are doubtful. A price is when it lies far from what its area charges (six times the usual
-- spread), far from what its own station charged before (a third), and no other station within forty
-- kilometres charges about as much. So neither remote stations, nor country towns, nor a jump of the
-- whole market, nor its first movers are. Also where a station has one price for every grade of petrol
-- it sells: a placeholder. A doubtful price that still holds a day
-- later is believed, unless its feed stamps everything anew each day.
--
-- What it says depends on the prices in effect and the area's level only.
CREATE OR REPLACE FUNCTION fuel.is_far(p_price integer, p_middle integer, p_spread integer)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(abs(p_price - p_middle) > 6 * p_spread, false);
COMMENT ON FUNCTION fuel.is_far(integer, integer, integer) IS
  'Whether a price lies far from the level of its area; false where there is no level.';
GRANT EXECUTE ON FUNCTION fuel.is_far(integer, integer, integer) TO fuel_writer;

-- Whether the station's price before, another one, was near: then a far price is its own way.
CREATE OR REPLACE FUNCTION fuel.is_own_way(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_price integer,
  p_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce((
  SELECT abs(price.price_tenths - p_price) * 3 <= price.price_tenths
  FROM (
    SELECT price.effective_at, price.learnt_at, price.price_tenths
    FROM fuel.price
    WHERE price.station_id = p_station_id
      AND price.fuel_id = p_fuel_id
      AND price.source_id = p_source_id
    UNION ALL
    SELECT archived.effective_at, archived.effective_at, archived.price_tenths
    FROM fuel.archive_price AS archived
    WHERE archived.station_id = p_station_id
      AND archived.fuel_id = p_fuel_id
      AND archived.source_id = p_source_id
      -- As long as an archive's price is believed; further back lies another market.
      AND archived.effective_at > p_at - interval '30 days'
  ) AS price
  WHERE price.effective_at < p_at
    AND price.price_tenths <> p_price
    AND price.price_tenths > 0
  ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
  LIMIT 1
), false);
COMMENT ON FUNCTION fuel.is_own_way(integer, smallint, smallint, integer, timestamptz) IS
  'Whether the last different price of a pair before an instant lies within a third of a price.';
GRANT EXECUTE ON FUNCTION fuel.is_own_way(integer, smallint, smallint, integer, timestamptz)
  TO fuel_writer;

-- Since when a price holds that was stamped at an instant, restatements folded.
CREATE OR REPLACE FUNCTION fuel.held_since(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_price integer,
  p_at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(
  (
    SELECT min(price.effective_at)
    FROM fuel.price
    WHERE price.station_id = p_station_id
      AND price.fuel_id = p_fuel_id
      AND price.source_id = p_source_id
      AND price.effective_at <= p_at
      AND price.price_tenths = p_price
      AND price.effective_at > coalesce((
        SELECT max(other.effective_at)
        FROM fuel.price AS other
        WHERE other.station_id = p_station_id
          AND other.fuel_id = p_fuel_id
          AND other.source_id = p_source_id
          AND other.effective_at < p_at
          AND other.price_tenths <> p_price
      ), '-infinity')
  ),
  -- In an archive of whole days the same price may have begun days before.
  (
    SELECT min(archived.effective_at)
    FROM fuel.archive_price AS archived
    WHERE archived.station_id = p_station_id
      AND archived.fuel_id = p_fuel_id
      AND archived.source_id = p_source_id
      AND archived.effective_at BETWEEN p_at - interval '2 days' AND p_at
      AND archived.price_tenths = p_price
      AND archived.effective_at > coalesce((
        SELECT max(other.effective_at)
        FROM fuel.archive_price AS other
        WHERE other.station_id = p_station_id
          AND other.fuel_id = p_fuel_id
          AND other.source_id = p_source_id
          AND other.effective_at BETWEEN p_at - interval '2 days' AND p_at
          AND other.effective_at < p_at
          AND other.price_tenths <> p_price
      ), '-infinity')
  ));
COMMENT ON FUNCTION fuel.held_since(integer, smallint, smallint, integer, timestamptz) IS
  'When a price began that a pair was stamped with at an instant.';
GRANT EXECUTE ON FUNCTION fuel.held_since(integer, smallint, smallint, integer, timestamptz)
  TO fuel_writer;

-- Whether another station nearby charges about as much now: within a tenth.
CREATE OR REPLACE FUNCTION fuel.is_shared(
  p_station_id integer, p_fuel_id smallint, p_price integer)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE COST 10000
RETURN EXISTS (
  SELECT
  FROM fuel.station
  JOIN fuel.station AS other
    ON other.state = station.state
    -- Another record of the same place tells nothing new.
    AND other.place_id <> station.place_id
    AND fuel.kilometres(
      station.latitude, station.longitude, other.latitude, other.longitude) <= 40
  JOIN fuel.current_price AS pair ON pair.station_id = other.station_id
  WHERE station.station_id = p_station_id
    AND pair.fuel_id = p_fuel_id
    AND pair.price_tenths > 0
    AND abs(pair.price_tenths - p_price) * 10 <= p_price);
COMMENT ON FUNCTION fuel.is_shared(integer, smallint, integer) IS
  'Whether another station within forty kilometres charges within a tenth of a price.';
GRANT EXECUTE ON FUNCTION fuel.is_shared(integer, smallint, integer) TO fuel_writer;

CREATE OR REPLACE FUNCTION fuel.flag_prices(p_station_ids integer[], p_fuel_ids smallint[])
RETURNS integer LANGUAGE sql AS $$
  WITH judged AS (
    SELECT
      pair.station_id,
      pair.fuel_id,
      (verdict.is_odd OR verdict.is_placeholder) AND NOT EXISTS (
        SELECT
        FROM fuel.price_confirmation
        JOIN fuel.station AS confirmed USING (station_id)
        WHERE confirmed.place_id = station.place_id
          AND price_confirmation.fuel_id = pair.fuel_id
          AND price_confirmation.price_tenths = pair.price_tenths) AS is_flagged,
      CASE
        WHEN verdict.is_odd AND NOT verdict.is_placeholder AND source.holding_confirms
          THEN pair.since_at + interval '24 hours'
      END AS flag_lapses_at,
      verdict.is_next_odd
    FROM unnest(p_station_ids, p_fuel_ids) AS wanted (station_id, fuel_id)
    JOIN fuel.current_price AS pair USING (station_id, fuel_id)
    JOIN fuel.source USING (source_id)
    JOIN fuel.station USING (station_id)
    LEFT JOIN fuel.area_level
      ON area_level.state = station.state AND area_level.fuel_id = pair.fuel_id
    CROSS JOIN LATERAL (
      SELECT
        pair.price_tenths > 0
          AND fuel.is_far(pair.price_tenths, area_level.middle_tenths, area_level.spread_tenths)
          AND NOT fuel.is_own_way(
            pair.station_id, pair.fuel_id, pair.source_id, pair.price_tenths, pair.since_at)
          AND NOT fuel.is_shared(pair.station_id, pair.fuel_id, pair.price_tenths)
          AS is_odd,
        coalesce(
          fuel.is_far(pair.next_tenths, area_level.middle_tenths, area_level.spread_tenths)
            AND NOT fuel.is_own_way(
              pair.station_id, pair.fuel_id, pair.source_id, pair.next_tenths,
              pair.next_effective_at),
          false) AS is_next_odd,
        pair.price_tenths > 0 AND (
          SELECT
            count(*) >= 3
            AND min(grade.price_tenths) = max(grade.price_tenths)
            AND bool_or(grade.fuel_id IN (1, 2))
            AND bool_or(grade.fuel_id IN (3, 4))
          FROM fuel.current_price AS grade
          WHERE grade.station_id = pair.station_id AND grade.price_tenths > 0
        ) AS is_placeholder
    ) AS verdict
  ),
  marked AS (
    UPDATE fuel.current_price AS pair SET
      is_flagged = judged.is_flagged,
      flag_lapses_at = judged.flag_lapses_at,
      is_next_flagged = judged.is_next_odd
    FROM judged
    WHERE pair.station_id = judged.station_id
      AND pair.fuel_id = judged.fuel_id
      AND (pair.is_flagged, pair.flag_lapses_at, pair.is_next_flagged) IS DISTINCT FROM (
        judged.is_flagged, judged.flag_lapses_at, judged.is_next_odd)
  )
  SELECT count(*)::integer FROM judged WHERE judged.is_flagged
$$;
COMMENT ON FUNCTION fuel.flag_prices(integer[], smallint[]) IS
  'Marks which of some pairs have a doubtful price. Answers how many.';
GRANT EXECUTE ON FUNCTION fuel.flag_prices(integer[], smallint[]) TO fuel_writer;

-- For a person who has looked: the price is true, now and in the past.
CREATE OR REPLACE FUNCTION fuel.confirm_price(
  p_station_id integer, p_fuel text, p_price_cpl numeric)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  confirmed_fuel smallint;
BEGIN
  SELECT fuel.fuel_id INTO STRICT confirmed_fuel FROM fuel.fuel WHERE fuel.fuel = p_fuel;
  INSERT INTO fuel.price_confirmation (
    station_id, fuel_id, price_tenths, confirmed_by, confirmed_at)
  VALUES (
    p_station_id, confirmed_fuel, (p_price_cpl * 10)::integer, session_user, clock_timestamp())
  ON CONFLICT DO NOTHING;
  PERFORM fuel.flag_prices(ARRAY[p_station_id], ARRAY[confirmed_fuel]);
  -- What was made of it no longer holds.
  UPDATE fuel.source SET changes = source.changes + 1
  FROM fuel.station
  WHERE station.station_id = p_station_id AND source.source_id = station.source_id;
  PERFORM fuel.mark_places_dirty(
    ARRAY(SELECT station.place_id FROM fuel.station WHERE station.station_id = p_station_id),
    fuel.clock());
END
$$;
COMMENT ON FUNCTION fuel.confirm_price(integer, text, numeric) IS
  'Takes a doubtful price (station_id, fuel code, cents per litre) for true; the next aggregate '
  'counts it in the past too.';
GRANT EXECUTE ON FUNCTION fuel.confirm_price(integer, text, numeric) TO fuel_writer;

CREATE OR REPLACE FUNCTION fuel.refresh_flags() RETURNS void LANGUAGE sql AS $$
  DELETE FROM fuel.area_level;
  INSERT INTO fuel.area_level (state, fuel_id, middle_tenths, spread_tenths)
  SELECT
    level.state,
    level.fuel_id,
    level.middle,
    greatest(
      percentile_disc(0.5) WITHIN GROUP (ORDER BY abs(price.price_tenths - level.middle)) * 1.4826,
      level.middle * 0.04)
  FROM (
    SELECT
      station.state,
      price_now.fuel_id,
      percentile_disc(0.5) WITHIN GROUP (ORDER BY price_now.price_tenths) AS middle
    FROM fuel.price_now
    JOIN fuel.station USING (station_id)
    WHERE price_now.price_tenths > 0 AND price_now.is_fresh AND price_now.is_public
    GROUP BY station.state, price_now.fuel_id
    HAVING count(*) >= 8
  ) AS level
  JOIN fuel.station ON station.state = level.state
  JOIN fuel.price_now AS price
    ON price.station_id = station.station_id
    AND price.fuel_id = level.fuel_id
    AND price.price_tenths > 0
    AND price.is_fresh
    AND price.is_public
  GROUP BY level.state, level.fuel_id, level.middle;
  SELECT fuel.flag_prices(array_agg(pair.station_id), array_agg(pair.fuel_id))
  FROM fuel.current_price AS pair
$$;
COMMENT ON FUNCTION fuel.refresh_flags() IS
  'Takes the level of every area anew and judges all prices in effect by it.';
GRANT EXECUTE ON FUNCTION fuel.refresh_flags() TO fuel_writer;
