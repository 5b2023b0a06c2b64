-- Months of archives. A month that does not exist yet is filled as a table of its own, in the order of its key, and
-- attached when it is complete. So no index has to be maintained row by row, and where the server logs little
-- (wal_level = minimal) the rows are not logged at all. The writer has no right to create tables. begin_archive_month
-- and attach_archive_month therefore run with the owner's rights, and do nothing else.

CREATE OR REPLACE FUNCTION fuel.archive_month_name(p_source_id smallint, p_month date)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 'archive_price_' || p_source_id || '_' || to_char(p_month::timestamp, 'YYYY_MM');
COMMENT ON FUNCTION fuel.archive_month_name IS 'The table of a month of an archive, in schema fuel.';

-- Makes the table of a month and returns its name; NULL: the archive has the month already. The caller fills it and calls
-- attach_archive_month in the same transaction.
CREATE OR REPLACE FUNCTION fuel.begin_archive_month(p_source_id smallint, p_month date)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' AS $$
DECLARE
  archive     text := 'archive_price_' || p_source_id;
  month_table text := fuel.archive_month_name(p_source_id, p_month);
  zone        text;
BEGIN
  SELECT state.time_zone INTO zone
  FROM fuel.source
  JOIN fuel.state USING (state)
  WHERE source.source_id = p_source_id AND source.kind = 'archive';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'source % is not an archive', p_source_id;
  END IF;
  IF p_month NOT BETWEEN '2000-01-01' AND now()::date + 400 OR extract(day FROM p_month) <> 1 THEN
    RAISE EXCEPTION 'month % is out of range or not the first of a month', p_month
      USING ERRCODE = 'datetime_field_overflow';
  END IF;
  IF to_regclass('fuel.' || archive) IS NULL THEN
    -- The first files of an archive may be written at once. The second waits until the first has made the table. It does
    -- not ask to_regclass again, because the names that the session has cached are older than the lock.
    PERFORM pg_advisory_xact_lock(hashtext('fuel.archive_price partitions'));
  END IF;
  IF NOT EXISTS (
    SELECT
    FROM pg_class
    WHERE pg_class.relnamespace = 'fuel'::regnamespace AND pg_class.relname = archive)
  THEN
    EXECUTE format(
      'CREATE TABLE fuel.%I (LIKE fuel.archive_price INCLUDING CONSTRAINTS) '
      'PARTITION BY RANGE (effective_at)', archive);
    EXECUTE format(
      'ALTER TABLE fuel.archive_price ATTACH PARTITION fuel.%I FOR VALUES IN (%s)',
      archive, p_source_id);
    EXECUTE format('GRANT SELECT ON fuel.%I TO fuel_writer', archive);
  END IF;
  IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass('fuel.' || month_table)) THEN
    RETURN NULL;
  END IF;
  -- A table that was never attached is not part of the archive, and none of its rows was ever a fact.
  EXECUTE format('DROP TABLE IF EXISTS fuel.%I', month_table);
  -- The bounds of the partition are declared as a constraint while the table is empty, so that attaching need not check
  -- the rows.
  EXECUTE format(
    'CREATE TABLE fuel.%I (LIKE fuel.archive_price INCLUDING CONSTRAINTS, '
    'CHECK (source_id = %s AND effective_at >= %L AND effective_at < %L))',
    month_table, p_source_id, p_month::timestamp AT TIME ZONE zone,
    (p_month::timestamp + interval '1 month') AT TIME ZONE zone);
  EXECUTE format('GRANT SELECT, INSERT ON fuel.%I TO fuel_writer', month_table);
  -- A server that copies this database follows the rows that come into the archive, but not the rows of a table that is
  -- not attached yet. Where the archive is published, the table is therefore attached at once.
  IF EXISTS (
      SELECT
      FROM pg_publication_tables AS published
      WHERE published.schemaname = 'fuel' AND published.tablename LIKE 'archive\_price%')
    OR EXISTS (SELECT FROM pg_publication_rel AS published WHERE published.prrelid = 'fuel.archive_price'::regclass)
  THEN
    -- The rows that are then copied into the table are summed once per statement.
    EXECUTE format(
      'CREATE TRIGGER archive_price_sum AFTER INSERT ON fuel.%I REFERENCING NEW TABLE AS added '
      'FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_facts(''3'')', month_table);
    PERFORM fuel.attach_archive_month(p_source_id, p_month);
    EXECUTE format('GRANT INSERT ON fuel.%I TO fuel_writer', month_table);
  END IF;
  RETURN month_table;
END
$$;
COMMENT ON FUNCTION fuel.begin_archive_month IS
  'Creates the empty table of a month of an archive, without its key, and returns its name; NULL: the month is there.';

CREATE OR REPLACE FUNCTION fuel.attach_archive_month(p_source_id smallint, p_month date)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' AS $$
DECLARE
  month_table text := fuel.archive_month_name(p_source_id, p_month);
  zone        text;
