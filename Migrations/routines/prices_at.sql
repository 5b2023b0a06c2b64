-- When the next thing happens to a place and fuel, given by any of its records, from an instant on.
CREATE OR REPLACE FUNCTION fuel.next_event_at(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_from timestamptz,
  p_until timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
  SELECT min(event.at)
  FROM fuel.station
  JOIN fuel.station AS member ON member.place_id = station.place_id
  CROSS JOIN LATERAL (
    SELECT (
      SELECT price.effective_at
      FROM fuel.price
      WHERE price.station_id = member.station_id
        AND price.fuel_id = p_fuel_id
        AND price.effective_at >= p_from
        AND price.effective_at <= p_until
      ORDER BY price.effective_at
      LIMIT 1
    ) AS at
    UNION ALL
    SELECT (
      SELECT archived.effective_at
      FROM fuel.archive_price AS archived
      WHERE archived.station_id = member.station_id
        AND archived.source_id = member.source_id
        AND archived.fuel_id = p_fuel_id
        AND archived.effective_at >= p_from
        AND archived.effective_at <= p_until
      ORDER BY archived.effective_at
      LIMIT 1
    )
    UNION ALL
    SELECT (
      SELECT listing.changed_at
      FROM fuel.listing
      WHERE listing.station_id = member.station_id
        AND listing.fuel_id = p_fuel_id
        AND listing.changed_at >= p_from
        AND listing.changed_at <= p_until
        -- Being listed for the first time is no event.
        AND (
          NOT listing.is_listed
          OR EXISTS (
            SELECT
            FROM fuel.listing AS earlier
            WHERE earlier.station_id = member.station_id
              AND earlier.fuel_id = p_fuel_id
              AND earlier.changed_at < listing.changed_at))
      ORDER BY listing.changed_at
      LIMIT 1
    )
  ) AS event
  WHERE station.station_id = p_station_id);
COMMENT ON FUNCTION fuel.next_event_at(integer, smallint, smallint, timestamptz, timestamptz) IS
  'When the next thing happens to a place and fuel in a span, told of any of its records; NULL: '
  'nothing.';
GRANT EXECUTE ON FUNCTION fuel.next_event_at(
  integer, smallint, smallint, timestamptz, timestamptz) TO fuel_writer;

-- What the lists of a feed last said of a pair that was stamped before, up to an instant: gone, or listed
-- again, and when. No row: nothing since the stamp.
CREATE OR REPLACE FUNCTION fuel.shown_at(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_stamped_at timestamptz,
  p_at timestamptz)
