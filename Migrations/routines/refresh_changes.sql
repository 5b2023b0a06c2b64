-- How the average of each region moved over a day and a week, over the stations that had a price at
-- both ends, so that stations coming and going do not look like price moves.
CREATE OR REPLACE FUNCTION fuel.refresh_changes(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM fuel.region_change;
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
  FROM fuel.price_now AS present
  JOIN fuel.source ON source.source_id = present.source_id
  JOIN fuel.region_station ON region_station.station_id = present.station_id
  JOIN fuel.region_delay
    ON region_delay.region = region_station.region AND present.delay <= region_delay.delay
  -- Before a feed's first run only prices that have not changed since are known: their change is
  -- zero by choice, not by the market.
  LEFT JOIN fuel.prices_at(p_clock - interval '24 hours') AS day_before
    ON day_before.station_id = present.station_id
    AND day_before.fuel_id = present.fuel_id
    AND source.first_taken_at <= p_clock - interval '24 hours'
  LEFT JOIN fuel.prices_at(p_clock - interval '7 days') AS week_before
    ON week_before.station_id = present.station_id
    AND week_before.fuel_id = present.fuel_id
    AND source.first_taken_at <= p_clock - interval '7 days'
  WHERE present.is_counted
  GROUP BY region_station.region, present.fuel_id;
END
$$;
COMMENT ON FUNCTION fuel.refresh_changes(timestamptz) IS
  'Computes the changes over 24 hours and 7 days of every region and fuel.';
GRANT EXECUTE ON FUNCTION fuel.refresh_changes(timestamptz) TO fuel_writer;
