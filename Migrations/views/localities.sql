CREATE OR REPLACE VIEW fuel_v1.localities AS
WITH seller AS (
  SELECT
    station.state,
    station.suburb,
    station.postcode,
    station.latitude,
    station.longitude
  FROM fuel.station
  WHERE station.place_id = station.station_id
    AND EXISTS (SELECT FROM fuel.present_span AS sold WHERE sold.station_id = station.station_id)
)
SELECT
  'suburb' AS kind,
  initcap(lower(seller.suburb)) AS name,
  -- The postcode that most stations of the suburb have.
  mode() WITHIN GROUP (ORDER BY seller.postcode) AS postcode,
  seller.state,
  round(avg(seller.latitude), 6)::numeric(9, 6) AS latitude,
  round(avg(seller.longitude), 6)::numeric(9, 6) AS longitude,
  count(*)::integer AS stations
FROM seller
WHERE seller.suburb IS NOT NULL
GROUP BY seller.state, initcap(lower(seller.suburb))
UNION ALL
SELECT
  'postcode',
  seller.postcode,
  seller.postcode,
  seller.state,
  round(avg(seller.latitude), 6)::numeric(9, 6),
  round(avg(seller.longitude), 6)::numeric(9, 6),
  count(*)::integer
FROM seller
WHERE seller.postcode IS NOT NULL
GROUP BY seller.state, seller.postcode;
COMMENT ON VIEW fuel_v1.localities IS
  'Suburbs, towns and postcodes with a station that has reported a price. One row per state and suburb, and one per '
  'state and postcode. Western Australia publishes suburbs but no postcodes.';
COMMENT ON COLUMN fuel_v1.localities.kind      IS 'suburb or postcode.';
COMMENT ON COLUMN fuel_v1.localities.name      IS 'The name of the suburb, each word with a capital letter, or the postcode.';
COMMENT ON COLUMN fuel_v1.localities.postcode  IS 'The postcode; for a suburb, the postcode of most of its stations; NULL: none is stated.';
COMMENT ON COLUMN fuel_v1.localities.state     IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.localities.latitude  IS 'Degrees, the mean over its stations; NULL: no position is known.';
COMMENT ON COLUMN fuel_v1.localities.longitude IS 'Degrees, the mean over its stations; NULL: no position is known.';
COMMENT ON COLUMN fuel_v1.localities.stations  IS 'Number of stations there, including closed ones.';
GRANT SELECT ON fuel_v1.localities TO fuel_reader, fuel_writer;
