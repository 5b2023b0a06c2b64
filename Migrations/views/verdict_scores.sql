CREATE OR REPLACE VIEW fuel_v1.verdict_scores AS
SELECT
  score.scored,
  score.method,
  score.region,
  region.state,
  fuel.fuel,
  score.year,
  score.horizon,
  score.n,
  score.perfect_cpl,
  score.saving_cpl,
  score.saving_low_cpl,
  score.saving_high_cpl,
  (score.saving_cpl / nullif(score.perfect_cpl, 0))::numeric(6, 3) AS capture,
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
COMMENT ON COLUMN fuel_v1.verdict_scores.region              IS 'A state, AU, a capital such as sydney, or a configured area.';
COMMENT ON COLUMN fuel_v1.verdict_scores.state               IS 'Its state; NULL for the nation, areas across borders and regions that are gone.';
COMMENT ON COLUMN fuel_v1.verdict_scores.fuel                IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.verdict_scores.year                IS 'Calendar year; NULL: all days from from_on to until_on.';
COMMENT ON COLUMN fuel_v1.verdict_scores.horizon             IS 'From each day on a driver buys once within so many days, a window: 3, 5 or 7.';
COMMENT ON COLUMN fuel_v1.verdict_scores.n                   IS 'Number of windows that were scored.';
COMMENT ON COLUMN fuel_v1.verdict_scores.perfect_cpl         IS 'What hindsight saves against a random day of the window, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.saving_cpl          IS 'What following the verdicts saves against the same, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.saving_low_cpl      IS 'Lower end of the 90 % interval of saving_cpl, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.saving_high_cpl     IS 'Upper end of that interval, cents per litre.';
COMMENT ON COLUMN fuel_v1.verdict_scores.capture             IS 'saving_cpl divided by perfect_cpl: 1 is hindsight, 0 a random day; meaningless where perfect_cpl is below 0.8; NULL where nothing could be saved.';
COMMENT ON COLUMN fuel_v1.verdict_scores.wait_share          IS 'Share of days with wait, from 0 to 1. This and the columns up to flips_30d are the same for each horizon.';
COMMENT ON COLUMN fuel_v1.verdict_scores.fill_up_share       IS 'Share of days with fill_up, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_scores.no_difference_share IS 'Share of days with no_difference or without a verdict, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.verdict_scores.wait_right          IS 'Share of waits after which the price fell by a cent within three days; NULL: there was no wait.';
COMMENT ON COLUMN fuel_v1.verdict_scores.fill_up_right       IS 'Share of fill_ups after which it did not fall by a cent within three days; NULL: there was no fill_up.';
COMMENT ON COLUMN fuel_v1.verdict_scores.no_difference_right IS 'Share of no_differences after which it stayed within three cents for three days; NULL: there was no no_difference.';
COMMENT ON COLUMN fuel_v1.verdict_scores.flips_30d           IS 'Changes from fill_up to wait or back per thirty days.';
COMMENT ON COLUMN fuel_v1.verdict_scores.from_on             IS 'First price day that was scored; of given verdicts the day of the first one of the method.';
COMMENT ON COLUMN fuel_v1.verdict_scores.until_on            IS 'Last price day that was scored.';
COMMENT ON COLUMN fuel_v1.verdict_scores.computed_at         IS 'When it was scored.';
GRANT SELECT ON fuel_v1.verdict_scores TO fuel_reader, fuel_writer;
