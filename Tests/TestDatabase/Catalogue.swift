package import Postgres

/// What the catalogue of the server says of the schemas, a line for each thing. Partitions are left
/// out, because they are made when they are needed.
package func catalogue(_ connection: Connection) throws -> [String] {
  try connection.lines(
    """
    WITH class AS (
      SELECT *
      FROM pg_class
      WHERE relnamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace)
        AND relkind IN ('r', 'p', 'v', 'S')
        AND NOT relispartition
    )
    SELECT
      concat_ws(
        ' ', class.relkind, class.relname, class.reloptions, class.relreplident, pg_get_partkeydef(class.oid),
        class.relacl, obj_description(class.oid, 'pg_class'),
        CASE WHEN class.relkind = 'v' THEN pg_get_viewdef(class.oid) END) AS thing
    FROM class
    UNION ALL
    SELECT
      concat_ws(
        ' ', attrelid::regclass, attname, row_number() OVER (PARTITION BY attrelid ORDER BY attnum),
        format_type(atttypid, atttypmod), attnotnull, attidentity, attstorage, attacl,
        pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))
    FROM pg_attribute
    JOIN class ON class.oid = attrelid AND class.relkind <> 'S'
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT
      concat_ws(
        ' ', conrelid::regclass, conname, pg_get_constraintdef(con.oid),
        obj_description(con.oid, 'pg_constraint'))
    FROM pg_constraint AS con
    JOIN class ON class.oid = conrelid
    UNION ALL
    SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN class ON class.oid = indrelid
    UNION ALL
    SELECT pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger JOIN class ON class.oid = tgrelid
    WHERE NOT tgisinternal
    UNION ALL
    SELECT concat_ws(' ', pg_get_functiondef(oid), proacl, obj_description(oid, 'pg_proc'))
    FROM pg_proc
    WHERE pronamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace)
    UNION ALL
    SELECT concat_ws(' ', nspname, nspacl, obj_description(oid, 'pg_namespace'))
    FROM pg_namespace
    WHERE nspname LIKE 'fuel%'
    ORDER BY thing
    """)
}
