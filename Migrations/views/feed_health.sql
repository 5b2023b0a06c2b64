CREATE OR REPLACE VIEW fuel_v1.feed_health AS
SELECT
  source.source AS feed,
  health.status,
  CASE health.status
    WHEN 'off' THEN 'switched off in the configuration'
    WHEN 'failing' THEN coalesce(attempt.error, 'the last attempts failed')
    WHEN 'stale' THEN coalesce(
      'nothing good since ' || to_char(success.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
      'never read')
    WHEN 'late' THEN 'a run is overdue'
  END AS why,
  CASE health.status
    WHEN 'ok' THEN success.last_at
    WHEN 'late' THEN success.last_at + 2 * source.cadence
    WHEN 'stale' THEN success.last_at + source.sight_lapses_after
    WHEN 'failing' THEN attempt.failing_since_at
  END AS since_at,
  success.last_at AS last_success_at,
  attempt.last_at AS last_attempt_at,
  holding.newest_price_at,
  holding.stations,
  holding.prices,
  CASE
    WHEN source.calls_per_month > 0 THEN greatest(0, source.calls_per_month - coalesce(spent.calls, 0))
  END AS quota_left,
  source.attribution
FROM fuel.source
LEFT JOIN LATERAL (
  SELECT max(run.started_at) AS last_at
  FROM fuel.run
  WHERE run.source_id = source.source_id AND run.outcome IN ('stored', 'unchanged')
) AS success ON true
LEFT JOIN LATERAL (
  SELECT
    max(run.started_at) AS last_at,
    min(run.started_at) FILTER (WHERE run.outcome IN ('refused', 'failed')) AS failing_since_at,
    count(*) FILTER (WHERE run.outcome IN ('refused', 'failed')) AS failures,
    (array_agg(run.error ORDER BY run.run_id DESC) FILTER (WHERE run.error IS NOT NULL))[1] AS error
  FROM fuel.run
  WHERE run.source_id = source.source_id
    AND run.started_at > coalesce(success.last_at, '-infinity')
) AS newer ON true
CROSS JOIN LATERAL (
  SELECT
    greatest(success.last_at, newer.last_at) AS last_at,
    newer.failing_since_at,
    newer.failures,
    newer.error
) AS attempt
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN NOT source.is_enabled THEN 'off'
    WHEN attempt.failures >= 2 THEN 'failing'
    WHEN success.last_at IS NULL
      OR fuel.clock() - success.last_at > source.sight_lapses_after THEN 'stale'
    WHEN fuel.clock() - success.last_at > 2 * source.cadence THEN 'late'
    ELSE 'ok'
  END AS status
) AS health
LEFT JOIN LATERAL (
  SELECT
    max(pair.stamped_at) AS newest_price_at,
    count(DISTINCT pair.station_id)::integer AS stations,
    count(*)::integer AS prices
  FROM fuel.current_price AS pair
  WHERE pair.source_id = source.source_id AND pair.price_tenths > 0
) AS holding ON true
LEFT JOIN LATERAL (
  SELECT sum(run.requests)::integer AS calls
  FROM fuel.run
  WHERE run.source_id = source.source_id
    AND run.started_at >= date_trunc('month', fuel.clock(), 'UTC')
) AS spent ON true;
COMMENT ON VIEW fuel_v1.feed_health IS 'How each feed is doing. One row per feed.';
COMMENT ON COLUMN fuel_v1.feed_health.feed            IS 'The feed.';
COMMENT ON COLUMN fuel_v1.feed_health.status          IS 'ok, late, stale, failing or off, by the feed''s own cadence.';
COMMENT ON COLUMN fuel_v1.feed_health.why             IS 'Why it is not ok; NULL: it is.';
COMMENT ON COLUMN fuel_v1.feed_health.since_at        IS 'Since when; NULL: not known.';
COMMENT ON COLUMN fuel_v1.feed_health.last_success_at IS 'When its last good run began; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.feed_health.last_attempt_at IS 'When its last run began; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.feed_health.newest_price_at IS 'The newest stamp among its prices in effect; NULL: none.';
COMMENT ON COLUMN fuel_v1.feed_health.stations        IS 'Stations with a price of it.';
COMMENT ON COLUMN fuel_v1.feed_health.prices          IS 'Prices of it.';
COMMENT ON COLUMN fuel_v1.feed_health.quota_left      IS 'Requests left this UTC month; NULL: no limit.';
COMMENT ON COLUMN fuel_v1.feed_health.attribution     IS 'The wording that its licence asks for.';
GRANT SELECT ON fuel_v1.feed_health TO fuel_reader, fuel_writer;
