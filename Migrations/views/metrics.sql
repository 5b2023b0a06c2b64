-- It is one statement, so that all metrics are of one moment.
CREATE OR REPLACE FUNCTION fuel_v1.metrics()
RETURNS TABLE (sort_order integer, name text, help text, labels text[], value numeric)
LANGUAGE sql STABLE AS $$
  WITH day AS (
    SELECT ingest_runs.* FROM fuel_v1.ingest_runs
    CROSS JOIN fuel_v1.pipeline
    WHERE ingest_runs.kind = 'live'
      AND ingest_runs.started_at > pipeline.now_at - interval '24 hours'
      AND ingest_runs.started_at <= pipeline.now_at
  ),
  metric (sort_order, name, help, labels, value) AS (
    SELECT 1, 'bowser_metrics_timestamp_seconds', 'When these metrics were read.', '{}'::text[],
      extract(epoch FROM pipeline.now_at)
    FROM fuel_v1.pipeline
    UNION ALL
    SELECT 2, 'bowser_feed_status', '1 for the current status of the feed, 0 for the others.',
      ARRAY['feed', feed_health.source, 'status', status.status],
      (feed_health.status = status.status)::integer
    FROM fuel_v1.feed_health
    CROSS JOIN (VALUES ('ok'), ('late'), ('stale'), ('failing'), ('off')) AS status (status)
    UNION ALL
    SELECT 2 + of_feed.sort_order, 'bowser_feed_' || of_feed.name, of_feed.help,
      ARRAY['feed', feed_health.source], of_feed.value
    FROM fuel_v1.feed_health
    CROSS JOIN LATERAL (VALUES
      (1, 'last_success_timestamp_seconds', 'When the newest good documents of the feed were fetched.',
        extract(epoch FROM feed_health.last_success_at)),
      (2, 'last_attempt_timestamp_seconds', 'When the last run of the feed began.',
        extract(epoch FROM feed_health.last_attempt_at)),
      (3, 'newest_price_timestamp_seconds', 'The newest stamp among the prices that the feed reported last.',
        extract(epoch FROM feed_health.newest_price_at)),
      (4, 'stations', 'Stations with a price in effect from this feed.', feed_health.stations),
      (5, 'prices', 'Prices in effect from this feed.', feed_health.prices),
      (6, 'flagged_prices', 'Prices that are doubtful now.', feed_health.flagged),
      (7, 'unmapped_prices', 'Prices under a fuel code that nobody has mapped yet.',
        feed_health.unmapped_prices),
      (8, 'quota_left_requests', 'Requests left this UTC month.', feed_health.quota_left)
    ) AS of_feed (sort_order, name, help, value)
    UNION ALL
    SELECT 20, 'bowser_feed_runs', 'Live runs of the last 24 hours by outcome.',
      ARRAY['feed', day.source, 'outcome', day.outcome], count(*)
    FROM day
    WHERE day.outcome <> 'running'
    GROUP BY day.source, day.outcome
    UNION ALL
    SELECT 21, 'bowser_feed_records',
      'Price records of the live runs of the last 24 hours by what became of them.',
      ARRAY['feed', day.source, 'fate', of_run.fate], sum(of_run.value)
    FROM day
    CROSS JOIN LATERAL (VALUES
      ('received', day.received), ('stored', day.stored), ('unchanged', day.unchanged),
      ('duplicate', day.duplicate), ('rejected', day.rejected), ('flagged', day.flagged)
    ) AS of_run (fate, value)
    GROUP BY day.source, of_run.fate
    UNION ALL
    SELECT 22, 'bowser_aggregated_timestamp_seconds', 'When the last good aggregate ended.', '{}',
      extract(epoch FROM pipeline.aggregated_at)
    FROM fuel_v1.pipeline
    UNION ALL
    SELECT 23, 'bowser_dirty_days', 'Days whose averages have to be recomputed.', '{}',
      pipeline.days_due
    FROM fuel_v1.pipeline
    UNION ALL
    SELECT 24, 'bowser_average_cents_per_litre', 'Real-time average.',
      ARRAY['region', averages_now.region, 'fuel', averages_now.fuel], averages_now.average_cpl
    FROM fuel_v1.averages_now
    UNION ALL
    SELECT 25, 'bowser_average_stations', 'Stations that the average is computed from.',
      ARRAY['region', averages_now.region, 'fuel', averages_now.fuel], averages_now.stations
    FROM fuel_v1.averages_now
  )
  SELECT metric.sort_order, metric.name, metric.help, metric.labels, metric.value
  FROM metric
  WHERE metric.value IS NOT NULL
$$;
COMMENT ON FUNCTION fuel_v1.metrics IS
  'The lines that bowser metrics writes, one row for each, in the order of sort_order: the name of a gauge, its help, its '
  'labels (names and values in turn) and its value.';
