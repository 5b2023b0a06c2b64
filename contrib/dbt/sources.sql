-- Prints models/sources.yml: what each view and column is, from the comments in the database, and how dbt tests it,
-- from the list below. A test of a column that the database lacks is an error.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on

WITH
-- Sources with an age: which column or query tells it.
aged (view, setting, value) AS (VALUES
  ('current_prices', 'loaded_at_field', 'confirmed_at'),
  -- A day begins at midnight in Sydney.
  ('daily_averages', 'loaded_at_field', 'day::timestamp at time zone ''Australia/Sydney'''),
  -- The feed that has been silent longest decides; one that was never read has no age.
  ('feed_health', 'loaded_at_query', 'select min(last_success_at) from fuel_v1.feed_health where status <> ''off'''),
  ('ingest_runs', 'loaded_at_field', 'started_at')
),

-- Sources of which tests read a part: the variable in dbt_project.yml that says which.
long (view, variable) AS (VALUES
  ('brand_daily', 'brand_daily_where'),
  ('changes', 'changes_where'),
  ('price_changes', 'price_history_where'),
  ('price_history', 'price_history_where'),
  ('station_days', 'price_history_where')
),

-- The tests, separated by semicolons: unique, accepted_values VALUE..., relationships VIEW.COLUMN,
-- in_range LOWEST..HIGHEST (either may be left out) and unique_together COLUMN... Those without a column are of the
-- whole view. What has no test needs no row. A column is tested with not_null unless its comment says what NULL means,
-- and without a row one called state or station_id is tested as such.
tested (view, name, tests) AS (VALUES
  ('aggregate_runs', 'aggregate_run_id', 'unique'),
  ('aggregate_runs', 'outcome', 'accepted_values running done interrupted'),

  ('averages_now', NULL, 'unique_together region fuel'),
  ('averages_now', 'region', 'relationships regions.region'),
  ('averages_now', 'fuel', 'relationships fuels.fuel'),
  ('averages_now', 'stations', 'in_range 0..'),
  ('averages_now', 'delay_hours', 'in_range 0..'),

  ('brand_daily', NULL, 'unique_together region brand fuel day'),
  ('brand_daily', 'region', 'relationships regions.region'),
  ('brand_daily', 'fuel', 'relationships fuels.fuel'),
  ('brand_daily', 'average_cpl', 'in_range 0.1..'),
  ('brand_daily', 'stations', 'in_range 1..'),

  ('changes', NULL, 'unique_together run_id what station_id fuel effective_at price_cpl'),
  ('changes', 'run_id', 'relationships ingest_runs.run_id'),
  ('changes', 'what', 'accepted_values price ended listed history'),
  ('changes', 'station_id', 'relationships station_records.record_id'),
  ('changes', 'fuel', 'relationships fuels.fuel'),
  ('changes', 'price_cpl', 'in_range 0.1..'),

  ('coverage', NULL, 'unique_together region source day'),
  ('coverage', 'region', 'relationships regions.region'),
  ('coverage', 'why', 'accepted_values not_loaded outage frozen late before_first_run no_prices'),
  ('coverage', 'stations_expected', 'in_range 1..'),

  ('current_prices', NULL, 'unique_together station_id fuel'),
  ('current_prices', 'fuel', 'relationships fuels.fuel'),
  ('current_prices', 'price_cpl', 'in_range 0.1..'),
  ('current_prices', 'flag_reason', 'accepted_values far placeholder'),

  ('cycles', NULL, 'unique_together region fuel trough_on'),
  ('cycles', 'region', 'relationships regions.region'),
  ('cycles', 'length_days', 'in_range 2..'),
  ('cycles', 'amplitude_cpl', 'in_range 0.01..'),

  ('daily_averages', NULL, 'unique_together region fuel day'),
  ('daily_averages', 'region', 'relationships regions.region'),
  ('daily_averages', 'fuel', 'relationships fuels.fuel'),
  ('daily_averages', 'stations', 'in_range 0..'),
  ('daily_averages', 'coverage', 'in_range 0..1'),
  ('daily_averages', 'states_complete', 'in_range 0..8'),
  ('daily_averages', 'states_expected', 'in_range 1..8'),
  ('daily_averages', 'stations_expected', 'in_range 1..'),

  ('feed_health', 'source', 'unique'),
  ('feed_health', 'status', 'accepted_values ok late stale failing off'),
  ('feed_health', 'quota_left', 'in_range 0..'),

  ('fill_up', NULL, 'unique_together region fuel'),
  ('fill_up', 'region', 'relationships regions.region'),
  ('fill_up', 'verdict', 'accepted_values fill_up wait no_difference'),
  ('fill_up', 'basis',
    'accepted_values tomorrow_price price_cycle price_trend not_cycling '
    'insufficient_data'),
  ('fill_up', 'confidence', 'in_range 0..1'),
  ('fill_up', 'phase', 'accepted_values rising falling'),
  ('fill_up', 'market_state', 'accepted_values quiet falling near_low rising near_high shock'),
  ('fill_up', 'p_cheaper_3d', 'in_range 0..1'),
  ('fill_up', 'p_jump_3d', 'in_range 0..1'),
  ('fill_up', 'share_raised', 'in_range 0..1'),
  ('fill_up', 'p_lower_5d', 'in_range 0..1'),

  ('fill_up_history', NULL, 'unique_together region fuel computed_at'),
  ('fill_up_history', 'verdict', 'accepted_values fill_up wait no_difference'),
  ('fill_up_history', 'basis',
    'accepted_values tomorrow_price price_cycle price_trend not_cycling '
    'insufficient_data'),
  ('fill_up_history', 'confidence', 'in_range 0..1'),
  ('fill_up_history', 'market_state', 'accepted_values quiet falling near_low rising near_high shock'),
  ('fill_up_history', 'p_cheaper_3d', 'in_range 0..1'),
  ('fill_up_history', 'p_jump_3d', 'in_range 0..1'),
  ('fill_up_history', 'share_raised', 'in_range 0..1'),
  ('fill_up_history', 'p_lower_5d', 'in_range 0..1'),

  ('fuels', 'fuel', 'unique'),

  ('ingest_runs', 'run_id', 'unique'),
  ('ingest_runs', 'outcome',
    'accepted_values running stored unchanged rehearsed refused failed interrupted '
    'superseded withdrawn'),
  ('ingest_runs', 'kind', 'accepted_values live replay reprocess backfill'),
  ('ingest_runs', 'replaces_run_id', 'relationships ingest_runs.run_id'),
  ('ingest_runs', 'change_number', 'unique'),

  ('run_rejects', NULL, 'unique_together run_id reason'),
  ('run_rejects', 'run_id', 'relationships ingest_runs.run_id'),
  ('run_rejects', 'source', 'relationships sources.source'),
  ('run_rejects', 'records', 'in_range 1..'),

  ('sources', 'source', 'unique'),
  ('sources', 'kind', 'accepted_values feed archive'),
  ('sources', 'delay_hours', 'in_range 0..'),
  ('sources', 'records', 'in_range 0..'),

  ('localities', NULL, 'unique_together kind state name'),
  ('localities', 'kind', 'accepted_values suburb postcode'),
  ('localities', 'latitude', 'in_range -44.5..-9'),
  ('localities', 'longitude', 'in_range 96..168'),
  ('localities', 'stations', 'in_range 1..'),

  ('market_events', NULL, 'unique_together day state fuel what'),
  ('market_events', 'fuel', 'relationships fuels.fuel'),

  ('pipeline', 'days_due', 'in_range 0..'),

  ('price_changes', NULL, 'unique_together station_id fuel changed_at'),
  ('price_changes', 'after_cpl', 'in_range 0.1..'),

  ('price_history', NULL, 'unique_together station_id fuel valid_from_at'),
  ('price_history', 'price_cpl', 'in_range 0.1..'),
  ('price_history', 'flag_reason', 'accepted_values far placeholder'),

  ('quarantined', 'run_id', 'unique; relationships ingest_runs.run_id'),
  ('quarantined', 'kind', 'accepted_values live replay reprocess backfill'),

  ('region_stations', NULL, 'unique_together region station_id'),
  ('region_stations', 'region', 'relationships regions.region'),

  ('regions', 'region', 'unique'),
  ('regions', 'kind', 'accepted_values nation state capital area rest'),
  ('regions', 'stations', 'in_range 0..'),

  ('rejects', NULL, 'unique_together source reason raw'),
  ('rejects', 'run_id', 'relationships ingest_runs.run_id'),
  ('rejects', 'reason',
    'accepted_values unknown_fuel unsupported_fuel price_unreadable '
    'price_out_of_band stamp_unreadable stamp_in_future stamp_too_old stamp_nonexistent '
    'station_missing station_beyond_limit state_unknown other_state record_unreadable not_a_record conflicting_price'),

  ('station_comparison', NULL, 'unique_together station_id region fuel'),
  ('station_comparison', 'region', 'relationships regions.region'),
  ('station_comparison', 'rank_in_region', 'in_range 1..'),
  ('station_comparison', 'stations', 'in_range 1..'),

  ('station_days', NULL, 'unique_together station_id fuel day'),
  ('station_days', 'average_cpl', 'in_range 0.1..'),
  ('station_days', 'coverage', 'in_range 0..1'),

  ('station_fill_up', NULL, 'unique_together station_id fuel'),
  ('station_fill_up', 'verdict', 'accepted_values fill_up wait no_difference'),
  ('station_fill_up', 'basis',
    'accepted_values tomorrow_price price_cycle price_trend not_cycling '
    'insufficient_data'),
  ('station_fill_up', 'region', 'relationships regions.region'),

  ('station_history', NULL,
    'unique_together station_id source name written_brand address suburb postcode latitude '
    'longitude is_public details'),

  ('station_records', NULL, 'unique_together source source_station_code'),
  ('station_records', 'matched_by', 'accepted_values itself code address name position person'),
  ('station_records', 'record_id', 'unique'),

  ('stations', 'station_id', 'unique'),
  ('stations', 'latitude', 'in_range -44.5..-9'),
  ('stations', 'longitude', 'in_range 96..168'),

  ('tomorrow_prices', NULL, 'unique_together station_id fuel'),
  ('tomorrow_prices', 'comparison', 'accepted_values dearer cheaper same'),

  ('trend_30d', NULL, 'unique_together region fuel day'),
  ('trend_30d', 'region', 'relationships regions.region'),

  ('trend_summary', NULL, 'unique_together region fuel'),
  ('trend_summary', 'region', 'relationships regions.region'),
  ('trend_summary', 'position_pct', 'in_range 0..100'),
  ('trend_summary', 'direction', 'accepted_values rising falling steady'),

  ('verdict_calibration', NULL, 'unique_together method event decile'),
  ('verdict_calibration', 'event', 'accepted_values cheaper_3d jump_3d lower_5d'),
  ('verdict_calibration', 'decile', 'in_range 1..10'),
  ('verdict_calibration', 'stated', 'in_range 0..1'),
  ('verdict_calibration', 'real', 'in_range 0..1'),
  ('verdict_calibration', 'days', 'in_range 1..'),

  ('verdict_scores', NULL, 'unique_together scored method region fuel year horizon'),
  ('verdict_scores', 'scored', 'accepted_values given replayed'),
  ('verdict_scores', 'fuel', 'relationships fuels.fuel'),
  ('verdict_scores', 'horizon', 'in_range 3..7'),
  ('verdict_scores', 'days', 'in_range 1..'),
  ('verdict_scores', 'perfect_cpl', 'in_range 0..'),
  ('verdict_scores', 'capture', 'in_range ..1'),
  ('verdict_scores', 'wait_share', 'in_range 0..1'),
  ('verdict_scores', 'fill_up_share', 'in_range 0..1'),
  ('verdict_scores', 'no_difference_share', 'in_range 0..1'),
  ('verdict_scores', 'wait_right', 'in_range 0..1'),
  ('verdict_scores', 'fill_up_right', 'in_range 0..1'),
  ('verdict_scores', 'no_difference_right', 'in_range 0..1'),
  ('verdict_scores', 'flips_30d', 'in_range 0..30')
),

