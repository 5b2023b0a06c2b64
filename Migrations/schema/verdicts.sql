-- Verdicts: where a market stands, what a verdict rested on, and how good verdicts were.

CREATE TABLE fuel.market (
  region       text     NOT NULL,
  fuel_id      smallint NOT NULL,
  is_cycling   boolean  NOT NULL,
  trough_on    date,
  typical_days integer,
  CONSTRAINT market_pk PRIMARY KEY (region, fuel_id),
  CONSTRAINT market_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region) ON DELETE CASCADE
);
COMMENT ON TABLE fuel.market IS 'Whether a region and fuel has a price cycle, as of the last aggregate.';
COMMENT ON COLUMN fuel.market.is_cycling IS
  'The last three cycles are alike, what rises falls again, and the present one is not overdue.';
COMMENT ON COLUMN fuel.market.trough_on    IS 'When the present cycle began. NULL: there is none.';
COMMENT ON COLUMN fuel.market.typical_days IS 'The middle of the last three cycles'' lengths. NULL: no cycle.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.market TO fuel_writer;

CREATE TABLE fuel.cycle (
  region     text          NOT NULL,
  fuel_id    smallint      NOT NULL,
  trough_on  date          NOT NULL,
  trough_cpl numeric(6, 2) NOT NULL,
  peak_on    date          NOT NULL,
  peak_cpl   numeric(6, 2) NOT NULL,
  ends_on    date          NOT NULL,
  CONSTRAINT cycle_pk PRIMARY KEY (region, fuel_id, trough_on),
  CONSTRAINT cycle_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region) ON DELETE CASCADE,
  CONSTRAINT cycle_order_ck CHECK (trough_on < peak_on AND peak_on < ends_on),
  CONSTRAINT cycle_height_ck CHECK (trough_cpl < peak_cpl)
);
COMMENT ON TABLE fuel.cycle IS 'The completed price cycles of the stored history, by region and fuel.';
COMMENT ON COLUMN fuel.cycle.trough_on  IS 'The day on which it began.';
COMMENT ON COLUMN fuel.cycle.trough_cpl IS 'The average of that day, c/L.';
COMMENT ON COLUMN fuel.cycle.peak_on    IS 'The day of its peak.';
COMMENT ON COLUMN fuel.cycle.peak_cpl   IS 'The average of that day, c/L.';
COMMENT ON COLUMN fuel.cycle.ends_on    IS 'The day of the next trough, on which the next one began.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.cycle TO fuel_writer;

CREATE TABLE fuel.station_habit (
  station_id     integer       NOT NULL,
  fuel_id        smallint      NOT NULL,
  region         text          NOT NULL,
  difference_cpl numeric(6, 2) NOT NULL,
  days           integer       NOT NULL,
  until_day      date          NOT NULL,
  CONSTRAINT station_habit_pk PRIMARY KEY (station_id, fuel_id, region),
  CONSTRAINT station_habit_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region) ON DELETE CASCADE
);
COMMENT ON TABLE fuel.station_habit IS
  'A station''s usual place beside its nearest region, to tell when it stands out.';
COMMENT ON COLUMN fuel.station_habit.region         IS 'The smallest region that it lies in.';
COMMENT ON COLUMN fuel.station_habit.difference_cpl IS
  'Median over sixty days of its day''s price less the region''s average, c/L.';
COMMENT ON COLUMN fuel.station_habit.days           IS 'On how many days both were known.';
COMMENT ON COLUMN fuel.station_habit.until_day      IS 'The last of those sixty days.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.station_habit TO fuel_writer;

