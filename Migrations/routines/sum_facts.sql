-- The evidence of each run is summed as it comes: the answers of feeds and the facts of archives. A sum does not depend on
-- the order of its rows. The facts of feeds follow from their answers; only those from before answers were kept have sums.

-- The hash of a fact covers what it says and which run says so. PostgreSQL keeps these hashes the same over its
-- releases, because partitions by hash depend on them.
CREATE OR REPLACE FUNCTION fuel.price_hash(
  station_id integer, fuel_id smallint, source_id smallint, effective_at timestamptz, price_tenths integer,
  run_id integer, learnt_at timestamptz)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(
  ROW (station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at), 1);
COMMENT ON FUNCTION fuel.price_hash(integer, smallint, smallint, timestamptz, integer, integer, timestamptz) IS
  'The hash of a row of fuel.price.';

CREATE OR REPLACE FUNCTION fuel.listing_hash(
  station_id integer, fuel_id smallint, source_id smallint, changed_at timestamptz, is_listed boolean, run_id integer)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW (station_id, fuel_id, source_id, changed_at, is_listed, run_id), 2);
COMMENT ON FUNCTION fuel.listing_hash(integer, smallint, smallint, timestamptz, boolean, integer) IS
  'The hash of a row of fuel.listing.';

CREATE OR REPLACE FUNCTION fuel.archive_price_hash(
  station_id integer, fuel_id smallint, source_id smallint, effective_at timestamptz, price_tenths integer,
  run_id integer)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_record_extended(ROW (station_id, fuel_id, source_id, effective_at, price_tenths, run_id), 3);
COMMENT ON FUNCTION fuel.archive_price_hash(integer, smallint, smallint, timestamptz, integer, integer) IS
  'The hash of a row of fuel.archive_price.';
GRANT EXECUTE ON FUNCTION
  fuel.price_hash(integer, smallint, smallint, timestamptz, integer, integer, timestamptz),
  fuel.listing_hash(integer, smallint, smallint, timestamptz, boolean, integer),
  fuel.archive_price_hash(integer, smallint, smallint, timestamptz, integer, integer)
  TO fuel_writer;

-- The columns of a table of facts stand in the order in which its hash takes them. The argument is the seed of that hash.
CREATE OR REPLACE FUNCTION fuel.sum_facts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
  SELECT added.run_id, count(*), sum(hash_record_extended(added, TG_ARGV[0]::bigint))
  FROM added
  GROUP BY added.run_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.sum_facts() IS 'Sums the facts that a statement stored.';
CREATE OR REPLACE TRIGGER answer_sum AFTER INSERT ON fuel.answer
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_facts('4');
CREATE OR REPLACE TRIGGER archive_price_sum AFTER INSERT ON fuel.archive_price
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fuel.sum_facts('3');
