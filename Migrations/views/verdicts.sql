-- This takes one step into the index for each region and fuel, however many verdicts are stored.
CREATE OR REPLACE VIEW fuel.latest_verdict AS
SELECT given.valid_until_at > fuel.clock() AS is_valid, given.*
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

CREATE OR REPLACE VIEW fuel_v1.fill_up AS
SELECT
  latest.region,
  fuel.fuel,
  region.state,
  CASE WHEN latest.is_valid THEN latest.verdict ELSE 'no_difference' END AS verdict,
  CASE
    WHEN latest.is_valid THEN latest.reason
    ELSE 'The last verdict has lapsed and no newer one was computed'
  END AS reason,
  CASE WHEN latest.is_valid THEN latest.basis ELSE 'insufficient_data' END AS basis,
  CASE WHEN latest.is_valid THEN latest.rule END AS rule,
  latest.method,
  CASE WHEN latest.is_valid THEN latest.market_state END AS market_state,
  (CASE WHEN latest.is_valid THEN latest.expected_saving_cpl END)::numeric(6, 2) AS expected_saving_cpl,
  (CASE WHEN latest.is_valid THEN latest.record_cpl END)::numeric(6, 2) AS record_cpl,
  (CASE WHEN latest.is_valid THEN latest.confidence END)::numeric(3, 2) AS confidence,
  (CASE WHEN latest.is_valid THEN latest.p_cheaper_3d END)::numeric(4, 3) AS p_cheaper_3d,
  (CASE WHEN latest.is_valid THEN latest.p_lower_5d END)::numeric(4, 3) AS p_lower_5d,
  (CASE WHEN latest.is_valid THEN latest.p_jump_3d END)::numeric(4, 3) AS p_jump_3d,
  (CASE WHEN latest.is_valid THEN latest.today_cpl END)::numeric(6, 2) AS today_cpl,
  (CASE WHEN latest.is_valid THEN latest.tomorrow_cpl END)::numeric(6, 2) AS tomorrow_cpl,
  (CASE WHEN latest.is_valid THEN latest.average_cpl END)::numeric(6, 2) AS average_cpl,
  (CASE WHEN latest.is_valid THEN latest.change_1d_cpl END)::numeric(6, 2) AS change_1d_cpl,
  (CASE WHEN latest.is_valid THEN latest.aim_for_cpl END)::numeric(5, 1) AS aim_for_cpl,
  (CASE WHEN latest.is_valid THEN latest.expected_low_cpl END)::numeric(5, 1) AS expected_low_cpl,
  CASE WHEN latest.is_valid THEN latest.expected_low_from_on END AS expected_low_from_on,
  CASE WHEN latest.is_valid THEN latest.expected_low_to_on END AS expected_low_to_on,
  CASE WHEN latest.is_valid THEN latest.phase END AS phase,
  CASE WHEN latest.is_valid THEN latest.days_in_phase END AS days_in_phase,
  (CASE WHEN latest.is_valid THEN latest.last_trough_cpl END)::numeric(6, 2) AS last_trough_cpl,
  (CASE WHEN latest.is_valid THEN latest.last_peak_cpl END)::numeric(6, 2) AS last_peak_cpl,
  (CASE WHEN latest.is_valid THEN latest.share_raised END)::numeric(4, 3) AS share_raised,
  latest.stations,
  latest.based_on_day AS known_until_on,
  latest.computed_at,
  latest.valid_until_at
FROM fuel.latest_verdict AS latest
JOIN fuel.region USING (region)
JOIN fuel.fuel USING (fuel_id)
-- The nation has no verdict, because nobody buys fuel in a nation as a whole. Earlier versions stored one.
WHERE region.kind <> 'nation';
COMMENT ON VIEW fuel_v1.fill_up IS
  'Should you fill up? The verdict that holds now. One row per region and fuel; the nation has none. A verdict '
  'that has lapsed shows as no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up.region               IS 'A state, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.fill_up.fuel                 IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.fill_up.state                IS 'The state that the region lies in; NULL: it lies in several.';