CREATE TABLE fuel.verdict (
  region                     text          NOT NULL,
  fuel_id                    smallint      NOT NULL,
  computed_at                timestamptz   NOT NULL,
  day                        date          NOT NULL,
  verdict                    text          NOT NULL,
  basis                      text          NOT NULL,
  rule                       text,
  method                     text          NOT NULL,
  record_cpl                 numeric(6, 2),
  reason                     text          NOT NULL,
  today_cpl                  numeric(6, 2),
  tomorrow_cpl               numeric(6, 2),
  stations                   integer       NOT NULL,
  expected_saving_cpl        numeric(6, 2),
  confidence                 numeric(3, 2),
  valid_until_at             timestamptz   NOT NULL,
  based_on_day               date,
  average_cpl                numeric(6, 2),
  before_cpl                 numeric(6, 2),
  change_1d_cpl              numeric(6, 2),
  phase                      text,
  days_in_phase              integer,
  last_trough_cpl            numeric(6, 2),
  last_peak_cpl              numeric(6, 2),
  market_state               text,
  p_cheaper_3d               numeric(4, 3),
  p_jump_3d                  numeric(4, 3),
  p_lower_5d                 numeric(4, 3),
  aim_for_cpl                numeric(5, 1),
  expected_low_cpl           numeric(5, 1),
  expected_low_from_on       date,
  expected_low_to_on         date,
  share_raised               numeric(4, 3),
  CONSTRAINT verdict_pk PRIMARY KEY (region, fuel_id, computed_at),
  CONSTRAINT verdict_verdict_ck CHECK (verdict IN ('fill_up', 'wait', 'no_difference')),
  CONSTRAINT verdict_basis_ck CHECK (
    basis IN ('tomorrow_price', 'price_cycle', 'price_trend', 'not_cycling', 'insufficient_data')),
  CONSTRAINT verdict_confidence_ck CHECK (confidence BETWEEN 0 AND 1),
  CONSTRAINT verdict_phase_ck CHECK (phase IN ('rising', 'falling')),
  CONSTRAINT verdict_state_ck CHECK (market_state IN ('quiet', 'falling', 'near_low', 'rising', 'near_high', 'shock')),
  CONSTRAINT verdict_chance_ck CHECK (
    p_cheaper_3d BETWEEN 0 AND 1 AND p_jump_3d BETWEEN 0 AND 1 AND p_lower_5d BETWEEN 0 AND 1
    AND share_raised BETWEEN 0 AND 1),
  CONSTRAINT verdict_low_ck CHECK (expected_low_from_on <= expected_low_to_on)
);
COMMENT ON TABLE fuel.verdict IS 'Every verdict that was given, with what it was based on. Never changed afterwards.';
COMMENT ON COLUMN fuel.verdict.region IS 'The region. It may have left the configuration since; its verdicts stay.';
COMMENT ON COLUMN fuel.verdict.computed_at                IS 'When it was given.';
COMMENT ON COLUMN fuel.verdict.day                        IS 'The price day it was given on.';
COMMENT ON COLUMN fuel.verdict.verdict                    IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel.verdict.basis                      IS 'What kind of knowledge it rests on.';
COMMENT ON COLUMN fuel.verdict.rule                       IS 'The habit that led, or tomorrow. NULL: none.';
COMMENT ON COLUMN fuel.verdict.method                     IS 'Version of the whole method.';
COMMENT ON COLUMN fuel.verdict.record_cpl IS
  'What following the verdicts saved lately, c/L. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.reason                     IS 'In words, for drivers.';
COMMENT ON COLUMN fuel.verdict.today_cpl                  IS 'Average of today that it used, c/L. NULL: none.';
COMMENT ON COLUMN fuel.verdict.tomorrow_cpl IS 'Average of tomorrow over the same stations, c/L. NULL: not known.';
COMMENT ON COLUMN fuel.verdict.stations                   IS 'How many stations those averages rest on.';
COMMENT ON COLUMN fuel.verdict.expected_saving_cpl IS 'What following it should save, c/L. NULL: nothing is claimed.';
COMMENT ON COLUMN fuel.verdict.confidence                 IS 'From 0 to 1. NULL: not estimated.';
COMMENT ON COLUMN fuel.verdict.valid_until_at             IS 'When it lapses.';
COMMENT ON COLUMN fuel.verdict.based_on_day               IS 'The last day whose average it used. NULL: none.';
COMMENT ON COLUMN fuel.verdict.average_cpl IS 'That average as it was then, so far where the day had not ended, c/L.';
COMMENT ON COLUMN fuel.verdict.before_cpl IS
  'The average of the day before that, over by then, as it was known then, c/L. NULL: none.';
