-- Several ordinary databases ("members"), each with states of its own, answered for by one ("the hub"), by postgres_fdw
-- and partitions over the members' published views. The hub makes only what belongs to no member: the nation, and areas
-- that lie in several. docs/operating.md has the steps, docs/scale.md the reasons.

-- 1. Members

-- A member has ten million numbers of stations, of runs and of aggregates, a million million of changes, and a hundred of
-- sources. A database that was not numbered is member 1.
CREATE OR REPLACE FUNCTION fuel.numbers_each() RETURNS integer LANGUAGE sql IMMUTABLE
RETURN 10000000;
COMMENT ON FUNCTION fuel.numbers_each IS 'How many stations, and how many runs, a member can number.';

CREATE OR REPLACE FUNCTION fuel.member_number() RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT ((stations.seqstart - 1) / fuel.numbers_each() + 1)::integer
  FROM pg_catalog.pg_sequence AS stations
  WHERE stations.seqrelid = 'fuel.station_station_id_seq'::regclass
$$;
COMMENT ON FUNCTION fuel.member_number IS 'Whose ranges of numbers this database has.';

CREATE OR REPLACE FUNCTION fuel.number_member(p_number integer) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  counted record;
BEGIN
  IF p_number = fuel.member_number() THEN
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM fuel.source) OR EXISTS (SELECT FROM fuel.aggregate_run) OR EXISTS (SELECT FROM fuel.member) THEN
    RAISE EXCEPTION 'this database already has the numbers of member %: only a database without runs can get others',
      fuel.member_number() USING ERRCODE = 'BW078';
  END IF;
  FOR counted IN
    SELECT * FROM (VALUES
      ('station', 'station_id', fuel.numbers_each()), ('run', 'run_id', fuel.numbers_each()),
      ('aggregate_run', 'aggregate_run_id', fuel.numbers_each()), ('source', 'source_id', 100)) AS counted (in_table, in_column, size)
  LOOP
    EXECUTE format(
      'ALTER TABLE fuel.%I ALTER %I SET START WITH %s SET MAXVALUE %s RESTART', counted.in_table, counted.in_column,
      (p_number - 1) * counted.size + 1, p_number * counted.size);
  END LOOP;
  UPDATE fuel.change_counter SET newest = (p_number - 1) * fuel.numbers_each() * 100000::bigint;
END
$$;
COMMENT ON FUNCTION fuel.number_member IS 'Gives an empty database the ranges of numbers of a member.';

-- What a hub reads of a member beside fuel_v1: what averages over several states are made of.
GRANT USAGE ON SCHEMA fuel TO fuel_hub;
GRANT SELECT ON
  fuel.source, fuel.price_lapse, fuel.source_day, fuel.station, fuel.station_description, fuel.fuel, fuel.span, fuel.present_span, fuel.sight,
  fuel.price_now, fuel.known_month, fuel.daily_rollup, fuel.aggregate_run, fuel.verdict_calibration TO fuel_hub;
GRANT EXECUTE ON FUNCTION fuel.numbers_each, fuel.member_number, fuel.held_at, fuel.spans_of TO fuel_hub;

-- 2. The hub

-- A view of the nation or of another clock would mix instants, because members answer by their own clock.
CREATE OR REPLACE FUNCTION fuel.refuse_clock() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  RAISE EXCEPTION 'this database is a hub, whose members answer by their own clocks: bowser.now and --now work on members'
    USING ERRCODE = 'BW078';
END
$$;
COMMENT ON FUNCTION fuel.refuse_clock IS 'Says that a hub knows the present only.';
GRANT EXECUTE ON FUNCTION fuel.refuse_clock TO fuel_reader, fuel_writer;