COMMENT ON COLUMN fuel_v1.fill_up.verdict              IS 'fill_up (now), wait (until it is cheaper) or no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up.reason               IS 'Why, in words for drivers.';
COMMENT ON COLUMN fuel_v1.fill_up.basis                IS 'tomorrow_price, price_cycle, price_trend, not_cycling or insufficient_data.';
COMMENT ON COLUMN fuel_v1.fill_up.rule                 IS 'The habit that the verdict follows (turn, slope, weekday, plain), or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up.method               IS 'Version of the method that gave it.';
COMMENT ON COLUMN fuel_v1.fill_up.market_state         IS 'What the market is doing: quiet (timing hardly pays), falling, near_low, rising, near_high, or shock (prices have left the range of four months); NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_saving_cpl  IS 'What following the verdict should save, cents per litre: against a random one of the six days from then on, or where rule is tomorrow the difference between tomorrow and today. NULL: no saving is stated.';
COMMENT ON COLUMN fuel_v1.fill_up.record_cpl           IS 'Mean saving by following the verdicts, over the latest sixty days of which the five days after are known, cents per litre; where prices are published late, as if they had been on time. NULL: too little is known.';
COMMENT ON COLUMN fuel_v1.fill_up.confidence           IS 'How likely the verdict is to be right, from 0 to 1: p_lower_5d for wait, 1 less p_lower_5d for fill_up; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.p_cheaper_3d         IS 'How likely the average is to be 1 c/L lower within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.p_lower_5d           IS 'How likely the average is to be more than 0.2 c/L lower within five days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.p_jump_3d            IS 'How likely the average is to be 3 c/L higher within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.today_cpl            IS 'The mean now of the stations of which tomorrow''s price is known too, cents per litre; NULL: tomorrow''s prices are not known.';
COMMENT ON COLUMN fuel_v1.fill_up.tomorrow_cpl         IS 'Average of tomorrow over the same stations, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.average_cpl          IS 'Average of known_until_on, or, if that day has not ended, of the part up to computed_at, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.change_1d_cpl        IS 'Change per day since the previous average, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.aim_for_cpl          IS 'A price worth stopping for, cents per litre; NULL: none is named.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_low_cpl     IS 'Estimate of the lowest average of the next five days, or tomorrow''s average where it is published, cents per litre; NULL: there is nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_low_from_on IS 'The first day on which expected_low_cpl is likely; NULL: there is nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up.expected_low_to_on   IS 'The last day on which expected_low_cpl is likely; NULL: there is nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up.phase                IS 'rising or falling, as confirmed by a move of six cents: a turn that the reason mentions may be newer. NULL: the average has not moved by six cents yet.';
COMMENT ON COLUMN fuel_v1.fill_up.days_in_phase        IS 'Days since that phase began, from the first day of its low or high where several are equal; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up.last_trough_cpl      IS 'Average at the last trough, cents per litre; NULL: none is known.';
COMMENT ON COLUMN fuel_v1.fill_up.last_peak_cpl        IS 'Average at the last peak, cents per litre; NULL: none is known.';
COMMENT ON COLUMN fuel_v1.fill_up.share_raised         IS 'Share of the region''s stations that have raised their price by five cents since the last trough, from 0 to 1; NULL: the market is not rising.';
COMMENT ON COLUMN fuel_v1.fill_up.stations             IS 'Number of stations that today_cpl and tomorrow_cpl are computed from; where these are NULL, of stations with a price now.';
COMMENT ON COLUMN fuel_v1.fill_up.known_until_on       IS 'The last price day whose average the verdict used; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up.computed_at          IS 'When the verdict was given.';
COMMENT ON COLUMN fuel_v1.fill_up.valid_until_at       IS 'When the verdict lapses.';

CREATE OR REPLACE VIEW fuel_v1.fill_up_history AS
SELECT
  given.region,
  fuel.fuel,
  given.day,
  region.state,
  given.verdict,
  given.reason,
  given.basis,
  given.rule,
  given.method,
  given.market_state,
  given.expected_saving_cpl,
  given.record_cpl,
  given.confidence,
  given.p_cheaper_3d,
  given.p_lower_5d,
  given.p_jump_3d,
  given.tomorrow_cpl,
  given.average_cpl,
  given.aim_for_cpl,
  given.expected_low_cpl,
  given.expected_low_from_on,
  given.expected_low_to_on,
  given.share_raised,
  coalesce(before.average_cpl <> given.before_cpl, false) AS is_revised,
  given.based_on_day AS known_until_on,
  given.computed_at,
  given.valid_until_at
