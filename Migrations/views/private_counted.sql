-- What counts. This is the one place that says so: answers of runs that count, and facts.
CREATE OR REPLACE VIEW fuel.kept_answer AS
SELECT
  run.run_id,
  run.source_id,
  run.taken_at,
  coalesce(run.fetched_at, run.taken_at) AS learnt_at,
  CASE
    WHEN source.tells_whole_days THEN 2
    WHEN run.is_complete THEN 0
    WHEN run.composition_id IS NOT NULL THEN 1
    ELSE 3
  END AS kind,
  -- Of the runs that are under way, only the one that this transaction stores has an answer.
  run.outcome IN ('running', 'stored', 'unchanged') AND NOT run.is_repeat AS counts,
  run.told_days,
  answer.is_adopted
FROM fuel.answer
JOIN fuel.run USING (run_id)
JOIN fuel.source USING (source_id);
COMMENT ON VIEW fuel.kept_answer IS 'The kept answers of feeds, with their present standing.';
COMMENT ON COLUMN fuel.kept_answer.kind      IS '0: a complete list; 1: a list that is not complete; 2: prices of whole days; 3: an update.';
COMMENT ON COLUMN fuel.kept_answer.counts    IS 'Whether what it states counts.';
COMMENT ON COLUMN fuel.kept_answer.told_days IS 'When the days begin of which it tells prices; NULL unless kind is 2.';

-- Facts follow from the answers that count (fuel.answer). Only facts from before answers were kept, of runs that had
-- stopped counting by then, are left out here.
CREATE OR REPLACE VIEW fuel.counted_price AS
SELECT price.*
FROM fuel.price
-- NOT IN, with which a statement reads those runs once. With NOT EXISTS the server looks up the run of each row.
WHERE price.run_id NOT IN (
  SELECT run.run_id FROM fuel.run WHERE run.outcome IN ('superseded', 'withdrawn', 'refused'));
COMMENT ON VIEW fuel.counted_price IS 'Facts of the runs that count: prices.';

CREATE OR REPLACE VIEW fuel.counted_listing AS
SELECT
  listing.station_id,
  listing.fuel_id,
  listing.source_id,
  listing.changed_at,
  listing.is_listed,
  CASE WHEN listing.is_listed THEN 1 WHEN listing.is_proof THEN 0 ELSE 2 END AS turn,
  listing.run_id
FROM fuel.listing
WHERE listing.run_id NOT IN (
  SELECT run.run_id FROM fuel.run WHERE run.outcome IN ('superseded', 'withdrawn', 'refused'));
COMMENT ON VIEW fuel.counted_listing IS
  'Facts of the runs that count: what lists show and leave out. A row may repeat the one before it.';
COMMENT ON COLUMN fuel.counted_listing.turn IS
  '0: it is not offered; 1: it is listed; 2: it is not seen. Of several rows of one instant the one with the highest '
  'number counts.';
