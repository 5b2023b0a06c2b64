CREATE OR REPLACE VIEW fuel_v1.verdict_calibration AS
SELECT
  calibration.method,
  calibration.event,
  calibration.decile::integer AS decile,
  calibration.stated,
  calibration.real,
  calibration.days AS n
FROM fuel.verdict_calibration AS calibration;
COMMENT ON VIEW fuel_v1.verdict_calibration IS
  'How often the events that verdicts gave a probability for came true, over all regions and fuels. One row per '
  'method, event and tenth of the probabilities.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.method IS 'Version of the method that gave them.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.event  IS 'cheaper_3d: a cent cheaper within three days (p_cheaper_3d); jump_3d: three cents dearer (p_jump_3d); lower_5d: more than 0.2 cents cheaper within five days (p_lower_5d).';
COMMENT ON COLUMN fuel_v1.verdict_calibration.decile IS 'Which tenth of the probabilities, from 1: below 0.1.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.stated IS 'The mean of the stated probabilities in it, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.real   IS 'The share of days on which the event came true, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.n      IS 'Number of days, over all regions and fuels.';
GRANT SELECT ON fuel_v1.verdict_calibration TO fuel_reader, fuel_writer;
