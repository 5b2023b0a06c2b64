-- The present: for each station and fuel the span at the clock, and the next one. The copy in
-- fuel.present_span holds it, unless the clock has passed the next price or stands before the copy.
CREATE OR REPLACE VIEW fuel.price_now AS
SELECT
  shown.station_id,
  shown.fuel_id,
  shown.seen_by AS source_id,
  shown.price_tenths,
  shown.from_at AS effective_at,
  shown.confirmed_at,
  shown.until_at AS lapses_at,
  shown.now_at < shown.until_at AS is_fresh,
  -- What is not believed is not judged.
  shown.doubt IS NOT NULL AND shown.now_at < shown.until_at AS is_flagged,
  shown.next_tenths,
  shown.next_from_at AS next_effective_at,
  shown.now_at,
  station.is_public,
  -- What averages, comparisons and verdicts rest on, in one place.
  shown.price_tenths > 0
    AND shown.now_at < shown.until_at
    AND shown.doubt IS NULL
    AND coalesce(shown.now_at >= reporter.counts_from_at, true)
    AND station.is_public AS is_counted,
  source.delay,
  CASE WHEN shown.now_at < shown.until_at THEN shown.doubt END AS flag_reason
FROM (
  SELECT
    held.station_id,
    held.fuel_id,
    held.source_id,
    held.seen_by,
    -- What a report has ended is gone; what has lapsed is shown as stale.
    CASE WHEN held.is_ended AND held.lapses_at <= held.now_at THEN 0 ELSE held.price_tenths END
      AS price_tenths,
    held.from_at,
    CASE WHEN held.is_open THEN greatest(held.learnt_at, sight.last_listed_at) ELSE held.learnt_at END
      AS confirmed_at,
    fuel.believed_until(held.until_at, held.lapses_at, held.is_open, sight.seen_until_at) AS until_at,
    CASE
      WHEN held.doubt_from_at <= held.now_at AND held.now_at < held.doubt_until_at THEN held.doubt
    END AS doubt,
    -- A price that is stated again from an instant ahead is the next one too.
    CASE WHEN restated.is_ahead THEN held.price_tenths ELSE held.next_tenths END AS next_tenths,
    CASE WHEN restated.is_ahead THEN held.stated_at ELSE held.next_from_at END AS next_from_at,
    held.now_at
  FROM (
    SELECT copy.station_id, copy.fuel_id, clock.now_at, shown.*
    FROM fuel.present_span AS copy
    -- Fenced, so that the clock is read once and not for every price.
    CROSS JOIN (SELECT fuel.clock() AS now_at OFFSET 0) AS clock
    -- One row of the two, so that the server knows how many there are.
    CROSS JOIN LATERAL (
      SELECT
        copy.source_id, copy.seen_by, copy.price_tenths, copy.from_at, copy.until_at, copy.lapses_at,
        copy.is_open, copy.is_ended, copy.stated_at, copy.learnt_at, copy.doubt, copy.doubt_from_at,
        copy.doubt_until_at, copy.next_tenths, copy.next_from_at
      WHERE clock.now_at >= copy.from_at
        AND (copy.next_from_at IS NULL OR clock.now_at < copy.next_from_at)
      UNION ALL
      SELECT
        coalesce(begun.source_id, copy.source_id), coalesce(begun.seen_by, copy.seen_by),
        coalesce(begun.price_tenths, 0), coalesce(begun.from_at, following.from_at),
        coalesce(begun.until_at, following.from_at), coalesce(begun.lapses_at, following.from_at),
        coalesce(begun.is_open, false), coalesce(begun.is_ended, false),
        coalesce(begun.stated_at, '-infinity'), coalesce(begun.learnt_at, copy.learnt_at),
        begun.doubt, begun.doubt_from_at, begun.doubt_until_at, following.price_tenths,
        following.from_at
      FROM (SELECT) AS one
      LEFT JOIN LATERAL (
        SELECT span.*
        FROM fuel.span
        WHERE span.station_id = copy.station_id
          AND span.fuel_id = copy.fuel_id
          AND span.from_at <= clock.now_at
        ORDER BY span.from_at DESC
        LIMIT 1
      ) AS begun ON true
      LEFT JOIN LATERAL (
        SELECT span.from_at, span.price_tenths
        FROM fuel.span
        WHERE span.station_id = copy.station_id
          AND span.fuel_id = copy.fuel_id
          AND span.from_at > clock.now_at
        ORDER BY span.from_at
        LIMIT 1
      ) AS following ON true
      WHERE clock.now_at < copy.from_at OR clock.now_at >= copy.next_from_at
    ) AS shown
  ) AS held
  CROSS JOIN LATERAL (
    SELECT held.stated_at > held.now_at AND held.learnt_at <= held.now_at AS is_ahead
  ) AS restated
  LEFT JOIN fuel.sight ON sight.source_id = held.seen_by
) AS shown
JOIN fuel.station USING (station_id)
JOIN fuel.source ON source.source_id = shown.seen_by
LEFT JOIN fuel.sight AS reporter ON reporter.source_id = shown.source_id
WHERE shown.price_tenths > 0 OR shown.next_tenths > 0;
COMMENT ON VIEW fuel.price_now IS
  'The price in effect now and the next one. One row per station and fuel that has either.';
COMMENT ON COLUMN fuel.price_now.station_id        IS 'The station.';
COMMENT ON COLUMN fuel.price_now.fuel_id           IS 'The fuel.';
COMMENT ON COLUMN fuel.price_now.source_id         IS 'Who reported it last.';
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
  'Whether averages, comparisons and verdicts count it: a price, believed, not doubtful, since its feed''s first run, for anybody.';
COMMENT ON COLUMN fuel.price_now.delay             IS
  'How old its feed''s prices are when they are published; 0: they are of now.';
COMMENT ON COLUMN fuel.price_now.flag_reason       IS 'Why it is doubtful; NULL: it is not.';
GRANT SELECT ON fuel.price_now TO fuel_writer;
