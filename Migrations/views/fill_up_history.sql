CREATE OR REPLACE VIEW fuel_v1.fill_up_history AS
SELECT
  given.region,
  region.state,
  fuel.fuel,
  given.day,
  given.computed_at,
  given.verdict,
  given.basis,
  given.rule,
  given.method,
  given.record_cpl,
  given.reason,
  given.expected_saving_cpl,
  given.confidence,
  given.based_on_day,
  given.average_cpl,
  given.tomorrow_cpl,
  given.valid_until_at,
  coalesce(before.average_cpl <> given.before_cpl, false) AS is_revised,
  given.market_state,
  given.p_cheaper_3d,
  given.p_jump_3d,
  given.aim_for_cpl,
  given.expected_low_cpl,
  given.expected_low_from_on,
  given.expected_low_to_on,
  given.share_raised,
  given.p_lower_5d
FROM fuel.verdict AS given
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN fuel.region USING (region)
LEFT JOIN fuel.daily_rollup AS before
  ON before.region = given.region
  AND before.fuel_id = given.fuel_id
  AND before.day = given.based_on_day - 1;
COMMENT ON VIEW fuel_v1.fill_up_history IS
  'Every verdict as it was given; rows are never changed afterwards. One row per region, fuel and verdict.';
COMMENT ON COLUMN fuel_v1.fill_up_history.region              IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.fill_up_history.state               IS 'Its state; NULL for the nation, areas across borders and regions that are gone.';
COMMENT ON COLUMN fuel_v1.fill_up_history.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.fill_up_history.day                 IS 'The price day it was given on.';
COMMENT ON COLUMN fuel_v1.fill_up_history.computed_at         IS 'When it was given.';
COMMENT ON COLUMN fuel_v1.fill_up_history.verdict             IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up_history.basis               IS 'tomorrow_price, price_cycle, price_trend, not_cycling or insufficient_data.';
COMMENT ON COLUMN fuel_v1.fill_up_history.rule                IS 'The habit that the verdict follows (turn, slope, weekday, plain), or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up_history.method              IS 'Version of the method.';
COMMENT ON COLUMN fuel_v1.fill_up_history.record_cpl          IS 'What following the verdicts had saved lately, cents per litre; NULL: too little was known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.reason              IS 'Why, in words for drivers.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_saving_cpl IS 'What following it should have saved, cents per litre; NULL: no saving was stated.';
COMMENT ON COLUMN fuel_v1.fill_up_history.confidence          IS 'How likely the verdict is to be right, from 0 to 1: p_lower_5d for wait, 1 less p_lower_5d for fill_up; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.based_on_day        IS 'The last price day it used; NULL: not known, or not of this rule.';
COMMENT ON COLUMN fuel_v1.fill_up_history.average_cpl         IS 'Average of that day as it was known then, cents per litre; NULL: not known, or not of this rule.';
COMMENT ON COLUMN fuel_v1.fill_up_history.tomorrow_cpl        IS 'Average of tomorrow, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.valid_until_at      IS 'When it lapsed.';
COMMENT ON COLUMN fuel_v1.fill_up_history.is_revised          IS
  'Whether late data have since changed the average of the day before: today the verdict might differ.';
COMMENT ON COLUMN fuel_v1.fill_up_history.market_state         IS 'What the market was doing: quiet, falling, near_low, rising, near_high or shock; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.p_cheaper_3d         IS 'How likely it was to be 1 c/L cheaper within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.p_jump_3d            IS 'How likely it was to be 3 c/L dearer within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.aim_for_cpl          IS 'A price worth stopping for, cents per litre; NULL: none was named.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_low_cpl     IS 'The low to wait for, cents per litre; NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_low_from_on IS 'The first day on which expected_low_cpl was likely; NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_low_to_on   IS 'The last day on which expected_low_cpl was likely; NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up_history.share_raised         IS 'Share of its stations that had raised their price by five cents since the last trough, from 0 to 1; NULL: the market was not rising.';
COMMENT ON COLUMN fuel_v1.fill_up_history.p_lower_5d          IS 'How likely it was to be more than 0.2 c/L cheaper within five days, from 0 to 1; NULL: not known.';
GRANT SELECT ON fuel_v1.fill_up_history TO fuel_reader, fuel_writer;
