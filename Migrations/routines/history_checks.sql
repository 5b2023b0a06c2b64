-- What the history holds, for those who load it: which days are there, and how well an archive and our
-- own capture of the same days agree.

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
    SELECT
      run.source_id,
      run.taken_at,
      run.is_complete,
      lead(run.taken_at) OVER (PARTITION BY run.source_id ORDER BY run.taken_at) AS next_at
    FROM fuel.run
    WHERE run.outcome IN ('stored', 'unchanged')
  ) AS run
  JOIN fuel.source USING (source_id)
  JOIN fuel.state ON state.state = source.state
  -- Between two lists that lie close enough the first is believed.
  CROSS JOIN generate_series(
    fuel.price_day(run.taken_at, state.time_zone, state.price_day_starts),
    CASE
      WHEN run.is_complete AND run.next_at - run.taken_at <= source.sight_lapses_after
        THEN fuel.price_day(run.next_at, state.time_zone, state.price_day_starts)
      ELSE fuel.price_day(run.taken_at, state.time_zone, state.price_day_starts)
    END,
    interval '1 day') AS day (day)
  WHERE source.kind = 'feed'
$$;
COMMENT ON FUNCTION fuel.known_days() IS
  'The price days that each archive tells of, and those that each feed''s lists cover.';
GRANT EXECUTE ON FUNCTION fuel.known_days() TO fuel_writer;

-- At noon of each day of a month, where an archive and its scheme's feed both tell a price of a place
-- and fuel and the feed was read that day: what either says. 0: not offered.
CREATE OR REPLACE FUNCTION fuel.compared_days(p_archive text, p_month date)
RETURNS TABLE (
  station_id integer, fuel_id smallint, day date, archive_tenths integer, feed_tenths integer)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  archive   fuel.source;
  zone      text;
  begins_at timestamptz;
  ends_at   timestamptz;
BEGIN
  SELECT source.* INTO STRICT archive FROM fuel.source WHERE source.source = p_archive;
  SELECT state.time_zone INTO STRICT zone FROM fuel.state WHERE state.state = archive.state;
  begins_at := p_month::timestamp AT TIME ZONE zone;
  ends_at := (p_month + interval '1 month') AT TIME ZONE zone;
  RETURN QUERY
  WITH read_day AS MATERIALIZED (
    SELECT known.day
    FROM fuel.known_days() AS known
    WHERE known.scheme = archive.scheme
      AND NOT known.is_archive
      AND known.day >= p_month
      AND known.day < p_month + interval '1 month'
  ),
  noon AS MATERIALIZED (
    SELECT read_day.day, (read_day.day + interval '12 hours') AT TIME ZONE zone AS at FROM read_day
  ),
  archived AS (
    SELECT
      station.place_id,
      told.fuel_id,
      told.effective_at,
      told.price_tenths,
      least(
        lead(told.effective_at) OVER (
          PARTITION BY station.place_id, told.fuel_id
          ORDER BY told.effective_at, told.price_tenths),
        told.effective_at + archive.price_lapses_after) AS ends_at
    FROM fuel.archive_price AS told
    JOIN fuel.station USING (station_id)
    WHERE told.source_id = archive.source_id
      AND told.effective_at > begins_at - archive.price_lapses_after
      AND told.effective_at < ends_at
  ),
  captured AS (
    SELECT
      event.place_id,
      event.fuel_id,
      event.effective_at,
      event.price_tenths,
      least(
        lead(event.effective_at) OVER (
          PARTITION BY event.place_id, event.fuel_id
          ORDER BY event.effective_at, event.learnt_at, event.price_tenths),
        event.stamped_at + source.price_lapses_after) AS ends_at
    FROM fuel.price_event AS event
    JOIN fuel.source USING (source_id)
    WHERE source.scheme = archive.scheme
      AND source.kind = 'feed'
      AND event.effective_at > begins_at - source.price_lapses_after
      AND event.effective_at < ends_at
  )
  SELECT
    archived.place_id, archived.fuel_id, noon.day, archived.price_tenths, captured.price_tenths
  FROM noon
  JOIN archived ON archived.effective_at <= noon.at AND archived.ends_at > noon.at
  JOIN captured
    ON captured.place_id = archived.place_id
    AND captured.fuel_id = archived.fuel_id
    AND captured.effective_at <= noon.at
    AND captured.ends_at > noon.at;
END
$$;
COMMENT ON FUNCTION fuel.compared_days(text, date) IS
  'What an archive (by its source name) and its scheme''s feed say at noon of each day of a month, where '
  'both say something.';
GRANT EXECUTE ON FUNCTION fuel.compared_days(text, date) TO fuel_writer;
