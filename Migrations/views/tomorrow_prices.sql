CREATE OR REPLACE VIEW fuel_v1.tomorrow_prices AS
SELECT
  station.station_id,
  station.state,
  fuel.fuel,
  (today.price_tenths / 10.0)::numeric(5, 1) AS today_cpl,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS tomorrow_cpl,
  ((price_now.next_tenths - today.price_tenths) / 10.0)::numeric(5, 1) AS change_cpl,
  CASE
    WHEN price_now.next_tenths > today.price_tenths THEN 'dearer'
    WHEN price_now.next_tenths < today.price_tenths THEN 'cheaper'
    WHEN price_now.next_tenths = today.price_tenths THEN 'same'
  END AS comparison,
  price_now.next_effective_at AS effective_at
FROM fuel.price_now
JOIN fuel.station USING (station_id)
JOIN fuel.fuel USING (fuel_id)
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN price_now.is_fresh AND price_now.price_tenths > 0 THEN price_now.price_tenths
  END AS price_tenths
) AS today
WHERE price_now.next_tenths > 0;
COMMENT ON VIEW fuel_v1.tomorrow_prices IS
  'Today''s price and the next one. One row per station and fuel whose next price is known.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.station_id   IS 'The station.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.state        IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.fuel         IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.today_cpl    IS 'Price in effect now, cents per litre; NULL: no price today.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.tomorrow_cpl IS 'The next price, cents per litre.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.change_cpl   IS 'tomorrow_cpl minus today_cpl, cents per litre; NULL: no price today.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.comparison   IS 'dearer, cheaper or same; NULL: no price today.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.effective_at IS 'When the next price begins.';
GRANT SELECT ON fuel_v1.tomorrow_prices TO fuel_reader, fuel_writer;
