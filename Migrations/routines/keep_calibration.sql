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
COMMENT ON FUNCTION fuel.keep_calibration() IS
  'Recomputes fuel.verdict_calibration from the verdicts that were given and the prices that followed.';
GRANT EXECUTE ON FUNCTION fuel.keep_calibration() TO fuel_writer;