FROM fuel.verdict AS given
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN fuel.region USING (region)
LEFT JOIN fuel.daily_rollup AS before
  ON before.region = given.region
  AND before.fuel_id = given.fuel_id
  AND before.day = given.based_on_day - 1;
COMMENT ON VIEW fuel_v1.fill_up_history IS
  'Every verdict as it was given; rows are never changed afterwards. One row per region, fuel and verdict.';
COMMENT ON COLUMN fuel_v1.fill_up_history.region               IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.fill_up_history.fuel                 IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.fill_up_history.day                  IS 'The price day it was given on.';
COMMENT ON COLUMN fuel_v1.fill_up_history.state                IS 'Its state; NULL for the nation, areas across borders and regions that are gone.';
COMMENT ON COLUMN fuel_v1.fill_up_history.verdict              IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up_history.reason               IS 'Why, in words for drivers.';
COMMENT ON COLUMN fuel_v1.fill_up_history.basis                IS 'tomorrow_price, price_cycle, price_trend, not_cycling or insufficient_data.';
COMMENT ON COLUMN fuel_v1.fill_up_history.rule                 IS 'The habit that the verdict follows (turn, slope, weekday, plain), or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel_v1.fill_up_history.method               IS 'Version of the method.';
COMMENT ON COLUMN fuel_v1.fill_up_history.market_state         IS 'What the market was doing: quiet, falling, near_low, rising, near_high or shock; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_saving_cpl  IS 'What following the verdict should have saved, cents per litre; NULL: no saving was stated.';
COMMENT ON COLUMN fuel_v1.fill_up_history.record_cpl           IS 'What following the verdicts had saved lately, cents per litre; NULL: too little was known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.confidence           IS 'How likely the verdict is to be right, from 0 to 1: p_lower_5d for wait, 1 less p_lower_5d for fill_up; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.p_cheaper_3d         IS 'How likely the average was to be 1 c/L lower within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.p_lower_5d           IS 'How likely the average was to be more than 0.2 c/L lower within five days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.p_jump_3d            IS 'How likely the average was to be 3 c/L higher within three days, from 0 to 1; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.tomorrow_cpl         IS 'Average of tomorrow over the same stations, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.fill_up_history.average_cpl          IS 'Average of known_until_on or, if that day had not ended, of the part up to computed_at, as it was known then, cents per litre; NULL: not known, or not of this rule.';
COMMENT ON COLUMN fuel_v1.fill_up_history.aim_for_cpl          IS 'A price worth stopping for, cents per litre; NULL: none was named.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_low_cpl     IS 'The low to wait for, cents per litre; NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_low_from_on IS 'The first day on which expected_low_cpl was likely; NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up_history.expected_low_to_on   IS 'The last day on which expected_low_cpl was likely; NULL: there was nothing to wait for.';
COMMENT ON COLUMN fuel_v1.fill_up_history.share_raised         IS 'Share of the region''s stations that had raised their price by five cents since the last trough, from 0 to 1; NULL: the market was not rising.';
COMMENT ON COLUMN fuel_v1.fill_up_history.is_revised           IS 'Whether late data have since changed the average of the day before known_until_on, so that the verdict might be another today.';
COMMENT ON COLUMN fuel_v1.fill_up_history.known_until_on       IS 'The last price day that the verdict used; NULL: not known, or not of this rule.';
COMMENT ON COLUMN fuel_v1.fill_up_history.computed_at          IS 'When it was given.';
COMMENT ON COLUMN fuel_v1.fill_up_history.valid_until_at       IS 'When it lapsed.';

