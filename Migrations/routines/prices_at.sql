-- When the next fact or change of listing of a pair comes, from an instant on.
CREATE OR REPLACE FUNCTION fuel.next_event_at(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_from timestamptz,
  p_until timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(
  (
    SELECT price.effective_at
    FROM fuel.price
    WHERE price.station_id = p_station_id
      AND price.fuel_id = p_fuel_id
      AND price.source_id = p_source_id
      AND price.effective_at >= p_from
      AND price.effective_at <= p_until
    ORDER BY price.effective_at
    LIMIT 1
  ),
  (
    SELECT listing.changed_at
    FROM fuel.listing
    WHERE listing.station_id = p_station_id
      AND listing.fuel_id = p_fuel_id
      AND listing.source_id = p_source_id
      AND listing.changed_at >= p_from
      AND listing.changed_at <= p_until
      -- Being listed for the first time is no event.
      AND (
        NOT listing.is_listed
        OR EXISTS (
          SELECT
          FROM fuel.listing AS earlier
          WHERE earlier.station_id = p_station_id
            AND earlier.fuel_id = p_fuel_id
            AND earlier.source_id = p_source_id
            AND earlier.changed_at < listing.changed_at))
    ORDER BY listing.changed_at
    LIMIT 1
  ));
COMMENT ON FUNCTION fuel.next_event_at(integer, smallint, smallint, timestamptz, timestamptz) IS
  'When the next thing happens to a pair in a span; NULL: nothing.';
GRANT EXECUTE ON FUNCTION fuel.next_event_at(
  integer, smallint, smallint, timestamptz, timestamptz) TO fuel_writer;

-- The price in effect at an instant, by the whole history: the one written rule that price_at,
-- average_at and the changes over a day and a week share.
CREATE OR REPLACE FUNCTION fuel.prices_at(
  p_at timestamptz, p_station_ids integer[] DEFAULT NULL, p_fuel_id smallint DEFAULT NULL)
RETURNS TABLE (station_id integer, fuel_id smallint, price_tenths integer)
LANGUAGE sql STABLE AS $$
  SELECT
    pair.station_id,
    pair.fuel_id,
    stamped.price_tenths
  FROM fuel.current_price AS pair
  JOIN fuel.source USING (source_id)
  CROSS JOIN LATERAL (
    SELECT
      price.effective_at,
      price.price_tenths
    FROM fuel.price
    WHERE price.station_id = pair.station_id
      AND price.fuel_id = pair.fuel_id
      AND price.source_id = pair.source_id
      AND price.effective_at <= p_at
      AND price.effective_at > p_at - source.price_lapses_after
    ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
    LIMIT 1
  ) AS stamped
  LEFT JOIN LATERAL (
    SELECT NOT listing.is_listed AND listing.changed_at >= stamped.effective_at AS is_gone
    FROM fuel.listing
    WHERE listing.station_id = pair.station_id
      AND listing.fuel_id = pair.fuel_id
      AND listing.source_id = pair.source_id
      AND listing.changed_at <= p_at
    ORDER BY listing.changed_at DESC
    LIMIT 1
  ) AS gone ON true
  WHERE (p_station_ids IS NULL OR pair.station_id = ANY (p_station_ids))
    AND (p_fuel_id IS NULL OR pair.fuel_id = p_fuel_id)
    AND stamped.price_tenths > 0
    AND gone.is_gone IS NOT TRUE
    AND (
      stamped.effective_at + source.sight_lapses_after > p_at
      -- Seen at or after the instant under the same stamp, or not long enough before it to lapse.
      OR (
        SELECT max(run.taken_at)
        FROM fuel.run
        WHERE run.source_id = pair.source_id
          AND run.is_complete
          AND run.taken_at <= fuel.clock()
          AND run.taken_at < coalesce(
            fuel.next_event_at(
              pair.station_id, pair.fuel_id, pair.source_id, p_at, fuel.clock()),
            'infinity')
      ) + source.sight_lapses_after > p_at)
$$;
COMMENT ON FUNCTION fuel.prices_at(timestamptz, integer[], smallint) IS
  'The prices in effect at an instant, of the given stations and fuel (NULL: all).';
GRANT EXECUTE ON FUNCTION fuel.prices_at(timestamptz, integer[], smallint) TO fuel_writer;
