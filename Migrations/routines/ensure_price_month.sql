-- Makes the partition of a month if it is missing. The writer has no right to create tables, so this function runs with
-- the owner's rights, and it makes nothing but partitions. pg_temp stands last in its search path. If it were left out,
-- the server would search it first for types. A caller could then make a type named text, and its code would run with
-- the owner's rights. The table is made first and attached then, because CREATE ... PARTITION OF would keep others from
-- reading and writing the parent.
CREATE OR REPLACE FUNCTION fuel.ensure_price_month(p_at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  month_begins timestamptz := date_trunc('month', p_at);
  partition    text        := to_char(month_begins, '"price_"YYYY_MM');
  year         integer     := extract(year FROM month_begins);
BEGIN
  IF p_at NOT BETWEEN '2000-01-01' AND now() + interval '400 days' THEN
    RAISE EXCEPTION '% is out of the range for which prices are kept', p_at
      USING ERRCODE = 'datetime_field_overflow';
  END IF;
  IF to_regclass('fuel.' || partition) IS NOT NULL OR fuel.is_price_year_merged(year) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('fuel.price partitions'));
  -- Another session may have made the partition before this one got the lock. to_regclass would not show it, because
  -- the names that the session has cached are older than the lock.
  IF EXISTS (
    SELECT
    FROM pg_class
    WHERE pg_class.relnamespace = 'fuel'::regnamespace AND pg_class.relname = partition)
    OR fuel.is_price_year_merged(year)
  THEN
    RETURN;
  END IF;
  EXECUTE format('CREATE TABLE fuel.%I (LIKE fuel.price INCLUDING ALL)', partition);
  EXECUTE format(
    'ALTER TABLE fuel.price ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)',
    partition, month_begins, month_begins + interval '1 month');
END
$$;
COMMENT ON FUNCTION fuel.ensure_price_month(timestamptz) IS
  'Creates the month of fuel.price that holds an instant, if neither it nor its year has a table.';
REVOKE EXECUTE ON FUNCTION fuel.ensure_price_month(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.ensure_price_month(timestamptz) TO fuel_writer;
