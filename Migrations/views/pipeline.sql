CREATE OR REPLACE VIEW fuel_v1.pipeline AS
SELECT
  (
    SELECT aggregate_run.finished_at FROM fuel.aggregate_run
    WHERE aggregate_run.outcome = 'done'
    -- Ordered by number, so that a run whose clock was ahead does not hide the runs after it.
    ORDER BY aggregate_run.aggregate_run_id DESC
    LIMIT 1
  ) AS aggregated_at,
  (SELECT count(DISTINCT dirty_day.day)::integer FROM fuel.dirty_day) AS dirty_days,
  (SELECT min(dirty_day.day) FROM fuel.dirty_day) AS first_dirty_on,
  -- A withdrawal has a number of the same order. greatest() ignores NULL.
  greatest(
    (SELECT max(run.change_number) FROM fuel.run),
    (SELECT max(withdrawal.change_number) FROM fuel.withdrawal)
  ) AS newest_change_number,
  fuel.clock() AS now_at,
  (
    SELECT encode(chain_link.digest, 'hex')
    FROM fuel.chain_link
    ORDER BY chain_link.change_number DESC
    LIMIT 1
  ) AS chain_head;
COMMENT ON VIEW fuel_v1.pipeline IS 'State of the whole pipeline. One row.';
COMMENT ON COLUMN fuel_v1.pipeline.aggregated_at        IS 'When the last good aggregate ended; NULL: none yet.';
COMMENT ON COLUMN fuel_v1.pipeline.dirty_days           IS 'Days whose averages have to be made again from all stations; today is usually one of them. Not counted: days of archives that were loaded since the last aggregate.';
COMMENT ON COLUMN fuel_v1.pipeline.first_dirty_on       IS 'The first of those days; NULL: none.';
COMMENT ON COLUMN fuel_v1.pipeline.newest_change_number IS 'The highest change_number of any run or withdrawal; no row of changes has a higher one. If it has grown, changes may have new rows. NULL: no run was committed yet.';
COMMENT ON COLUMN fuel_v1.pipeline.now_at               IS 'The instant that the views take as now.';
COMMENT ON COLUMN fuel_v1.pipeline.chain_head           IS 'The newest digest of the chain over all changes, hex. Note it elsewhere, and bowser verify can check later that the history still contains it. NULL: no change yet.';
GRANT SELECT ON fuel_v1.pipeline TO fuel_reader, fuel_writer;
