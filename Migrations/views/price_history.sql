-- The index leads to the spans of a station in one step. A bound on valid_from leaves out the years outside it.
CREATE OR REPLACE VIEW fuel_v1.price_history AS
SELECT
  held.station_id,
  fuel.fuel,
  (held.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  held.from_at AS valid_from,
  CASE WHEN held.until_at <= clock.now_at THEN held.until_at END AS valid_to,
  source.source,
  held.doubt IS NOT NULL AS is_flagged,
  held.doubt AS flag_reason
FROM fuel.believed AS held
JOIN fuel.fuel USING (fuel_id)
JOIN fuel.source ON source.source_id = held.source_id
-- OFFSET 0 keeps the server from merging the subquery, so that the clock is read once and not for every price.
CROSS JOIN (SELECT fuel.clock() AS now_at OFFSET 0) AS clock
WHERE held.from_at <= clock.now_at AND held.from_at < held.until_at;
COMMENT ON VIEW fuel_v1.price_history IS
  'What each station charged from when to when. One row per station, fuel and validity span of a price; '
  'rows of one station and fuel do not overlap. Filter by station or by valid_from, or use '
  'prices_between for a window: without a filter this is the whole history.';
COMMENT ON COLUMN fuel_v1.price_history.station_id  IS 'The station.';
COMMENT ON COLUMN fuel_v1.price_history.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.price_history.price_cpl   IS 'Cents per litre.';
COMMENT ON COLUMN fuel_v1.price_history.valid_from  IS 'When it began.';
COMMENT ON COLUMN fuel_v1.price_history.valid_to    IS 'When it ended: the price changed, was withdrawn or became too old to be believed; NULL: it still holds.';
COMMENT ON COLUMN fuel_v1.price_history.source      IS 'The feed or archive that reported its beginning.';
COMMENT ON COLUMN fuel_v1.price_history.is_flagged  IS 'Whether it is doubtful, or was for a time.';
COMMENT ON COLUMN fuel_v1.price_history.flag_reason IS 'Why: far (from the station''s own prices and its neighbours'') or placeholder; NULL: it is not doubtful.';
GRANT SELECT ON fuel_v1.price_history TO fuel_reader, fuel_writer;
