-- Marks every day on which stations have a price: where they count has changed, not what they charge. Rare,
-- and then it may be years.
CREATE OR REPLACE FUNCTION fuel.mark_places_dirty(p_place_ids integer[], p_clock timestamptz)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT marked.fuel_id, series.day::date
  FROM (
    SELECT
      pair.fuel_id,
      -- A day more on either side, wherever the station lies.
      unnest(range_agg(daterange(
        (first.from_at - interval '1 day')::date,
        (least(pair.lapses_at, p_clock) + interval '1 day')::date, '[]'))) AS days
    FROM fuel.present_span AS pair
    CROSS JOIN LATERAL (
      SELECT span.from_at
      FROM fuel.span
      WHERE span.station_id = pair.station_id AND span.fuel_id = pair.fuel_id
      ORDER BY span.from_at
      LIMIT 1
    ) AS first
    WHERE pair.station_id = ANY (p_place_ids) AND first.from_at <= p_clock
    GROUP BY pair.fuel_id
  ) AS marked
  CROSS JOIN LATERAL generate_series(
    lower(marked.days)::timestamp, upper(marked.days)::timestamp - interval '1 day', interval '1 day')
    AS series (day)
  ORDER BY 1, 2
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
$$;
COMMENT ON FUNCTION fuel.mark_places_dirty(integer[], timestamptz) IS
  'Marks all days of some stations.';
GRANT EXECUTE ON FUNCTION fuel.mark_places_dirty(integer[], timestamptz) TO fuel_writer;
