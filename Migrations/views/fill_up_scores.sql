CREATE OR REPLACE VIEW fuel_v1.fill_up_scores AS
SELECT
  score.method,
  score.region,
  fuel.fuel,
  score.year,
  score.windows,
  score.perfect_cpl,
  score.saving_cpl,
  score.capture,
  score.capture_3d,
  score.capture_7d,
  score.wait_share,
  score.fill_up_share,
  score.no_difference_share,
  score.wait_right,
  score.fill_up_right,
  score.no_difference_right,
  score.flips_30d,
  score.from_day,
  score.until_day,
  score.computed_at
FROM fuel.fill_up_score AS score
JOIN fuel.fuel USING (fuel_id);
COMMENT ON VIEW fuel_v1.fill_up_scores IS
  'How good the verdicts of fill_up would have been on the stored history, good or bad, beside simple '
  'habits (direction, cheapest-weekday, month-mean). One row per method, region, fuel and '
  'year, and one for all years; written by the last bowser backtest.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.method              IS 'The method that gives the verdicts, or a baseline.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.region              IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.year                IS 'Calendar year; NULL: all years.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.windows             IS 'Windows that were scored: from each day a driver buys once within five days.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.perfect_cpl         IS 'What hindsight saves against a random day, cents per litre; NULL where there was nothing to score.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.saving_cpl          IS 'What following the verdicts saves against a random day, cents per litre; NULL where there was nothing to score.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.capture             IS 'saving_cpl divided by perfect_cpl: 1 is hindsight, 0 a random day; meaningless where perfect_cpl is below 0.8; NULL where there was nothing to score.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.capture_3d          IS 'The same with three days to choose from; NULL where there was nothing to score.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.capture_7d          IS 'The same with seven days to choose from; NULL where there was nothing to score.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.wait_share          IS 'Share of days with wait.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.fill_up_share       IS 'Share of days with fill_up.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.no_difference_share IS 'Share of days with no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.wait_right          IS 'Share of waits after which the price fell by a cent within three days; NULL: there was no wait.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.fill_up_right       IS 'Share of fill_ups after which it did not fall by a cent within three days; NULL: there was no fill_up.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.no_difference_right IS 'Share of no_differences after which it stayed within three cents for three days; NULL: there was no no_difference.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.flips_30d           IS 'Changes from fill_up to wait or back per thirty days.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.from_day            IS 'First price day that was scored.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.until_day           IS 'Last price day that was scored.';
COMMENT ON COLUMN fuel_v1.fill_up_scores.computed_at         IS 'When it was scored.';
GRANT SELECT ON fuel_v1.fill_up_scores TO fuel_reader, fuel_writer;