BEGIN
  SELECT state.time_zone INTO STRICT zone
  FROM fuel.source
  JOIN fuel.state USING (state)
  WHERE source.source_id = p_source_id AND source.kind = 'archive';
  IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = ('fuel.' || quote_ident(month_table))::regclass) THEN
    RETURN;
  END IF;
  -- The lock waits until other transactions that fill the table have ended. Only then are its rows summed.
  EXECUTE format('LOCK TABLE fuel.%I IN SHARE ROW EXCLUSIVE MODE', month_table);
  -- From here on facts enter through fuel.archive_price alone, where they are summed.
  EXECUTE format('REVOKE INSERT ON fuel.%I FROM fuel_writer', month_table);
  EXECUTE format(
    'INSERT INTO fuel.fact_sum (run_id, facts, hash_sum) '
    'SELECT fact.run_id, count(*), sum(hash_record_extended(fact, 3)) FROM fuel.%I AS fact GROUP BY fact.run_id',
    month_table);
  -- The key is added after the rows, which are stored in its order.
  EXECUTE format(
    'ALTER TABLE fuel.%I ADD PRIMARY KEY (station_id, fuel_id, effective_at, price_tenths)',
    month_table);
  EXECUTE format(
    'ALTER TABLE fuel.%I ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)',
    'archive_price_' || p_source_id, month_table, p_month::timestamp AT TIME ZONE zone,
    (p_month::timestamp + interval '1 month') AT TIME ZONE zone);
END
$$;
COMMENT ON FUNCTION fuel.attach_archive_month IS
  'Gives the filled table of a month of an archive its key and attaches it.';

-- Adds staged facts to months that exist already. Returns how many facts were new, and how many of the new ones give an
-- instant another price than an earlier file did. Both prices are kept.
CREATE OR REPLACE FUNCTION fuel.merge_archive_prices(p_run_id integer, p_source_id smallint)
RETURNS TABLE (stored integer, contradicting integer) LANGUAGE plpgsql AS $$
DECLARE
  first_at timestamptz;
  last_at  timestamptz;
BEGIN
  SELECT min(staged.effective_at), max(staged.effective_at) INTO first_at, last_at
  FROM pg_temp.staged_archive_price AS staged;
  -- Most facts of a file that is loaded again are stored already. Only the others are inserted and checked against the
  -- key.
  CREATE TEMPORARY TABLE new_archive_price ON COMMIT DROP AS
  SELECT staged.*
  FROM pg_temp.staged_archive_price AS staged
  WHERE NOT EXISTS (
    SELECT
    FROM fuel.archive_price AS known
    WHERE known.source_id = p_source_id
      AND known.effective_at BETWEEN first_at AND last_at
      AND known.station_id = staged.station_id
      AND known.fuel_id = staged.fuel_id
      AND known.effective_at = staged.effective_at
      AND known.price_tenths = staged.price_tenths);
  SELECT count(*) INTO contradicting
  FROM pg_temp.new_archive_price AS new
  WHERE EXISTS (
    SELECT
    FROM fuel.archive_price AS known
    WHERE known.source_id = p_source_id
      AND known.effective_at BETWEEN first_at AND last_at
      AND known.station_id = new.station_id
      AND known.fuel_id = new.fuel_id
      AND known.effective_at = new.effective_at);
  INSERT INTO fuel.archive_price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id)
  SELECT new.station_id, new.fuel_id, p_source_id, new.effective_at, new.price_tenths, p_run_id
  FROM pg_temp.new_archive_price AS new
  ORDER BY new.station_id, new.fuel_id, new.effective_at
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS stored = ROW_COUNT;
  DROP TABLE pg_temp.new_archive_price;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fuel.merge_archive_prices IS
  'Adds the staged facts of a run to its archive. Returns how many were new, and how many of those '
  'contradict another file.';

