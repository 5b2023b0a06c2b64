-- Makes the partitions of a UTC year if they are missing. The writer has no right to create tables, so this function runs
-- with the owner's rights, and it makes nothing but partitions. pg_temp stands last in its search path. If it were left
-- out, the server would search it first for types. A caller could then make a type named text, and its code would run
-- with the owner's rights. A table is made first and attached then, because CREATE ... PARTITION OF would keep others
-- from reading and writing the parent.
CREATE OR REPLACE FUNCTION fuel.ensure_year(p_year integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  begins_on date := make_date(p_year, 1, 1);
  parent    text;
BEGIN
  IF begins_on NOT BETWEEN '1999-01-01' AND now()::date + 800 THEN
    RAISE EXCEPTION 'year % is out of the range for which prices are kept', p_year
      USING ERRCODE = 'datetime_field_overflow';
  END IF;
  IF to_regclass('fuel.price_' || p_year) IS NOT NULL THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('fuel partitions'));
  FOREACH parent IN ARRAY ARRAY['price', 'span', 'station_month'] LOOP
    -- Another session may have made the partition before this one got the lock. to_regclass would not show it, because
    -- the names that the session has cached are older than the lock.
    CONTINUE WHEN EXISTS (
      SELECT
      FROM pg_class
      WHERE pg_class.relnamespace = 'fuel'::regnamespace AND pg_class.relname = parent || '_' || p_year);
    EXECUTE format('CREATE TABLE fuel.%I (LIKE fuel.%I INCLUDING ALL)', parent || '_' || p_year, parent);
    EXECUTE format(
      'ALTER TABLE fuel.%I ATTACH PARTITION fuel.%I FOR VALUES FROM (%L) TO (%L)',
      parent, parent || '_' || p_year, begins_on, make_date(p_year + 1, 1, 1));
  END LOOP;
END
$$;
COMMENT ON FUNCTION fuel.ensure_year(integer) IS
  'Creates the partitions of fuel.price, fuel.span and fuel.station_month that hold a year, if they are missing.';
GRANT EXECUTE ON FUNCTION fuel.ensure_year(integer) TO fuel_writer;
