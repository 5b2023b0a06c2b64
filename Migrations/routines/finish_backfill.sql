-- Stores what a file of an archive says beside its facts: on which days its stations were sighted, how far the archive
-- reaches, and which months have to be made again. This is part of the transaction that loads the file. The caller has
-- filled pg_temp.staged_sighting.
CREATE OR REPLACE FUNCTION fuel.finish_backfill(
  p_source_id smallint, p_first_at timestamptz, p_last_at timestamptz, p_months date[],
  p_last_ats timestamptz[], p_has_news boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO fuel.station_sighting AS known (station_id, wording_md5, month, days)
  SELECT staged.station_id, staged.wording_md5, staged.month, bit_or(staged.days)
  FROM pg_temp.staged_sighting AS staged
  -- Descriptions that differ only in fields that are not stored have the same digest and are merged.
  GROUP BY staged.station_id, staged.wording_md5, staged.month
  ORDER BY staged.station_id, staged.wording_md5, staged.month
  ON CONFLICT ON CONSTRAINT station_sighting_pk
  DO UPDATE SET days = known.days | excluded.days
  WHERE known.days <> known.days | excluded.days;

  UPDATE fuel.source SET
    first_taken_at = least(source.first_taken_at, p_first_at),
    last_taken_at = greatest(source.last_taken_at, p_last_at),
    are_links_due = true,
    changes = source.changes % 1000000000000 + 1
  WHERE source.source_id = p_source_id;

  INSERT INTO fuel.archive_coverage AS known (source_id, month, last_day, days)
  SELECT
    p_source_id, covered.month,
    -- The last price of a month may belong to a price day that began in the month before. In that case the first day of
    -- this month is covered.
    greatest(
      covered.month, fuel.price_day(covered.last_at, state.time_zone, state.price_day_starts)),
    coalesce(sighted.days, 0)
  FROM unnest(p_months, p_last_ats) AS covered (month, last_at)
  JOIN fuel.source ON source.source_id = p_source_id
  JOIN fuel.state USING (state)
  LEFT JOIN (
    SELECT staged.month, bit_or(staged.days) AS days FROM pg_temp.staged_sighting AS staged GROUP BY staged.month
  ) AS sighted USING (month)
  ORDER BY covered.month
  ON CONFLICT ON CONSTRAINT archive_coverage_pk DO UPDATE SET
    last_day = greatest(known.last_day, excluded.last_day), days = known.days | excluded.days
  WHERE known.last_day < excluded.last_day OR known.days <> known.days | excluded.days;
  IF p_has_news THEN
    INSERT INTO fuel.touched_month (source_id, month)
    SELECT p_source_id, covered.month
    FROM unnest(p_months) AS covered (month)
    ORDER BY covered.month
    ON CONFLICT DO NOTHING;
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.finish_backfill(
  smallint, timestamptz, timestamptz, date[], timestamptz[], boolean) IS
  'Stores the sightings of a file of an archive and the time that it covers, by local month, and notes the months '
  'whose spans have to be recomputed.';
GRANT EXECUTE ON FUNCTION fuel.finish_backfill(
  smallint, timestamptz, timestamptz, date[], timestamptz[], boolean) TO fuel_writer;
