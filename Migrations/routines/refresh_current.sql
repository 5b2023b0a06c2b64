-- A list may show an older stamp than the list before it did: by a slip, or because the answer is days old. A stamp
-- goes back by no more than the time for which a price of the feed is believed. Ten days more are searched, and never
-- less than ten weeks.
CREATE OR REPLACE FUNCTION fuel.stamps_go_back(p_source_id smallint) RETURNS interval LANGUAGE sql STABLE
RETURN (
  SELECT greatest(max(lapse.lapses_after) + interval '240 hours', interval '1680 hours')
  FROM fuel.lapses() AS lapse
  WHERE lapse.source_id = p_source_id);
COMMENT ON FUNCTION fuel.stamps_go_back(smallint) IS
  'By how much a list of a feed may show an older price of a station and fuel than the list before it.';
GRANT EXECUTE ON FUNCTION fuel.stamps_go_back(smallint) TO fuel_writer;

-- Computes from the history what a feed's lists show of some stations and fuels. The result depends on the history and
-- the clock only, not on the rows that were there before. p_told_ats and p_told_tenths give the last reported price of
-- each station and fuel, with its stamp, where it is known. NULL means that it is looked up. p_from: of the stamps that
-- have begun, the newest of each station and fuel is not older than this.
CREATE OR REPLACE FUNCTION fuel.refresh_current(
  p_source_id smallint, p_station_ids integer[], p_fuel_ids smallint[], p_told_ats timestamptz[],
  p_told_tenths integer[], p_from timestamptz, p_clock timestamptz)
-- The query is planned anew for each call, so that the years before p_from are left out.
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  goes_back   interval := fuel.stamps_go_back(p_source_id);
  others_from timestamptz := p_from - goes_back;
BEGIN
  INSERT INTO fuel.current_price (
    station_id, fuel_id, source_id, price_tenths, stamped_at, stamped_tenths, learnt_at,
    next_tenths, next_effective_at, is_listed, shows_older)
  SELECT
    pair.station_id,
    pair.fuel_id,
    p_source_id,
    CASE WHEN shown.is_gone THEN 0 ELSE coalesce(stamped.price_tenths, 0) END,
    coalesce(
      stamped.effective_at,
      -- A station and fuel of which only a later price is known has no price until that price begins.
      least(following.learnt_at, following.effective_at - interval '1 second')),
    coalesce(stamped.price_tenths, 0),
    coalesce(stamped.learnt_at, following.learnt_at),
    following.price_tenths,
    following.effective_at,
    listed.is_listed,
    shown_last.effective_at IS NOT NULL
      AND (shown_last.effective_at, shown_last.price_tenths)
        IS DISTINCT FROM (stamped.effective_at, stamped.price_tenths)
      AND (shown_last.effective_at, shown_last.price_tenths)
        IS DISTINCT FROM (following.effective_at, following.price_tenths)
  FROM unnest(p_station_ids, p_fuel_ids, p_told_ats, p_told_tenths) AS pair (
    station_id, fuel_id, told_at, told_tenths)
  LEFT JOIN LATERAL (
    SELECT price.effective_at, price.price_tenths, min(price.learnt_at) AS learnt_at
    FROM (
      SELECT price.effective_at, price.price_tenths, price.learnt_at
      FROM fuel.counted_price AS price
      WHERE price.station_id = pair.station_id
        AND price.fuel_id = pair.fuel_id
        AND price.source_id = p_source_id
        AND price.effective_at <= p_clock
        AND price.effective_at >= p_from
      ORDER BY price.effective_at DESC
      FETCH FIRST ROW WITH TIES
    ) AS price
    GROUP BY price.effective_at, price.price_tenths
    ORDER BY max(price.learnt_at) DESC, price.price_tenths DESC
    LIMIT 1
  ) AS stamped ON true
  LEFT JOIN LATERAL (
    SELECT price.effective_at, price.price_tenths, min(price.learnt_at) AS learnt_at
    FROM (
      SELECT price.effective_at, price.price_tenths, price.learnt_at
      FROM fuel.counted_price AS price
      WHERE price.station_id = pair.station_id
        AND price.fuel_id = pair.fuel_id
        AND price.source_id = p_source_id
        AND price.effective_at > p_clock
      ORDER BY price.effective_at
      FETCH FIRST ROW WITH TIES
    ) AS price
    GROUP BY price.effective_at, price.price_tenths
    ORDER BY max(price.learnt_at) DESC, price.price_tenths DESC
    LIMIT 1
  ) AS following ON true
  LEFT JOIN LATERAL (
    SELECT listing.changed_at, listing.is_listed
    FROM fuel.counted_listing AS listing
    WHERE listing.station_id = pair.station_id
      AND listing.fuel_id = pair.fuel_id
      AND listing.source_id = p_source_id
      AND listing.changed_at <= p_clock
    ORDER BY listing.changed_at DESC, listing.is_listed DESC
    LIMIT 1
  ) AS listed ON true
  LEFT JOIN LATERAL (
    SELECT pair.told_at AS effective_at, pair.told_tenths AS price_tenths
    WHERE pair.told_at > stamped.effective_at - goes_back
    UNION ALL
    (
      SELECT price.effective_at, price.price_tenths
      FROM fuel.counted_price AS price
      WHERE price.station_id = pair.station_id
        AND price.fuel_id = pair.fuel_id
        AND price.source_id = p_source_id
        AND price.effective_at > stamped.effective_at - goes_back
        AND price.effective_at > others_from
      ORDER BY price.learnt_at DESC, price.effective_at DESC, price.price_tenths DESC
      LIMIT 1
    )
    LIMIT 1
  ) AS shown_last ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(
      NOT listed.is_listed AND listed.changed_at >= coalesce(stamped.effective_at, '-infinity'),
      false) AS is_gone
  ) AS shown
  WHERE stamped.effective_at IS NOT NULL OR following.effective_at IS NOT NULL
  ORDER BY pair.station_id, pair.fuel_id
  ON CONFLICT ON CONSTRAINT current_price_pk DO UPDATE SET
    source_id = excluded.source_id,
    price_tenths = excluded.price_tenths,
    stamped_at = excluded.stamped_at,
    stamped_tenths = excluded.stamped_tenths,
    learnt_at = excluded.learnt_at,
    next_tenths = excluded.next_tenths,
    next_effective_at = excluded.next_effective_at,
    is_listed = excluded.is_listed,
    shows_older = excluded.shows_older;
