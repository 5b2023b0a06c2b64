CREATE OR REPLACE VIEW fuel_v1.price_history AS
SELECT
  island.station_id,
  island.fuel,
  (island.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  min(island.effective_at) AS valid_from,
  nullif(max(island.ends_at), 'infinity') AS valid_to,
  -- Of several that tell one price the one that told its beginning.
  (array_agg(island.source ORDER BY island.effective_at, island.learnt_at, island.source))[1]
    AS source
FROM (
  SELECT
    span.*,
    count(*) FILTER (WHERE span.begins_anew) OVER (
      PARTITION BY span.station_id, span.fuel
      ORDER BY span.effective_at, span.learnt_at, span.price_tenths
    ) AS island
  FROM (
    SELECT
      believed.*,
      (believed.price_tenths, believed.effective_at) IS DISTINCT FROM (
        lag(believed.price_tenths) OVER neighbours, lag(believed.ends_at) OVER neighbours
      ) AS begins_anew
    FROM (
      SELECT
        event.*,
        least(
          coalesce(event.next_at, 'infinity'),
          -- Open as long as it is still believed now.
          CASE WHEN lapse.lapses_at > fuel.clock() AND event.next_at IS NULL
            THEN 'infinity' ELSE lapse.lapses_at END
        ) AS ends_at
      FROM (
        SELECT
          price_event.place_id AS station_id,
          price_event.fuel_id,
          price_event.source_id,
          price_event.effective_at,
          price_event.price_tenths,
          price_event.stamped_at,
          price_event.learnt_at,
          fuel.fuel,
          source.source,
          source.price_lapses_after,
          source.sight_lapses_after,
          lead(price_event.effective_at) OVER (
            PARTITION BY price_event.place_id, fuel.fuel
            ORDER BY price_event.effective_at, price_event.learnt_at, price_event.price_tenths
          ) AS next_at
        FROM fuel.price_event
        JOIN fuel.fuel USING (fuel_id)
        JOIN fuel.source USING (source_id)
        WHERE price_event.effective_at <= fuel.clock()
      ) AS event
      CROSS JOIN LATERAL (
        SELECT least(
          event.stamped_at + event.price_lapses_after,
          CASE
            WHEN event.next_at - event.stamped_at <= event.sight_lapses_after THEN 'infinity'
            ELSE greatest(event.stamped_at, (
              SELECT max(run.taken_at)
              FROM fuel.run
              WHERE run.source_id = event.source_id
                AND run.is_complete
                AND run.taken_at <= fuel.clock()
                AND run.taken_at < coalesce(event.next_at, 'infinity')
            )) + event.sight_lapses_after
          END
        ) AS lapses_at
      ) AS lapse
      WHERE event.next_at IS DISTINCT FROM event.effective_at
    ) AS believed
    WINDOW neighbours AS (
      PARTITION BY believed.station_id, believed.fuel
      ORDER BY believed.effective_at, believed.learnt_at, believed.price_tenths)
  ) AS span
) AS island
WHERE island.price_tenths > 0
GROUP BY island.station_id, island.fuel, island.island, island.price_tenths
HAVING min(island.effective_at) < max(island.ends_at);
COMMENT ON VIEW fuel_v1.price_history IS
  'What each station charged from when to when. One row per station, fuel and the time that one price '
  'held; rows of one station and fuel do not overlap. Ask for one station or few: all of them is the '
  'whole history.';
COMMENT ON COLUMN fuel_v1.price_history.station_id IS 'The station.';
COMMENT ON COLUMN fuel_v1.price_history.fuel       IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.price_history.price_cpl  IS 'Cents per litre.';
COMMENT ON COLUMN fuel_v1.price_history.valid_from IS 'When it began.';
COMMENT ON COLUMN fuel_v1.price_history.valid_to   IS 'When it ended: changed, withdrawn or too old to believe; NULL: it still holds.';
COMMENT ON COLUMN fuel_v1.price_history.source     IS 'The feed or archive that told its beginning.';
GRANT SELECT ON fuel_v1.price_history TO fuel_reader, fuel_writer;
