CREATE OR REPLACE VIEW fuel_v1.station_fill_up AS
WITH latest AS MATERIALIZED (
  SELECT latest_verdict.*
  FROM fuel.latest_verdict
)
SELECT
  price_now.station_id,
  fuel.fuel,
  CASE
    WHEN change.change_tenths < 0 THEN 'wait'
    WHEN change.change_tenths > 0 THEN 'fill_up'
    WHEN own.advice IS NOT NULL THEN own.advice
    WHEN regional.is_valid THEN regional.verdict
    ELSE 'no_difference'
  END AS verdict,
  CASE
    WHEN change.change_tenths <> 0 THEN 'tomorrow_price'
    WHEN regional.is_valid THEN regional.basis
    WHEN change.change_tenths = 0 THEN 'tomorrow_price'
    ELSE 'insufficient_data'
  END AS basis,
  CASE
    WHEN change.change_tenths < 0 THEN format(
      '%s %s c/L cheaper here', change.begins, (-change.change_tenths / 10.0)::numeric(5, 1))
    WHEN change.change_tenths > 0 THEN format(
      '%s %s c/L dearer here', change.begins, (change.change_tenths / 10.0)::numeric(5, 1))
    WHEN own.advice = 'wait' THEN format(
      'Other stations have not gone up yet: this one is %s c above its usual level', round(own.excess_cpl, 1))
    WHEN own.advice = 'fill_up' THEN format(
      'This station is %s c below its usual level', round(-own.excess_cpl, 1))
    WHEN regional.is_valid THEN regional.reason
    WHEN change.change_tenths = 0 THEN change.begins || ' the same price here'
    ELSE 'Tomorrow''s price is not known and no verdict for the region holds now'
  END AS reason,
  (price_now.price_tenths / 10.0)::numeric(5, 1) AS today_cpl,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS tomorrow_cpl,
  (CASE
    WHEN change.change_tenths <> 0 THEN abs(change.change_tenths) / 10.0
    WHEN regional.is_valid AND own.advice IS NULL THEN regional.expected_saving_cpl
  END)::numeric(6, 2) AS expected_saving_cpl,
  coalesce(
    CASE WHEN change.change_tenths IS NOT NULL THEN price_now.next_effective_at END,
    CASE WHEN regional.is_valid THEN regional.valid_until_at END, price_now.lapses_at) AS valid_until_at,
  regional.region,
  CASE
    WHEN change.change_tenths <> 0 THEN 'tomorrow'
    WHEN regional.is_valid THEN regional.rule
  END AS rule,
  own.excess_cpl::numeric(6, 2) AS excess_cpl
FROM fuel.price_now
JOIN fuel.station USING (station_id)
JOIN fuel.fuel USING (fuel_id)
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN price_now.next_tenths > 0 THEN price_now.next_tenths - price_now.price_tenths
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
  AND habit.region = regional.region
CROSS JOIN LATERAL (
  SELECT price_now.price_tenths / 10.0 - regional.average_cpl - habit.difference_cpl AS excess_cpl
) AS usual
CROSS JOIN LATERAL (
  SELECT
    usual.excess_cpl,
    CASE
      WHEN NOT regional.is_valid OR price_now.is_flagged THEN NULL
      WHEN usual.excess_cpl >= regional.station_waits_from_cpl THEN 'wait'
      WHEN usual.excess_cpl <= regional.station_fills_up_until_cpl THEN 'fill_up'
    END AS advice
) AS own
WHERE price_now.price_tenths <> 0 AND price_now.is_fresh AND fuel.is_averaged;
COMMENT ON VIEW fuel_v1.station_fill_up IS
  'Should you fill up here? One row per station and fuel with a price that is believed now. Where '
  'tomorrow''s price is not known, this is the verdict of the station''s region, unless the station has '
  'jumped ahead of the region or is far below its usual difference from it.';
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
COMMENT ON COLUMN fuel_v1.station_fill_up.rule                IS 'The rule that the verdict follows; NULL: no rule applied.';
COMMENT ON COLUMN fuel_v1.station_fill_up.excess_cpl          IS 'How far the station is above its usual difference from its region, which is found once a day, cents per litre; NULL: not known. If this is large or far below zero, the verdict differs from that of the region.';
GRANT SELECT ON fuel_v1.station_fill_up TO fuel_reader, fuel_writer;
