CREATE OR REPLACE VIEW fuel_v1.sources AS
SELECT
  source.source,
  source.kind,
  source.state,
  source.is_enabled,
  (extract(epoch FROM source.delay) / 3600)::integer AS delay_hours,
  terms.licence,
  source.attribution,
  (
    SELECT count(*)::integer
    FROM fuel.station AS record
    WHERE record.source_id = source.source_id AND record.first_seen_at < 'infinity'
  ) AS records,
  terms.since_at AS terms_since_at,
  source.first_taken_at,
  source.last_taken_at
FROM fuel.source
LEFT JOIN LATERAL (
  SELECT stated.licence, stated.since_at
  FROM fuel.terms AS stated
  WHERE stated.source_id = source.source_id
  ORDER BY stated.since_at DESC
  LIMIT 1
) AS terms ON true;
COMMENT ON VIEW fuel_v1.sources IS
  'Where prices come from, and under which terms. One row per feed or archive that was ever tried or loaded.';
COMMENT ON COLUMN fuel_v1.sources.source         IS 'The feed or archive, as in the other views.';
COMMENT ON COLUMN fuel_v1.sources.kind           IS 'feed or archive.';
COMMENT ON COLUMN fuel_v1.sources.state          IS 'The state that publishes it.';
COMMENT ON COLUMN fuel_v1.sources.is_enabled     IS 'False: the feed is switched off in the configuration.';
COMMENT ON COLUMN fuel_v1.sources.delay_hours    IS 'How late it publishes, in hours; 0: at once.';
COMMENT ON COLUMN fuel_v1.sources.licence        IS 'The licence of its data; NULL: not configured.';
COMMENT ON COLUMN fuel_v1.sources.attribution    IS 'The words that the licence asks for.';
COMMENT ON COLUMN fuel_v1.sources.records        IS 'Number of its station records; see station_records.';
COMMENT ON COLUMN fuel_v1.sources.terms_since_at IS 'Since when these terms have been configured; NULL: not configured.';
COMMENT ON COLUMN fuel_v1.sources.first_taken_at IS 'The instant of its oldest answer that counts, or its oldest price; NULL: none.';
COMMENT ON COLUMN fuel_v1.sources.last_taken_at  IS 'The instant of its newest answer that counts, or its newest price; NULL: none.';

-- Health is judged by what the provider really reported, and when. Recordings that are replayed and documents that are
-- read again do not make a feed healthy.
CREATE OR REPLACE VIEW fuel_v1.feed_health AS
SELECT
  source.source,
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
  coalesce(holding.stations, 0) AS stations,
  coalesce(holding.prices, 0) AS prices,
  coalesce(holding.flagged, 0) AS flagged,
  coalesce(unmapped.prices, 0)::integer AS unmapped_prices,
  (
    SELECT count(*)::integer
    FROM (SELECT DISTINCT station.brand FROM fuel.station WHERE station.source_id = source.source_id) AS written
    WHERE written.brand IS NOT NULL
      AND NOT EXISTS (SELECT FROM fuel.brand_name WHERE brand_name.written = lower(written.brand))
  ) AS unmapped_brands,
  CASE
    WHEN source.calls_per_month > 0
      THEN greatest(0, source.calls_per_month - coalesce(spent.calls, 0))
  END AS quota_left,
  known.delay_hours,
  known.licence,
  known.attribution,
  newest.newest_price_at,
  success.last_at AS last_success_at,
  (
    SELECT max(run.started_at)
    FROM fuel.run
    WHERE run.source_id = source.source_id AND run.kind = 'live' AND run.started_at <= fuel.latest_start()
  ) AS last_attempt_at,
  known.terms_since_at
