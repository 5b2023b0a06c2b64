-- The migration after this drops fuel.price_event, which the view price_history of version 0.2 still reads. Until its
-- present text is applied, after all migrations, the view has its columns and no rows.
DO $$
BEGIN
  IF EXISTS (
    SELECT
    FROM pg_depend
    JOIN pg_rewrite ON pg_rewrite.oid = pg_depend.objid
    WHERE pg_depend.refobjid = to_regclass('fuel.price_event')
      AND pg_rewrite.ev_class = to_regclass('fuel_v1.price_history'))
  THEN
    CREATE OR REPLACE VIEW fuel_v1.price_history AS
    SELECT
      NULL::integer AS station_id,
      NULL::text AS fuel,
      NULL::numeric(5, 1) AS price_cpl,
      NULL::timestamptz AS valid_from,
      NULL::timestamptz AS valid_to,
      NULL::text AS source
    WHERE false;
  END IF;
END
$$;
