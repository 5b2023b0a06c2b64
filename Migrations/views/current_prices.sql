CREATE OR REPLACE VIEW fuel_v1.current_prices AS
SELECT
  station.station_id,
  station.state,
  station.name,
  coalesce(brand_name.brand, station.brand) AS brand,
  station.suburb,
  station.postcode,
  station.latitude,
  station.longitude,
  fuel.fuel,
  (price_now.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  price_now.effective_at,
  price_now.confirmed_at,
  price_now.is_fresh,
  price_now.is_flagged,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS next_price_cpl,
  price_now.next_effective_at,
  (extract(epoch FROM price_now.delay) / 3600)::integer AS delay_hours,
  station.is_public,
  price_now.flag_reason
FROM fuel.price_now
JOIN fuel.station USING (station_id)
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN fuel.brand_name
  ON brand_name.written = lower(station.brand)
  AND brand_name.valid_from <= (fuel.clock() AT TIME ZONE station.time_zone)::date
  AND brand_name.valid_to > (fuel.clock() AT TIME ZONE station.time_zone)::date
WHERE price_now.price_tenths > 0
  AND price_now.lapses_at > price_now.now_at - fuel.dormant_after();
COMMENT ON VIEW fuel_v1.current_prices IS
  'The price in effect now. One row per station and fuel on offer. Stale and doubtful prices are '
  'included and marked; averages leave them out.';
COMMENT ON COLUMN fuel_v1.current_prices.station_id        IS 'The station.';
COMMENT ON COLUMN fuel_v1.current_prices.state             IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.current_prices.name              IS 'Trading name; NULL until described.';
COMMENT ON COLUMN fuel_v1.current_prices.brand             IS 'Brand; NULL: none named.';
COMMENT ON COLUMN fuel_v1.current_prices.suburb            IS 'Suburb or town; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.postcode          IS 'Postcode; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.latitude          IS 'Degrees; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.longitude         IS 'Degrees; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.fuel              IS 'Fuel code, such as U91.';
COMMENT ON COLUMN fuel_v1.current_prices.price_cpl         IS 'Price in effect, cents per litre.';
COMMENT ON COLUMN fuel_v1.current_prices.effective_at      IS 'Since when it holds without a change.';
COMMENT ON COLUMN fuel_v1.current_prices.confirmed_at      IS 'When a feed last reported it, less delay_hours. Where lists are not complete, as in WA, when it was first reported, which may be before effective_at.';
COMMENT ON COLUMN fuel_v1.current_prices.is_fresh          IS 'Whether it was reported recently enough to be believed.';
COMMENT ON COLUMN fuel_v1.current_prices.is_flagged        IS 'Whether it is doubtful and not yet confirmed.';
COMMENT ON COLUMN fuel_v1.current_prices.next_price_cpl    IS 'The next price, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.current_prices.next_effective_at IS 'When the next price begins; NULL: not known.';
COMMENT ON COLUMN fuel_v1.current_prices.delay_hours       IS 'How late its state publishes prices, in hours: 24 in Victoria, whose prices are a day old; 0: without delay.';
COMMENT ON COLUMN fuel_v1.current_prices.is_public         IS 'False: members or permit holders only; left out of averages.';
COMMENT ON COLUMN fuel_v1.current_prices.flag_reason       IS 'Why it is doubtful: far (from the station''s own prices and its neighbours'') or placeholder (one price for every grade of petrol); NULL: it is not doubtful.';
GRANT SELECT ON fuel_v1.current_prices TO fuel_reader, fuel_writer;
