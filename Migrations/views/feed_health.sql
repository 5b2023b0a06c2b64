-- Health is judged by what the provider really reported, and when. Recordings that are replayed and documents that are
-- read again do not make a feed healthy.
CREATE OR REPLACE VIEW fuel_v1.feed_health AS
SELECT
  source.source AS feed,
  health.status,
  CASE health.status
    WHEN 'off' THEN 'switched off in the configuration'
    WHEN 'failing' THEN coalesce(newer.error, 'the last attempts failed')
    WHEN 'stale' THEN CASE
      WHEN success.last_at IS NULL THEN concat('never read', ': ' || newer.error)
      WHEN health.is_frozen
        THEN to_char(frozen.since_at AT TIME ZONE 'UTC', '"frozen: nothing new since "YYYY-MM-DD HH24:MI "UTC"')
      ELSE concat(
        'nothing good since ', to_char(success.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
        ': ' || newer.error)
    END
    WHEN 'late' THEN 'a run is overdue'
    ELSE nullif(concat_ws(
      '; ',
      nullif(array_to_string(latest.shortcomings || latest.warnings, '; '), ''),
      CASE
        WHEN abs(extract(epoch FROM latest.clock_skew)) > 120 THEN format(
          'the provider''s clock differs from ours by %s s',
          round(extract(epoch FROM latest.clock_skew)))
      END,
      CASE
        WHEN unmapped.fuels IS NOT NULL THEN 'fuel codes not mapped: ' || unmapped.fuels
      END), '')
  END AS why,
  CASE health.status
    WHEN 'ok' THEN success.last_at
    WHEN 'late' THEN success.last_at + 2 * source.cadence
    WHEN 'stale' THEN CASE
      WHEN health.is_frozen THEN frozen.since_at
      ELSE success.last_at + believed.lasts
    END
    WHEN 'failing' THEN newer.failing_since_at
  END AS since_at,
  success.last_at AS last_success_at,
  (
    SELECT max(run.started_at)
    FROM fuel.run
    WHERE run.source_id = source.source_id AND run.kind = 'live' AND run.started_at <= fuel.latest_start()
  ) AS last_attempt_at,
  newest.newest_price_at,
  coalesce(holding.stations, 0) AS stations,
  coalesce(holding.prices, 0) AS prices,
  CASE
    WHEN source.calls_per_month > 0
      THEN greatest(0, source.calls_per_month - coalesce(spent.calls, 0))
  END AS quota_left,
  source.attribution,
  (extract(epoch FROM source.delay) / 3600)::integer AS delay_hours,
  terms.licence,
  terms.since_at AS terms_since_at,
  coalesce(unmapped.prices, 0)::integer AS unmapped_prices,
  coalesce(holding.flagged, 0) AS flagged,
  (
    SELECT count(*)::integer
    FROM (SELECT DISTINCT station.brand FROM fuel.station WHERE station.source_id = source.source_id) AS written
    WHERE written.brand IS NOT NULL
      AND NOT EXISTS (SELECT FROM fuel.brand_name WHERE brand_name.written = lower(written.brand))
  ) AS unmapped_brands
FROM fuel.source
JOIN fuel.sight USING (source_id)
-- A list is believed from the instant whose prices it shows. Where a feed publishes late, part of that time has passed
-- when the list is fetched.
CROSS JOIN LATERAL (SELECT sight.lapses_after - sight.delay AS lasts) AS believed
LEFT JOIN LATERAL (
  SELECT run.fetched_at AS last_at
  FROM fuel.run
  WHERE run.source_id = source.source_id
    AND run.kind = 'live'
    AND run.outcome IN ('stored', 'unchanged', 'superseded')
    AND run.fetched_at IS NOT NULL
    AND run.started_at <= fuel.latest_start()
  ORDER BY run.started_at DESC
  LIMIT 1
) AS success ON true
LEFT JOIN LATERAL (
  SELECT run.shortcomings, run.warnings, run.clock_skew
  FROM fuel.run
  WHERE run.source_id = source.source_id AND run.kind = 'live' AND run.outcome <> 'running'
    AND run.started_at <= fuel.latest_start()
  ORDER BY run.started_at DESC
  LIMIT 1
) AS latest ON true
LEFT JOIN LATERAL (
  SELECT
    min(run.started_at) FILTER (WHERE run.outcome IN ('refused', 'failed', 'interrupted'))
      AS failing_since_at,
    count(*) FILTER (WHERE run.outcome IN ('refused', 'failed', 'interrupted')) AS failures,
    (array_agg(run.error ORDER BY run.run_id DESC) FILTER (WHERE run.error IS NOT NULL))[1]
      AS error
  FROM fuel.run
  WHERE run.source_id = source.source_id
    AND run.kind = 'live'
    AND run.started_at > coalesce(success.last_at, '-infinity')
    AND run.started_at <= fuel.latest_start()
) AS newer ON true
LEFT JOIN LATERAL (
  SELECT run.frozen_since_at AS since_at
  FROM fuel.run
  WHERE run.source_id = source.source_id
    AND run.content IS NOT NULL
    AND run.outcome IN ('stored', 'unchanged')
    AND NOT run.is_repeat
    AND run.started_at <= fuel.latest_start()
  ORDER BY run.taken_at DESC
  LIMIT 1
) AS frozen ON true
CROSS JOIN LATERAL (
  SELECT
    fuel.clock() - success.last_at <= believed.lasts AND frozen.since_at IS NOT NULL AS is_frozen,
    CASE
      WHEN NOT source.is_enabled THEN 'off'
      -- Before failing: once its prices have lapsed it matters more that there are none than why.
      WHEN fuel.clock() - success.last_at > believed.lasts THEN 'stale'
      WHEN newer.failures >= 2 THEN 'failing'
      WHEN success.last_at IS NULL OR frozen.since_at IS NOT NULL THEN 'stale'
      WHEN fuel.clock() - success.last_at > 2 * source.cadence THEN 'late'
      ELSE 'ok'
    END AS status
) AS health
LEFT JOIN LATERAL (
  SELECT max(pair.stamped_at) AS newest_price_at
  FROM fuel.shown_price AS pair
  WHERE pair.source_id = source.source_id AND pair.price_tenths > 0 AND pair.is_listed IS NOT FALSE
) AS newest ON true
LEFT JOIN (
  SELECT
    of_station.source_id,
    count(*)::integer AS stations,
    sum(of_station.prices)::integer AS prices,
    sum(of_station.flagged)::integer AS flagged
  FROM (
    SELECT price_now.source_id, count(*) AS prices, count(*) FILTER (WHERE price_now.is_flagged) AS flagged
    FROM fuel.price_now
    WHERE price_now.price_tenths > 0 AND price_now.is_fresh
    GROUP BY price_now.source_id, price_now.station_id
  ) AS of_station
  GROUP BY of_station.source_id
) AS holding ON holding.source_id = source.source_id
LEFT JOIN LATERAL (
  SELECT
    string_agg(DISTINCT split_part(fuel.fuel, ':', 2), ', ') AS fuels,
    count(*) AS prices
  FROM fuel.fuel
  JOIN fuel.shown_price AS pair ON pair.fuel_id = fuel.fuel_id
  WHERE NOT fuel.is_mapped AND pair.source_id = source.source_id AND pair.price_tenths > 0
) AS unmapped ON true
LEFT JOIN LATERAL (
  SELECT terms.licence, terms.since_at
  FROM fuel.terms
  WHERE terms.source_id = source.source_id
  ORDER BY terms.since_at DESC
  LIMIT 1
) AS terms ON true
LEFT JOIN LATERAL (
  SELECT sum(run.requests)::integer AS calls
  FROM fuel.run
  JOIN fuel.source AS payer ON payer.source_id = run.source_id
  WHERE payer.account = source.account
    AND run.started_at >= date_trunc('month', fuel.clock(), 'UTC')
    AND run.started_at < (date_trunc('month', fuel.clock() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
) AS spent ON true
WHERE source.kind = 'feed';
COMMENT ON VIEW fuel_v1.feed_health IS 'How each feed is doing, by its live runs: replayed and recorded answers do not count as read. One row per feed.';
COMMENT ON COLUMN fuel_v1.feed_health.feed            IS 'The feed.';
COMMENT ON COLUMN fuel_v1.feed_health.status          IS 'ok, late, stale, failing or off, measured by the cadence of the feed.';
COMMENT ON COLUMN fuel_v1.feed_health.why             IS 'Why it is not ok, or what is odd about it although it is ok; NULL: nothing.';
COMMENT ON COLUMN fuel_v1.feed_health.since_at        IS 'Since when it has this status; for a feed that is ok, its last good run. NULL: not known.';
COMMENT ON COLUMN fuel_v1.feed_health.last_success_at IS 'When its newest good documents were fetched; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.feed_health.last_attempt_at IS 'When its last run began; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.feed_health.newest_price_at IS 'The newest stamp among the prices that it reported last; NULL: no price.';
COMMENT ON COLUMN fuel_v1.feed_health.stations        IS 'Stations with a price in effect that this feed reported last.';
COMMENT ON COLUMN fuel_v1.feed_health.prices          IS 'Prices in effect that this feed reported last; what has lapsed or ended is not counted.';
COMMENT ON COLUMN fuel_v1.feed_health.quota_left      IS 'Requests left in this UTC month, for all feeds that share its key together; NULL: no limit.';
COMMENT ON COLUMN fuel_v1.feed_health.attribution     IS 'The wording that its licence asks for.';
COMMENT ON COLUMN fuel_v1.feed_health.delay_hours     IS 'How late it publishes prices by its own rule, in hours; 0: without delay.';
COMMENT ON COLUMN fuel_v1.feed_health.licence         IS 'The licence of its data; NULL: not yet read.';
COMMENT ON COLUMN fuel_v1.feed_health.terms_since_at  IS 'Since when this licence and attribution apply; NULL: not yet read.';
COMMENT ON COLUMN fuel_v1.feed_health.unmapped_prices IS 'Prices under a fuel code that nobody has mapped yet.';
COMMENT ON COLUMN fuel_v1.feed_health.flagged         IS 'Prices that are doubtful now.';
COMMENT ON COLUMN fuel_v1.feed_health.unmapped_brands IS 'Brand names that no configured brand covers.';
GRANT SELECT ON fuel_v1.feed_health TO fuel_reader, fuel_writer;
