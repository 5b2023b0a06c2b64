CREATE OR REPLACE VIEW fuel_v1.fill_up AS
SELECT
  latest.region,
  region.state,
  fuel.fuel,
  CASE WHEN latest.is_valid THEN latest.verdict ELSE 'no_difference' END AS verdict,
  CASE WHEN latest.is_valid THEN latest.basis ELSE 'insufficient_data' END AS basis,
  CASE WHEN latest.is_valid THEN latest.rule END AS rule,
  (CASE WHEN latest.is_valid THEN latest.record_cpl END)::numeric(6, 2) AS record_cpl,
  CASE
    WHEN latest.is_valid THEN latest.reason
    ELSE 'The last verdict has lapsed and no newer one was computed'
  END AS reason,
  (CASE WHEN latest.is_valid THEN latest.expected_saving_cpl END)::numeric(6, 2) AS expected_saving_cpl,
  (CASE WHEN latest.is_valid THEN latest.confidence END)::numeric(3, 2) AS confidence,
  latest.valid_until_at,
  latest.computed_at,
  (CASE WHEN latest.is_valid THEN latest.today_cpl END)::numeric(6, 2) AS today_cpl,
  (CASE WHEN latest.is_valid THEN latest.tomorrow_cpl END)::numeric(6, 2) AS tomorrow_cpl,
  latest.stations,
  latest.method,
  latest.based_on_day,
  (CASE WHEN latest.is_valid THEN latest.average_cpl END)::numeric(6, 2) AS average_cpl,
  (CASE WHEN latest.is_valid THEN latest.change_1d_cpl END)::numeric(6, 2) AS change_1d_cpl,
  CASE WHEN latest.is_valid THEN latest.phase END AS phase,
  CASE WHEN latest.is_valid THEN latest.days_in_phase END AS days_in_phase,
  (CASE WHEN latest.is_valid THEN latest.last_trough_cpl END)::numeric(6, 2) AS last_trough_cpl,
  (CASE WHEN latest.is_valid THEN latest.last_peak_cpl END)::numeric(6, 2) AS last_peak_cpl,
  CASE WHEN latest.is_valid THEN latest.market_state END AS market_state,
  (CASE WHEN latest.is_valid THEN latest.p_cheaper_3d END)::numeric(4, 3) AS p_cheaper_3d,
  (CASE WHEN latest.is_valid THEN latest.p_jump_3d END)::numeric(4, 3) AS p_jump_3d,
  (CASE WHEN latest.is_valid THEN latest.aim_for_cpl END)::numeric(5, 1) AS aim_for_cpl,
  (CASE WHEN latest.is_valid THEN latest.expected_low_cpl END)::numeric(5, 1) AS expected_low_cpl,
  CASE WHEN latest.is_valid THEN latest.expected_low_from_on END AS expected_low_from_on,
  CASE WHEN latest.is_valid THEN latest.expected_low_to_on END AS expected_low_to_on,
  (CASE WHEN latest.is_valid THEN latest.share_raised END)::numeric(4, 3) AS share_raised,
  (CASE WHEN latest.is_valid THEN latest.p_lower_5d END)::numeric(4, 3) AS p_lower_5d
FROM fuel.latest_verdict AS latest
JOIN fuel.region USING (region)
JOIN fuel.fuel USING (fuel_id)
-- The nation has no verdict, because nobody buys fuel in a nation as a whole. Earlier versions stored one.
WHERE region.kind <> 'nation';
COMMENT ON VIEW fuel_v1.fill_up IS
  'Should you fill up? The verdict that holds now. One row per region and fuel; the nation has none. A verdict '
  'that has lapsed shows as no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up.region              IS 'A state, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.fill_up.state               IS 'The state that the region lies in; NULL: it lies in several.';
COMMENT ON COLUMN fuel_v1.fill_up.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.fill_up.verdict             IS 'fill_up (now), wait (until it is cheaper) or no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up.basis               IS 'tomorrow_price, price_cycle, price_trend, not_cycling or insufficient_data.';
COMMENT ON COLUMN fuel_v1.fill_up.rule                IS 'The habit that the verdict follows (turn, slope, weekday, plain), or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up.record_cpl          IS 'What following the verdicts saved over the latest sixty days from which the five days after are known, cents per litre; where prices are late, what it would have saved on time; NULL: too little is known.';
COMMENT ON COLUMN fuel_v1.fill_up.reason              IS 'Why, in words for drivers.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_saving_cpl IS 'What following it should save against a random one of the six days from then on, or where rule is tomorrow the difference to today, cents per litre; NULL: no saving is stated.';
COMMENT ON COLUMN fuel_v1.fill_up.confidence          IS 'How likely the verdict is to be right, from 0 to 1: p_lower_5d for wait, 1 less p_lower_5d for fill_up; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.valid_until_at      IS 'When the verdict lapses.';
COMMENT ON COLUMN fuel_v1.fill_up.computed_at         IS 'When the verdict was given.';
COMMENT ON COLUMN fuel_v1.fill_up.today_cpl           IS 'The average now that it is based on, cents per litre; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up.tomorrow_cpl        IS 'Average of tomorrow over the same stations, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.stations            IS 'Number of stations that today_cpl and tomorrow_cpl are computed from.';
COMMENT ON COLUMN fuel_v1.fill_up.method              IS 'Version of the method that gave it.';
COMMENT ON COLUMN fuel_v1.fill_up.based_on_day        IS 'The last price day whose average it used; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up.average_cpl         IS 'Average of that day, or, if it has not ended, of that day up to computed_at, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.change_1d_cpl       IS 'Change per day since the previous average, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.phase               IS 'rising or falling, as confirmed by a move of six cents: a turn that the reason mentions may be newer. NULL: the average has not moved by six cents yet.';
COMMENT ON COLUMN fuel_v1.fill_up.days_in_phase       IS 'Days since that phase began; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.last_trough_cpl     IS 'Average at the last trough, cents per litre; NULL: none is known.';
COMMENT ON COLUMN fuel_v1.fill_up.last_peak_cpl       IS 'Average at the last peak, cents per litre; NULL: none is known.';
COMMENT ON COLUMN fuel_v1.fill_up.market_state         IS 'What the market is doing: quiet (timing hardly pays), falling, near_low, rising, near_high, or shock (prices have left the range of four months); NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.p_cheaper_3d         IS 'How likely it is to be 1 c/L cheaper within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.p_jump_3d            IS 'How likely it is to be 3 c/L dearer within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.aim_for_cpl          IS 'A price worth stopping for, cents per litre; NULL: none is named.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_low_cpl     IS 'The lowest average of the next five days, a guess, or that of tomorrow where it is published, cents per litre; NULL: there is nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_low_from_on IS 'The first day on which it may come; NULL: there is nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_low_to_on   IS 'The last day on which it may come; NULL: there is nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up.share_raised         IS 'Share of its stations that have raised their price by five cents since the last trough, from 0 to 1; NULL: the market is not rising.';
COMMENT ON COLUMN fuel_v1.fill_up.p_lower_5d          IS 'How likely it is to be more than 0.2 c/L cheaper within five days, from 0 to 1; NULL: not known.';
GRANT SELECT ON fuel_v1.fill_up TO fuel_reader, fuel_writer;