present AS (
  SELECT
    class.relname::text AS view,
    attribute.attname::text AS name,
    attribute.attnum AS place,
    col_description(class.oid, attribute.attnum) AS about,
    obj_description(class.oid, 'pg_class') AS about_view
  FROM pg_catalog.pg_class AS class
  JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0
  WHERE class.relnamespace = 'fuel_v1'::regnamespace AND class.relkind = 'v'
),
-- One row per test.
test AS (
  SELECT
    tested.view,
    tested.name,
    split.number,
    split_part(split.text, ' ', 1) AS test,
    substr(split.text, strpos(split.text || ' ', ' ') + 1) AS words
  FROM (
    SELECT present.view, present.name, usual.tests
    FROM present
    JOIN (VALUES
      ('state', 'accepted_values ACT NSW NT QLD SA TAS VIC WA'), ('station_id', 'relationships stations.station_id')
    ) AS usual (name, tests) USING (name)
    WHERE (present.view, present.name) NOT IN (SELECT tested.view, tested.name FROM tested WHERE tested.name IS NOT NULL)
    UNION ALL
    SELECT tested.view, tested.name, tested.tests FROM tested
  ) AS tested
  CROSS JOIN LATERAL regexp_split_to_table(tested.tests, '; ') WITH ORDINALITY AS split (text, number)
  UNION ALL
  SELECT present.view, present.name, 0, 'not_null', '' FROM present WHERE strpos(present.about, 'NULL') = 0
),
-- What the lists name. Nothing of it may be lost without a word.
named (view, name) AS (
  SELECT test.view, test.name FROM test
  UNION
  SELECT split_part(test.words, '.', 1), split_part(test.words, '.', 2) FROM test WHERE test.test = 'relationships'
  UNION
  SELECT test.view, string_to_table(test.words, ' ') FROM test WHERE test.test = 'unique_together'
  UNION
  SELECT aged.view, NULL FROM aged
  UNION
  SELECT long.view, NULL FROM long
),
written AS (
  SELECT
    test.view,
    test.name,
    test.number,
    '- ' || test.test || coalesce(
      ': { ' || nullif(concat_ws(
        ', ',
        'arguments: { ' || CASE test.test
          -- Quoted: in YAML off and NO are false.
          WHEN 'accepted_values' THEN format('values: ["%s"]', replace(test.words, ' ', '", "'))
          WHEN 'relationships' THEN format(
            'to: "source(''fuel_v1'', ''%s'')", field: %s',
            split_part(test.words, '.', 1), split_part(test.words, '.', 2))
          WHEN 'in_range' THEN concat_ws(
            ', ',
            'lowest: ' || (regexp_match(test.words, '^(.+)\.\.'))[1],
            'highest: ' || (regexp_match(test.words, '\.\.(.+)$'))[1])
          WHEN 'unique_together' THEN format('columns: [%s]', replace(test.words, ' ', ', '))
        END || ' }',
        'config: { where: "{{ var(''' || long.variable || ''') }}" }'), '') || ' }', '') AS text
  FROM test
  LEFT JOIN long USING (view)
),
line (view, part, place, number, text) AS (
  -- No number: so a statement that makes nothing ends with an error that says why.
  SELECT '', 0, ('not in fuel_v1: ' || string_agg(concat_ws('.', named.view, named.name), ', '))::integer, 0, ''
  FROM named
  WHERE NOT EXISTS (
    SELECT FROM present WHERE present.view = named.view AND present.name = coalesce(named.name, present.name))
  HAVING count(*) > 0
  UNION ALL
  SELECT '', 0, ('named twice: ' || min(concat_ws('.', tested.view, tested.name)))::integer, 0, ''
  FROM tested
  GROUP BY tested.view, tested.name
  HAVING count(*) > 1
  UNION ALL
  SELECT '', 0, 0, 0, concat_ws(E'\n',
    '# Made by sources.sql from the comments in the database.',
    'version: 2', '',
    'sources:',
    '  - name: fuel_v1',
    '    description: ' || to_json(obj_description('fuel_v1'::regnamespace, 'pg_namespace')),
    '    schema: fuel_v1',
    '    tables:')
  UNION ALL
  SELECT DISTINCT present.view, 1, 0, 0, format(
    E'\n      - name: %s\n        description: %s', present.view, to_json(present.about_view))
  FROM present
  UNION ALL
  SELECT aged.view, 2, 0, 0, concat_ws(E'\n',
    '        config:',
    format('          %s: %s', aged.setting, to_json(aged.value)),
    '          freshness:',
    '            warn_after: { count: 2, period: day }',
    '            error_after: { count: 4, period: day }')
  FROM aged
  UNION ALL
  SELECT written.view, 3, 0, 0, '        data_tests:' FROM written WHERE written.name IS NULL
  UNION ALL
  SELECT written.view, 3, 1, written.number, '          ' || written.text FROM written WHERE written.name IS NULL
  UNION ALL
  SELECT DISTINCT present.view, 4, 0, 0, '        columns:' FROM present
  UNION ALL
  SELECT present.view, 5, present.place, -1, concat_ws(E'\n',
    '          - name: ' || present.name,
    '            description: ' || to_json(present.about),
    CASE WHEN EXISTS (
      SELECT FROM written WHERE written.view = present.view AND written.name = present.name)
      THEN '            data_tests:' END)
  FROM present
  UNION ALL
  SELECT written.view, 5, present.place, written.number, '              ' || written.text
  FROM written
  JOIN present USING (view, name)
)
SELECT line.text FROM line ORDER BY line.view COLLATE "C", line.part, line.place, line.number;