CREATE OR REPLACE VIEW fuel_v1.station_fill_up AS
WITH latest AS MATERIALIZED (
  SELECT latest_verdict.*
  FROM fuel.latest_verdict
  WHERE latest_verdict.is_valid
)
SELECT
  price_now.station_id,
  fuel.fuel,
  region_station.region,
  CASE said.why
    WHEN 'tomorrow' THEN CASE WHEN change.change_tenths < 0 THEN 'wait' ELSE 'fill_up' END
    WHEN 'ahead' THEN 'wait'
    WHEN 'behind' THEN 'fill_up'
    WHEN 'region' THEN regional.verdict
    ELSE 'no_difference'
  END AS verdict,
  CASE said.why
    WHEN 'tomorrow' THEN format(
      '%s %s c/L %s here', change.begins, (abs(change.change_tenths) / 10.0)::numeric(5, 1),
      CASE WHEN change.change_tenths < 0 THEN 'cheaper' ELSE 'dearer' END)
    WHEN 'same' THEN change.begins || CASE change.change_tenths
      WHEN 0 THEN ' the same price here'
      ELSE ' about the same price here'
    END
    WHEN 'ahead' THEN format(
      'This station is %s c above its usual level, and others are not', round(usual.excess_cpl, 1))
    WHEN 'behind' THEN format('This station is %s c below its usual level', round(-usual.excess_cpl, 1))
    WHEN 'little' THEN 'Following the advice for the region should save less than half a cent a litre'
    WHEN 'region' THEN regional.reason
    ELSE 'Tomorrow''s price is not known and no verdict for the region holds now'
  END AS reason,
  CASE
    WHEN said.why IN ('tomorrow', 'same') THEN 'tomorrow_price'
    ELSE coalesce(regional.basis, 'insufficient_data')
  END AS basis,
  CASE WHEN said.why = 'tomorrow' THEN 'tomorrow' ELSE regional.rule END AS rule,
  (price_now.price_tenths / 10.0)::numeric(5, 1) AS today_cpl,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS tomorrow_cpl,
  (CASE said.why
    WHEN 'tomorrow' THEN abs(change.change_tenths) / 10.0
    WHEN 'region' THEN regional.expected_saving_cpl
  END)::numeric(6, 2) AS expected_saving_cpl,
  usual.excess_cpl::numeric(6, 2) AS excess_cpl,
  coalesce(
    CASE WHEN change.change_tenths IS NOT NULL THEN price_now.next_effective_at END,
    regional.valid_until_at, price_now.lapses_at) AS valid_until_at
FROM fuel.price_now
JOIN fuel.station USING (station_id)
JOIN fuel.fuel USING (fuel_id)
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN price_now.next_tenths > 0 AND NOT price_now.is_flagged THEN price_now.next_tenths - price_now.price_tenths
    END AS change_tenths,
    -- The next price may begin later today.
    CASE
      WHEN price_now.next_effective_at IS NULL THEN NULL
      WHEN (price_now.next_effective_at AT TIME ZONE station.time_zone)::date
        > (price_now.now_at AT TIME ZONE station.time_zone)::date THEN 'Tomorrow'
      ELSE to_char(price_now.next_effective_at AT TIME ZONE station.time_zone, '"From "HH24:MI')
    END AS begins
  -- OFFSET 0 keeps the server from merging the subquery, so that it is computed once and not for every column.
  OFFSET 0
) AS change
-- The verdict of the nearest region is used: a capital or area before the state.
LEFT JOIN fuel.region_station
  ON region_station.station_id = price_now.station_id AND region_station.is_nearest
LEFT JOIN latest AS regional
  ON regional.region = region_station.region AND regional.fuel_id = price_now.fuel_id
LEFT JOIN fuel.station_habit AS habit
  ON habit.station_id = price_now.station_id
  AND habit.fuel_id = price_now.fuel_id
  AND habit.region = region_station.region
