-- Marks every day on which a record of some places may hold a price: what belongs to a place changed, or
-- where it counts. Rare, and then it may be years.
CREATE OR REPLACE FUNCTION fuel.mark_places_dirty(p_place_ids integer[], p_clock timestamptz)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT fuel.fuel_id, day.day::date
  FROM (
    SELECT unnest(range_agg(daterange(
      (told.begins_at - interval '1 day')::date, (told.ends_at + interval '1 day')::date, '[]'
    ))) AS days
    FROM (
      SELECT
        least(record.first_seen_at, min(wording.first_seen_at), source.first_taken_at) AS begins_at,
        greatest(
          record.first_seen_at,
          least(
            p_clock,
            CASE
              WHEN source.kind = 'feed' THEN p_clock
              ELSE max(wording.last_seen_at) + source.price_lapses_after
            END)) AS ends_at
      FROM fuel.station AS record
      JOIN fuel.source USING (source_id)
      LEFT JOIN fuel.station_description AS wording USING (station_id)
      WHERE record.place_id = ANY (p_place_ids)
      GROUP BY record.station_id, source.source_id
    ) AS told
    WHERE told.begins_at <= told.ends_at
  ) AS span
  -- Days that were never averaged are marked by what brings them.
  JOIN fuel.fuel ON fuel.is_averaged AND EXISTS (
    SELECT FROM fuel.daily_rollup WHERE daily_rollup.fuel_id = fuel.fuel_id)
  CROSS JOIN generate_series(
    lower(span.days), least(upper(span.days) - 1, (p_clock + interval '14 hours')::date),
    interval '1 day') AS day (day)
  ORDER BY fuel.fuel_id, day.day
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
$$;
COMMENT ON FUNCTION fuel.mark_places_dirty(integer[], timestamptz) IS
  'Marks all days of some places, given by the records that speak for them.';
GRANT EXECUTE ON FUNCTION fuel.mark_places_dirty(integer[], timestamptz) TO fuel_writer;
