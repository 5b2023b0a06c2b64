-- The timeline of a place and fuel: what sources stamped, and what the complete lists of a feed said by
-- leaving it out (0, not offered) or taking it in again (the price that was stamped last).
--
-- Which source speaks when several tell of one place: all of them, in one timeline. The newest event
-- holds, whoever tells it; of two at one instant the one learnt later, so that what was seen by us goes
-- before an archive, and then the higher price. So nothing that one source lacks makes a hole, and it
-- does not matter which came first.
CREATE OR REPLACE VIEW fuel.price_event AS
SELECT
  price.station_id,
  price.fuel_id,
  price.source_id,
  price.effective_at,
  price.price_tenths,
  price.effective_at AS stamped_at,
  price.learnt_at,
  station.place_id
FROM fuel.counted_price AS price
JOIN fuel.station USING (station_id)
UNION ALL
SELECT
  archived.station_id,
  archived.fuel_id,
  archived.source_id,
  archived.effective_at,
  archived.price_tenths,
  archived.effective_at,
  archived.effective_at,
  station.place_id
FROM fuel.archive_price AS archived
JOIN fuel.station USING (station_id)
UNION ALL
SELECT
  listing.station_id,
  listing.fuel_id,
  listing.source_id,
  listing.changed_at,
  CASE WHEN listing.is_listed THEN stamped.price_tenths ELSE 0 END,
  coalesce(stamped.effective_at, listing.changed_at),
  listing.changed_at,
  station.place_id
FROM fuel.counted_listing AS listing
JOIN fuel.station USING (station_id)
LEFT JOIN LATERAL (
  SELECT
    price.price_tenths,
    price.effective_at
  FROM fuel.counted_price AS price
  WHERE listing.is_listed
    AND price.station_id = listing.station_id
    AND price.fuel_id = listing.fuel_id
    AND price.source_id = listing.source_id
    AND price.effective_at <= listing.changed_at
  ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
  LIMIT 1
) AS stamped ON true
WHERE NOT listing.is_listed
  OR (
    stamped.price_tenths IS NOT NULL
    -- Being listed for the first time is no event: the stamp tells when the price began.
    AND EXISTS (
      SELECT
      FROM fuel.counted_listing AS earlier
      WHERE earlier.station_id = listing.station_id
        AND earlier.fuel_id = listing.fuel_id
        AND earlier.source_id = listing.source_id
        AND earlier.changed_at < listing.changed_at));
COMMENT ON VIEW fuel.price_event IS
  'Everything that begins or ends a price. One row per event of a station record and fuel.';
COMMENT ON COLUMN fuel.price_event.station_id   IS 'The station record that it was told of.';
COMMENT ON COLUMN fuel.price_event.place_id     IS 'The record that speaks for its place.';
COMMENT ON COLUMN fuel.price_event.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.price_event.source_id    IS 'Who says so.';
COMMENT ON COLUMN fuel.price_event.effective_at IS 'When it happens.';
COMMENT ON COLUMN fuel.price_event.price_tenths IS 'The price from then on; 0: not offered.';
COMMENT ON COLUMN fuel.price_event.stamped_at   IS 'The stamp that the price carries.';
COMMENT ON COLUMN fuel.price_event.learnt_at    IS 'When we learnt it; of two at one instant the later counts.';
GRANT SELECT ON fuel.price_event TO fuel_writer;