CROSS JOIN LATERAL (
  SELECT
    price_now.price_tenths / 10.0 - regional.average_cpl - habit.difference_cpl AS excess_cpl,
    -- The cheapest weekday is the same for all stations, and tomorrow's prices are known for each station.
    regional.rule NOT IN ('weekday', 'tomorrow') AND NOT price_now.is_flagged AS may_differ
) AS usual
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN abs(change.change_tenths) >= 5 THEN 'tomorrow'
    WHEN change.change_tenths IS NOT NULL AND coalesce(regional.basis, 'tomorrow_price') = 'tomorrow_price' THEN 'same'
    WHEN regional.verdict = 'fill_up' AND usual.may_differ AND usual.excess_cpl >= 10 THEN 'ahead'
    WHEN regional.verdict = 'wait' AND usual.may_differ AND usual.excess_cpl <= -10 THEN 'behind'
    WHEN regional.verdict <> 'no_difference' AND regional.expected_saving_cpl < 0.5 THEN 'little'
    WHEN regional.verdict IS NOT NULL THEN 'region'
  END AS why
  OFFSET 0
) AS said
WHERE price_now.price_tenths <> 0 AND price_now.is_fresh AND fuel.is_averaged;
COMMENT ON VIEW fuel_v1.station_fill_up IS
  'Should you fill up here? One row per station and fuel with a price that is believed now. Where '
  'tomorrow''s price differs by half a cent or more, it decides. Otherwise this is the verdict of the station''s '
  'region, unless the station stands ten cents above or below its usual difference from it. There is no advice for '
  'less than half a cent.';
COMMENT ON COLUMN fuel_v1.station_fill_up.station_id          IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_fill_up.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.station_fill_up.region              IS 'The smallest region that it is in, whose verdict it follows; NULL: none.';
COMMENT ON COLUMN fuel_v1.station_fill_up.verdict             IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel_v1.station_fill_up.reason              IS 'Why, in words for drivers.';
COMMENT ON COLUMN fuel_v1.station_fill_up.basis               IS 'tomorrow_price, or the basis of the region''s verdict.';
COMMENT ON COLUMN fuel_v1.station_fill_up.rule                IS 'The habit that the verdict of the region follows, or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel_v1.station_fill_up.today_cpl           IS 'Price now, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_fill_up.tomorrow_cpl        IS 'The next price, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.station_fill_up.expected_saving_cpl IS 'What following the verdict should save, cents per litre; NULL: no saving is stated.';
COMMENT ON COLUMN fuel_v1.station_fill_up.excess_cpl          IS 'How far the station is above its usual difference from its region, cents per litre; NULL: not known. The usual difference is computed once a day. From ten cents on, above or below, the verdict may differ from that of the region.';
COMMENT ON COLUMN fuel_v1.station_fill_up.valid_until_at      IS 'When the verdict lapses.';

CREATE OR REPLACE VIEW fuel_v1.cycles AS
SELECT
  cycle.region,
  fuel.fuel,
  cycle.trough_on,
  cycle.peak_on,
  cycle.ends_on,
  cycle.trough_cpl,
  cycle.peak_cpl,
  (cycle.peak_cpl - cycle.trough_cpl)::numeric(6, 2) AS amplitude_cpl,
  cycle.ends_on - cycle.trough_on AS length_days
FROM fuel.cycle
JOIN fuel.fuel USING (fuel_id);
COMMENT ON VIEW fuel_v1.cycles IS
  'Every completed price cycle of the stored history. One row per region, fuel and cycle. Prices cycle where three '
  'cycles in a row are alike; there is no row from other times. A turning point counts once the daily average has '
  'moved six cents away from it. Cycles before the last five are found anew once a day.';
COMMENT ON COLUMN fuel_v1.cycles.region        IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.cycles.fuel          IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.cycles.trough_on     IS 'The price day on which it began.';
COMMENT ON COLUMN fuel_v1.cycles.peak_on       IS 'The price day of its peak.';
COMMENT ON COLUMN fuel_v1.cycles.ends_on       IS 'The price day of the next trough.';
COMMENT ON COLUMN fuel_v1.cycles.trough_cpl    IS 'The average of trough_on, cents per litre.';
COMMENT ON COLUMN fuel_v1.cycles.peak_cpl      IS 'The average of peak_on, cents per litre.';
COMMENT ON COLUMN fuel_v1.cycles.amplitude_cpl IS 'Peak minus trough, cents per litre.';
COMMENT ON COLUMN fuel_v1.cycles.length_days   IS 'Days from its trough to the next trough.';

