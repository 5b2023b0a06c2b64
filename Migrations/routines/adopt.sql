-- Takes over the rows of a database whose tables were made by the numbered migrations of versions up to 0.5. The program
-- has renamed their schema to fuel_before by now, and drops it at the end. In any other database it does nothing. Views
-- are replaced after this, so that readers are answered from the former tables meanwhile; those of runs, of coverage and
-- of archives wait until the end.
DO $adopt$
DECLARE
  -- Whether it is version 0.5 as released. Development versions after it have sums of facts already.
  is_released boolean := to_regclass('fuel_before.fact_sum') IS NULL;
  strangers  text;
  found      record;
  part       record;
BEGIN
  IF to_regclass('fuel_before.migration') IS NULL THEN
    RETURN;
  END IF;
  FOR found IN
    SELECT class.oid::regclass AS name
    FROM pg_class AS class
    WHERE class.relnamespace = 'fuel_before'::regnamespace AND class.relkind IN ('r', 'p') AND NOT class.relispartition
  LOOP
    EXECUTE format('LOCK TABLE %s IN SHARE MODE', found.name);
  END LOOP;

  -- What else reads or refers to the former tables would go with them.
  SELECT string_agg(DISTINCT stranger.name, ', ') INTO strangers
  FROM (
    SELECT reader.oid::regclass::text AS name
    FROM pg_depend
    JOIN pg_rewrite ON pg_rewrite.oid = pg_depend.objid AND pg_depend.classid = 'pg_rewrite'::regclass
    JOIN pg_class AS reader ON reader.oid = pg_rewrite.ev_class
    JOIN pg_class AS class ON class.oid = pg_depend.refobjid AND pg_depend.refclassid = 'pg_class'::regclass
    WHERE class.relnamespace IN ('fuel_before'::regnamespace, 'fuel_v1'::regnamespace)
      AND reader.relnamespace::regnamespace::text NOT IN ('fuel_before', 'fuel', 'fuel_v1')
    UNION ALL
    SELECT reader.oid::regclass::text
    FROM pg_depend
    JOIN pg_rewrite ON pg_rewrite.oid = pg_depend.objid AND pg_depend.classid = 'pg_rewrite'::regclass
    JOIN pg_class AS reader ON reader.oid = pg_rewrite.ev_class
    JOIN pg_proc AS function ON function.oid = pg_depend.refobjid AND pg_depend.refclassid = 'pg_proc'::regclass
    WHERE function.pronamespace = 'fuel_v1'::regnamespace
      AND reader.relnamespace::regnamespace::text NOT IN ('fuel_before', 'fuel', 'fuel_v1')
    UNION ALL
    SELECT referring.conrelid::regclass::text
    FROM pg_constraint AS referring
    JOIN pg_class AS class ON class.oid = referring.confrelid
    WHERE class.relnamespace = 'fuel_before'::regnamespace
      AND referring.connamespace <> 'fuel_before'::regnamespace
  ) AS stranger;
  IF strangers IS NOT NULL THEN
    RAISE EXCEPTION 'the tables of schema fuel and the views of fuel_v1 are made anew, and % depends on them: drop it, and '
      'make it again afterwards (docs/from-0.5-to-1.0.md has the new names)', strangers USING ERRCODE = 'invalid_object_definition';
  END IF;

  -- What version 0.5 did not know yet.
  ALTER TABLE fuel_before.run ADD COLUMN IF NOT EXISTS is_overtaken boolean;
  UPDATE fuel_before.run SET is_overtaken = numbered.is_overtaken
  FROM (
    SELECT
      run.run_id,
      coalesce(run.taken_at < max(run.taken_at) OVER (
        PARTITION BY run.source_id ORDER BY run.change_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false)
        AS is_overtaken
    FROM fuel_before.run
    WHERE run.change_number IS NOT NULL
  ) AS numbered
  WHERE numbered.run_id = run.run_id AND run.is_overtaken IS NULL;
  UPDATE fuel_before.source SET not_before_at = NULL WHERE NOT isfinite(not_before_at);
  ALTER TABLE fuel_before.archive_coverage ADD COLUMN IF NOT EXISTS days integer NOT NULL DEFAULT 0;
  UPDATE fuel_before.archive_coverage AS covered SET days = sighted.days
  FROM (
    SELECT station.source_id, sighting.month, bit_or(sighting.days) AS days
    FROM fuel_before.station_sighting AS sighting
    JOIN fuel_before.station USING (station_id)
    GROUP BY station.source_id, sighting.month
  ) AS sighted
  WHERE sighted.source_id = covered.source_id AND sighted.month = covered.month AND covered.days = 0;
  IF is_released THEN
    ALTER TABLE fuel_before.counted_place ADD COLUMN latitude numeric(9, 6), ADD COLUMN longitude numeric(9, 6);
    UPDATE fuel_before.counted_place AS counted SET latitude = station.latitude, longitude = station.longitude
    FROM fuel_before.station
    WHERE station.station_id = counted.station_id
      AND station.place_id = station.station_id
      AND station.is_public
      AND station.first_seen_at < 'infinity';
  END IF;

  -- Tables in the order of their numbers, which is that in which they were made, so that what a row refers to comes
  -- first.
  PERFORM fuel.ensure_year(substring(class.relname FROM '_([0-9]{4})')::integer)
  FROM pg_inherits
  JOIN pg_class AS class ON class.oid = pg_inherits.inhrelid
  WHERE pg_inherits.inhparent IN (
    'fuel_before.price'::regclass, 'fuel_before.span'::regclass, 'fuel_before.station_month'::regclass);
  -- A document that was damaged before is taken over too. bowser verify names it.
  ALTER TABLE fuel.body DROP CONSTRAINT body_digest_ck;
  FOR found IN
    SELECT
      class.relname AS name,
      string_agg(quote_ident(attribute.attname), ', ' ORDER BY attribute.attnum) AS columns
    FROM pg_class AS class
    JOIN pg_class AS former
      ON former.relname = class.relname AND former.relnamespace = 'fuel_before'::regnamespace
    JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0
    JOIN pg_attribute AS known ON known.attrelid = former.oid AND known.attname = attribute.attname
    WHERE class.relnamespace = 'fuel'::regnamespace
      AND class.relkind IN ('r', 'p')
      AND NOT class.relispartition
      AND class.relname NOT IN ('migration', 'program', 'archive_price', 'answer')
    GROUP BY class.oid
    ORDER BY class.oid
  LOOP
    EXECUTE format('ALTER TABLE fuel.%I DISABLE TRIGGER USER', found.name);
    -- Some tables begin with rows.
    EXECUTE format('DELETE FROM fuel.%I', found.name);
    EXECUTE format(
      'INSERT INTO fuel.%1$I (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM fuel_before.%1$I', found.name, found.columns);
    EXECUTE format('ALTER TABLE fuel.%I ENABLE TRIGGER USER', found.name);
    EXECUTE format('ANALYZE fuel.%I', found.name);
  END LOOP;
  ALTER TABLE fuel.body ADD CONSTRAINT body_digest_ck CHECK (sha256 = sha256(bytes)) NOT VALID;
  FOR found IN
    SELECT class.relname AS name
    FROM pg_class AS class
    JOIN pg_class AS former
      ON former.relname = class.relname AND former.relnamespace = 'fuel_before'::regnamespace
    WHERE class.relnamespace = 'fuel'::regnamespace AND class.relkind = 'S'
  LOOP
    EXECUTE format('SELECT setval(%L, last_value, is_called) FROM fuel_before.%I', 'fuel.' || found.name, found.name);
  END LOOP;

  -- The months of archives move as they are.
  FOR found IN
    SELECT class.relname AS name, pg_get_expr(class.relpartbound, class.oid) AS bounds
    FROM pg_inherits
    JOIN pg_class AS class ON class.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = 'fuel_before.archive_price'::regclass
  LOOP
    FOR part IN SELECT tree.relid AS name FROM pg_partition_tree(('fuel_before.' || found.name)::regclass) AS tree LOOP
      -- Facts enter through the parent, where they are summed.
      EXECUTE format('REVOKE INSERT ON %s FROM fuel_writer', part.name);
      EXECUTE format('ALTER TABLE %s SET SCHEMA fuel', part.name);
    END LOOP;
    EXECUTE format('ALTER TABLE fuel_before.archive_price DETACH PARTITION fuel.%I', found.name);
    EXECUTE format('ALTER TABLE fuel.archive_price ATTACH PARTITION fuel.%I %s', found.name, found.bounds);
  END LOOP;

  IF is_released THEN
    INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
    SELECT fact.run_id, count(*), sum(fact.hash) FROM fuel.fact_hash AS fact GROUP BY fact.run_id;
  END IF;
  -- What had to be made again stood in four tables. Version 0.5 corrected an average by the changed stations alone. This
  -- version makes it from all of them, so these days are listed.
  INSERT INTO fuel.due (step, number, part, from_on, until_on)
  SELECT 'spans', touched.station_id, touched.fuel_id, (touched.from_at AT TIME ZONE 'UTC')::date, 'infinity'::date
  FROM fuel_before.touched
  UNION ALL
  SELECT 'months', noted.month - date '1970-01-01', noted.source_id, noted.month, noted.month
  FROM fuel_before.touched_month AS noted
  UNION ALL
  SELECT 'days', noted.station_id, noted.fuel_id, noted.first_month, (noted.last_month + interval '1 month')::date - 1
  FROM fuel_before.stale_days AS noted;
  PERFORM fuel.touch_averages(array_agg(marked.fuel_id), array_agg(marked.days), false)
  FROM (
    SELECT dirty_day.fuel_id, daterange(dirty_day.day, dirty_day.day, '[]') AS days
    FROM fuel_before.dirty_day
    UNION ALL
    SELECT
      noted.fuel_id,
      daterange(noted.first_month, (noted.last_month + interval '2 months')::date)
        * daterange(NULL, current_date + 1, '[]')
    FROM fuel_before.stale_days AS noted
  ) AS marked;
  -- What lists left out that were not complete.
  UPDATE fuel.listing SET is_proof = false
  FROM fuel.run
  WHERE run.run_id = listing.run_id AND NOT run.is_complete AND NOT listing.is_listed;
  -- What each feed showed last, as the list from which later ones differ.
  INSERT INTO fuel.answer (run_id, depth, station_ids, fuel_ids, stamps, tenths, is_adopted)
  SELECT
    last.run_id, 0, array_agg(line.station_id ORDER BY line.station_id, line.fuel_id, line.stamp),
    array_agg(line.fuel_id ORDER BY line.station_id, line.fuel_id, line.stamp),
    array_agg(line.stamp ORDER BY line.station_id, line.fuel_id, line.stamp),
    array_agg(line.tenths ORDER BY line.station_id, line.fuel_id, line.stamp), true
  FROM fuel.source
  CROSS JOIN LATERAL (
    SELECT run.run_id, run.taken_at, cardinality(run.stamps) = 0 AS is_unstamped
    FROM fuel.run
    WHERE run.source_id = source.source_id AND run.is_complete
    ORDER BY run.taken_at DESC, run.run_id DESC
    LIMIT 1
  ) AS last
  JOIN LATERAL (
    SELECT
      pair.station_id, pair.fuel_id,
      CASE WHEN last.is_unstamped AND pair.stamped_at <= last.taken_at THEN '-infinity' ELSE pair.stamped_at END
        AS stamp,
      pair.stamped_tenths AS tenths
    FROM fuel_before.current_price AS pair
    WHERE pair.source_id = source.source_id AND pair.is_listed
    UNION ALL
    SELECT pair.station_id, pair.fuel_id, pair.next_effective_at, pair.next_tenths
    FROM fuel_before.current_price AS pair
    WHERE pair.source_id = source.source_id AND pair.is_listed AND pair.next_effective_at IS NOT NULL
  ) AS line ON true
  WHERE NOT source.tells_whole_days
  GROUP BY last.run_id;
  PERFORM fuel.renew_shown(source.source_id) FROM fuel.source WHERE source.kind = 'feed';

  -- The views of version 1.0 have other columns.
  FOR found IN
    SELECT class.relname AS name FROM pg_class AS class
    WHERE class.relnamespace = 'fuel_v1'::regnamespace AND class.relkind = 'v'
  LOOP
    EXECUTE format('DROP VIEW IF EXISTS fuel_v1.%I CASCADE', found.name);
  END LOOP;
  FOR found IN
    SELECT function.oid::regprocedure AS name FROM pg_proc AS function
    WHERE function.pronamespace = 'fuel_v1'::regnamespace
  LOOP
    EXECUTE format('DROP FUNCTION %s CASCADE', found.name);
  END LOOP;
END
$adopt$;
