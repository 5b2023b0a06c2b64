CREATE OR REPLACE VIEW fuel_v1.verdict_record AS
SELECT
  record.method,
  record.region,
  region.state,
  fuel.fuel,
  record.horizon::integer AS horizon,
  record.windows AS n,
  record.perfect_cpl,
  record.saving_cpl,
  record.saving_low_cpl,
  record.saving_high_cpl,
  (record.saving_cpl / nullif(record.perfect_cpl, 0))::numeric(6, 3) AS capture,
  record.direction_cpl,
  record.direction_low_cpl,
  record.direction_high_cpl,
  record.weekday_cpl,
  record.weekday_low_cpl,
  record.weekday_high_cpl,
  record.always_cpl,
  record.always_low_cpl,
  record.always_high_cpl,
  record.from_day,
  record.until_day,
  record.computed_at
FROM fuel.verdict_record AS record
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN fuel.region USING (region);
COMMENT ON VIEW fuel_v1.verdict_record IS
  'How good the verdicts of fill_up were as they were given, and how good three habits were over the same days. One '
  'row per method, region, fuel and horizon, from the first verdict of the method on.';
COMMENT ON COLUMN fuel_v1.verdict_record.method             IS 'Version of the method that gave them.';
COMMENT ON COLUMN fuel_v1.verdict_record.region             IS 'A state, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.verdict_record.state              IS 'Its state; NULL for areas across borders and regions that are gone.';
COMMENT ON COLUMN fuel_v1.verdict_record.fuel               IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.verdict_record.horizon            IS 'Within how many days a driver buys once: 3, 5 or 7.';
COMMENT ON COLUMN fuel_v1.verdict_record.n                  IS 'Number of days on which the driver could begin.';
COMMENT ON COLUMN fuel_v1.verdict_record.perfect_cpl        IS 'What hindsight saves against a random day, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.saving_cpl         IS 'What following the verdicts saved against a random day, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.saving_low_cpl     IS 'Lower end of the 90 % interval of saving_cpl, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.saving_high_cpl    IS 'Upper end of that interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.capture            IS 'saving_cpl divided by perfect_cpl: 1 is hindsight, 0 a random day; meaningless where perfect_cpl is below 0.8; NULL where nothing could be saved.';
COMMENT ON COLUMN fuel_v1.verdict_record.direction_cpl      IS 'What the habit of filling up unless the price had fallen since the day before saved, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.direction_low_cpl  IS 'Lower end of its 90 % interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.direction_high_cpl IS 'Upper end of that interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.weekday_cpl        IS 'What the habit of filling up on the cheapest weekday of the last eight weeks saved, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.weekday_low_cpl    IS 'Lower end of its 90 % interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.weekday_high_cpl   IS 'Upper end of that interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.always_cpl         IS 'What the habit of always filling up at once saved, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.always_low_cpl     IS 'Lower end of its 90 % interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.always_high_cpl    IS 'Upper end of that interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_record.from_day           IS 'The first price day with a verdict of this method.';
COMMENT ON COLUMN fuel_v1.verdict_record.until_day          IS 'The last price day that was scored.';
COMMENT ON COLUMN fuel_v1.verdict_record.computed_at        IS 'When it was scored: once a day.';
GRANT SELECT ON fuel_v1.verdict_record TO fuel_reader, fuel_writer;
