-- Verdicts that look at today: what the market is doing, how likely it is to get cheaper, what to aim for; and how good
-- verdicts were as they were given. Rows of before have none of it.

ALTER TABLE fuel.verdict
  ADD COLUMN market_state text,
  ADD COLUMN p_cheaper_3d numeric(4, 3),
  ADD COLUMN p_jump_3d numeric(4, 3),
  ADD COLUMN aim_for_cpl numeric(5, 1),
  ADD COLUMN expected_low_cpl numeric(5, 1),
  ADD COLUMN expected_low_from_on date,
  ADD COLUMN expected_low_to_on date,
  ADD COLUMN share_raised numeric(4, 3),
  ADD CONSTRAINT verdict_state_ck CHECK (
    market_state IN ('quiet', 'falling', 'near_low', 'rising', 'near_high', 'shock')),
  ADD CONSTRAINT verdict_chance_ck CHECK (
    p_cheaper_3d BETWEEN 0 AND 1 AND p_jump_3d BETWEEN 0 AND 1 AND share_raised BETWEEN 0 AND 1),
  ADD CONSTRAINT verdict_low_ck CHECK (expected_low_from_on <= expected_low_to_on);
COMMENT ON COLUMN fuel.verdict.market_state         IS
  'quiet, falling, near_low, rising, near_high or shock. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.p_cheaper_3d         IS
  'How likely it was to be 1 c/L cheaper within three days, from 0 to 1. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.p_jump_3d            IS
  'How likely it was to be 3 c/L dearer within three days, from 0 to 1. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.aim_for_cpl          IS 'A price worth stopping for, c/L. NULL: none was named.';
COMMENT ON COLUMN fuel.verdict.expected_low_cpl     IS 'The low to wait for, c/L. NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel.verdict.expected_low_from_on IS 'The first day on which it was likely. NULL: as above.';
COMMENT ON COLUMN fuel.verdict.expected_low_to_on   IS 'The last such day. NULL: as above.';
COMMENT ON COLUMN fuel.verdict.share_raised         IS
  'Share of the stations that had gone up by five cents since the last trough. NULL: the market was not rising.';
COMMENT ON CONSTRAINT verdict_state_ck  ON fuel.verdict IS 'A known word.';
COMMENT ON CONSTRAINT verdict_chance_ck ON fuel.verdict IS 'Probabilities and shares.';
COMMENT ON CONSTRAINT verdict_low_ck    ON fuel.verdict IS 'First and last day in order.';

CREATE TABLE fuel.verdict_model (
  region    text               NOT NULL,
  fuel_id   smallint           NOT NULL,
  method    text               NOT NULL,
  fitted_on date               NOT NULL,
  cheaper   double precision[] NOT NULL,
  jump      double precision[] NOT NULL,
  CONSTRAINT verdict_model_pk PRIMARY KEY (region, fuel_id, method, fitted_on)
);
COMMENT ON TABLE  fuel.verdict_model           IS
  'The models that a verdict''s chances came from, fitted once a week. Never changed afterwards.';
COMMENT ON COLUMN fuel.verdict_model.region    IS 'The region. It may have left the configuration since.';
COMMENT ON COLUMN fuel.verdict_model.fuel_id   IS 'The fuel.';
COMMENT ON COLUMN fuel.verdict_model.method    IS 'Version of the whole method.';
COMMENT ON COLUMN fuel.verdict_model.fitted_on IS 'The day up to which it learnt.';
COMMENT ON COLUMN fuel.verdict_model.cheaper   IS 'Coefficients of p_cheaper_3d, the constant first.';
COMMENT ON COLUMN fuel.verdict_model.jump      IS 'Coefficients of p_jump_3d, the constant first.';
COMMENT ON CONSTRAINT verdict_model_pk ON fuel.verdict_model IS 'One fit a week.';
GRANT SELECT, INSERT ON fuel.verdict_model TO fuel_writer;

CREATE TABLE fuel.verdict_record (
  method               text          NOT NULL,
  region               text          NOT NULL,
  fuel_id              smallint      NOT NULL,
  horizon              smallint      NOT NULL,
  windows              integer       NOT NULL,
  perfect_cpl          numeric(6, 2) NOT NULL,
  saving_cpl           numeric(6, 2) NOT NULL,
  saving_low_cpl       numeric(6, 2) NOT NULL,
  saving_high_cpl      numeric(6, 2) NOT NULL,
  direction_cpl        numeric(6, 2) NOT NULL,
  direction_low_cpl    numeric(6, 2) NOT NULL,
  direction_high_cpl   numeric(6, 2) NOT NULL,
  weekday_cpl          numeric(6, 2) NOT NULL,
  weekday_low_cpl      numeric(6, 2) NOT NULL,
  weekday_high_cpl     numeric(6, 2) NOT NULL,
  always_cpl           numeric(6, 2) NOT NULL,
  always_low_cpl       numeric(6, 2) NOT NULL,
  always_high_cpl      numeric(6, 2) NOT NULL,
  from_day             date          NOT NULL,
  until_day            date          NOT NULL,
  computed_at          timestamptz   NOT NULL,
  CONSTRAINT verdict_record_pk PRIMARY KEY (method, region, fuel_id, horizon),
  CONSTRAINT verdict_record_windows_ck CHECK (windows > 0),
  CONSTRAINT verdict_record_days_ck CHECK (from_day <= until_day)
);
COMMENT ON TABLE  fuel.verdict_record                    IS
  'How good verdicts were as they were given, beside habits over the same days. Made anew once a day.';
