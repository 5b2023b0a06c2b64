-- What a file of an archive means beside its facts: which days its stations were sighted, how far the
-- archive reaches, and which averages may have changed. Part of the transaction that loads it, after
-- pg_temp.staged_sighting was filled.
CREATE OR REPLACE FUNCTION fuel.finish_backfill(
  p_source_id smallint, p_first_at timestamptz, p_last_at timestamptz, p_fuel_ids smallint[],
  p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  archive     fuel.source;
  dirty_from  timestamptz;
  dirty_until timestamptz;
BEGIN
  SELECT source.* INTO STRICT archive FROM fuel.source WHERE source.source_id = p_source_id;
  INSERT INTO fuel.station_sighting AS known (station_id, wording_md5, month, days)
  SELECT staged.station_id, staged.wording_md5, staged.month, bit_or(staged.days)
  FROM pg_temp.staged_sighting AS staged
  -- Wordings that differ only in what we leave out are one.
  GROUP BY staged.station_id, staged.wording_md5, staged.month
  ORDER BY staged.station_id, staged.wording_md5, staged.month
  ON CONFLICT ON CONSTRAINT station_sighting_pk
  DO UPDATE SET days = known.days | excluded.days
  WHERE known.days <> known.days | excluded.days;

  UPDATE fuel.source SET
    first_taken_at = least(source.first_taken_at, p_first_at),
    last_taken_at = greatest(source.last_taken_at, p_last_at),
    are_links_due = true
  WHERE source.source_id = p_source_id;

  IF p_fuel_ids IS NULL THEN
    RETURN;
  END IF;
  -- A price in an outage of the feed cuts short the belief in the one before it, which the list after
  -- the outage had confirmed: then the days from the end of that belief.
  SELECT least(p_first_at, min(gap.begins_at)) INTO dirty_from
  FROM (
    SELECT
      run.taken_at AS begins_at,
      lead(run.taken_at) OVER (PARTITION BY run.source_id ORDER BY run.taken_at) AS ends_at,
      source.sight_lapses_after
    FROM fuel.run
    JOIN fuel.source USING (source_id)
    WHERE run.is_complete AND source.scheme = archive.scheme
  ) AS gap
  WHERE gap.ends_at - gap.begins_at > gap.sight_lapses_after
    AND gap.begins_at < p_last_at
    AND gap.ends_at > p_first_at;
  -- The last price of a pair is believed until the next one, or until it is too old.
  dirty_until := least(p_last_at + archive.price_lapses_after, p_clock);
  INSERT INTO fuel.dirty_day (fuel_id, day)
  SELECT fuel.fuel_id, day.day::date
  FROM unnest(p_fuel_ids) AS fuel (fuel_id)
  CROSS JOIN generate_series(
    (dirty_from - interval '1 day')::date, (dirty_until + interval '1 day')::date,
    interval '1 day') AS day (day)
  WHERE day.day <= p_clock + interval '14 hours'
  ORDER BY fuel.fuel_id, day.day
  ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day;
END
$$;
COMMENT ON FUNCTION fuel.finish_backfill(
  smallint, timestamptz, timestamptz, smallint[], timestamptz) IS
  'Keeps the sightings of a file of an archive and marks the days whose averages it may have changed.';
GRANT EXECUTE ON FUNCTION fuel.finish_backfill(
  smallint, timestamptz, timestamptz, smallint[], timestamptz) TO fuel_writer;
