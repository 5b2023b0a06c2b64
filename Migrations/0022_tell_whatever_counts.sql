-- Rows say where a run differs from the newest row before it, whether that counts or not. Until now they were told from
-- the rows that counted: what a run after one that does not count left to those is written down here.

DROP FUNCTION IF EXISTS fuel.spell_out(smallint, integer, timestamptz, integer[], smallint[]);
DROP FUNCTION IF EXISTS fuel.merge_listing(integer, timestamptz, timestamptz, boolean, boolean, boolean);
DROP FUNCTION IF EXISTS fuel.begin_absorbing(integer, timestamptz);
DROP FUNCTION IF EXISTS fuel.heirs(integer);
DROP FUNCTION IF EXISTS fuel.hand_over_facts(integer);
DROP FUNCTION IF EXISTS fuel.spell_out_prices(integer);
DROP FUNCTION IF EXISTS fuel.forget_ghosts(smallint);

-- Which runs lie between two of a feed, whatever came of them.
DROP INDEX fuel.run_list_idx, fuel.run_taken_idx;
CREATE INDEX run_taken_idx ON fuel.run (source_id, taken_at);
-- What a run lists, wherever its rows lie.
DROP INDEX fuel.listing_run_idx;
CREATE INDEX listing_run_idx ON fuel.listing (run_id);

-- Which answer after another tells the same day.
ALTER TABLE fuel.run ADD COLUMN told_days timestamptz[];
COMMENT ON COLUMN fuel.run.told_days IS
  'When the days begin of which it told prices, for feeds that tell prices of whole days. NULL: another feed, or a run '
  'of before 0.5.';

CREATE TEMPORARY TABLE kept ON COMMIT DROP AS
SELECT
  run.run_id, run.source_id, run.taken_at, coalesce(run.fetched_at, run.taken_at) AS fetched_at, run.is_complete,
  run.is_complete OR run.composition_id IS NOT NULL AS is_list,
  run.outcome IN ('stored', 'unchanged') AS counts,
  coalesce(cardinality(run.stamps) = 0, false) AS is_unstamped
FROM fuel.run
WHERE run.outcome IN ('stored', 'unchanged')
  OR (run.outcome IN ('withdrawn', 'refused') AND run.stored + run.unchanged > 0);
CREATE UNIQUE INDEX kept_run_idx ON pg_temp.kept (run_id);
CREATE INDEX kept_taken_idx ON pg_temp.kept (source_id, taken_at);
ANALYZE pg_temp.kept;
-- The lists after one that is not complete, or after a run that does not count, up to the next that is complete.
CREATE TEMPORARY TABLE follower ON COMMIT DROP AS
SELECT told.run_id AS told_run_id, list.*
FROM pg_temp.kept AS told
CROSS JOIN LATERAL (
  SELECT min(complete.taken_at) AS taken_at
  FROM pg_temp.kept AS complete
  WHERE complete.source_id = told.source_id
    AND complete.is_complete
    AND complete.taken_at > told.taken_at
  OFFSET 0
) AS ends
JOIN pg_temp.kept AS list
  ON list.source_id = told.source_id
  AND list.is_list
  AND list.taken_at BETWEEN told.taken_at AND coalesce(ends.taken_at, 'infinity')
  AND (list.taken_at, list.run_id) > (told.taken_at, told.run_id)
WHERE NOT told.is_complete AND (told.is_list OR NOT told.counts);
ANALYZE pg_temp.follower;

INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
SELECT DISTINCT
  said.station_id, said.fuel_id, said.source_id, follower.taken_at,
  coalesce((
    SELECT listing.is_listed
    FROM fuel.listing
    JOIN pg_temp.kept AS list USING (run_id)
    WHERE listing.station_id = said.station_id
      AND listing.fuel_id = said.fuel_id
      AND listing.source_id = said.source_id
      AND listing.changed_at <= follower.taken_at
      AND list.is_complete
    ORDER BY listing.changed_at DESC, listing.is_listed DESC
    LIMIT 1
  ), false),
  follower.run_id
FROM pg_temp.follower
JOIN fuel.listing AS said ON said.run_id = follower.told_run_id
ON CONFLICT DO NOTHING;

INSERT INTO fuel.price (
  station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
SELECT DISTINCT
  said.station_id, said.fuel_id, said.source_id,
  CASE WHEN follower.is_unstamped THEN follower.taken_at ELSE before.effective_at END, before.price_tenths,
  follower.run_id, follower.fetched_at
FROM pg_temp.follower
JOIN fuel.price AS said ON said.run_id = follower.told_run_id
JOIN fuel.source ON source.source_id = said.source_id AND NOT source.tells_whole_days
CROSS JOIN LATERAL (
  SELECT price.effective_at, price.price_tenths
  FROM fuel.price
  JOIN pg_temp.kept AS run USING (run_id)
  WHERE price.station_id = said.station_id
    AND price.fuel_id = said.fuel_id
    AND price.source_id = said.source_id
    AND price.effective_at >= said.effective_at - interval '70 days'
    AND price.learnt_at <= follower.fetched_at
    AND run.counts
  ORDER BY price.learnt_at DESC, price.effective_at DESC, price.price_tenths DESC
  LIMIT 1
) AS before
WHERE coalesce((
  SELECT listing.is_listed
  FROM fuel.listing
  JOIN pg_temp.kept AS list USING (run_id)
  WHERE listing.station_id = said.station_id
    AND listing.fuel_id = said.fuel_id
    AND listing.source_id = said.source_id
    AND (listing.changed_at, listing.run_id) <= (follower.taken_at, follower.run_id)
  ORDER BY listing.changed_at DESC, listing.run_id DESC
  LIMIT 1
), false)
ON CONFLICT DO NOTHING;
DROP TABLE pg_temp.follower;
DROP TABLE pg_temp.kept;