COMMENT ON COLUMN fuel.verdict_record.method             IS 'The method that gave them.';
COMMENT ON COLUMN fuel.verdict_record.region             IS 'The region.';
COMMENT ON COLUMN fuel.verdict_record.fuel_id            IS 'The fuel.';
COMMENT ON COLUMN fuel.verdict_record.horizon            IS 'Within how many days a driver buys once.';
COMMENT ON COLUMN fuel.verdict_record.windows            IS 'How many days he could begin on.';
COMMENT ON COLUMN fuel.verdict_record.perfect_cpl        IS 'What hindsight saves against a random day, c/L.';
COMMENT ON COLUMN fuel.verdict_record.saving_cpl         IS 'What following the verdicts saved, c/L.';
COMMENT ON COLUMN fuel.verdict_record.saving_low_cpl     IS 'Lower end of its 90 % interval, by blocks of days drawn again.';
COMMENT ON COLUMN fuel.verdict_record.saving_high_cpl    IS 'Upper end.';
COMMENT ON COLUMN fuel.verdict_record.direction_cpl      IS 'What filling up saved unless the price had fallen since the day before, c/L.';
COMMENT ON COLUMN fuel.verdict_record.direction_low_cpl  IS 'Lower end of its 90 % interval.';
COMMENT ON COLUMN fuel.verdict_record.direction_high_cpl IS 'Upper end.';
COMMENT ON COLUMN fuel.verdict_record.weekday_cpl        IS 'What filling up on the cheapest weekday of eight weeks saved, c/L.';
COMMENT ON COLUMN fuel.verdict_record.weekday_low_cpl    IS 'Lower end of its 90 % interval.';
COMMENT ON COLUMN fuel.verdict_record.weekday_high_cpl   IS 'Upper end.';
COMMENT ON COLUMN fuel.verdict_record.always_cpl         IS 'What filling up at once saved, c/L.';
COMMENT ON COLUMN fuel.verdict_record.always_low_cpl     IS 'Lower end of its 90 % interval.';
COMMENT ON COLUMN fuel.verdict_record.always_high_cpl    IS 'Upper end.';
COMMENT ON COLUMN fuel.verdict_record.from_day           IS 'The first day with a verdict of this method.';
COMMENT ON COLUMN fuel.verdict_record.until_day          IS 'The last day whose prices are in it.';
COMMENT ON COLUMN fuel.verdict_record.computed_at        IS 'When.';
COMMENT ON CONSTRAINT verdict_record_pk         ON fuel.verdict_record IS 'One score each.';
COMMENT ON CONSTRAINT verdict_record_windows_ck ON fuel.verdict_record IS 'A score of something.';
COMMENT ON CONSTRAINT verdict_record_days_ck    ON fuel.verdict_record IS 'First and last day in order.';

CREATE TABLE fuel.verdict_calibration (
  method  text          NOT NULL,
  event   text          NOT NULL,
  decile  smallint      NOT NULL,
  stated  numeric(4, 3) NOT NULL,
  real    numeric(4, 3) NOT NULL,
  days    integer       NOT NULL,
  CONSTRAINT verdict_calibration_pk PRIMARY KEY (method, event, decile),
  CONSTRAINT verdict_calibration_event_ck CHECK (event IN ('cheaper_3d', 'jump_3d')),
  CONSTRAINT verdict_calibration_decile_ck CHECK (decile BETWEEN 1 AND 10)
);
COMMENT ON TABLE  fuel.verdict_calibration        IS
  'How often what was said to be likely came, over all verdicts as they were given. Made anew once a day.';
COMMENT ON COLUMN fuel.verdict_calibration.method IS 'The method that gave them.';
COMMENT ON COLUMN fuel.verdict_calibration.event  IS 'cheaper_3d: 1 c/L cheaper within three days; jump_3d: 3 c/L dearer.';
COMMENT ON COLUMN fuel.verdict_calibration.decile IS 'Which tenth of the probabilities: 1 is below 0.1.';
COMMENT ON COLUMN fuel.verdict_calibration.stated IS 'The mean of what was said in it.';
COMMENT ON COLUMN fuel.verdict_calibration.real   IS 'The share of days on which it came.';
COMMENT ON COLUMN fuel.verdict_calibration.days   IS 'How many days, over all regions and fuels.';
COMMENT ON CONSTRAINT verdict_calibration_pk        ON fuel.verdict_calibration IS 'One row a tenth.';
COMMENT ON CONSTRAINT verdict_calibration_event_ck  ON fuel.verdict_calibration IS 'A known word.';
COMMENT ON CONSTRAINT verdict_calibration_decile_ck ON fuel.verdict_calibration IS 'Tenths.';

GRANT SELECT, INSERT, DELETE ON fuel.verdict_record, fuel.verdict_calibration TO fuel_writer;
