-- Every stored fact with its hash, as fuel.fact_sum sums them.
CREATE OR REPLACE VIEW fuel.fact_hash AS
SELECT
  price.run_id,
  fuel.price_hash(
    price.station_id, price.fuel_id, price.source_id, price.effective_at, price.price_tenths, price.run_id,
    price.learnt_at) AS hash
FROM fuel.price
UNION ALL
SELECT
  listing.run_id,
  fuel.listing_hash(
    listing.station_id, listing.fuel_id, listing.source_id, listing.changed_at, listing.is_listed, listing.run_id)
FROM fuel.listing
UNION ALL
SELECT
  archived.run_id,
  fuel.archive_price_hash(
    archived.station_id, archived.fuel_id, archived.source_id, archived.effective_at, archived.price_tenths,
    archived.run_id)
FROM fuel.archive_price AS archived;
COMMENT ON VIEW fuel.fact_hash IS 'Every stored fact with its hash. One row per row of price, listing and archive_price.';
COMMENT ON COLUMN fuel.fact_hash.run_id IS 'The run that it names.';
COMMENT ON COLUMN fuel.fact_hash.hash   IS 'Its hash.';
GRANT SELECT ON fuel.fact_hash TO fuel_writer;
