-- All stored evidence with its hash, as fuel.fact_sum sums it.
CREATE OR REPLACE VIEW fuel.fact_hash AS
SELECT
  price.run_id,
  fuel.price_hash(
    price.station_id, price.fuel_id, price.source_id, price.effective_at, price.price_tenths, price.run_id,
    price.learnt_at) AS hash
FROM fuel.price
WHERE (price.run_id, price.source_id) NOT IN (
  SELECT answer.run_id, run.source_id FROM fuel.answer JOIN fuel.run USING (run_id) WHERE NOT answer.is_adopted)
UNION ALL
SELECT
  listing.run_id,
  fuel.listing_hash(
    listing.station_id, listing.fuel_id, listing.source_id, listing.changed_at, listing.is_listed, listing.run_id)
FROM fuel.listing
WHERE (listing.run_id, listing.source_id) NOT IN (
  SELECT answer.run_id, run.source_id FROM fuel.answer JOIN fuel.run USING (run_id) WHERE NOT answer.is_adopted)
UNION ALL
SELECT answer.run_id, hash_record_extended(answer, 4)
FROM fuel.answer
UNION ALL
SELECT
  archived.run_id,
  fuel.archive_price_hash(
    archived.station_id, archived.fuel_id, archived.source_id, archived.effective_at, archived.price_tenths,
    archived.run_id)
FROM (
  SELECT kept.* FROM fuel.archive_price AS kept
  UNION ALL
  SELECT aside.* FROM fuel.withdrawn_archive_price AS aside
) AS archived;
COMMENT ON VIEW fuel.fact_hash IS 'All stored evidence with its hash: answers, facts of archives, and facts from before answers were kept.';
GRANT SELECT ON fuel.fact_hash TO fuel_writer;
