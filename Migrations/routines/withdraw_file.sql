-- Facts of a file of an archive that a person withdrew, or made to count again. The writer may not delete facts. This
-- function runs with the owner's rights, and moves those of files that do not count out of the archive, and back.
--
-- A fact that several files state is kept once, under the first of them. Where that one is withdrawn, the others have
-- to be loaded again, and no longer pass for loaded (loadedDigests in Store+archive.swift).
-- How a file describes stations stays.
CREATE OR REPLACE FUNCTION fuel.set_file_aside(p_run_id integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  file    fuel.run;
  archive fuel.source;
  area    fuel.state;
BEGIN
  SELECT run.* INTO STRICT file FROM fuel.run WHERE run.run_id = p_run_id;
  SELECT source.* INTO STRICT archive FROM fuel.source WHERE source.source_id = file.source_id;
  SELECT state.* INTO STRICT area FROM fuel.state WHERE state.state = archive.state;
  IF archive.kind <> 'archive' OR file.outcome NOT IN ('withdrawn', 'stored', 'unchanged') THEN
    RAISE EXCEPTION 'run % did not load a file of an archive', p_run_id;
  END IF;
  IF file.outcome = 'withdrawn' THEN
    WITH gone AS (
      DELETE FROM fuel.archive_price AS fact
      WHERE fact.source_id = archive.source_id AND fact.run_id = p_run_id
      RETURNING fact.*
    )
    INSERT INTO fuel.withdrawn_archive_price SELECT gone.* FROM gone;
  END IF;
  -- The table of the archive has no trigger that would sum its facts a second time.
  EXECUTE format(
    'WITH back AS ('
    '  DELETE FROM fuel.withdrawn_archive_price AS fact'
    '  WHERE fact.ctid = ANY (ARRAY('
    '    SELECT DISTINCT ON (aside.station_id, aside.fuel_id, aside.effective_at, aside.price_tenths) aside.ctid'
    '    FROM fuel.withdrawn_archive_price AS aside'
    '    JOIN fuel.run USING (run_id)'
    '    WHERE aside.source_id = $1 AND run.outcome IN (''stored'', ''unchanged'') AND NOT EXISTS ('
    '      SELECT FROM fuel.archive_price AS known'
    '      WHERE known.source_id = $1 AND known.station_id = aside.station_id AND known.fuel_id = aside.fuel_id'
    '        AND known.effective_at = aside.effective_at AND known.price_tenths = aside.price_tenths)'
    '    ORDER BY aside.station_id, aside.fuel_id, aside.effective_at, aside.price_tenths, aside.run_id))'
    '  RETURNING fact.*)'
    'INSERT INTO fuel.%I SELECT back.* FROM back', 'archive_price_' || archive.source_id) USING archive.source_id;

  WITH held AS MATERIALIZED (
    -- What files that count say of the months of this one, and what this one says.
    SELECT
      date_trunc('month', fact.effective_at AT TIME ZONE area.time_zone)::date AS month,
      1 << extract(day FROM fact.effective_at AT TIME ZONE area.time_zone)::integer - 1 AS day,
      fact.effective_at AS at,
      fact.counts,
      fact.run_id = p_run_id AS is_own
    FROM (
      SELECT kept.effective_at, kept.run_id, true AS counts
      FROM fuel.archive_price AS kept
      WHERE kept.source_id = archive.source_id
      UNION ALL
      SELECT aside.effective_at, aside.run_id, false
      FROM fuel.withdrawn_archive_price AS aside
      WHERE aside.run_id = p_run_id
    ) AS fact
  ),
  covered AS (
    SELECT
      held.month, bit_or(held.day) FILTER (WHERE held.is_own) AS own_days,
      coalesce(bit_or(held.day) FILTER (WHERE held.counts), 0) AS days, max(held.at) FILTER (WHERE held.counts) AS last_at
    FROM held
    GROUP BY held.month
    HAVING bool_or(held.is_own)
  ),
  gone AS (
    DELETE FROM fuel.archive_coverage AS known
    USING covered
    WHERE known.source_id = archive.source_id AND known.month = covered.month AND covered.last_at IS NULL
  ),
  changed AS (
    INSERT INTO fuel.archive_coverage AS known (source_id, month, last_day, days)
    SELECT
      archive.source_id, covered.month,
      greatest(covered.month, fuel.price_day(covered.last_at, area.time_zone, area.price_day_starts)), covered.days
    FROM covered
    WHERE covered.last_at IS NOT NULL
    ON CONFLICT ON CONSTRAINT archive_coverage_pk DO UPDATE SET
      last_day = excluded.last_day,
      days = known.days & ~(SELECT covered.own_days FROM covered WHERE covered.month = excluded.month) | excluded.days
  )
  INSERT INTO fuel.touched_month (source_id, month)
  SELECT archive.source_id, covered.month FROM covered
  ON CONFLICT DO NOTHING;
  UPDATE fuel.source SET
    (first_taken_at, last_taken_at) = (
      SELECT min(fact.effective_at), max(fact.effective_at)
      FROM fuel.archive_price AS fact
      WHERE fact.source_id = archive.source_id),
    changes = source.changes % 1000000000000 + 1
  WHERE source.source_id = archive.source_id;
END
$$;
COMMENT ON FUNCTION fuel.set_file_aside(integer) IS
  'Moves the facts of a withdrawn file out of its archive, or those of a file that counts again back.';
REVOKE EXECUTE ON FUNCTION fuel.set_file_aside(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.set_file_aside(integer) TO fuel_writer;
