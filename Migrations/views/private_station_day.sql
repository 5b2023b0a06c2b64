-- The days of stations that have ended, with means that are not rounded, so that what is averaged over stations is
-- rounded once.
CREATE OR REPLACE VIEW fuel.station_day AS
SELECT
  made.station_id,
  fuel.fuel,
  series.day,
  entry.mean,
  entry.low,
  entry.high,
  entry.last,
  share.coverage,
  share.coverage >= fuel.minimum_coverage() AS is_complete,
  made.month
FROM fuel.station_month AS made
JOIN fuel.fuel USING (fuel_id)
-- A subquery keeps the number of joined relations low. Where a view is joined to another one, the server searches for
-- the best join order among at most eight relations.
CROSS JOIN LATERAL (
  SELECT state.time_zone, state.price_day_starts
  FROM fuel.station
  JOIN fuel.state USING (state)
  WHERE station.station_id = made.station_id
  OFFSET 0
) AS state
CROSS JOIN LATERAL fuel.days_of(made.days) AS entry
CROSS JOIN LATERAL (SELECT made.month + entry.place - 1 AS day) AS series
-- A day on which clocks change has 23 or 25 hours, so its length is computed.
CROSS JOIN LATERAL (
  SELECT least(1, round(
    entry.seconds / extract(epoch FROM
      fuel.price_day_begin(series.day + 1, state.time_zone, state.price_day_starts)
      - fuel.price_day_begin(series.day, state.time_zone, state.price_day_starts)), 3)
  )::numeric(4, 3) AS coverage
) AS share
WHERE entry.standing = 1;
COMMENT ON VIEW fuel.station_day IS
  'The price days that have ended, of each station and fuel with a price that is not doubtful.';
COMMENT ON COLUMN fuel.station_day.mean       IS 'Time-weighted mean, in 65,536ths of a tenth of a cent per litre.';
GRANT SELECT ON fuel.station_day TO fuel_writer;
