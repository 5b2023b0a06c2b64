CREATE OR REPLACE VIEW fuel_v1.fuels AS
SELECT
  fuel.fuel,
  fuel.name,
  fuel.unit,
  fuel.is_averaged,
  fuel.is_mapped
FROM fuel.fuel;
COMMENT ON VIEW fuel_v1.fuels IS 'The fuel codes. One row per fuel.';
COMMENT ON COLUMN fuel_v1.fuels.fuel        IS 'Code, such as U91.';
COMMENT ON COLUMN fuel_v1.fuels.name        IS 'Name of the fuel.';
COMMENT ON COLUMN fuel_v1.fuels.unit        IS 'What a price is for, such as litre; unknown where no unit is stated.';
COMMENT ON COLUMN fuel_v1.fuels.is_averaged IS 'Whether averages, trends and verdicts are computed for it.';
COMMENT ON COLUMN fuel_v1.fuels.is_mapped   IS 'Whether its meaning is known; if not, it is a feed''s code that nobody has mapped yet.';
GRANT SELECT ON fuel_v1.fuels TO fuel_reader, fuel_writer;
