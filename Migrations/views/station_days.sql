CREATE OR REPLACE VIEW fuel_v1.station_days AS
SELECT
  made.station_id,
  made.fuel,
  made.day,
  round(made.mean / 655360.0, 2)::numeric(6, 2) AS average_cpl,
  (made.low / 10.0)::numeric(5, 1) AS low_cpl,
  (made.high / 10.0)::numeric(5, 1) AS high_cpl,
  (made.last / 10.0)::numeric(5, 1) AS last_cpl,
  made.coverage,
  made.is_complete,
  made.month
FROM fuel.station_day AS made;
COMMENT ON VIEW fuel_v1.station_days IS
  'What each station charged over each price day that has ended. One row per station, fuel and day with a '
  'price that is not doubtful; updated by the aggregate. The averages of regions are computed from these.';
COMMENT ON COLUMN fuel_v1.station_days.station_id  IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_days.fuel        IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.station_days.day         IS 'The price day: the state''s calendar day, in WA from 06:00 to 06:00.';
COMMENT ON COLUMN fuel_v1.station_days.average_cpl IS 'Time-weighted mean of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.low_cpl     IS 'Lowest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.high_cpl    IS 'Highest price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.last_cpl    IS 'Last price of the day, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_days.coverage    IS 'Share of the day for which a price is believed, from 0 to 1.';
COMMENT ON COLUMN fuel_v1.station_days.is_complete IS 'Whether coverage is three quarters or more.';
COMMENT ON COLUMN fuel_v1.station_days.month       IS 'The first day of its month. Filter by month as well as by day, and only those months are read: WHERE day >= ''2026-07-10'' AND month >= ''2026-07-01''.';
GRANT SELECT ON fuel_v1.station_days TO fuel_reader, fuel_writer;
