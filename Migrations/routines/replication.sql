-- A copy of all tables on another server, which answers readers by the same views. Each server makes its own schema
-- with `bowser migrate`. The tables in which a migration keeps its own records are not copied.

CREATE OR REPLACE FUNCTION fuel.copied_tables() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT string_agg(format('fuel.%I', class.relname), ', ' ORDER BY class.relname)
  FROM pg_catalog.pg_class AS class
  WHERE class.relnamespace = 'fuel'::regnamespace
    AND class.relkind IN ('r', 'p')
    AND NOT class.relispartition
    AND class.relname NOT IN ('migration', 'program', 'member', 'member_region', 'member_day')
$$;
COMMENT ON FUNCTION fuel.copied_tables IS 'The tables of schema fuel that a copy has, in SQL.';

-- Publishes all tables that exist. It is called again after an upgrade, to add new tables.
CREATE OR REPLACE FUNCTION fuel.publish() RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_publication WHERE pubname = 'fuel') THEN
    EXECUTE 'ALTER PUBLICATION fuel SET TABLE ' || fuel.copied_tables();
  ELSE
    -- If partitions were published under their own names, the other server would need the same partitions.
    EXECUTE 'CREATE PUBLICATION fuel FOR TABLE ' || fuel.copied_tables() || ' WITH (publish_via_partition_root = true)';
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.publish IS 'Creates or updates the publication fuel, with all tables that a copy needs.';

-- Empties a database that has just been migrated, so that everything in it comes from another server.
CREATE OR REPLACE FUNCTION fuel.prepare_subscription() RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  parent text;
BEGIN
  IF EXISTS (SELECT FROM fuel.run) THEN
    RAISE EXCEPTION 'this database has runs of its own: create an empty one and migrate it';
  END IF;
  EXECUTE 'TRUNCATE ' || fuel.copied_tables();
  -- The publishing server makes a partition for each year, and for each month of an archive. Here one default partition takes all rows.
  FOREACH parent IN ARRAY ARRAY['archive_price', 'price', 'span', 'station_month'] LOOP
    EXECUTE format('CREATE TABLE IF NOT EXISTS fuel.%I PARTITION OF fuel.%I DEFAULT', parent || '_rest', parent);
  END LOOP;
  CREATE INDEX IF NOT EXISTS archive_price_rest_idx ON fuel.archive_price_rest (station_id, fuel_id, effective_at);
END
$$;
COMMENT ON FUNCTION fuel.prepare_subscription IS
  'Prepares a migrated database for a subscription to the publication fuel of another database.';
