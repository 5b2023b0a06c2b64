CREATE OR REPLACE VIEW fuel_v1.cycles AS
SELECT
  cycle.region,
  fuel.fuel,
  cycle.trough_on,
  cycle.trough_cpl,
  cycle.peak_on,
  cycle.peak_cpl,
  cycle.ends_on - cycle.trough_on AS days,
  (cycle.peak_cpl - cycle.trough_cpl)::numeric(6, 2) AS amplitude_cpl,
  cycle.ends_on
FROM fuel.cycle
JOIN fuel.fuel USING (fuel_id);
COMMENT ON VIEW fuel_v1.cycles IS
  'Every completed price cycle of the stored history. One row per region, fuel and cycle. Prices cycle where three '
  'cycles in a row are alike; there is no row from other times. A turning point counts once the daily average has '
  'moved six cents away from it. Cycles before the last five are found anew once a day.';
COMMENT ON COLUMN fuel_v1.cycles.region        IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.cycles.fuel          IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.cycles.trough_on     IS 'The price day on which it began.';
COMMENT ON COLUMN fuel_v1.cycles.trough_cpl    IS 'The average of that day, cents per litre.';
COMMENT ON COLUMN fuel_v1.cycles.peak_on       IS 'The price day of its peak.';
COMMENT ON COLUMN fuel_v1.cycles.peak_cpl      IS 'The average of that day, cents per litre.';
COMMENT ON COLUMN fuel_v1.cycles.days          IS 'Days from its trough to the next trough.';
COMMENT ON COLUMN fuel_v1.cycles.amplitude_cpl IS 'Peak minus trough, cents per litre.';
COMMENT ON COLUMN fuel_v1.cycles.ends_on       IS 'The price day of the next trough.';
GRANT SELECT ON fuel_v1.cycles TO fuel_reader, fuel_writer;
-- The migration that made the table says that it holds the last cycles, as it did then.
COMMENT ON TABLE fuel.cycle IS 'The completed price cycles of the stored history, by region and fuel.';
