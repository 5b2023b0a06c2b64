-- Years of facts. The facts of a year lie in a table for each month until it has been over for more than a year. Then
-- they are moved into one table, so that a statement that looks through all time plans few tables, however long the history is. A year is
-- copied while others read and write. Then its rows are counted while others read, and its table takes the place of the
-- months. The writer has no right to create tables, so these functions run with the owner's rights. They change nothing
-- but the tables in which the facts lie.

-- Returns the oldest year whose months are to be merged; NULL: there is none. Hardly any fact still arrives for it.
CREATE OR REPLACE FUNCTION fuel.year_to_merge() RETURNS integer LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT min(month.year)
  FROM pg_inherits
  JOIN pg_class AS class ON class.oid = pg_inherits.inhrelid
  CROSS JOIN LATERAL (
    SELECT substring(class.relname FROM '^price_(\d{4})_\d\d$')::integer AS year
  ) AS month
  WHERE pg_inherits.inhparent = 'fuel.price'::regclass AND month.year < extract(year FROM now() - interval '13 months')
$$;
COMMENT ON FUNCTION fuel.year_to_merge() IS 'The oldest year whose facts lie in a table for each month but need not.';
GRANT EXECUTE ON FUNCTION fuel.year_to_merge() TO fuel_writer;

-- Returns whether the facts of a year lie in one table.
CREATE OR REPLACE FUNCTION fuel.is_price_year_merged(p_year integer) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN EXISTS (
  SELECT
  FROM pg_catalog.pg_inherits
  JOIN pg_catalog.pg_class AS class ON class.oid = pg_inherits.inhrelid
  WHERE pg_inherits.inhparent = 'fuel.price'::regclass AND class.relname = 'price_' || p_year);
COMMENT ON FUNCTION fuel.is_price_year_merged(integer) IS 'Whether the facts of a year lie in one table.';
GRANT EXECUTE ON FUNCTION fuel.is_price_year_merged(integer) TO fuel_writer;

-- Raises an error if the months of a year must not be merged now.
CREATE OR REPLACE FUNCTION fuel.check_merge(p_year integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF p_year IS NULL OR p_year IS DISTINCT FROM fuel.year_to_merge() OR fuel.is_price_year_merged(p_year) THEN
    RAISE EXCEPTION 'the facts of year % are not to be merged', p_year;
  END IF;
  -- A statement of another kind of transaction sees the facts of its beginning. Those that have arrived since would be
  -- dropped with their months.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'months are merged in a transaction that is read committed, not %',
      current_setting('transaction_isolation');
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.check_merge(integer) IS 'Raises an error if the months of a year must not be merged now.';

-- Copies the facts of a year into a table of their own, which is not part of the history yet.
CREATE OR REPLACE FUNCTION fuel.copy_price_year(p_year integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  year_table text        := 'price_' || p_year;
  begins_at  timestamptz := make_date(p_year, 1, 1);
  ends_at    timestamptz := make_date(p_year + 1, 1, 1);
BEGIN
  PERFORM fuel.check_merge(p_year);
  EXECUTE format('DROP TABLE IF EXISTS fuel.%I', year_table);
  -- The bounds are declared as a constraint, so that attaching the table need not check its rows.
  EXECUTE format(
    'CREATE TABLE fuel.%I (LIKE fuel.price INCLUDING CONSTRAINTS, CHECK (effective_at >= %L AND effective_at < %L))',
    year_table, begins_at, ends_at);
  EXECUTE format(
    'INSERT INTO fuel.%I SELECT * FROM fuel.price WHERE effective_at >= %L AND effective_at < %L '
    'ORDER BY station_id, fuel_id, effective_at, source_id, price_tenths, run_id', year_table, begins_at, ends_at);
  EXECUTE format(
    'ALTER TABLE fuel.%I ADD PRIMARY KEY (station_id, fuel_id, effective_at, source_id, price_tenths, run_id)',
    year_table);
  EXECUTE format('CREATE INDEX ON fuel.%I (run_id)', year_table);
  EXECUTE format('ANALYZE fuel.%I', year_table);
END
$$;
COMMENT ON FUNCTION fuel.copy_price_year(integer) IS 'Copies the facts of a year into a table of their own.';
REVOKE EXECUTE ON FUNCTION fuel.copy_price_year(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.copy_price_year(integer) TO fuel_writer;

-- Puts the table of a year in the place of its months. The caller holds the lock of the timeline, so that no facts
-- arrive meanwhile. Returns false if facts have arrived since they were copied, which drops the copy, or if readers hold
-- the history for longer than a second: others must not wait behind this function for a reader that takes its time.
CREATE OR REPLACE FUNCTION fuel.merge_price_months(p_year integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
  year_table text        := 'price_' || p_year;
  begins_at  timestamptz := make_date(p_year, 1, 1);
  ends_at    timestamptz := make_date(p_year + 1, 1, 1);
  copied     bigint;
  stored     bigint;
  months     regclass[];
  month      regclass;
BEGIN
  PERFORM fuel.check_merge(p_year);
  months := ARRAY(
    SELECT pg_inherits.inhrelid::regclass
    FROM pg_inherits
    JOIN pg_class AS class ON class.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = 'fuel.price'::regclass AND class.relname ~ ('^price_' || p_year || '_\d\d$')
    ORDER BY class.relname);
  FOREACH month IN ARRAY months LOOP
    EXECUTE format('LOCK TABLE %s IN SHARE MODE', month);
  END LOOP;
  -- Facts are added and never changed, so their number tells whether all were copied.
  EXECUTE format('SELECT count(*) FROM fuel.%I', year_table) INTO copied;
  SELECT count(*) INTO stored
  FROM fuel.price
  WHERE price.effective_at >= begins_at AND price.effective_at < ends_at;
  IF copied <> stored THEN
    EXECUTE format('DROP TABLE fuel.%I', year_table);
    RETURN false;
  END IF;
  LOCK TABLE fuel.price IN ACCESS EXCLUSIVE MODE;
  FOREACH month IN ARRAY months LOOP
    EXECUTE format('ALTER TABLE fuel.price DETACH PARTITION %s', month);
    EXECUTE format('DROP TABLE %s', month);
  END LOOP;
  EXECUTE format(
    'ALTER TABLE fuel.price ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)', year_table, begins_at, ends_at);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;
COMMENT ON FUNCTION fuel.merge_price_months(integer) IS
  'Puts the table to which the facts of a year were copied in the place of its months. Returns whether it did.';
REVOKE EXECUTE ON FUNCTION fuel.merge_price_months(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.merge_price_months(integer) TO fuel_writer;
