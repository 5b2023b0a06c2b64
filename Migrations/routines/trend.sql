-- Trends of one region and fuel over a number of days. The views trend_30d and trend_summary show 30 days for all
-- regions and fuels. The functions read private tables for readers who have no rights on them.

CREATE OR REPLACE FUNCTION fuel_v1.trend(region text, fuel text, days integer DEFAULT 30)
RETURNS TABLE (
  day date, average_cpl numeric, min_cpl numeric, max_cpl numeric, moving_average_7d_cpl numeric,
  stations integer)
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  wanted_fuel smallint;
  today       date;
BEGIN
  IF trend.days NOT BETWEEN 1 AND 3660 THEN
    RAISE EXCEPTION 'days must be between 1 and 3660, not %', trend.days
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT known.fuel_id INTO wanted_fuel
  FROM fuel.fuel AS known
  WHERE known.fuel = trend.fuel AND known.is_averaged;
  SELECT fuel.price_day(fuel.clock(), known.time_zone, known.starts) INTO today
  FROM fuel.region_clock AS known
  WHERE known.region = trend.region;
  IF wanted_fuel IS NULL OR today IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT
    series.day, series.average_cpl, series.min_cpl, series.max_cpl, series.moving_average_7d_cpl,
    series.stations
  FROM (
    SELECT
      dates.day,
      made.average_cpl,
      made.min_cpl,
      made.max_cpl,
      CASE
        WHEN count(made.average_cpl) OVER week >= 4 THEN round(avg(made.average_cpl) OVER week, 2)
      END AS moving_average_7d_cpl,
      coalesce(made.known, 0) AS stations
    FROM (
      SELECT today - back.days AS day FROM generate_series(0, trend.days + 6) AS back (days)
    ) AS dates
    LEFT JOIN (
      SELECT
        rollup.day,
        CASE WHEN rollup.stations >= fuel.minimum_stations() THEN rollup.average_cpl END AS average_cpl,
        CASE WHEN rollup.stations >= fuel.minimum_stations() THEN rollup.min_cpl END AS min_cpl,
        CASE WHEN rollup.stations >= fuel.minimum_stations() THEN rollup.max_cpl END AS max_cpl,
        rollup.stations AS known
      FROM fuel.daily_rollup AS rollup
      WHERE rollup.region = trend.region
        AND rollup.fuel_id = wanted_fuel
        AND rollup.day BETWEEN today - trend.days - 6 AND today
    ) AS made ON made.day = dates.day
    WINDOW week AS (ORDER BY dates.day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)
  ) AS series
  WHERE series.day >= today - trend.days
  ORDER BY series.day;
END
$$;
COMMENT ON FUNCTION fuel_v1.trend(text, text, integer) IS
  'The last price days of a region and fuel and today so far, as trend_30d shows them for 30 days. A day '
  'without enough stations has NULL. There is no row for an unknown region or fuel.';
GRANT EXECUTE ON FUNCTION fuel_v1.trend(text, text, integer) TO fuel_reader, fuel_writer;

CREATE OR REPLACE FUNCTION fuel_v1.trend_summary(region text, fuel text, days integer DEFAULT 30)
RETURNS TABLE (
  average_cpl numeric, low_cpl numeric, low_on date, high_cpl numeric, high_on date,
  position_pct integer, slope_cpl_per_day numeric, direction text)
LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT
    span.average_cpl,
    span.low_cpl,
    span.low_on,
    span.high_cpl,
    span.high_on,
    CASE
      WHEN span.high_cpl > span.low_cpl THEN least(100, greatest(0, round(
        100 * (span.average_cpl - span.low_cpl) / (span.high_cpl - span.low_cpl))))::integer
    END,
    round(span.slope, 2),
    CASE
      WHEN span.step > 0.3 THEN 'rising'
      WHEN span.step < -0.3 THEN 'falling'
      WHEN span.step IS NOT NULL THEN 'steady'
    END
  FROM (
    SELECT
      (array_agg(made.average_cpl ORDER BY made.day DESC))[1] AS average_cpl,
      min(made.average_cpl) AS low_cpl,
      (array_agg(made.day ORDER BY made.average_cpl, made.day DESC))[1] AS low_on,
      max(made.average_cpl) AS high_cpl,
      (array_agg(made.day ORDER BY made.average_cpl DESC, made.day DESC))[1] AS high_on,
      -- As regr_slope computes it, but exactly, so that halves are rounded as everywhere.
      CASE
        WHEN count(*) >= 7
          THEN (count(*) * sum(place.x * made.average_cpl) - sum(place.x) * sum(made.average_cpl))
            / (count(*) * sum(place.x * place.x) - sum(place.x) * sum(place.x))
      END AS slope,
      (array_agg(made.average_cpl ORDER BY made.day DESC))[1]
        - (array_agg(made.average_cpl ORDER BY made.day DESC) FILTER (WHERE made.day <= made.newest_day - 2))[1]
        AS step,
      count(*) AS days
    FROM (
      SELECT each.day, each.average_cpl, max(each.day) OVER () AS today,
        max(each.day) FILTER (WHERE each.average_cpl IS NOT NULL) OVER () AS newest_day
      FROM fuel_v1.trend(trend_summary.region, trend_summary.fuel, trend_summary.days) AS each
    ) AS made
    CROSS JOIN LATERAL (SELECT made.day - made.today AS x) AS place
    WHERE made.average_cpl IS NOT NULL
  ) AS span
  WHERE span.days > 0;
END
$$;
COMMENT ON FUNCTION fuel_v1.trend_summary(text, text, integer) IS
  'Where the price of a region and fuel is within the range of its last days, as trend_summary shows it for 30 days. '
  'There is no row without a daily average among them.';
GRANT EXECUTE ON FUNCTION fuel_v1.trend_summary(text, text, integer) TO fuel_reader, fuel_writer;