RETURNS TABLE (changed_at timestamptz, is_listed boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $$
  SELECT last.changed_at, last.is_listed
  FROM (
    SELECT listing.changed_at, listing.is_listed
    FROM fuel.listing
    WHERE listing.station_id = p_station_id
      AND listing.fuel_id = p_fuel_id
      AND listing.source_id = p_source_id
      AND listing.changed_at <= p_at
    ORDER BY listing.changed_at DESC
    LIMIT 1
  ) AS last
  WHERE last.changed_at >= p_stamped_at
    AND (
      NOT last.is_listed
      -- Being listed for the first time is no event.
      OR EXISTS (
        SELECT
        FROM fuel.listing AS earlier
        WHERE earlier.station_id = p_station_id
          AND earlier.fuel_id = p_fuel_id
          AND earlier.source_id = p_source_id
          AND earlier.changed_at < last.changed_at))
$$;
COMMENT ON FUNCTION fuel.shown_at(integer, smallint, smallint, timestamptz, timestamptz) IS
  'What the lists of a feed last said of a pair since its stamp; no row: nothing.';
GRANT EXECUTE ON FUNCTION fuel.shown_at(
  integer, smallint, smallint, timestamptz, timestamptz) TO fuel_writer;

-- The price in effect at an instant, by the whole history: the one written rule that price_at,
-- average_at and the changes over a day and a week share. Which source speaks: see fuel.price_event.
--
-- Planned anew each time, with the instants known: then the server opens the months that matter and
-- no others.
CREATE OR REPLACE FUNCTION fuel.prices_at(
  p_at timestamptz, p_station_ids integer[] DEFAULT NULL, p_fuel_id smallint DEFAULT NULL)
RETURNS TABLE (station_id integer, fuel_id smallint, price_tenths integer)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  -- No price of any source is believed for longer.
  oldest_at timestamptz := p_at - (SELECT max(source.price_lapses_after) FROM fuel.source);
  oldest_archived_at timestamptz := p_at - (
    SELECT max(source.price_lapses_after) FROM fuel.source WHERE source.kind = 'archive');
BEGIN
  RETURN QUERY
  WITH wanted AS (
    SELECT asked.place_id
    FROM fuel.station AS asked
    WHERE asked.station_id = ANY (p_station_ids)
  ),
  told AS (
    SELECT
      station.place_id,
      pair.fuel_id,
      pair.station_id,
      pair.source_id,
      -- Listed again, a price holds anew from that instant, as in fuel.price_event.
      greatest(stamped.effective_at, shown.changed_at) AS effective_at,
      CASE WHEN shown.is_listed IS FALSE THEN 0 ELSE stamped.price_tenths END AS price_tenths,
      CASE
        WHEN shown.changed_at > stamped.effective_at THEN shown.changed_at ELSE stamped.learnt_at
      END AS learnt_at,
      stamped.effective_at + source.sight_lapses_after AS unseen_lapses_at
    FROM fuel.current_price AS pair
    JOIN fuel.station ON station.station_id = pair.station_id
    JOIN fuel.source ON source.source_id = pair.source_id
    CROSS JOIN LATERAL (
      SELECT
        price.effective_at,
        price.price_tenths,
        price.learnt_at
      FROM fuel.price
      WHERE price.station_id = pair.station_id
        AND price.fuel_id = pair.fuel_id
        AND price.source_id = pair.source_id
        AND price.effective_at <= p_at
        AND price.effective_at > oldest_at
        AND price.effective_at > p_at - source.price_lapses_after
      ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
      LIMIT 1
    ) AS stamped
    LEFT JOIN LATERAL fuel.shown_at(
      pair.station_id, pair.fuel_id, pair.source_id, stamped.effective_at, p_at) AS shown ON true
    WHERE (p_station_ids IS NULL OR station.place_id IN (SELECT wanted.place_id FROM wanted))
      AND (p_fuel_id IS NULL OR pair.fuel_id = p_fuel_id)
    UNION ALL
    SELECT
      station.place_id,
      archived.fuel_id,
      archived.station_id,
      archived.source_id,
      archived.effective_at,
      archived.price_tenths,
      archived.effective_at,
      archived.effective_at + source.price_lapses_after
    FROM fuel.archive_price AS archived
    JOIN fuel.station ON station.station_id = archived.station_id
    JOIN fuel.source ON source.source_id = archived.source_id
    WHERE archived.effective_at <= p_at
      AND archived.effective_at > oldest_archived_at
      AND archived.effective_at > p_at - source.price_lapses_after
      AND (p_station_ids IS NULL OR station.place_id IN (SELECT wanted.place_id FROM wanted))
      AND (p_fuel_id IS NULL OR archived.fuel_id = p_fuel_id)
  ),
  holding AS (
    SELECT DISTINCT ON (told.place_id, told.fuel_id) told.*
    FROM told
    ORDER BY told.place_id, told.fuel_id, told.effective_at DESC, told.learnt_at DESC,
      told.price_tenths DESC
  )
  SELECT holding.place_id, holding.fuel_id, holding.price_tenths
  FROM holding
  JOIN fuel.source ON source.source_id = holding.source_id
  WHERE holding.price_tenths > 0
    AND (
      holding.unseen_lapses_at > p_at
      -- Seen at or after the instant under the same stamp, or not long enough before it to lapse.
      OR (
        SELECT max(run.taken_at)
        FROM fuel.run
        WHERE run.source_id = holding.source_id
          AND run.is_complete
          AND run.taken_at <= fuel.clock()
          AND run.taken_at < coalesce(
            fuel.next_event_at(
              holding.station_id, holding.fuel_id, holding.source_id, p_at, fuel.clock()),
            'infinity')
      ) + source.sight_lapses_after > p_at);
END
$$;
COMMENT ON FUNCTION fuel.prices_at(timestamptz, integer[], smallint) IS
  'The prices in effect at an instant, of the given stations and fuel (NULL: all), by place.';
GRANT EXECUTE ON FUNCTION fuel.prices_at(timestamptz, integer[], smallint) TO fuel_writer;