COMMENT ON COLUMN fuel.verdict.change_1d_cpl              IS 'Change per day since the average before, c/L.';
COMMENT ON COLUMN fuel.verdict.phase IS 'rising or falling. NULL: it has not moved by six cents yet.';
COMMENT ON COLUMN fuel.verdict.days_in_phase              IS 'Days since the phase began.';
COMMENT ON COLUMN fuel.verdict.last_trough_cpl            IS 'Average at the last trough, c/L. NULL: none is known.';
COMMENT ON COLUMN fuel.verdict.last_peak_cpl              IS 'Average at the last peak, c/L. NULL: none is known.';
COMMENT ON COLUMN fuel.verdict.market_state IS
  'quiet, falling, near_low, rising, near_high or shock. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.p_cheaper_3d IS
  'How likely it was to be 1 c/L cheaper within three days, from 0 to 1. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.p_jump_3d IS
  'How likely it was to be 3 c/L dearer within three days, from 0 to 1. NULL: too little was known.';
COMMENT ON COLUMN fuel.verdict.p_lower_5d IS
  'How likely it was to be more than 0.2 c/L cheaper within five days, from 0 to 1. NULL: not known.';
COMMENT ON COLUMN fuel.verdict.aim_for_cpl                IS 'A price worth stopping for, c/L. NULL: none was named.';
COMMENT ON COLUMN fuel.verdict.expected_low_cpl IS 'The low of the five days after, a guess, c/L. NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel.verdict.expected_low_from_on       IS 'The first day it may come on. NULL: as above.';
COMMENT ON COLUMN fuel.verdict.expected_low_to_on         IS 'The last such day. NULL: as above.';
COMMENT ON COLUMN fuel.verdict.share_raised IS
  'Share of the stations that had gone up by five cents since the last trough. NULL: the market was not rising.';
GRANT SELECT, INSERT ON fuel.verdict TO fuel_writer;

CREATE TABLE fuel.verdict_score (
  scored              text          NOT NULL,
  method              text          NOT NULL,
  region              text          NOT NULL,
  fuel_id             smallint      NOT NULL,
  year                integer,
  horizon             integer       NOT NULL,
  days                integer       NOT NULL,
  perfect_cpl         numeric(6, 2) NOT NULL,
  saving_cpl          numeric(6, 2) NOT NULL,
  saving_low_cpl      numeric(6, 2) NOT NULL,
  saving_high_cpl     numeric(6, 2) NOT NULL,
  wait_share          numeric(4, 3) NOT NULL,
  fill_up_share       numeric(4, 3) NOT NULL,
  no_difference_share numeric(4, 3) NOT NULL,
  wait_right          numeric(4, 3),
  fill_up_right       numeric(4, 3),
  no_difference_right numeric(4, 3),
  flips_30d           numeric(5, 2) NOT NULL,
  from_on             date          NOT NULL,
  until_on            date          NOT NULL,
  computed_at         timestamptz   NOT NULL,
  CONSTRAINT verdict_score_scored_ck CHECK (scored IN ('given', 'replayed')),
  CONSTRAINT verdict_score_year_ck CHECK (scored = 'replayed' OR year IS NULL),
  CONSTRAINT verdict_score_horizon_ck CHECK (horizon IN (3, 5, 7)),
  CONSTRAINT verdict_score_any_ck CHECK (days > 0),
  CONSTRAINT verdict_score_days_ck CHECK (from_on <= until_on)
);
CREATE UNIQUE INDEX verdict_score_idx ON fuel.verdict_score (
  scored, method, region, fuel_id, coalesce(year, 0), horizon);
ALTER TABLE fuel.verdict_score REPLICA IDENTITY FULL;
COMMENT ON TABLE fuel.verdict_score IS 'How good verdicts were, and how good habits were over the same days.';
COMMENT ON COLUMN fuel.verdict_score.scored IS
  'given: the verdicts as they were given, once a day; replayed: those of the last backtest over the stored history.';
