-- Unpacks the days of fuel.station_month.days. A run of equal days takes sixteen bytes: the number of days, and then
-- one day as StationDay.bytes (Sources/Timeline/StationDay.swift) writes it. The highest byte of a number comes first.
CREATE OR REPLACE FUNCTION fuel.days_of(p_days bytea)
RETURNS TABLE (
  place integer, standing integer, mean integer, low integer, high integer, last integer, seconds integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT
    series.place::integer,
    get_byte(p_days, run.at + 1),
    ((get_byte(p_days, run.at + 2) * 256 + get_byte(p_days, run.at + 3)) * 256
      + get_byte(p_days, run.at + 4)) * 256 + get_byte(p_days, run.at + 5),
    get_byte(p_days, run.at + 6) * 256 + get_byte(p_days, run.at + 7),
    get_byte(p_days, run.at + 8) * 256 + get_byte(p_days, run.at + 9),
    get_byte(p_days, run.at + 10) * 256 + get_byte(p_days, run.at + 11),
    ((get_byte(p_days, run.at + 12) * 256 + get_byte(p_days, run.at + 13)) * 256
      + get_byte(p_days, run.at + 14)) * 256 + get_byte(p_days, run.at + 15)
  FROM (
    SELECT begins.at, sum(get_byte(p_days, begins.at)) OVER (ORDER BY begins.at) AS until
    FROM generate_series(0, octet_length(p_days) - 16, 16) AS begins (at)
  ) AS run
  CROSS JOIN LATERAL generate_series(run.until - get_byte(p_days, run.at) + 1, run.until) AS series (place)
$$;
COMMENT ON FUNCTION fuel.days_of(bytea) IS
  'The days of a month of a station. place: 1 is the first of the month; standing: 0 nothing was reported, 1 a price is '
  'known, 2 every price is doubtful, 3 the price is too old; mean: over the time for which a price is believed, in '
  '65,536ths of a tenth of a cent per litre; low, high, last: tenths of a cent per litre; seconds: for how many seconds '
  'of the day a price is believed.';
GRANT EXECUTE ON FUNCTION fuel.days_of(bytea) TO fuel_reader, fuel_writer;
