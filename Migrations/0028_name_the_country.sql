-- The country is data. Where a station can lie in it is asked before its prices are stored; here only what is no place on
-- earth is refused.

CREATE TABLE fuel.country (
  country   text NOT NULL,
  name      text NOT NULL,
  time_zone text NOT NULL
);
CREATE UNIQUE INDEX country_one_idx ON fuel.country ((true));
ALTER TABLE fuel.country REPLICA IDENTITY FULL;
COMMENT ON TABLE  fuel.country           IS 'The country whose prices these are. One row.';
COMMENT ON COLUMN fuel.country.country   IS 'Its code among the regions, such as AU.';
COMMENT ON COLUMN fuel.country.name      IS 'Its name.';
COMMENT ON COLUMN fuel.country.time_zone IS 'IANA zone in which days of the nation are counted.';
GRANT SELECT ON fuel.country TO fuel_writer;
INSERT INTO fuel.country (country, name, time_zone) VALUES ('AU', 'Australia', 'Australia/Sydney');

ALTER TABLE fuel.station DROP CONSTRAINT station_position_ck;
ALTER TABLE fuel.station ADD CONSTRAINT station_position_ck CHECK (
  (latitude IS NULL) = (longitude IS NULL)
  AND latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180);
COMMENT ON CONSTRAINT station_position_ck ON fuel.station IS 'Both or none, and on this earth.';
