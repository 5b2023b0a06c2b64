CREATE OR REPLACE VIEW fuel_v1.stations AS
SELECT
  station.station_id,
  station.state,
  station.name,
  -- A subquery keeps the number of joined relations low. Where a view is joined to another one, the server searches for
  -- the best join order among at most eight relations.
  coalesce(
    (
      SELECT brand_name.brand
      FROM fuel.brand_name
      WHERE brand_name.written = lower(station.brand)
        AND brand_name.valid_from <= (fuel.clock() AT TIME ZONE station.time_zone)::date
        AND brand_name.valid_to > (fuel.clock() AT TIME ZONE station.time_zone)::date
      LIMIT 1
    ), station.brand) AS brand,
  station.address,
  station.suburb,
  station.postcode,
  station.latitude,
  station.longitude,
  station.time_zone,
  (SELECT source.source FROM fuel.source WHERE source.source_id = station.source_id) AS feed,
  station.station_code AS feed_station_code,
  described.first_seen_at,
  greatest(station.first_seen_at, seen.last_seen_at, described.last_seen_at) AS last_seen_at,
  -- A station is not closed because one list leaves it out.
  coalesce(
    greatest(seen.last_seen_at, described.last_seen_at) > fuel.clock() - fuel.dormant_after(), false) AS is_open,
  station.is_public,
  station.brand AS written_brand,
  EXISTS (
    SELECT
    FROM fuel.price_now AS present
    WHERE present.station_id = station.station_id
      AND (
        present.price_tenths > 0 AND present.lapses_at > present.now_at - fuel.dormant_after()
        OR present.next_tenths > 0)
  ) AS offers_fuel,
  station.has_moved,
  (
    SELECT description.details ->> 'phone'
    FROM fuel.station_description AS description
    WHERE description.station_id = station.station_id AND description.details ? 'phone'
    ORDER BY description.last_seen_at DESC, description.wording_md5
    LIMIT 1
  ) AS phone
FROM fuel.station
-- When any of its records was last named with a price. A feed may describe a station that has no price any more.
LEFT JOIN LATERAL (
  SELECT
    max(greatest(
      pair.seen_at,
      -- What the newest list leaves out was last seen in the list before the gap. This is looked up only for a record of
      -- which no fuel is listed: the others were seen in the newest list.
      CASE WHEN NOT pair.is_listed THEN (
        SELECT max(list.taken_at)
        FROM (
          SELECT
            listing.changed_at,
            listing.turn,
            lag(listing.is_listed) OVER (
              PARTITION BY listing.fuel_id ORDER BY listing.changed_at, listing.turn) AS was_listed
          FROM fuel.counted_listing AS listing
          WHERE listing.station_id = record.station_id AND listing.source_id = source.source_id
        ) AS gap
        JOIN fuel.run AS list
          ON list.source_id = source.source_id
          AND list.confirms
          AND CASE WHEN gap.turn = 0 THEN list.taken_at < gap.changed_at ELSE list.taken_at <= gap.changed_at END
        WHERE gap.was_listed AND gap.turn <> 1
      ) END)) AS last_seen_at
  FROM fuel.station AS record
  JOIN fuel.source ON source.source_id = record.source_id
  CROSS JOIN LATERAL (
    SELECT
      bool_or(shown_price.is_listed) AS is_listed,
      max(greatest(
        shown_price.learnt_at - source.delay,
        -- If the stamp lies ahead, as that of a price that begins tomorrow, the price counts as seen in the newest run.
        CASE
          WHEN shown_price.is_listed THEN source.last_listed_at
          ELSE least(shown_price.stamped_at, source.last_taken_at)
        END)) AS seen_at
    FROM fuel.shown_price
    WHERE shown_price.station_id = record.station_id
  ) AS pair
  WHERE record.place_id = station.station_id
) AS seen ON true
-- The descriptions of archives come with prices.
LEFT JOIN LATERAL (
  SELECT
    min(record.first_seen_at) AS first_seen_at,
    max(description.last_seen_at) AS last_seen_at
  FROM fuel.station AS record
  JOIN fuel.source ON source.source_id = record.source_id
  LEFT JOIN fuel.station_description AS description
    ON description.station_id = record.station_id AND source.kind = 'archive'
  WHERE record.place_id = station.station_id
) AS described ON true
WHERE station.place_id = station.station_id
  -- A station record is left out if only runs that do not count reported it.
  AND station.first_seen_at < 'infinity'
  AND (
    seen.last_seen_at IS NOT NULL
    OR EXISTS (SELECT FROM fuel.station_description AS description WHERE description.station_id = station.station_id));
COMMENT ON VIEW fuel_v1.stations IS 'Stations that sell fuel. One row per station.';
COMMENT ON COLUMN fuel_v1.stations.station_id        IS 'Number that Bowser gives the station; never reused.';
COMMENT ON COLUMN fuel_v1.stations.state             IS 'State or territory, such as NSW.';
COMMENT ON COLUMN fuel_v1.stations.name              IS 'Trading name; NULL until the feed describes it.';
COMMENT ON COLUMN fuel_v1.stations.brand             IS 'Brand by the configured names, or as the feed writes it; NULL: none named.';
COMMENT ON COLUMN fuel_v1.stations.address           IS 'Address as the feed writes it; NULL until described.';
COMMENT ON COLUMN fuel_v1.stations.suburb            IS 'Suburb or town; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.stations.postcode          IS 'Postcode; NULL: not stated, as always in WA.';
COMMENT ON COLUMN fuel_v1.stations.latitude          IS 'Degrees, south is negative; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.stations.longitude         IS 'Degrees east; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.stations.time_zone         IS 'IANA time zone of the station.';
COMMENT ON COLUMN fuel_v1.stations.feed              IS 'The feed or archive whose station record represents it; see station_records for others.';
COMMENT ON COLUMN fuel_v1.stations.feed_station_code IS 'The code of the station in that feed or archive.';
COMMENT ON COLUMN fuel_v1.stations.first_seen_at     IS 'When a feed or an archive first named it.';
COMMENT ON COLUMN fuel_v1.stations.last_seen_at      IS 'When a feed or an archive last named it with a price; of one that never had a price, when a feed last described it. Of a feed that publishes late, the instant that its answer shows.';
COMMENT ON COLUMN fuel_v1.stations.is_open           IS 'Whether it is trading, as far as is known: it was seen with a price within the last 30 days.';
COMMENT ON COLUMN fuel_v1.stations.is_public         IS 'False: members or permit holders only; left out of averages.';
COMMENT ON COLUMN fuel_v1.stations.written_brand     IS 'Brand as the feed writes it; NULL: none named.';
COMMENT ON COLUMN fuel_v1.stations.offers_fuel       IS 'Whether it offers any fuel now or tomorrow: current_prices has a price of it, or its next price is known.';
COMMENT ON COLUMN fuel_v1.stations.has_moved         IS 'Whether its feed has lately moved it by more than 2 km; the old position counts for a week.';
COMMENT ON COLUMN fuel_v1.stations.phone             IS 'Telephone number that the feed stated last, as it writes it; NULL: never stated.';
GRANT SELECT ON fuel_v1.stations TO fuel_reader, fuel_writer;
