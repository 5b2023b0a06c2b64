-- What the history holds, for those who load it: which days are there.

CREATE OR REPLACE FUNCTION fuel.known_days()
RETURNS TABLE (source text, scheme text, is_archive boolean, day date)
LANGUAGE sql STABLE AS $$
  SELECT source.source, source.scheme, true, (seen.month + bit.day)::date
  FROM (
    SELECT station.source_id, sighting.month, bit_or(sighting.days) AS days
    FROM fuel.station_sighting AS sighting
    JOIN fuel.station USING (station_id)
    GROUP BY station.source_id, sighting.month
  ) AS seen
  JOIN fuel.source USING (source_id)
  CROSS JOIN generate_series(0, 30) AS bit (day)
  WHERE seen.days & (1 << bit.day) <> 0
  UNION ALL
  SELECT DISTINCT source.source, source.scheme, false, day.day::date
  FROM (
    SELECT listed.source_id, listed.from_at, listed.until_at
    FROM fuel.list_intervals('-infinity', 'infinity') AS listed
    UNION ALL
    SELECT run.source_id, run.taken_at, run.taken_at
    FROM fuel.run
    WHERE run.outcome IN ('stored', 'unchanged') AND NOT run.is_complete
  ) AS read
  JOIN fuel.source USING (source_id)
  JOIN fuel.state ON state.state = source.state
  CROSS JOIN generate_series(
    fuel.price_day(read.from_at, state.time_zone, state.price_day_starts),
    fuel.price_day(read.until_at, state.time_zone, state.price_day_starts),
    interval '1 day') AS day (day)
  WHERE source.kind = 'feed'
$$;
COMMENT ON FUNCTION fuel.known_days() IS
  'The price days that each archive tells of, and those that each feed''s lists cover.';
GRANT EXECUTE ON FUNCTION fuel.known_days() TO fuel_writer;
