CREATE OR REPLACE VIEW fuel_v1.price_changes AS
SELECT
  held.station_id,
  fuel.fuel,
  held.from_at AS changed_at,
  (before.price_tenths / 10.0)::numeric(5, 1) AS before_cpl,
  (held.price_tenths / 10.0)::numeric(5, 1) AS after_cpl,
  ((held.price_tenths - before.price_tenths) / 10.0)::numeric(5, 1) AS step_cpl,
  held.doubt IS NOT NULL AS is_flagged,
  -- A subquery keeps the number of joined relations low. Where a view is joined to another one, the server searches for
  -- the best join order among at most eight relations.
  (SELECT source.source FROM fuel.source WHERE source.source_id = held.source_id) AS source
FROM fuel.span AS held
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN LATERAL (
  SELECT span.price_tenths, span.until_at
  FROM fuel.span
  WHERE span.station_id = held.station_id
    AND span.fuel_id = held.fuel_id
    AND span.from_at < held.from_at
  ORDER BY span.from_at DESC
  LIMIT 1
) AS earlier ON true
-- After a gap the price just before the change is not known. This is a CASE and not a join condition, which the server
-- would expect to be true of few rows.
CROSS JOIN LATERAL (
  SELECT CASE WHEN earlier.until_at = held.from_at THEN earlier.price_tenths END AS price_tenths
) AS before
-- A price that was too old when it was first reported is not a price change.
WHERE held.from_at <= fuel.clock() AND held.from_at < held.lapses_at;
COMMENT ON VIEW fuel_v1.price_changes IS
  'Every change of a station''s price, with the price before. One row per station, fuel and change. Always filter by '
  'station or by changed_at.';
COMMENT ON COLUMN fuel_v1.price_changes.station_id IS 'The station.';
COMMENT ON COLUMN fuel_v1.price_changes.fuel       IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.price_changes.changed_at IS 'When the new price began.';
COMMENT ON COLUMN fuel_v1.price_changes.before_cpl IS 'The price before, cents per litre; NULL: no price was believed.';
COMMENT ON COLUMN fuel_v1.price_changes.after_cpl  IS 'The new price, cents per litre.';
COMMENT ON COLUMN fuel_v1.price_changes.step_cpl   IS 'The new price minus the price before, cents per litre; NULL: no price was believed before.';
COMMENT ON COLUMN fuel_v1.price_changes.is_flagged IS 'Whether the new price is doubtful, or was for a time.';
COMMENT ON COLUMN fuel_v1.price_changes.source     IS 'The feed or archive that reported it.';
GRANT SELECT ON fuel_v1.price_changes TO fuel_reader, fuel_writer;