-- Settles the staged facts of a file that arrived in batches. Of several prices of one station and fuel in one second,
-- the last one in the file counts. Returns the facts that are removed: repetitions, and prices that the file corrects
-- later.
CREATE OR REPLACE FUNCTION fuel.decide_archive_prices()
RETURNS TABLE (
  station_code text, fuel text, price_tenths integer, effective_at timestamptz, is_repeated boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH numbered AS (
    SELECT
      staged.ctid AS row_id,
      row_number() OVER later AS back,
      row_number() OVER (
        PARTITION BY staged.station_id, staged.fuel_id, staged.effective_at, staged.price_tenths
        ORDER BY staged.run_id DESC
      ) AS same_back
    FROM pg_temp.staged_archive_price AS staged
    -- At this point run_id holds the position in the file.
    WINDOW later AS (
      PARTITION BY staged.station_id, staged.fuel_id, staged.effective_at
      ORDER BY staged.run_id DESC)
  ),
  gone AS (
    DELETE FROM pg_temp.staged_archive_price AS staged
    USING numbered
    WHERE staged.ctid = numbered.row_id AND numbered.back > 1
    RETURNING staged.*, numbered.same_back > 1 AS is_repeated
  )
  SELECT
    station.station_code, fuel.fuel, gone.price_tenths, gone.effective_at, gone.is_repeated
  FROM gone
  JOIN fuel.station USING (station_id)
  JOIN fuel.fuel USING (fuel_id);
END
$$;
COMMENT ON FUNCTION fuel.decide_archive_prices IS
  'Keeps the last of the staged facts of each station, fuel and second. Returns the others.';

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
    PERFORM fuel.touch_months(p_source_id, p_months);
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.finish_backfill IS
  'Stores the sightings of a file of an archive and the time that it covers, by local month, and notes the months '
  'whose spans have to be recomputed.';

-- A person has withdrawn a file of an archive, or lets it count again. The writer may not delete facts. This function runs
-- with the owner's rights. It moves the facts of the file out of the archive where it no longer counts, and back every fact
-- of any file that counts.
--
-- A fact that several files state is kept once, under the first of them. Where that one is withdrawn, the others have
-- to be loaded again, and no longer pass for loaded (loadedDigests in Ledger+archives.swift).
-- Descriptions of stations by the file stay.
CREATE OR REPLACE FUNCTION fuel.set_file_aside(p_run_id integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  file        fuel.run;
  archive     fuel.source;
  area        fuel.state;
  -- Its own stations and fuels, each with its first price.
  station_ids integer[];
  fuel_ids    smallint[];
  first_ats   timestamptz[];
  -- The months that it touches.
  begins_at   timestamptz;
  ends_at     timestamptz;
  months      date[];
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

  SELECT
    array_agg(own.station_id), array_agg(own.fuel_id), array_agg(own.first_at),
    date_trunc('month', min(own.first_at) AT TIME ZONE area.time_zone) AT TIME ZONE area.time_zone,
    (date_trunc('month', max(own.last_at) AT TIME ZONE area.time_zone) + interval '1 month')
      AT TIME ZONE area.time_zone
  INTO station_ids, fuel_ids, first_ats, begins_at, ends_at
  FROM (
    SELECT fact.station_id, fact.fuel_id, min(fact.effective_at) AS first_at, max(fact.effective_at) AS last_at
    FROM (
      SELECT moved.* FROM fuel.withdrawn_archive_price AS moved WHERE moved.run_id = p_run_id
      UNION ALL
      -- Of a withdrawn file nothing is left here.
      SELECT kept.*
      FROM fuel.archive_price AS kept
      WHERE file.outcome <> 'withdrawn' AND kept.source_id = archive.source_id AND kept.run_id = p_run_id
    ) AS fact
    GROUP BY fact.station_id, fact.fuel_id
  ) AS own;
  PERFORM fuel.touch(station_ids, fuel_ids, first_ats);
  WITH held AS MATERIALIZED (
    -- What files that count say of these months, and what this one says.
    SELECT
      date_trunc('month', fact.effective_at AT TIME ZONE area.time_zone)::date AS month,
      1 << extract(day FROM fact.effective_at AT TIME ZONE area.time_zone)::integer - 1 AS day,
      fact.effective_at AS at,
      fact.counts,
      fact.run_id = p_run_id AS is_own
    FROM (
      SELECT kept.effective_at, kept.run_id, true AS counts
      FROM fuel.archive_price AS kept
      WHERE kept.source_id = archive.source_id AND kept.effective_at >= begins_at AND kept.effective_at < ends_at
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
  SELECT array_agg(covered.month) INTO months FROM covered;
  PERFORM fuel.touch_months(archive.source_id, months);
  UPDATE fuel.source SET
    -- Only the first and the last month that it covers are read.
    (first_taken_at, last_taken_at) = (
      SELECT min(fact.effective_at), max(fact.effective_at)
      FROM (
        SELECT min(covered.month) AS first_month, max(covered.month) AS last_month
        FROM fuel.archive_coverage AS covered
        WHERE covered.source_id = archive.source_id
      ) AS reach
      JOIN fuel.archive_price AS fact
        ON fact.source_id = archive.source_id
        AND (fact.effective_at < (reach.first_month + interval '1 month') AT TIME ZONE area.time_zone
          OR fact.effective_at >= reach.last_month::timestamp AT TIME ZONE area.time_zone)),
    changes = source.changes % 1000000000000 + 1
  WHERE source.source_id = archive.source_id;
END
$$;
COMMENT ON FUNCTION fuel.set_file_aside IS
  'Moves the facts of a withdrawn file out of its archive, or those of a file that counts again back.';

GRANT EXECUTE ON FUNCTION
  fuel.archive_month_name, fuel.begin_archive_month, fuel.attach_archive_month,
  fuel.merge_archive_prices, fuel.decide_archive_prices, fuel.finish_backfill, fuel.set_file_aside TO fuel_writer;