FROM fuel.source
JOIN fuel_v1.sources AS known USING (source)
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
    price_now.source_id,
    count(DISTINCT price_now.station_id)::integer AS stations,
    count(*)::integer AS prices,
    (count(*) FILTER (WHERE price_now.is_flagged))::integer AS flagged
  FROM fuel.price_now
  WHERE price_now.price_tenths > 0 AND price_now.is_fresh
  GROUP BY price_now.source_id
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
  SELECT sum(run.requests)::integer AS calls
  FROM fuel.run
  JOIN fuel.source AS payer ON payer.source_id = run.source_id
  WHERE payer.account = source.account
    AND run.started_at >= date_trunc('month', fuel.clock(), 'UTC')
    AND run.started_at < (date_trunc('month', fuel.clock() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
) AS spent ON true
WHERE source.kind = 'feed';
COMMENT ON VIEW fuel_v1.feed_health IS 'The state of each feed, judged by its live runs alone: replayed and reprocessed answers do not count. One row per feed.';
COMMENT ON COLUMN fuel_v1.feed_health.source          IS 'The feed.';
COMMENT ON COLUMN fuel_v1.feed_health.status          IS 'off; stale (its prices have lapsed, its lists are frozen, or no run was good yet); failing (two or more runs failed since the last good one); late (no good run for twice the cadence); or ok.';
COMMENT ON COLUMN fuel_v1.feed_health.why             IS 'Why the status is not ok, or what is odd although it is ok; NULL: nothing.';
COMMENT ON COLUMN fuel_v1.feed_health.since_at        IS 'Since when it has this status; for a feed that is ok, its last good run. NULL: not known.';
COMMENT ON COLUMN fuel_v1.feed_health.stations        IS 'Stations with a price in effect that this feed reported last.';
COMMENT ON COLUMN fuel_v1.feed_health.prices          IS 'Prices in effect that this feed reported last; what has lapsed or ended is not counted.';
COMMENT ON COLUMN fuel_v1.feed_health.flagged         IS 'Prices that are doubtful now.';
COMMENT ON COLUMN fuel_v1.feed_health.unmapped_prices IS 'Prices under a fuel code that nobody has mapped yet.';
COMMENT ON COLUMN fuel_v1.feed_health.unmapped_brands IS 'Brand names that no configured brand covers.';
COMMENT ON COLUMN fuel_v1.feed_health.quota_left      IS 'Requests left in this UTC month, for all feeds that share its key together; NULL: no limit.';
COMMENT ON COLUMN fuel_v1.feed_health.delay_hours     IS 'How late the state publishes prices by its own rule, in hours; 0: without delay.';
COMMENT ON COLUMN fuel_v1.feed_health.licence         IS 'The licence of its data; NULL: not yet read.';
COMMENT ON COLUMN fuel_v1.feed_health.attribution     IS 'The wording that its licence asks for.';
COMMENT ON COLUMN fuel_v1.feed_health.newest_price_at IS 'The newest stamp among the prices that it reported last; NULL: no price.';
COMMENT ON COLUMN fuel_v1.feed_health.last_success_at IS 'When its newest good documents were fetched; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.feed_health.last_attempt_at IS 'When its last run began; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.feed_health.terms_since_at  IS 'Since when this licence and attribution apply; NULL: not yet read.';

CREATE OR REPLACE VIEW fuel_v1.ingest_runs AS
SELECT
  run.run_id,
  source.source,
  run.kind,
  run.outcome,
  run.received,
  run.stored,
  run.unchanged,
  run.duplicate,
  run.rejected,
  run.flagged,
  run.unmapped,
  run.is_complete,
  array_to_string(run.shortcomings || run.warnings, '; ') AS warnings,
  run.error,
  (
    SELECT withdrawal.reason
    FROM fuel.withdrawal
    WHERE withdrawal.run_id = run.run_id AND run.outcome = 'withdrawn'
    ORDER BY withdrawal.withdrawal_id DESC
    LIMIT 1
  ) AS withdrawn_because,
  run.replaces_run_id,
  run.change_number,
  run.requests,
  run.payload_bytes,
  encode(run.payload_sha256, 'hex') AS payload_sha256,
  round(extract(epoch FROM run.clock_skew))::integer AS clock_skew_seconds,
  run.started_at,
  run.finished_at,
  run.fetched_at,
  run.taken_at
FROM fuel.run
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.ingest_runs IS
  'Every attempt to read a feed or a file of an archive, good or bad. One row per run. received = stored + unchanged + '
  'duplicate + rejected.';
COMMENT ON COLUMN fuel_v1.ingest_runs.run_id             IS 'Number of the run.';
COMMENT ON COLUMN fuel_v1.ingest_runs.source             IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.ingest_runs.kind               IS 'live, replay (from a recording), reprocess (kept documents read again) or backfill (a file of an archive).';
COMMENT ON COLUMN fuel_v1.ingest_runs.outcome            IS 'running, stored (something new), unchanged (nothing new), rehearsed (a dry run that fetched), refused (its documents), failed (to fetch or to store), interrupted (its process died), superseded (its documents were read again) or withdrawn (by a person). Only what stored and unchanged runs reported counts.';
COMMENT ON COLUMN fuel_v1.ingest_runs.received           IS 'Price records that were received.';
COMMENT ON COLUMN fuel_v1.ingest_runs.stored             IS 'Records that reported something new.';
COMMENT ON COLUMN fuel_v1.ingest_runs.unchanged          IS 'Records that were known already.';
COMMENT ON COLUMN fuel_v1.ingest_runs.duplicate          IS 'Records that repeated another of the same run.';
COMMENT ON COLUMN fuel_v1.ingest_runs.rejected           IS 'Records that were refused; run_rejects has how many for which reason, rejects the records.';
COMMENT ON COLUMN fuel_v1.ingest_runs.flagged            IS 'Records stored but marked as doubtful.';
COMMENT ON COLUMN fuel_v1.ingest_runs.unmapped           IS 'Records kept under a fuel code that nobody has mapped yet.';
COMMENT ON COLUMN fuel_v1.ingest_runs.is_complete        IS 'Whether it stored a complete list, in which a missing price means not offered. Judged by the lists around it, and judged again when one of them arrives late or no longer counts.';
COMMENT ON COLUMN fuel_v1.ingest_runs.warnings           IS 'What was odd about the answer of the feed as a whole; empty: nothing.';
COMMENT ON COLUMN fuel_v1.ingest_runs.error              IS 'Why it was refused, failed or was interrupted; NULL: it was not.';
COMMENT ON COLUMN fuel_v1.ingest_runs.withdrawn_because  IS 'Why a person withdrew it; NULL: it is not withdrawn.';
COMMENT ON COLUMN fuel_v1.ingest_runs.replaces_run_id    IS 'The run whose documents it read again; NULL: it has its own documents.';
COMMENT ON COLUMN fuel_v1.ingest_runs.change_number      IS 'Its position in changes; NULL: it changed nothing.';
COMMENT ON COLUMN fuel_v1.ingest_runs.requests           IS 'Requests sent, with retries and calls for tokens.';
COMMENT ON COLUMN fuel_v1.ingest_runs.payload_bytes      IS 'Total size of its documents, bytes.';
COMMENT ON COLUMN fuel_v1.ingest_runs.payload_sha256     IS 'Digest of its documents, hex; NULL: no document was received, or it is a backfill.';
COMMENT ON COLUMN fuel_v1.ingest_runs.clock_skew_seconds IS 'The provider''s clock minus the clock of the machine that ran bowser, by the Date header, in seconds; NULL: the answer had none.';
COMMENT ON COLUMN fuel_v1.ingest_runs.started_at         IS 'When it began.';
COMMENT ON COLUMN fuel_v1.ingest_runs.finished_at        IS 'When it ended; NULL while it runs.';
COMMENT ON COLUMN fuel_v1.ingest_runs.fetched_at         IS 'When its last document was fetched, or recorded; NULL: no document was received.';
COMMENT ON COLUMN fuel_v1.ingest_runs.taken_at           IS 'The instant whose state its documents show: fetched_at minus the delay of the feed; of an archive, the instant up to which the file reports. NULL: no document was received.';

CREATE OR REPLACE VIEW fuel_v1.rejects AS
SELECT
  reject.run_id,
  source.source,
  reject.reason,
  reject.raw,
  reject.rejected_at
FROM fuel.reject
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.rejects IS
  'Records that were refused. One row per distinct record and reason of a feed: a record that occurs '
  'again in later runs is counted there and not repeated here.';
COMMENT ON COLUMN fuel_v1.rejects.run_id      IS 'The run that refused it first.';
COMMENT ON COLUMN fuel_v1.rejects.source      IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.rejects.reason      IS 'Why, from a fixed list.';
COMMENT ON COLUMN fuel_v1.rejects.raw         IS 'The record as it was received, or its fields.';
COMMENT ON COLUMN fuel_v1.rejects.rejected_at IS 'When it was first refused.';

CREATE OR REPLACE VIEW fuel_v1.run_rejects AS
SELECT
  run.run_id,
  source.source,
  counted.key AS reason,
  counted.value::integer AS records
FROM fuel.run
JOIN fuel.source USING (source_id)
CROSS JOIN LATERAL jsonb_each_text(run.rejected_by_reason) AS counted;
COMMENT ON VIEW fuel_v1.run_rejects IS
  'How many records each run refused for which reason. One row per run and reason; their sum is ingest_runs.rejected.';
COMMENT ON COLUMN fuel_v1.run_rejects.run_id  IS 'The run; see ingest_runs.';
COMMENT ON COLUMN fuel_v1.run_rejects.source  IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.run_rejects.reason  IS 'Why, from a fixed list, such as price_unreadable.';
COMMENT ON COLUMN fuel_v1.run_rejects.records IS 'Number of records.';

-- What complete lists state by leaving something out is not among the prices, so it is read from fuel.listing. If runs
-- that report later instants were committed before a run, this run can change what they reported. It then has a row
-- "history" of its own.
CREATE OR REPLACE VIEW fuel_v1.changes AS
SELECT
  run.change_number,
  run.run_id,
  source.source,
  change.what,
  change.station_id,
  fuel.fuel,
  (nullif(change.price_tenths, 0) / 10.0)::numeric(5, 1) AS price_cpl,
  change.effective_at,
  run.finished_at
FROM fuel.run
JOIN fuel.source USING (source_id)
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN price.price_tenths = 0 THEN 'ended' ELSE 'price' END AS what,
    price.station_id,
    price.fuel_id,
    price.price_tenths,
    price.effective_at
  FROM fuel.price
  -- BETWEEN with one number, and not "=": where one run of a backfill reported a whole month, the server would
  -- expect as many rows of every run, and read all months from end to end.
  WHERE price.run_id BETWEEN run.run_id AND run.run_id
  UNION ALL
  SELECT
    CASE WHEN listing.is_listed THEN 'listed' ELSE 'ended' END AS what,
    listing.station_id,
    listing.fuel_id,
    0 AS price_tenths,
    listing.changed_at AS effective_at
  FROM fuel.listing
  -- That a list which is not complete leaves something out means nothing.
  WHERE listing.run_id = run.run_id
    AND listing.source_id = run.source_id
    AND (listing.is_listed OR listing.is_proof)
  UNION ALL
  SELECT 'history' AS what, NULL AS station_id, NULL AS fuel_id, NULL AS price_tenths, NULL AS effective_at
  WHERE run.kind IN ('backfill', 'reprocess') OR run.is_overtaken
) AS change
LEFT JOIN fuel.fuel USING (fuel_id)
WHERE run.change_number IS NOT NULL
UNION ALL
SELECT
  withdrawal.change_number,
  withdrawal.run_id,
  source.source,
  'history',
  NULL,
  NULL,
  NULL::numeric(5, 1),
  NULL,
  withdrawal.decided_at
