-- fuel_v1.coverage shows how many stations are expected on each day of a region. Without this index it reads the
-- averages themselves, each on a page of its own.
CREATE INDEX daily_rollup_expected_idx ON fuel.daily_rollup (region, day, stations_expected);
