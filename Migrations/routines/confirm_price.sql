-- Confirms a doubtful price that a person has checked. The price is then taken to be true, now and in the past.
CREATE OR REPLACE FUNCTION fuel.confirm_price(
  p_station_id integer, p_fuel text, p_price_cpl numeric)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  confirmed_fuel smallint;
BEGIN
  SELECT fuel.fuel_id INTO STRICT confirmed_fuel FROM fuel.fuel WHERE fuel.fuel = p_fuel;
  INSERT INTO fuel.price_confirmation (
    station_id, fuel_id, price_tenths, confirmed_by, confirmed_at)
  VALUES (
    p_station_id, confirmed_fuel, (p_price_cpl * 10)::integer, session_user, clock_timestamp())
  ON CONFLICT DO NOTHING;
  PERFORM fuel.touch(ARRAY[p_station_id], ARRAY[confirmed_fuel], ARRAY['-infinity'::timestamptz]);
END
$$;
COMMENT ON FUNCTION fuel.confirm_price(integer, text, numeric) IS
  'Confirms a doubtful price (station_id, fuel code, cents per litre); the next aggregate counts it, '
  'in the past as well.';
GRANT EXECUTE ON FUNCTION fuel.confirm_price(integer, text, numeric) TO fuel_writer;
