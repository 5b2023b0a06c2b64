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
GRANT SELECT ON fuel.latest_verdict TO fuel_writer;
