-- What was reported about stations and fuels, for the program to make spans from.

-- Returns everything that was reported about stations and fuels from an instant on, by all their station records, and
-- the last report and the last list before that instant.
--
-- kind: 0 is a price (price_tenths 0: not offered). 1 is shown by a list. 2 is left out of a complete list. 3 was shown
-- last by the list of that instant. What was learnt after p_known_at is left out. p_earliest is the earliest of
-- p_from_ats. It is passed separately, so that the server can leave out the partitions before it.
CREATE OR REPLACE FUNCTION fuel.evidence(
  p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[], p_earliest timestamptz,
  p_known_at timestamptz)
RETURNS TABLE (
  station_id integer, fuel_id smallint, kind smallint, record_id integer, source_id smallint,
  at timestamptz, price_tenths integer, learnt_at timestamptz)
LANGUAGE sql STABLE AS $$
  WITH wanted AS MATERIALIZED (
    SELECT
      pair.station_id,
      pair.fuel_id,
      pair.from_at,
      record.station_id AS record_id,
      source.source_id,
      source.kind,
      source.delay
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
    JOIN fuel.station AS record ON record.place_id = pair.station_id
    JOIN fuel.source ON source.source_id = record.source_id
  )
  SELECT
    wanted.station_id, wanted.fuel_id, 0::smallint, wanted.record_id, wanted.source_id,
    price.effective_at, price.price_tenths, price.learnt_at
  FROM wanted
  JOIN fuel.counted_price AS price
    ON price.station_id = wanted.record_id
    AND price.fuel_id = wanted.fuel_id
    AND price.source_id = wanted.source_id
    AND price.effective_at >= wanted.from_at
    AND price.effective_at >= p_earliest
  WHERE wanted.kind = 'feed' AND price.learnt_at <= p_known_at
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id, 0::smallint, wanted.record_id, wanted.source_id, before.effective_at,
    before.price_tenths, before.learnt_at
  FROM wanted
  CROSS JOIN LATERAL (
    -- All rows with the newest stamp are taken: one stamp may have several prices, and one price may have been reported
    -- by several runs.
    SELECT price.effective_at, price.price_tenths, price.learnt_at
    FROM fuel.counted_price AS price
    WHERE price.station_id = wanted.record_id
      AND price.fuel_id = wanted.fuel_id
      AND price.source_id = wanted.source_id
      AND price.effective_at < wanted.from_at
      AND price.learnt_at <= p_known_at
    ORDER BY price.effective_at DESC
    FETCH FIRST ROW WITH TIES
  ) AS before
  WHERE wanted.kind = 'feed' AND wanted.from_at > '-infinity'
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id, 0::smallint, wanted.record_id, wanted.source_id,
    archived.effective_at, archived.price_tenths, archived.effective_at
  FROM wanted
  JOIN fuel.archive_price AS archived
    ON archived.source_id = wanted.source_id
    AND archived.station_id = wanted.record_id
    AND archived.fuel_id = wanted.fuel_id
    AND archived.effective_at >= wanted.from_at
    AND archived.effective_at >= p_earliest
  WHERE wanted.kind = 'archive' AND archived.effective_at <= p_known_at
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id,
    CASE listing.turn WHEN 0 THEN 2 WHEN 1 THEN 1 ELSE 3 END::smallint, wanted.record_id, wanted.source_id,
    listing.changed_at, 0, listing.changed_at
  FROM wanted
  JOIN fuel.counted_listing AS listing
    ON listing.station_id = wanted.record_id
    AND listing.fuel_id = wanted.fuel_id
    AND listing.source_id = wanted.source_id
    AND listing.changed_at >= wanted.from_at
  WHERE wanted.kind = 'feed' AND listing.changed_at + wanted.delay <= p_known_at
  UNION ALL
  SELECT
    wanted.station_id, wanted.fuel_id, CASE before.turn WHEN 0 THEN 2 WHEN 1 THEN 1 ELSE 3 END::smallint,
    wanted.record_id, wanted.source_id, before.changed_at, 0, before.changed_at
  FROM wanted
  CROSS JOIN LATERAL (
    (
      SELECT listing.changed_at, listing.turn
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = wanted.record_id
        AND listing.fuel_id = wanted.fuel_id
        AND listing.source_id = wanted.source_id
        AND listing.turn < 2
        AND listing.changed_at < wanted.from_at
        AND listing.changed_at + wanted.delay <= p_known_at
      ORDER BY listing.changed_at DESC, listing.turn DESC
      LIMIT 1
    )
    UNION ALL
    (
      SELECT listing.changed_at, listing.turn
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = wanted.record_id
        AND listing.fuel_id = wanted.fuel_id
        AND listing.source_id = wanted.source_id
        AND listing.turn = 2
        AND listing.changed_at < wanted.from_at
        AND listing.changed_at + wanted.delay <= p_known_at
      ORDER BY listing.changed_at DESC, listing.turn DESC
      LIMIT 1
    )
  ) AS before
  WHERE wanted.kind = 'feed' AND wanted.from_at > '-infinity'
$$;
COMMENT ON FUNCTION fuel.evidence IS
  'What was reported about stations and fuels from an instant on, and the last report and list before it.';
GRANT EXECUTE ON FUNCTION fuel.evidence TO fuel_writer;