-- Where the connection was lost, another one is made. dblink finds the connection by the name, and no reader may use
-- dblink.
CREATE OR REPLACE FUNCTION fuel.reach_member(p_member text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  detail text;
BEGIN
  BEGIN
    PERFORM FROM public.dblink(p_member, 'SELECT 1') AS answer (value integer)
    WHERE p_member = ANY (public.dblink_get_connections());
    IF FOUND THEN
      RETURN p_member;
    END IF;
  EXCEPTION WHEN OTHERS THEN
    PERFORM public.dblink_disconnect(p_member) WHERE p_member = ANY (public.dblink_get_connections());
  END;
  IF NOT EXISTS (SELECT FROM pg_foreign_server WHERE srvname = p_member) THEN
    RAISE EXCEPTION '% does not answer: there is no such server', p_member USING ERRCODE = '42704';
  END IF;
  BEGIN
    PERFORM public.dblink_connect(p_member, p_member);
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE EXCEPTION '% does not answer: %', p_member, concat_ws('; ', SQLERRM, nullif(detail, '')) USING ERRCODE = SQLSTATE;
  END;
  SELECT answer.value INTO detail
  FROM public.dblink(p_member, 'SELECT concat(current_database(), extract(epoch FROM pg_postmaster_start_time()))') AS answer (value text);
  IF detail = concat(current_database(), extract(epoch FROM pg_postmaster_start_time())) THEN
    PERFORM public.dblink_disconnect(p_member);
    RAISE EXCEPTION '% does not answer: its server leads to the hub itself', p_member USING ERRCODE = 'BW078';
  END IF;
  RETURN p_member;
END
$$;
COMMENT ON FUNCTION fuel.reach_member IS 'Connects this session to a member, and returns its name.';

CREATE OR REPLACE FUNCTION fuel.ask_member(p_member text, p_question text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  PERFORM fuel.reach_member(p_member);
  BEGIN
    RETURN (SELECT answer.value FROM public.dblink(p_member, p_question) AS answer (value jsonb));
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE EXCEPTION '% does not answer: %', p_member, concat_ws('; ', SQLERRM, nullif(detail, ''))
      USING ERRCODE = SQLSTATE;
  END;
END
$$;
COMMENT ON FUNCTION fuel.ask_member IS 'One value of a member, by a question in SQL.';

CREATE OR REPLACE FUNCTION fuel.nations() RETURNS text[] LANGUAGE sql STABLE
RETURN ARRAY(SELECT placed.region FROM fuel.member_region AS placed WHERE placed.member IS NULL ORDER BY placed.region);
COMMENT ON FUNCTION fuel.nations IS 'The regions that the hub makes itself: the nation, and areas in several members.';

-- Notes which member makes which region: that of its state, or the only one with stations in it. The nation is the hub's.
-- While a member is out, areas without a state stay where they were.
CREATE OR REPLACE FUNCTION fuel.place_regions() RETURNS void LANGUAGE sql AS $$
  DELETE FROM fuel.member_region WHERE region NOT IN (SELECT region FROM fuel.region WHERE state IS NULL);
  INSERT INTO fuel.member_region (region, member)
  SELECT region.region, member.member
  FROM fuel.region
  JOIN fuel.member ON region.state = ANY (member.states)
  UNION ALL
  SELECT area.region, CASE
      WHEN area.kind = 'nation' THEN NULL
      WHEN EXISTS (SELECT FROM fuel.member WHERE is_out)
        THEN (SELECT before.member FROM fuel.member_region AS before WHERE before.region = area.region)
      WHEN count(seen.member) = 1 THEN min(seen.member)
    END
  FROM fuel.region AS area
  LEFT JOIN (
    SELECT member.member, jsonb_array_elements_text(fuel.ask_member(member.member,
      'SELECT coalesce(jsonb_agg(DISTINCT region), ''[]'') FROM fuel_v1.region_stations')) AS region
    FROM fuel.member
    WHERE NOT member.is_out AND EXISTS (SELECT FROM fuel.region WHERE kind <> 'nation' AND state IS NULL)
  ) AS seen USING (region)
  WHERE area.state IS NULL
  GROUP BY area.region, area.kind
  ON CONFLICT ON CONSTRAINT member_region_pk DO UPDATE SET member = excluded.member
$$;
COMMENT ON FUNCTION fuel.place_regions IS 'Notes which member makes the averages of each region.';

-- Makes hub.NAME, a relation of all members: a table over one foreign table for each, parted by a column that tells their
-- rows apart, or, where none does, with them as children. A CHECK lets a state or region lead to its member too. The
-- columns are those that this program knows, so that a member may have more.
CREATE OR REPLACE FUNCTION fuel.gather(p_relation regclass, p_name text, p_key text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known   fuel.member;
  regions text[];
  size    bigint := fuel.numbers_each()::bigint * CASE p_key WHEN 'change_number' THEN 100000 ELSE 1 END;
  checks  text;
BEGIN
  EXECUTE format('CREATE TABLE hub.%I (LIKE %s)', p_name, p_relation) || coalesce(
    ' PARTITION BY ' || CASE WHEN p_key IN ('region', 'state') THEN 'LIST (' ELSE 'RANGE (' END || quote_ident(p_key) || ')', '');
  FOR known IN SELECT * FROM fuel.member WHERE NOT is_out LOOP
    regions := ARRAY(SELECT region FROM fuel.member_region WHERE member = known.member);
    SELECT string_agg(format('CHECK (%I = ANY (%L::text[]))', attname,
      CASE attname WHEN 'state' THEN known.states ELSE regions || fuel.nations() END), ', ') INTO checks
    FROM pg_attribute
    WHERE attrelid = p_relation AND attnum > 0 AND attname IN ('state', 'region') AND attname IS DISTINCT FROM p_key;
    EXECUTE format('CREATE FOREIGN TABLE hub.%I ', p_name || '_' || known.number)
      || CASE WHEN p_key IS NULL THEN format('(%s) INHERITS (hub.%I)', checks, p_name)
        ELSE format('PARTITION OF hub.%I %s FOR VALUES ', p_name, '(' || checks || ')') || CASE
          WHEN p_key IN ('region', 'state') THEN (
            SELECT format('IN (%s)', coalesce(string_agg(quote_literal(value), ', '), 'NULL'))
            FROM unnest(CASE p_key WHEN 'state' THEN known.states ELSE regions END) AS value)
          ELSE format('FROM (%s) TO (%s)', (known.number - 1) * size + 1, known.number * size + 1) END END
      || format(' SERVER %I OPTIONS (schema_name %L, table_name %L, fetch_size ''10000'', async_capable ''true'', '
        'use_remote_estimate %L)', known.member, split_part(p_relation::text, '.', 1), split_part(p_relation::text, '.', 2),
        -- Asking costs some milliseconds per table and query, and not knowing what a large table returns costs minutes.
        (p_name IN ('station_days', 'price_history', 'price_changes', 'changes', 'daily_averages', 'coverage',
          'brand_daily'))::text);
  END LOOP;
END
$$;
COMMENT ON FUNCTION fuel.gather IS 'Makes hub.NAME, a relation of all members.';

-- What the hub publishes of a view: the members' rows and, of the regions that the hub makes, those of the view's own text
-- over the hub's own tables. That is one branch for each such region, with its code as a constant, so that a query of
-- another region does not even plan it.
CREATE OR REPLACE FUNCTION fuel.united(p_view text, p_columns text[], p_key text, p_is_regional boolean) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format(
      -- The clock is looked at once for a query, and the condition keeps every row.
      'SELECT %s FROM hub.%I WHERE %3$I IS DISTINCT FROM (SELECT CASE WHEN fuel.clock() IS NULL THEN NULL::%4$s END)',
      (SELECT string_agg(quote_ident(name), ', ' ORDER BY n) FROM unnest(p_columns) WITH ORDINALITY AS c (name, n)), p_view,
      p_key, (SELECT format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid = format('hub.%I', p_view)::regclass AND attname = p_key))
    || CASE WHEN p_is_regional THEN format(' AND region <> ALL (%L::text[])', fuel.nations()) ELSE '' END
    || coalesce(string_agg(format(' UNION ALL SELECT %2$s FROM hub.%3$I WHERE region = %1$L',
      made.region, (
        SELECT string_agg(CASE name WHEN 'region' THEN quote_literal(made.region) ELSE quote_ident(name) END, ', ' ORDER BY n)
        FROM unnest(p_columns) WITH ORDINALITY AS c (name, n)), 'own_' || p_view), ''), '')
  FROM unnest(fuel.nations()) AS made (region)
  -- Without a member the nation of now would be another one. Its stored days stay.
  WHERE p_is_regional AND NOT (
    p_view IN ('averages_now', 'station_comparison', 'brand_daily') AND EXISTS (SELECT FROM fuel.member WHERE is_out))
$$;
COMMENT ON FUNCTION fuel.united IS 'What the hub publishes of a view, as SQL.';

-- Gives a function another text: the members are asked by dblink, the one that has the station or region or else all. A
-- region that the hub makes is answered by the function's own text. Settings of the session do not reach the question.
CREATE OR REPLACE FUNCTION fuel.ask_members(p_function regprocedure) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  made record;
BEGIN
  SELECT
    pronamespace::regnamespace::text AS schema, quote_ident(proname) AS name, pronargs AS arguments, proisstrict, proargnames[1] AS leads,
    pg_get_function_arguments(oid) AS written, pg_get_function_result(oid) AS result,
    coalesce(substring(pg_get_function_result(oid) FROM '^TABLE\((.*)\)$'), 'answer ' || pg_get_function_result(oid)) AS columns,
    (SELECT string_agg('%L::' || format_type(type, NULL), ', ' ORDER BY n)
      FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS t (type, n)) AS places,
    (SELECT string_agg('$' || n, ', ') FROM generate_series(1, pronargs) AS n) AS given,
    coalesce((SELECT string_agg(quote_ident(name), ', ' ORDER BY n)
      FROM unnest(proargnames, proargmodes) WITH ORDINALITY AS c (name, mode, n) WHERE mode = 't'), 'answer') AS names
  INTO made
  FROM pg_proc WHERE oid = p_function;
  IF made.leads = 'region' THEN
    -- A plan for any parameter would ask every member.
    EXECUTE replace(replace(pg_get_functiondef(p_function), 'FUNCTION fuel_v1.', 'FUNCTION hub.'),
      'force_generic_plan', 'force_custom_plan');
  END IF;
  EXECUTE format('CREATE OR REPLACE FUNCTION %s.%s(%s) RETURNS %s LANGUAGE sql STABLE %s SECURITY DEFINER '
    'SET search_path = pg_catalog, pg_temp SET "DateStyle" = ''ISO'' SET "IntervalStyle" = ''postgres'' SET "TimeZone" = ''UTC'' '
    'SET extra_float_digits = 1 AS %L',
    made.schema, made.name, made.written, made.result, CASE WHEN made.proisstrict THEN 'STRICT' ELSE '' END,
    format('SELECT %s FROM fuel.member AS known %s CROSS JOIN LATERAL ROWS FROM (public.dblink(fuel.reach_member(known.member), format(%L, %s)) AS (%s)) '
      'WITH ORDINALITY AS found (%s, turn) WHERE NOT known.is_out AND fuel.clock() IS NOT NULL %s%s', 'found.' || replace(made.names, ', ', ', found.'),
      CASE made.leads WHEN 'region' THEN 'JOIN fuel.member_region AS placed ON placed.member = known.member AND placed.region = $1'
        ELSE '' END,
      format('SELECT %s FROM %s.%s(%s)', CASE made.names WHEN 'answer' THEN '*' ELSE made.names END,
        made.schema, made.name, made.places), made.given, made.columns, made.names,
      CASE made.leads WHEN 'station_id' THEN 'AND known.number = ($1 - 1) / fuel.numbers_each() + 1' ELSE '' END,
      CASE
        WHEN made.leads = 'region' THEN format(
          ' UNION ALL SELECT %2$s FROM fuel.member_region AS placed CROSS JOIN LATERAL hub.%1$s(%3$s) AS own%4$s '
          'WHERE placed.region = $1 AND placed.member IS NULL', made.name,
          CASE WHEN made.names = 'answer' THEN 'own' ELSE 'own.*' END, made.given,
          CASE WHEN made.names = 'answer' THEN ' (own)' ELSE '' END)
          -- Without a member the prices of the nation would be those of another one.
          || CASE WHEN made.name IN ('average_at', 'region_days') THEN ' AND NOT EXISTS (SELECT FROM fuel.member WHERE is_out)'
            ELSE '' END
        WHEN made.columns LIKE '%distance_km%' THEN ' ORDER BY found.distance_km, found.turn, found.station_id'
          || CASE WHEN made.written LIKE '%max_stations%' THEN ' LIMIT greatest(0, least($4, 1000))' ELSE '' END
        ELSE '' END));
END
$$;
COMMENT ON FUNCTION fuel.ask_members IS 'Makes a function ask the members.';

-- Makes this database the hub of its members: the schema hub, and the texts of the views and functions. Called where all
-- views and routines have been applied anew, so that each has its own text.
CREATE OR REPLACE FUNCTION fuel.unite() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known record;
BEGIN
  IF obj_description(to_regnamespace('hub'), 'pg_namespace') IS DISTINCT FROM 'Made by bowser hub.'
    AND to_regnamespace('hub') IS NOT NULL THEN
    RAISE EXCEPTION 'there is a schema hub that is not Bowser''s: rename it' USING ERRCODE = 'BW078';
  END IF;
  DROP SCHEMA IF EXISTS hub CASCADE;
  IF NOT EXISTS (SELECT FROM fuel.member) THEN
    RETURN;
  END IF;
  CREATE SCHEMA hub;
  COMMENT ON SCHEMA hub IS 'Made by bowser hub.';
  FOR known IN
    SELECT class.oid::regclass AS origin, class.relname::text AS name, found.columns, found.key,
      -- Members say which stations a region has, and the nation has no verdict.
      'region' = ANY (found.columns) AND class.relname NOT IN ('region_stations', 'station_fill_up') AS is_regional
    FROM pg_class AS class
    CROSS JOIN LATERAL (
      SELECT array_agg(attname::text ORDER BY attnum) AS columns, (array_agg(attname::text ORDER BY attnum) FILTER (
        -- The first of these columns. But stations of regions are joined by station.
        WHERE attname IN ('station_id', 'state', 'change_number', 'run_id', 'aggregate_run_id')
          OR attname = 'region' AND class.relname <> 'region_stations'))[1] AS key
      FROM pg_attribute
      WHERE attrelid = class.oid AND attnum > 0
    ) AS found
    WHERE class.relkind = 'v' AND (
      class.oid IN ('fuel.price_now'::regclass, 'fuel.known_month'::regclass)
      -- The hub has these itself: lists, and what its aggregate copies.
      OR class.relnamespace = 'fuel_v1'::regnamespace
        AND class.relname NOT IN ('fuels', 'regions', 'market_events', 'verdict_calibration', 'pipeline'))
  LOOP
    IF known.is_regional THEN
      EXECUTE format('CREATE VIEW hub.%I AS %s', 'own_' || known.name, pg_get_viewdef(known.origin));
    END IF;
    PERFORM fuel.gather(known.origin, known.name, known.key);
    EXECUTE format('CREATE OR REPLACE VIEW %s AS ', known.origin)
      || fuel.united(known.name, known.columns, coalesce(known.key, known.columns[1]), known.is_regional);
  END LOOP;
  PERFORM fuel.gather('fuel_v1.pipeline', 'pipeline', NULL);
  EXECUTE 'CREATE VIEW hub.member_pipeline AS ' || (
    SELECT string_agg(format('SELECT %L AS member, * FROM hub.%I', member, 'pipeline_' || number), ' UNION ALL ')
    FROM fuel.member WHERE NOT is_out);
  COMMENT ON VIEW hub.member_pipeline IS
    'The pipeline of each member. Who follows changes remembers a number for each, because each counts its own.';
  GRANT USAGE ON SCHEMA hub TO fuel_reader, fuel_writer;
  GRANT SELECT ON hub.member_pipeline TO fuel_reader, fuel_writer;
  -- The nation is as old as the oldest aggregate of all, the hub's own too.
  CREATE OR REPLACE VIEW fuel_v1.pipeline AS
  SELECT fuel.clock() AS now_at, (
      SELECT least(max(own.finished_at), min(member_pipeline.aggregated_at)) FROM fuel.aggregate_run AS own
      WHERE own.outcome = 'done' HAVING count(*) > 0
    ) AS aggregated_at, max(days_due) AS days_due,
    min(first_due_on) AS first_due_on, max(newest_change_number) AS newest_change_number,
    string_agg(chain_head, ' ' ORDER BY member) AS chain_head
  FROM hub.member_pipeline;
  PERFORM fuel.ask_members(asked.oid)
  FROM pg_proc AS asked
  -- The lines of metrics are those of views, which ask the members by themselves.
  WHERE asked.pronamespace = 'fuel_v1'::regnamespace AND asked.proname <> 'metrics'
    OR asked.oid IN ('fuel.held_at'::regproc, 'fuel.spans_of'::regproc);
  CREATE OR REPLACE FUNCTION fuel.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CASE WHEN coalesce(current_setting('bowser.now', true), '') = '' THEN now() ELSE fuel.refuse_clock() END;
  -- The copies of small tables are replaced in one transaction, row by row.
  FOR known IN
    SELECT conrelid::regclass AS holder, conname FROM pg_constraint
    WHERE contype = 'f' AND confrelid IN ('fuel.station'::regclass, 'fuel.source'::regclass) AND conparentid = 0
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE INITIALLY DEFERRED', known.holder, known.conname);
  END LOOP;
  EXECUTE format('ALTER DATABASE %I SET enable_partitionwise_join = on', current_database());
  EXECUTE format('ALTER DATABASE %I SET enable_partitionwise_aggregate = on', current_database());
  -- A plan for any parameter would ask every member.
  EXECUTE format('ALTER DATABASE %I SET plan_cache_mode = force_custom_plan', current_database());
END
$$;
COMMENT ON FUNCTION fuel.unite IS 'Makes this database the hub of its members; does nothing where there are none.';

-- 3. The nation

CREATE OR REPLACE FUNCTION fuel.member_tables() RETURNS regclass[] LANGUAGE sql IMMUTABLE
RETURN ARRAY['fuel.source', 'fuel.price_lapse', 'fuel.source_day', 'fuel.station', 'fuel.station_description', 'fuel.present_span']::regclass[];
COMMENT ON FUNCTION fuel.member_tables IS 'What a hub copies of its members, in the order in which it is replaced.';

-- Every list is whole: a member that was restored to an earlier state, or forgotten, is seen by its days. Returns the
-- instant up to which all members have made their days.
CREATE OR REPLACE FUNCTION fuel.take_members(p_again_from date DEFAULT NULL) RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known      fuel.member;
  answer     jsonb;
  part       text;
  newest     timestamptz;
  came       jsonb := '{}';
  made_until timestamptz := 'infinity';
BEGIN
  SELECT * INTO known FROM fuel.member ORDER BY is_out DESC LIMIT 1;
  IF NOT FOUND OR known.is_out THEN
    RAISE EXCEPTION '%', coalesce(known.member || ' is out, so the nation stays as it was made last: bowser hub join '
      || known.member || ' takes it back', 'this database is no hub') USING ERRCODE = 'BW078';
  END IF;
  SELECT concat_ws(' ', nullif(found.member, 'members'), found.words) INTO part FROM fuel.check_members() AS found
  WHERE found.finding = 'FAIL' AND NOT starts_with(found.words, 'does not answer')
    OR found.words LIKE 'the region % is new: %' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION '%', part USING ERRCODE = 'BW078';
  END IF;
  FOR known IN SELECT * FROM fuel.member LOOP
    answer := fuel.ask_member(known.member, format($ask$
      WITH kept AS (SELECT source.* FROM fuel.source WHERE source.state = ANY (%L::text[]))
      SELECT jsonb_build_object(
        'made_until_at', (
          SELECT started_at FROM fuel.aggregate_run WHERE outcome = 'done' ORDER BY aggregate_run_id DESC LIMIT 1),
        'source', (SELECT jsonb_agg(kept) FROM kept),
        'price_lapse', (SELECT jsonb_agg(lapse) FROM fuel.price_lapse AS lapse JOIN kept USING (source_id)),
        'source_day', (SELECT jsonb_agg(covered) FROM fuel.source_day AS covered JOIN kept USING (source_id)),
        'station', (SELECT jsonb_agg(station) FROM fuel.station JOIN kept USING (source_id)),
        'station_description', (
          SELECT jsonb_agg(told) FROM fuel.station_description AS told JOIN fuel.station USING (station_id) JOIN kept USING (source_id)),
        'present_span', (
          SELECT jsonb_agg(held)
          FROM fuel.present_span AS held JOIN kept USING (source_id) JOIN fuel.fuel USING (fuel_id)
          WHERE fuel.is_averaged),
        'fuel', (SELECT jsonb_agg(fuel) FROM fuel.fuel WHERE NOT fuel.is_mapped),
        'verdict_calibration', (SELECT jsonb_agg(given) FROM fuel.verdict_calibration AS given),
        'member_day', (
          SELECT jsonb_agg(made)
          FROM (
            SELECT %L AS member, fuel_id, day, max(made_at) AS made_at, count(*) AS regions
            FROM fuel.daily_rollup
            WHERE region = ANY (%L::text[])
            GROUP BY fuel_id, day
          ) AS made))
      $ask$, known.states, known.member, fuel.nations()));
    IF answer ->> 'made_until_at' IS NULL AND answer ->> 'source' IS NOT NULL THEN
      RAISE EXCEPTION '% has runs and was never aggregated: run bowser aggregate there', known.member USING ERRCODE = 'BW078';
    END IF;
    -- Its newest day would be missing from the nation, or one of a backup would stand for it.
    SELECT max(made_at) INTO newest FROM fuel.member_day WHERE member_day.member = known.member;
    IF newest > coalesce((
        SELECT max((made ->> 'made_at')::timestamptz) FROM jsonb_path_query(answer, '$.member_day[*]') AS made), '-infinity') THEN
      RAISE EXCEPTION '% has gone back to before %, as after a restore: run bowser aggregate there', known.member,
        to_char(newest AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') USING ERRCODE = 'BW078';
    END IF;
    made_until := least(made_until, (answer ->> 'made_until_at')::timestamptz);
    came := (
      SELECT jsonb_object_agg(key, coalesce(came -> key, '[]') || CASE WHEN jsonb_typeof(value) = 'array' THEN value ELSE '[]' END)
      FROM jsonb_each(answer));
  END LOOP;
  -- A station that is gone is in no region any more.
  DELETE FROM fuel.region_station
  WHERE station_id NOT IN (SELECT station_id FROM jsonb_populate_recordset(NULL::fuel.station, came -> 'station'));
  FOREACH part IN ARRAY fuel.member_tables()::text[] LOOP
    PERFORM fuel.replace_rows(part::regclass, came -> split_part(part, '.', 2));
  END LOOP;
  PERFORM fuel.replace_rows('fuel.verdict_calibration', (
    SELECT coalesce(jsonb_agg(whole), '[]')
    FROM (
      SELECT method, event, decile, sum(stated * days) / sum(days) AS stated, sum(real * days) / sum(days) AS real, sum(days) AS days
      FROM jsonb_populate_recordset(NULL::fuel.verdict_calibration, came -> 'verdict_calibration')
      GROUP BY method, event, decile
    ) AS whole));
  INSERT INTO fuel.fuel (fuel_id, fuel, name, unit, is_averaged, is_mapped)
  SELECT (SELECT max(fuel_id) FROM fuel.fuel) + row_number() OVER (ORDER BY fuel), fuel, name, unit, is_averaged, is_mapped
  FROM (SELECT DISTINCT ON (fuel) * FROM jsonb_populate_recordset(NULL::fuel.fuel, came -> 'fuel')) AS written
  WHERE fuel NOT IN (SELECT fuel FROM fuel.fuel);
  DELETE FROM fuel.member_day WHERE member_day.day >= p_again_from;
  PERFORM fuel.touch_averages(array_agg(fuel_id), array_agg(daterange(day, day, '[]')), true)
  FROM jsonb_populate_recordset(NULL::fuel.member_day, came -> 'member_day') AS made
  FULL JOIN fuel.member_day AS seen USING (member, fuel_id, day)
  WHERE (made.made_at, made.regions) IS DISTINCT FROM (seen.made_at, seen.regions);
  PERFORM fuel.replace_rows('fuel.member_day', came -> 'member_day');
  RETURN least(made_until, now());
END
$$;
COMMENT ON FUNCTION fuel.take_members IS
  'Copies what the nation needs from all members, and lists the days that have to be made again: all from a day on, and '
  'what members have made again (NULL: only these).';
GRANT EXECUTE ON FUNCTION fuel.take_members TO fuel_writer;

-- 4. Is it well?

CREATE OR REPLACE FUNCTION fuel.check_members() RETURNS TABLE (member text, finding text, words text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  known  fuel.member;
  answer jsonb;
  places text[];
BEGIN
  FOR known IN SELECT * FROM fuel.member ORDER BY number LOOP
    member := known.member;
    IF known.is_out THEN
      RETURN QUERY SELECT known.member, 'warn', format(
        'is out, and the nation stays as it was made last: bowser hub join %s takes it back', known.member);
      CONTINUE;
    END IF;
    BEGIN
      answer := fuel.ask_member(known.member, $ask$
        SELECT jsonb_build_object(
          'number', fuel.member_number(), 'clock', current_setting('bowser.now', true),
          'states', (SELECT coalesce(jsonb_agg(DISTINCT state), '[]') FROM fuel.station WHERE first_seen_at < 'infinity'),
          'places', (SELECT coalesce(jsonb_agg(DISTINCT region), '[]') FROM fuel_v1.region_stations),
          'aggregated_at', (SELECT to_char(aggregated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') FROM fuel_v1.pipeline),
          'columns', (
            SELECT jsonb_object_agg(class.relnamespace::regnamespace || '.' || class.relname || '.' || attname, format_type(atttypid, atttypmod))
            FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class AS class ON class.oid = attrelid
            WHERE class.relnamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace) AND class.relkind <> 'i' AND attnum > 0))
        $ask$);
    EXCEPTION WHEN OTHERS THEN
      RETURN QUERY SELECT known.member, 'FAIL', substr(SQLERRM, length(known.member) + 2) || CASE SQLSTATE
        WHEN '42501' THEN CASE WHEN SQLERRM LIKE '%foreign server%' THEN ': GRANT USAGE ON FOREIGN SERVER'
          ELSE ': its login there needs the roles fuel_reader and fuel_hub' END
        WHEN '3F000' THEN ': bowser migrate there'
        WHEN '42704' THEN ': CREATE SERVER and CREATE USER MAPPING, see docs/operating.md'
        WHEN '42883' THEN ': bowser migrate there, and CREATE EXTENSION dblink here'
        ELSE '' END;
      CONTINUE;
    END;
    places := places || ARRAY(SELECT jsonb_array_elements_text(answer -> 'places'));
    RETURN QUERY
    SELECT known.member, fault.finding, fault.words
    FROM (VALUES
      ('FAIL', CASE WHEN (answer ->> 'number')::integer <> known.number
        THEN format('has the numbers of member %s, but hub.json5 states %s', answer ->> 'number', known.number) END),
      ('FAIL', CASE WHEN nullif(answer ->> 'clock', '')::timestamptz <> fuel.clock()
        THEN 'has another clock: reset the setting bowser.now of its login or database' END),
      ('FAIL', (
        SELECT format('has stations of %s, which is not its own', string_agg(state, ', '))
        FROM jsonb_array_elements_text(answer -> 'states') AS state WHERE state <> ALL (known.states) HAVING count(*) > 0)),
      ('FAIL', (
        SELECT format('is older than the hub and lacks %s: upgrade members first', min(class.relname || '.' || attname))
        FROM pg_attribute JOIN pg_class AS class ON class.oid = attrelid
        WHERE (class.relnamespace = 'fuel_v1'::regnamespace OR class.oid = ANY (fuel.member_tables())) AND attnum > 0 AND NOT attisdropped
          AND answer -> 'columns' ->> (class.relnamespace::regnamespace || '.' || class.relname || '.' || attname)
            IS DISTINCT FROM format_type(atttypid, atttypmod)
        HAVING count(*) > 0)),
      ('warn', (
        SELECT 'has no statistics here: run bowser hub again' FROM pg_class
        WHERE oid = to_regclass('hub.price_now_' || known.number) AND reltuples < 1 AND answer -> 'places' <> '[]')),
      ('warn', (
        SELECT 'lacks the option fdw_startup_cost of 1000: add it by ALTER SERVER, see docs/operating.md' FROM pg_foreign_server
        WHERE srvname = known.member AND NOT coalesce(srvoptions, '{}') @> ARRAY['fdw_startup_cost=1000'])),
      ('warn', (
        SELECT 'lacks the option connect_timeout: add it by ALTER SERVER, see docs/operating.md' FROM pg_foreign_server
        WHERE srvname = known.member AND coalesce(srvoptions, '{}')::text NOT LIKE '%connect_timeout=%')),
      ('warn', (
        SELECT format('has stations in %s, which another member makes: run bowser hub again', min(placed.region))
        FROM fuel.member_region AS placed JOIN fuel.region USING (region)
        WHERE answer -> 'places' ? placed.region AND placed.member <> known.member AND region.state IS NULL
        HAVING count(*) > 0))) AS fault (finding, words)
    WHERE fault.words IS NOT NULL;
    IF NOT FOUND THEN
      RETURN QUERY SELECT known.member, 'ok', format(
        'answers: %s, aggregated %s UTC', array_to_string(known.states, ', '), coalesce(answer ->> 'aggregated_at', 'never'));
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT 'members', 'warn', format('no member has %s, so the nation lacks it', state.state)
  FROM fuel.state WHERE NOT EXISTS (SELECT FROM fuel.member WHERE state.state = ANY (member.states))
  UNION ALL
  SELECT 'members', 'warn', format('%s lies in several members: it has averages and no verdict', placed.region)
  FROM fuel.region AS placed
  WHERE placed.region = ANY (fuel.nations()) AND placed.kind <> 'nation' AND cardinality(array_positions(places, placed.region)) > 1
  UNION ALL
  SELECT 'members', 'warn', format('the region %s is new: run bowser hub', region.region)
  FROM fuel.region WHERE region.region NOT IN (SELECT placed.region FROM fuel.member_region AS placed);
END
$$;
COMMENT ON FUNCTION fuel.check_members IS 'Whether each member answers, and fits: a line for each finding.';
GRANT EXECUTE ON FUNCTION fuel.check_members TO fuel_writer;
