CREATE OR REPLACE VIEW fuel_v1.market_events AS
SELECT
  market_event.day,
  market_event.state,
  market_event.fuel,
  market_event.what,
  market_event.cpl
FROM fuel.market_event;
COMMENT ON VIEW fuel_v1.market_events IS
  'What happened to the market as a whole, by the configuration (events.json5). One row per event.';
COMMENT ON COLUMN fuel_v1.market_events.day   IS 'The day from which it held.';
COMMENT ON COLUMN fuel_v1.market_events.state IS 'The state; NULL: the whole nation.';
COMMENT ON COLUMN fuel_v1.market_events.fuel  IS 'Fuel code; NULL: all of them.';
COMMENT ON COLUMN fuel_v1.market_events.what  IS 'What happened.';
COMMENT ON COLUMN fuel_v1.market_events.cpl   IS 'By how much it changed what a litre costs, cents per litre; NULL: not told.';
GRANT SELECT ON fuel_v1.market_events TO fuel_reader, fuel_writer;
