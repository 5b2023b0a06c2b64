-- What only views show of a station is kept by its name, so that one more such field needs no migration.

ALTER TABLE fuel.station_description ADD COLUMN details jsonb;
COMMENT ON COLUMN fuel.station_description.details IS
  'What only views show of the station, as texts by name, such as a telephone number. NULL: nothing.';