END
$$;
COMMENT ON FUNCTION fuel.refresh_current(
  smallint, integer[], smallint[], timestamptz[], integer[], timestamptz, timestamptz) IS
  'Updates fuel.current_price for some stations and fuels, given as arrays of equal length.';
GRANT EXECUTE ON FUNCTION fuel.refresh_current(
  smallint, integer[], smallint[], timestamptz[], integer[], timestamptz, timestamptz) TO fuel_writer;

-- A cheaper refresh_current for stations and fuels that a list goes on listing. It applies where the stamps of the list
-- have begun and are newer than all that is known, and no next price is known. The history has nothing to add then.
CREATE OR REPLACE FUNCTION fuel.show_newest(
  p_station_ids integer[], p_fuel_ids smallint[], p_told_ats timestamptz[], p_told_tenths integer[],
  p_learnt_at timestamptz)
RETURNS void LANGUAGE sql AS $$
  UPDATE fuel.current_price SET
    price_tenths = reported.price_tenths,
    stamped_at = reported.effective_at,
    stamped_tenths = reported.price_tenths,
    learnt_at = p_learnt_at,
    shows_older = false
  FROM unnest(p_station_ids, p_fuel_ids, p_told_ats, p_told_tenths) AS reported (
    station_id, fuel_id, effective_at, price_tenths)
  WHERE current_price.station_id = reported.station_id AND current_price.fuel_id = reported.fuel_id
$$;
COMMENT ON FUNCTION fuel.show_newest(integer[], smallint[], timestamptz[], integer[], timestamptz) IS
  'Updates fuel.current_price for stations and fuels of which a list reports something newer than all that is known.';
GRANT EXECUTE ON FUNCTION fuel.show_newest(integer[], smallint[], timestamptz[], integer[], timestamptz)
  TO fuel_writer;
