-- Returns how long prices of a feed or an archive hold until the next price of the same station and fuel, beside how
-- long they are believed. In an archive, an interval that reaches into a month without a file is left out.
CREATE OR REPLACE FUNCTION fuel.price_intervals(
  p_source_id smallint, p_fuel_ids smallint[], p_lapses interval[], p_since timestamptz)
RETURNS TABLE (
  fuel_id smallint, lapses_after interval, intervals bigint, half interval, ninety interval,
  ninety_nine interval, longer bigint)
LANGUAGE sql STABLE AS $$
  WITH report AS (
    SELECT record.place_id AS station_id, price.fuel_id, price.effective_at AS at, 0 AS run_of_months
    FROM fuel.counted_price AS price
    JOIN fuel.station AS record USING (station_id)
    WHERE price.source_id = p_source_id AND price.effective_at >= p_since
    UNION
    SELECT record.place_id, archived.fuel_id, archived.effective_at, covered.run_of_months
    FROM fuel.archive_price AS archived
    JOIN fuel.station AS record USING (station_id)
    JOIN fuel.source ON source.source_id = archived.source_id
    JOIN fuel.state ON state.state = source.state
    JOIN (
      SELECT
        covered.month,
        (extract(year FROM covered.month) * 12 + extract(month FROM covered.month))::integer
          - (row_number() OVER (ORDER BY covered.month))::integer AS run_of_months
      FROM fuel.archive_coverage AS covered
      WHERE covered.source_id = p_source_id
    ) AS covered
      ON covered.month = date_trunc('month', archived.effective_at AT TIME ZONE state.time_zone)::date
    WHERE archived.source_id = p_source_id AND archived.effective_at >= p_since
  ),
  held AS (
    SELECT
      report.fuel_id,
      lead(report.at) OVER (
        PARTITION BY report.station_id, report.fuel_id, report.run_of_months ORDER BY report.at)
        - report.at AS lasted
    FROM report
  )
  SELECT
    held.fuel_id,
    believed.lapses_after,
    count(*),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY held.lasted),
    percentile_cont(0.9) WITHIN GROUP (ORDER BY held.lasted),
    percentile_cont(0.99) WITHIN GROUP (ORDER BY held.lasted),
    count(*) FILTER (WHERE held.lasted > believed.lapses_after)
  FROM held
  JOIN unnest(p_fuel_ids, p_lapses) AS believed (fuel_id, lapses_after) USING (fuel_id)
  WHERE held.lasted IS NOT NULL
  GROUP BY held.fuel_id, believed.lapses_after
$$;
COMMENT ON FUNCTION fuel.price_intervals(smallint, smallint[], interval[], timestamptz) IS
  'How long prices of a feed or an archive held, by fuel: how many, the median, the 90th and the 99th percentile, and '
  'how many held for longer than they are believed.';
GRANT EXECUTE ON FUNCTION fuel.price_intervals(smallint, smallint[], interval[], timestamptz) TO fuel_writer;
