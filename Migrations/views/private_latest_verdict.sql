-- The verdict that was given last. It takes one step into the index for each region and fuel, however many verdicts are
-- stored.
CREATE OR REPLACE VIEW fuel.latest_verdict AS
SELECT
  given.region,
  given.fuel_id,
  given.computed_at,
  given.day,
  given.verdict,
  given.basis,
  given.rule,
  given.method,
  given.record_cpl,
  given.reason,
  given.today_cpl,
  given.tomorrow_cpl,
  given.stations,
  given.expected_saving_cpl,
  given.confidence,
  given.valid_until_at,
  given.valid_until_at > fuel.clock() AS is_valid,
  given.based_on_day,
  given.average_cpl,
  given.change_1d_cpl,
  given.phase,
  given.days_in_phase,
  given.last_trough_cpl,
  given.last_peak_cpl,
  given.market_state,
  given.p_cheaper_3d,
  given.p_jump_3d,
  given.aim_for_cpl,
  given.expected_low_cpl,
  given.expected_low_from_on,
  given.expected_low_to_on,
  given.share_raised,
  given.p_lower_5d
FROM fuel.region
CROSS JOIN fuel.fuel
CROSS JOIN LATERAL (
  SELECT verdict.*
  FROM fuel.verdict
  WHERE verdict.region = region.region
    AND verdict.fuel_id = fuel.fuel_id
    AND verdict.computed_at <= fuel.clock()
  ORDER BY verdict.computed_at DESC
  LIMIT 1
) AS given;
COMMENT ON VIEW fuel.latest_verdict IS 'The newest verdict. One row per region and fuel.';
COMMENT ON COLUMN fuel.latest_verdict.region              IS 'The region.';
COMMENT ON COLUMN fuel.latest_verdict.fuel_id             IS 'The fuel.';
COMMENT ON COLUMN fuel.latest_verdict.computed_at         IS 'When it was given.';
COMMENT ON COLUMN fuel.latest_verdict.day                 IS 'The price day it was given on.';
COMMENT ON COLUMN fuel.latest_verdict.verdict             IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel.latest_verdict.basis               IS 'What kind of knowledge it is based on.';
COMMENT ON COLUMN fuel.latest_verdict.rule                IS 'The habit that led, or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.method              IS 'Version of the whole method.';
COMMENT ON COLUMN fuel.latest_verdict.record_cpl          IS 'What following the verdicts saved lately, c/L; NULL: too little was known.';
COMMENT ON COLUMN fuel.latest_verdict.reason              IS 'In words, for drivers.';
COMMENT ON COLUMN fuel.latest_verdict.today_cpl           IS 'Average of today that it used, c/L; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.tomorrow_cpl        IS 'Average of tomorrow, c/L; NULL: not known.';
COMMENT ON COLUMN fuel.latest_verdict.stations            IS 'Number of stations that today_cpl and tomorrow_cpl are computed from.';
COMMENT ON COLUMN fuel.latest_verdict.expected_saving_cpl IS 'What following it should save, c/L; NULL: no saving is stated.';
COMMENT ON COLUMN fuel.latest_verdict.confidence          IS 'From 0 to 1; NULL: not estimated.';
COMMENT ON COLUMN fuel.latest_verdict.valid_until_at      IS 'When it lapses.';
COMMENT ON COLUMN fuel.latest_verdict.is_valid            IS 'Whether it still holds.';
COMMENT ON COLUMN fuel.latest_verdict.based_on_day        IS 'The last day whose average it used; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.average_cpl         IS 'That average, c/L.';
COMMENT ON COLUMN fuel.latest_verdict.change_1d_cpl       IS 'Change per day since the previous average, c/L.';
COMMENT ON COLUMN fuel.latest_verdict.phase               IS 'rising or falling; NULL: not known.';
COMMENT ON COLUMN fuel.latest_verdict.days_in_phase       IS 'Days since the phase began.';
COMMENT ON COLUMN fuel.latest_verdict.last_trough_cpl     IS 'Average at the last trough, c/L.';
COMMENT ON COLUMN fuel.latest_verdict.last_peak_cpl       IS 'Average at the last peak, c/L.';
COMMENT ON COLUMN fuel.latest_verdict.market_state         IS 'quiet, falling, near_low, rising, near_high or shock; NULL: not known.';
COMMENT ON COLUMN fuel.latest_verdict.p_cheaper_3d         IS 'Chance of 1 c/L less within three days; NULL: not known.';
COMMENT ON COLUMN fuel.latest_verdict.p_jump_3d            IS 'Chance of 3 c/L more within three days; NULL: not known.';
COMMENT ON COLUMN fuel.latest_verdict.aim_for_cpl          IS 'A price worth stopping for, c/L; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.expected_low_cpl     IS 'The low to wait for, c/L; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.expected_low_from_on IS 'The first day on which it is likely; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.expected_low_to_on   IS 'The last day on which it is likely; NULL: none.';
COMMENT ON COLUMN fuel.latest_verdict.share_raised         IS 'Share of stations that have raised their price since the last trough; NULL: not rising.';
COMMENT ON COLUMN fuel.latest_verdict.p_lower_5d          IS 'Chance of more than 0.2 c/L less within five days; NULL: not known.';
GRANT SELECT ON fuel.latest_verdict TO fuel_writer;