CREATE OR REPLACE VIEW fuel_v1.verdict_scores AS
SELECT
  score.scored,
  score.method,
  score.region,
  fuel.fuel,
  score.year,
  score.horizon,
  region.state,
  score.saving_cpl,
  score.saving_low_cpl,
  score.saving_high_cpl,
  score.perfect_cpl,
  (score.saving_cpl / nullif(score.perfect_cpl, 0))::numeric(6, 3) AS capture,
  score.days,
  score.wait_share,
  score.fill_up_share,
  score.no_difference_share,
  score.wait_right,
  score.fill_up_right,
  score.no_difference_right,
  score.flips_30d,
  score.from_on,
  score.until_on,
  score.computed_at
FROM fuel.verdict_score AS score
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN fuel.region USING (region);
COMMENT ON VIEW fuel_v1.verdict_scores IS
  'How good the verdicts of fill_up were, good or bad, and how good simple habits were over the same days. One row per '
  'method, region, fuel and horizon, for the verdicts as they were given (once a day) and for those that the method '
  'would have given on the stored history (by the last bowser backtest, also by year).';
COMMENT ON COLUMN fuel_v1.verdict_scores.scored              IS 'given: the verdicts as they were given; replayed: what the method would have said on the stored history.';
COMMENT ON COLUMN fuel_v1.verdict_scores.method              IS 'Version of the method, or a habit, for comparison.';
COMMENT ON COLUMN fuel_v1.verdict_scores.region              IS 'A state, AU, a capital such as sydney, the rest of a state, or a configured area.';
COMMENT ON COLUMN fuel_v1.verdict_scores.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.verdict_scores.year                IS 'Calendar year; NULL: all days from from_on to until_on.';
COMMENT ON COLUMN fuel_v1.verdict_scores.horizon             IS 'Number of days in a window: 3, 5 or 7. From each day on a driver buys once, on that day or within so many days.';
COMMENT ON COLUMN fuel_v1.verdict_scores.state               IS 'Its state; NULL for the nation, areas across borders and regions that are gone.';
COMMENT ON COLUMN fuel_v1.verdict_scores.saving_cpl          IS 'What following the verdicts saves against a random day of the window, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.saving_low_cpl      IS 'Lower end of the 90 % interval of saving_cpl, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.saving_high_cpl     IS 'Upper end of that interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.perfect_cpl         IS 'What perfect timing saves against a random day of the window, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.capture             IS 'saving_cpl divided by perfect_cpl: 1 is perfect timing, 0 a random day; meaningless where perfect_cpl is below 0.8; NULL where nothing could be saved.';
COMMENT ON COLUMN fuel_v1.verdict_scores.days                IS 'Number of days that were scored, each with the window that begins on it.';
COMMENT ON COLUMN fuel_v1.verdict_scores.wait_share          IS 'Share of days with wait, from 0 to 1. This and the columns up to flips_30d are the same for each horizon.';
COMMENT ON COLUMN fuel_v1.verdict_scores.fill_up_share       IS 'Share of days with fill_up, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_scores.no_difference_share IS 'Share of days with no_difference or without a verdict, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_scores.wait_right          IS 'Share of waits after which the price fell by a cent within three days; NULL: there was no wait.';
COMMENT ON COLUMN fuel_v1.verdict_scores.fill_up_right       IS 'Share of fill_ups after which it did not fall by a cent within three days; NULL: there was no fill_up.';
COMMENT ON COLUMN fuel_v1.verdict_scores.no_difference_right IS 'Share of the days with no_difference or without a verdict after which it stayed within three cents for three days; NULL: there was no such day.';
COMMENT ON COLUMN fuel_v1.verdict_scores.flips_30d           IS 'Changes from fill_up to wait or back per thirty days.';
COMMENT ON COLUMN fuel_v1.verdict_scores.from_on             IS 'First price day that was scored; of given verdicts the day of the first one of the method.';
COMMENT ON COLUMN fuel_v1.verdict_scores.until_on            IS 'Last price day that was scored.';
COMMENT ON COLUMN fuel_v1.verdict_scores.computed_at         IS 'When it was scored.';