FROM fuel.withdrawal
JOIN fuel.run USING (run_id)
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.changes IS
  'What each committed run changed, for services that keep a copy: remember the highest change_number '
  'that you have read, and ask for rows above it. No run with a smaller number appears later. A run that changes what '
  'earlier runs reported has one more row, whose what is history. The others: one row per run and price that the run was '
  'the first to report, and one per run, station and fuel that the list of the run leaves out or lists again.';
COMMENT ON COLUMN fuel_v1.changes.change_number IS 'Position of the run in the order of commits. Gaps have no meaning.';
COMMENT ON COLUMN fuel_v1.changes.run_id        IS 'The run; see ingest_runs.';
COMMENT ON COLUMN fuel_v1.changes.source        IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel_v1.changes.what          IS 'price (a price from effective_at on), ended (no longer in the list, or stated as not offered), listed (in the feed''s list again, or for the first time: its last price holds) or history (an archive was loaded, answers were read again, a list came late, or a run was withdrawn: read price_history of the source again).';
COMMENT ON COLUMN fuel_v1.changes.station_id    IS 'The station as this source knows it: record_id of station_records, which leads to the station. NULL: history.';
COMMENT ON COLUMN fuel_v1.changes.fuel          IS 'Fuel code, such as U91; NULL: history.';
COMMENT ON COLUMN fuel_v1.changes.price_cpl     IS 'Cents per litre; NULL unless what is price.';
COMMENT ON COLUMN fuel_v1.changes.effective_at  IS 'From when it holds; may be in the future. NULL: history.';
COMMENT ON COLUMN fuel_v1.changes.finished_at   IS 'When the run ended, by its own clock.';

