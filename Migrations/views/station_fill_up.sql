CREATE OR REPLACE VIEW fuel_v1.station_fill_up AS
WITH latest AS MATERIALIZED (
  SELECT latest_verdict.*
  FROM fuel.latest_verdict
  WHERE latest_verdict.is_valid
)
SELECT
  price_now.station_id,
  fuel.fuel,
  CASE said.why
    WHEN 'tomorrow' THEN CASE WHEN change.change_tenths < 0 THEN 'wait' ELSE 'fill_up' END
    WHEN 'ahead' THEN 'wait'
    WHEN 'behind' THEN 'fill_up'
    WHEN 'region' THEN regional.verdict
    ELSE 'no_difference'
  END AS verdict,
  CASE
    WHEN said.why IN ('tomorrow', 'same') THEN 'tomorrow_price'
    ELSE coalesce(regional.basis, 'insufficient_data')
  END AS basis,
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
  (price_now.price_tenths / 10.0)::numeric(5, 1) AS today_cpl,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS tomorrow_cpl,
  (CASE said.why
    WHEN 'tomorrow' THEN abs(change.change_tenths) / 10.0
    WHEN 'region' THEN regional.expected_saving_cpl
  END)::numeric(6, 2) AS expected_saving_cpl,
  coalesce(
    CASE WHEN change.change_tenths IS NOT NULL THEN price_now.next_effective_at END,
    regional.valid_until_at, price_now.lapses_at) AS valid_until_at,
  region_station.region,
  CASE WHEN said.why = 'tomorrow' THEN 'tomorrow' ELSE regional.rule END AS rule,
  usual.excess_cpl::numeric(6, 2) AS excess_cpl
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
COMMENT ON COLUMN fuel_v1.station_fill_up.verdict             IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel_v1.station_fill_up.basis               IS 'tomorrow_price, or the basis of the region''s verdict.';
COMMENT ON COLUMN fuel_v1.station_fill_up.reason              IS 'Why, in words for drivers.';
COMMENT ON COLUMN fuel_v1.station_fill_up.today_cpl           IS 'Price now, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_fill_up.tomorrow_cpl        IS 'The next price, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.station_fill_up.expected_saving_cpl IS 'What following it should save, cents per litre; NULL: no saving is stated.';
COMMENT ON COLUMN fuel_v1.station_fill_up.valid_until_at      IS 'When the verdict lapses.';
COMMENT ON COLUMN fuel_v1.station_fill_up.region              IS 'The smallest region that it is in, whose verdict it follows; NULL: none.';
COMMENT ON COLUMN fuel_v1.station_fill_up.rule                IS 'The habit that the verdict of the region follows, or tomorrow; NULL: none.';
COMMENT ON COLUMN fuel_v1.station_fill_up.excess_cpl          IS 'How far the station is above its usual difference from its region, which is found once a day, cents per litre; NULL: not known. From ten cents on either way the verdict may differ from that of the region.';
GRANT SELECT ON fuel_v1.station_fill_up TO fuel_reader, fuel_writer;
