-- What complete lists state by leaving something out is not among the prices, so it is read from fuel.listing. If runs
-- that report later instants were committed before a run, this run can change what they reported. It then has a row
-- "history" of its own.
CREATE OR REPLACE VIEW fuel_v1.changes AS
SELECT
  run.change_number,
  run.run_id,
  source.source AS feed,
  run.finished_at,
  change.what,
  change.station_id,
  fuel.fuel,
  (nullif(change.price_tenths, 0) / 10.0)::numeric(5, 1) AS price_cpl,
  change.effective_at
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
  withdrawal.decided_at,
  'history',
  NULL,
  NULL,
  NULL::numeric(5, 1),
  NULL
FROM fuel.withdrawal
JOIN fuel.run USING (run_id)
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel_v1.changes IS
  'What each committed run changed, for services that keep a copy: remember the highest change_number '
  'that you have read, and ask for rows above it. No run with a smaller number appears later. If a run changes what '
  'earlier runs reported, it has a row of the kind history in column what. One row per run and price that the run '
  'was the first to report, and one per run, station and fuel that the list of the run leaves out or lists again.';
COMMENT ON COLUMN fuel_v1.changes.change_number IS 'Position of the run in the order of commits. Gaps have no meaning.';
COMMENT ON COLUMN fuel_v1.changes.run_id        IS 'The run; see ingest_runs.';
COMMENT ON COLUMN fuel_v1.changes.feed          IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel_v1.changes.finished_at   IS 'When the run ended, by its own clock.';
COMMENT ON COLUMN fuel_v1.changes.what          IS 'price (a price from effective_at on), ended (no longer offered), listed (in the feed''s list again, or for the first time: its last price holds) or history (an archive was loaded, answers were read again, a list came late, or a run was withdrawn: read price_history of the feed again).';
COMMENT ON COLUMN fuel_v1.changes.station_id    IS 'The station as this feed knows it; see station_records. NULL: history.';
COMMENT ON COLUMN fuel_v1.changes.fuel          IS 'Fuel code, such as U91; NULL: history.';
COMMENT ON COLUMN fuel_v1.changes.price_cpl     IS 'Cents per litre; NULL unless what is price.';
COMMENT ON COLUMN fuel_v1.changes.effective_at  IS 'From when it holds; may be in the future. NULL: history.';
GRANT SELECT ON fuel_v1.changes TO fuel_reader, fuel_writer;