CREATE OR REPLACE VIEW fuel_v1.aggregate_runs AS
SELECT
  aggregate_run.aggregate_run_id,
  aggregate_run.outcome,
  aggregate_run.days,
  aggregate_run.verdicts,
  aggregate_run.new_verdicts,
  aggregate_run.started_at,
  aggregate_run.finished_at
FROM fuel.aggregate_run;
COMMENT ON VIEW fuel_v1.aggregate_runs IS
  'Every run of bowser aggregate, which computes averages, trends and verdicts. One row per run.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.aggregate_run_id IS 'Number of the run.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.outcome          IS 'running, done, or interrupted (it failed, or its process died).';
COMMENT ON COLUMN fuel_v1.aggregate_runs.days             IS 'Days whose averages were recomputed.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.verdicts         IS 'Verdicts computed. 0: nothing had come in since the run before, or nothing is known yet.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.new_verdicts     IS 'Verdicts that were stored: those of a new day, and those that differ from the verdict before for the same region and fuel.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.started_at       IS 'When it began.';
COMMENT ON COLUMN fuel_v1.aggregate_runs.finished_at      IS 'When it ended; NULL while it runs.';

CREATE OR REPLACE VIEW fuel_v1.pipeline AS
SELECT
  fuel.clock() AS now_at,
  (
    SELECT aggregate_run.finished_at FROM fuel.aggregate_run
    WHERE aggregate_run.outcome = 'done'
    -- Ordered by number, so that a run whose clock was ahead does not hide the runs after it.
    ORDER BY aggregate_run.aggregate_run_id DESC
    LIMIT 1
  ) AS aggregated_at,
  (
    SELECT coalesce(sum(upper(due.days) - lower(due.days)), 0)::integer
    FROM (
      SELECT unnest(range_agg(daterange(due.from_on, due.until_on, '[]'))) AS days
      FROM fuel.due
      WHERE due.step = 'averages'
    ) AS due
  ) AS days_due,
  (SELECT min(due.from_on) FROM fuel.due WHERE due.step = 'averages') AS first_due_on,
  -- A withdrawal has a number of the same order. greatest() ignores NULL.
  greatest(
    (SELECT max(run.change_number) FROM fuel.run),
    (SELECT max(withdrawal.change_number) FROM fuel.withdrawal)
  ) AS newest_change_number,
  (
    SELECT encode(chain_link.digest, 'hex')
    FROM fuel.chain_link
    ORDER BY chain_link.change_number DESC
    LIMIT 1
  ) AS chain_head;
