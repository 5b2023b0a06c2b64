-- Whether a run was overtaken is known when it gets its number, and never changes. fuel_v1.changes looked for it among all
-- later runs of the feed, for each run that it showed.
ALTER TABLE fuel.run ADD COLUMN is_overtaken boolean;
COMMENT ON COLUMN fuel.run.is_overtaken IS
  'Whether a run of the same source with a later taken_at got its number before this one. NULL: no number.';
UPDATE fuel.run SET is_overtaken = numbered.is_overtaken
FROM (
  SELECT
    run.run_id,
    coalesce(run.taken_at < max(run.taken_at) OVER (
      PARTITION BY run.source_id ORDER BY run.change_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false)
      AS is_overtaken
  FROM fuel.run
  WHERE run.change_number IS NOT NULL
) AS numbered
WHERE numbered.run_id = run.run_id;
ALTER TABLE fuel.run ADD CONSTRAINT run_overtaken_ck CHECK ((is_overtaken IS NULL) = (change_number IS NULL));
COMMENT ON CONSTRAINT run_overtaken_ck ON fuel.run IS 'It is known of every run that has a number.';
