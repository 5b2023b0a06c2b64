CREATE OR REPLACE VIEW fuel_v1.market_events AS
SELECT
  market_event.day,
  market_event.state,
  market_event.fuel,
  market_event.what,
  market_event.cpl
FROM fuel.market_event;
COMMENT ON VIEW fuel_v1.market_events IS
  'Events that affected the whole market, from the configuration (events.json5). One row per event.';
COMMENT ON COLUMN fuel_v1.market_events.day   IS 'The day on which it took effect.';
COMMENT ON COLUMN fuel_v1.market_events.state IS 'The state; NULL: the whole nation.';
COMMENT ON COLUMN fuel_v1.market_events.fuel  IS 'Fuel code; NULL: all of them.';
COMMENT ON COLUMN fuel_v1.market_events.what  IS 'What happened.';
COMMENT ON COLUMN fuel_v1.market_events.cpl   IS 'By how much it changed the price of a litre, cents per litre; NULL: not stated.';
GRANT SELECT ON fuel_v1.market_events TO fuel_reader, fuel_writer;