COMMENT ON VIEW fuel_v1.pipeline IS 'State of the whole pipeline. One row.';
COMMENT ON COLUMN fuel_v1.pipeline.now_at               IS 'The instant that the views take as now.';
COMMENT ON COLUMN fuel_v1.pipeline.aggregated_at        IS 'When the last good aggregate ended; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.pipeline.days_due           IS 'Days whose averages have to be made again from all stations, with those between two of them in one month; today is usually one of them. Not counted: days of archives that were loaded or withdrawn since the last aggregate.';
COMMENT ON COLUMN fuel_v1.pipeline.first_due_on       IS 'The first of those days; NULL: none.';
COMMENT ON COLUMN fuel_v1.pipeline.newest_change_number IS 'The highest change_number of any run or withdrawal; no row of changes has a higher one. If it has grown, changes may have new rows. NULL: no run was committed yet.';
COMMENT ON COLUMN fuel_v1.pipeline.chain_head           IS 'The newest digest of the chain over all changes, hex. Note it elsewhere, and bowser verify can check later that the history still contains it. NULL: no change yet.';

CREATE OR REPLACE VIEW fuel_v1.quarantined AS
SELECT
  broken.run_id,
  broken.source,
  broken.kind,
  broken.error,
  broken.started_at
FROM fuel_v1.ingest_runs AS broken
CROSS JOIN fuel_v1.pipeline
WHERE broken.outcome = 'refused' AND strpos(broken.error, 'quarantined: ') > 0
  AND broken.started_at > pipeline.now_at - interval '720 hours'
  AND broken.started_at <= pipeline.now_at
  AND NOT EXISTS (
    SELECT
    FROM fuel_v1.ingest_runs AS later
    WHERE later.replaces_run_id = broken.run_id
      AND later.outcome IN ('stored', 'unchanged', 'superseded'));
COMMENT ON VIEW fuel_v1.quarantined IS
  'Documents and files of the last thirty days that broke their reader and have not been read since.';
COMMENT ON COLUMN fuel_v1.quarantined.run_id     IS 'The run; `bowser ingest --reprocess RUN` reads kept documents again.';
COMMENT ON COLUMN fuel_v1.quarantined.source     IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.quarantined.kind       IS 'As in ingest_runs; load the file of a backfill again with bowser backfill.';
COMMENT ON COLUMN fuel_v1.quarantined.error      IS 'How its reader ended.';
COMMENT ON COLUMN fuel_v1.quarantined.started_at IS 'When it was read.';