COMMENT ON COLUMN fuel.verdict_score.method              IS 'The method, or a habit.';
COMMENT ON COLUMN fuel.verdict_score.year                IS 'The calendar year. NULL: all of them.';
COMMENT ON COLUMN fuel.verdict_score.horizon             IS 'Within how many days a driver buys once.';
COMMENT ON COLUMN fuel.verdict_score.days                IS 'How many windows it has, one from each day on.';
COMMENT ON COLUMN fuel.verdict_score.perfect_cpl         IS 'What perfect timing saves, c/L.';
COMMENT ON COLUMN fuel.verdict_score.saving_cpl          IS 'What following the verdicts saves, c/L.';
COMMENT ON COLUMN fuel.verdict_score.saving_low_cpl      IS 'Lower end of its 90 % interval, by blocks of days drawn again.';
COMMENT ON COLUMN fuel.verdict_score.saving_high_cpl     IS 'Upper end.';
COMMENT ON COLUMN fuel.verdict_score.wait_share          IS 'Share of days with wait, the same for each horizon.';
COMMENT ON COLUMN fuel.verdict_score.fill_up_share       IS 'Share of days with fill_up.';
COMMENT ON COLUMN fuel.verdict_score.no_difference_share IS 'Share of days with no_difference.';
COMMENT ON COLUMN fuel.verdict_score.wait_right IS
  'Share of waits followed within three days by a price lower by a cent. NULL: no wait.';
COMMENT ON COLUMN fuel.verdict_score.fill_up_right       IS 'Share of fill_ups followed by none. NULL: no fill_up.';
COMMENT ON COLUMN fuel.verdict_score.no_difference_right IS
  'Share of no_differences followed by three days within three cents. NULL: no no_difference.';
COMMENT ON COLUMN fuel.verdict_score.flips_30d           IS 'Turns from fill_up to wait or back in thirty days.';
COMMENT ON COLUMN fuel.verdict_score.from_on             IS 'First day that was scored.';
COMMENT ON COLUMN fuel.verdict_score.until_on            IS 'Last day of it.';
COMMENT ON COLUMN fuel.verdict_score.computed_at         IS 'When.';
GRANT SELECT, INSERT, DELETE ON fuel.verdict_score TO fuel_writer;

CREATE TABLE fuel.verdict_calibration (
  method text     NOT NULL,
  event  text     NOT NULL,
  decile smallint NOT NULL,
  stated numeric  NOT NULL,
  real   numeric  NOT NULL,
  days   integer  NOT NULL,
  CONSTRAINT verdict_calibration_pk PRIMARY KEY (method, event, decile),
  CONSTRAINT verdict_calibration_event_ck CHECK (event IN ('cheaper_3d', 'jump_3d', 'lower_5d')),
  CONSTRAINT verdict_calibration_decile_ck CHECK (decile BETWEEN 1 AND 10)
);
COMMENT ON TABLE fuel.verdict_calibration IS
  'How often what was said to be likely came, over all verdicts as they were given. Made anew once a day.';
COMMENT ON COLUMN fuel.verdict_calibration.method IS 'The method that gave them.';
COMMENT ON COLUMN fuel.verdict_calibration.event IS
  'cheaper_3d: 1 c/L cheaper within three days; jump_3d: 3 c/L dearer; lower_5d: over 0.2 c/L cheaper within five.';
COMMENT ON COLUMN fuel.verdict_calibration.decile IS 'Which tenth of the probabilities: 1 is below 0.1.';
COMMENT ON COLUMN fuel.verdict_calibration.stated IS 'The mean of what was said in it.';
COMMENT ON COLUMN fuel.verdict_calibration.real   IS 'The share of days on which it came.';
COMMENT ON COLUMN fuel.verdict_calibration.days   IS 'How many days, over all regions and fuels.';
GRANT SELECT, INSERT, DELETE ON fuel.verdict_calibration TO fuel_writer;