CREATE OR REPLACE VIEW fuel_v1.verdict_calibration AS
SELECT
  calibration.method,
  calibration.event,
  calibration.decile::integer AS decile,
  calibration.stated::numeric(4, 3) AS stated,
  calibration.real::numeric(4, 3) AS real,
  calibration.days
FROM fuel.verdict_calibration AS calibration;
COMMENT ON VIEW fuel_v1.verdict_calibration IS
  'How often the events that verdicts gave a probability for came true, over all regions and fuels. One row per '
  'method, event and tenth of the probabilities.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.method IS 'Version of the method that gave them.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.event  IS 'cheaper_3d: a cent lower within three days (p_cheaper_3d); jump_3d: three cents higher within three days (p_jump_3d); lower_5d: more than 0.2 cents lower within five days (p_lower_5d).';
COMMENT ON COLUMN fuel_v1.verdict_calibration.decile IS 'Which tenth of the probabilities, from 1: below 0.1.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.stated IS 'The mean of the stated probabilities in it, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.real   IS 'The share of days on which the event came true, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_calibration.days   IS 'Number of days, over all regions and fuels.';

-- Stores how well the chances that verdicts state fit what happened: for each method, event and tenth of the chances,
-- the mean chance and the share of cases in which the event came true. The last verdict of each region, fuel and day is
-- taken. A day counts once it and the days of the event after it have ended and their averages are usable.
CREATE OR REPLACE FUNCTION fuel.keep_calibration()
RETURNS void
LANGUAGE sql
SET search_path = ''
AS $$
  DELETE FROM fuel.verdict_calibration;
  INSERT INTO fuel.verdict_calibration (method, event, decile, stated, real, days)
  SELECT
    stated.method,
    stated.event,
    least(floor(stated.chance * 10), 9) + 1 AS decile,
    avg(stated.chance),
    avg(stated.came::integer),
    count(*)
  FROM (
    SELECT DISTINCT ON (verdict.region, verdict.fuel_id, verdict.day) verdict.*
    FROM fuel.verdict
    ORDER BY verdict.region, verdict.fuel_id, verdict.day, verdict.computed_at DESC
  ) AS given
  JOIN fuel.daily_rollup AS today
    ON today.region = given.region AND today.fuel_id = given.fuel_id AND today.day = given.day
  CROSS JOIN LATERAL (
    SELECT
      count(*) FILTER (WHERE later.day <= given.day + 3) AS days_3d,
      min(later.average_cpl) FILTER (WHERE later.day <= given.day + 3) AS lowest_3d_cpl,
      max(later.average_cpl) FILTER (WHERE later.day <= given.day + 3) AS highest_3d_cpl,
      count(*) AS days_5d,
      min(later.average_cpl) AS lowest_5d_cpl
    FROM fuel.daily_rollup AS later
    WHERE later.region = given.region
      AND later.fuel_id = given.fuel_id
      AND later.day BETWEEN given.day + 1 AND given.day + 5
      AND later.is_usable
      AND later.is_ended
  ) AS after
  CROSS JOIN LATERAL (
    VALUES
      (given.method, 'cheaper_3d', given.p_cheaper_3d, after.days_3d = 3,
        after.lowest_3d_cpl <= today.average_cpl - 1),
      (given.method, 'jump_3d', given.p_jump_3d, after.days_3d = 3, after.highest_3d_cpl >= today.average_cpl + 3),
      (given.method, 'lower_5d', given.p_lower_5d, after.days_5d = 5, after.lowest_5d_cpl < today.average_cpl - 0.2)
  ) AS stated (method, event, chance, is_over, came)
  WHERE today.is_usable AND today.is_ended AND stated.is_over AND stated.chance IS NOT NULL
  GROUP BY stated.method, stated.event, least(floor(stated.chance * 10), 9)
$$;
COMMENT ON FUNCTION fuel.keep_calibration IS
  'Recomputes fuel.verdict_calibration from the verdicts that were given and the prices that followed.';
GRANT EXECUTE ON FUNCTION fuel.keep_calibration TO fuel_writer;
