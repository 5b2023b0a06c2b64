-- Computes how the average of each region moved over a day and over a week. Only stations that had a price at both ends
-- are compared, so that stations which come or go do not look like price moves. Reads pg_temp.price_now.
CREATE OR REPLACE FUNCTION fuel.refresh_changes(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM fuel.region_change;
  -- Where prices are published late, the present lies earlier by that delay, and the day and the week are counted back
  -- from there.
  CREATE TEMPORARY TABLE price_before ON COMMIT DROP AS
  SELECT late.delay, span.span, before.station_id, before.fuel_id, before.price_tenths
  FROM (
    SELECT source.delay, array_agg(DISTINCT pair.station_id) AS station_ids
    FROM fuel.present_span AS pair
    JOIN fuel.source ON source.source_id = pair.seen_by
    GROUP BY source.delay
  ) AS late
  CROSS JOIN (VALUES (interval '24 hours'), (interval '7 days')) AS span (span)
  CROSS JOIN LATERAL fuel.held_at(
    p_clock - late.delay - span.span, CASE WHEN late.delay > '0' THEN late.station_ids END) AS before
  WHERE before.is_counted;
  ANALYZE pg_temp.price_before;

  INSERT INTO fuel.region_change (region, fuel_id, change_24h_cpl, change_7d_cpl, as_of_at)
  SELECT
    region_station.region,
    present.fuel_id,
    CASE
      WHEN count(day_before.price_tenths) >= fuel.minimum_stations()
        THEN round(avg(present.price_tenths - day_before.price_tenths) / 10, 2)
    END,
    CASE
      WHEN count(week_before.price_tenths) >= fuel.minimum_stations()
        THEN round(avg(present.price_tenths - week_before.price_tenths) / 10, 2)
    END,
    p_clock
  FROM pg_temp.price_now AS present
  JOIN fuel.region_station ON region_station.station_id = present.station_id
  JOIN fuel.region_delay
    ON region_delay.region = region_station.region AND present.delay <= region_delay.delay
  LEFT JOIN pg_temp.price_before AS day_before
    ON day_before.delay = present.delay
    AND day_before.span = interval '24 hours'
    AND day_before.station_id = present.station_id
    AND day_before.fuel_id = present.fuel_id
  LEFT JOIN pg_temp.price_before AS week_before
    ON week_before.delay = present.delay
    AND week_before.span = interval '7 days'
    AND week_before.station_id = present.station_id
    AND week_before.fuel_id = present.fuel_id
  WHERE present.is_counted
  GROUP BY region_station.region, present.fuel_id;
  DROP TABLE pg_temp.price_before;
END
$$;
COMMENT ON FUNCTION fuel.refresh_changes(timestamptz) IS
  'Computes the changes over 24 hours and 7 days of every region and fuel.';
GRANT EXECUTE ON FUNCTION fuel.refresh_changes(timestamptz) TO fuel_writer;
