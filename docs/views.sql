-- The pages of docs/views.md, from the comments in the database: make docs
\pset format unaligned
\pset tuples_only on
WITH kind AS (
  SELECT
    class.oid,
    class.relname AS name,
    'view' AS kind,
    obj_description(class.oid, 'pg_class') AS about,
    -- What most come for first.
    coalesce(array_position(
      ARRAY['averages_now', 'current_prices', 'tomorrow_prices', 'fill_up', 'station_fill_up', 'trend_30d',
        'trend_summary', 'cycles', 'daily_averages', 'station_days', 'price_history', 'price_changes', 'stations',
        'station_comparison', 'regions', 'region_stations', 'fuels', 'fill_up_history', 'verdict_scores',
        'brand_daily', 'sources', 'feed_health', 'coverage', 'pipeline', 'changes', 'ingest_runs', 'run_rejects', 'rejects', 'aggregate_runs', 'station_history', 'station_records'],
      class.relname::text), 99 + row_number() OVER (ORDER BY class.relname)) AS place
  FROM pg_catalog.pg_class AS class
  WHERE class.relnamespace = 'fuel_v1'::regnamespace AND class.relkind = 'v'
),
line (part, place, number, text) AS (
  SELECT 1, 0, 0, concat_ws(E'\n',
    '# The views of schema fuel_v1', '',
    obj_description('fuel_v1'::regnamespace, 'pg_namespace'), '',
    'Made by `make docs` from the comments in the database, where `\d+ fuel_v1.averages_now` shows the same.',
    'Questions and their queries: [cookbook](cookbook.md). What the numbers mean: [numbers](numbers.md).', '')
  UNION ALL
  SELECT 2, kind.place, 0, format(E'- [%s](#%s): %s', kind.name, kind.name,
    split_part(kind.about, '. ', 1) || CASE WHEN split_part(kind.about, '. ', 1) LIKE '%.' THEN '' ELSE '.' END)
  FROM kind
  UNION ALL
  SELECT 2, 1000, 0, E'- [Functions](#functions)\n'
  UNION ALL
  SELECT 3, kind.place, 0, format(E'## %s\n\n%s\n\n| column | type | |\n|---|---|---|', kind.name, kind.about)
  FROM kind
  UNION ALL
  SELECT 3, kind.place, attribute.attnum, format(
    '| `%s` | %s | %s |', attribute.attname,
    replace(format_type(attribute.atttypid, attribute.atttypmod), 'timestamp with time zone', 'timestamptz'),
    replace(col_description(kind.oid, attribute.attnum), '|', '\|'))
  FROM kind
  JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = kind.oid AND attribute.attnum > 0
  UNION ALL
  SELECT 3, kind.place, 1000, '' FROM kind
  UNION ALL
  SELECT 4, 0, 0, E'## Functions\n'
  UNION ALL
  SELECT 4, 1, row_number() OVER (ORDER BY proc.proname, proc.oid::regprocedure::text)::integer, format(
    E'- `%s(%s)`: %s', proc.proname, pg_get_function_arguments(proc.oid), obj_description(proc.oid, 'pg_proc'))
  FROM pg_catalog.pg_proc AS proc
  WHERE proc.pronamespace = 'fuel_v1'::regnamespace
)
SELECT line.text FROM line ORDER BY line.part, line.place, line.number, line.text COLLATE "C";
