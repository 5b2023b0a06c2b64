-- The present, from the cache alone. A price whose instant lies ahead takes effect here by itself.
CREATE OR REPLACE VIEW fuel.price_now AS
SELECT
  present.station_id,
  present.fuel_id,
  present.source_id,
  present.price_tenths,
  present.effective_at,
  present.confirmed_at,
  present.lapses_at,
  present.now_at < present.lapses_at AS is_fresh,
  present.is_flagged,
  present.next_tenths,
  present.next_effective_at,
  present.now_at,
  station.is_public,
  -- What averages, comparisons and verdicts rest on, in one place.
  present.price_tenths > 0
    AND present.now_at < present.lapses_at
    AND NOT present.is_flagged
    AND station.is_public AS is_counted,
  present.delay
FROM (
  SELECT
    cached.station_id,
    cached.fuel_id,
    cached.source_id,
    CASE WHEN cached.has_turned THEN cached.next_tenths ELSE cached.price_tenths END
      AS price_tenths,
    CASE
      WHEN cached.has_turned AND cached.next_tenths <> cached.price_tenths
        THEN cached.next_effective_at
      ELSE cached.since_at
    END AS effective_at,
    greatest(cached.learnt_at, cached.listed_at) AS confirmed_at,
    least(
      cached.stamp_at + cached.price_lapses_after,
      greatest(cached.stamp_at, cached.listed_at) + cached.sight_lapses_after
    ) AS lapses_at,
    CASE
      WHEN cached.has_turned THEN cached.is_next_flagged
      -- A doubtful price that still holds is believed in the end.
      ELSE cached.is_flagged AND coalesce(cached.now_at < cached.flag_lapses_at, true)
    END AS is_flagged,
    CASE WHEN NOT cached.has_turned THEN cached.next_tenths END AS next_tenths,
    CASE WHEN NOT cached.has_turned THEN cached.next_effective_at END AS next_effective_at,
    cached.now_at,
    cached.delay
  FROM (
    SELECT
      current_price.*,
      clock.now_at,
      coalesce(current_price.next_effective_at <= clock.now_at, false) AS has_turned,
      CASE
        WHEN current_price.next_effective_at <= clock.now_at THEN current_price.next_effective_at
        ELSE current_price.stamped_at
      END AS stamp_at,
      CASE WHEN current_price.is_listed THEN source.last_listed_at END AS listed_at,
      source.price_lapses_after,
      source.sight_lapses_after,
      source.delay
    FROM fuel.current_price
    JOIN fuel.source USING (source_id)
    -- Fenced, so that the clock is read once and not for every price.
    CROSS JOIN (SELECT fuel.clock() AS now_at OFFSET 0) AS clock
  ) AS cached
) AS present
JOIN fuel.station USING (station_id)
WHERE (present.price_tenths > 0 OR present.next_tenths > 0)
  -- Of two feeds that list one place one speaks.
  AND station.place_id = station.station_id;
COMMENT ON VIEW fuel.price_now IS
  'The price in effect now and the next one. One row per station and fuel that has either.';
COMMENT ON COLUMN fuel.price_now.station_id        IS 'The station.';
COMMENT ON COLUMN fuel.price_now.fuel_id           IS 'The fuel.';
COMMENT ON COLUMN fuel.price_now.source_id         IS 'Who says so.';
COMMENT ON COLUMN fuel.price_now.price_tenths      IS 'Price in effect, tenths of a cent; 0: none.';
COMMENT ON COLUMN fuel.price_now.effective_at      IS 'Since when.';
COMMENT ON COLUMN fuel.price_now.confirmed_at      IS 'When it was last seen.';
COMMENT ON COLUMN fuel.price_now.lapses_at         IS 'Until when it is believed.';
COMMENT ON COLUMN fuel.price_now.is_fresh          IS 'Whether it is believed now.';
COMMENT ON COLUMN fuel.price_now.is_flagged        IS 'Whether it is doubtful.';
COMMENT ON COLUMN fuel.price_now.next_tenths       IS 'The next price, tenths of a cent; NULL: not known.';
COMMENT ON COLUMN fuel.price_now.next_effective_at IS 'When the next price begins; NULL: not known.';
COMMENT ON COLUMN fuel.price_now.now_at            IS 'The clock that was used.';
COMMENT ON COLUMN fuel.price_now.is_public         IS 'Whether anybody may buy there.';
COMMENT ON COLUMN fuel.price_now.is_counted        IS
  'Whether averages, comparisons and verdicts count it: a price, believed, not doubtful, for anybody.';
COMMENT ON COLUMN fuel.price_now.delay             IS
  'How old its feed''s prices are when they are published; 0: they are of now.';
GRANT SELECT ON fuel.price_now TO fuel_writer;
