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
  station.brand AS written_brand,
  station.address,
  station.suburb,
  station.postcode,
  station.latitude,
  station.longitude,
  station.time_zone,
  (
    SELECT description.details ->> 'phone'
    FROM fuel.station_description AS description
    WHERE description.station_id = station.station_id AND description.details ? 'phone'
    ORDER BY description.last_seen_at DESC, description.wording_md5
    LIMIT 1
  ) AS phone,
  -- A station is not closed because one list leaves it out.
  coalesce(
    greatest(seen.last_seen_at, described.last_seen_at) > fuel.clock() - fuel.dormant_after(), false) AS is_open,
  station.is_public,
  EXISTS (
    SELECT
    FROM fuel.price_now AS present
    WHERE present.station_id = station.station_id
      AND (
        present.price_tenths > 0 AND present.lapses_at > present.now_at - fuel.dormant_after()
        OR present.next_tenths > 0)
  ) AS offers_fuel,
  station.has_moved,
  (SELECT source.source FROM fuel.source WHERE source.source_id = station.source_id) AS source,
  station.station_code AS source_station_code,
  described.first_seen_at,
  greatest(station.first_seen_at, seen.last_seen_at, described.last_seen_at) AS last_seen_at
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
COMMENT ON COLUMN fuel_v1.stations.station_id          IS 'Number that Bowser gives the station; never reused.';
COMMENT ON COLUMN fuel_v1.stations.state               IS 'State or territory, such as NSW.';
COMMENT ON COLUMN fuel_v1.stations.name                IS 'Trading name; NULL until the feed describes it.';
COMMENT ON COLUMN fuel_v1.stations.brand               IS 'Brand by the configured names, or as the feed writes it; NULL: none named.';
COMMENT ON COLUMN fuel_v1.stations.written_brand       IS 'Brand as the feed writes it; NULL: none named.';
COMMENT ON COLUMN fuel_v1.stations.address             IS 'Address as the feed writes it; NULL until described.';
COMMENT ON COLUMN fuel_v1.stations.suburb              IS 'Suburb or town; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.stations.postcode            IS 'Postcode; NULL: not stated, as always in WA.';
COMMENT ON COLUMN fuel_v1.stations.latitude            IS 'Degrees, south is negative; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.stations.longitude           IS 'Degrees east; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.stations.time_zone           IS 'IANA time zone of the station.';
COMMENT ON COLUMN fuel_v1.stations.phone               IS 'Telephone number that the feed stated last, as it writes it; NULL: never stated.';
COMMENT ON COLUMN fuel_v1.stations.is_open             IS 'Whether it is trading, as far as is known: it was seen with a price within the last 30 days.';
COMMENT ON COLUMN fuel_v1.stations.is_public           IS 'False: members or permit holders only; left out of averages.';
COMMENT ON COLUMN fuel_v1.stations.offers_fuel         IS 'Whether it offers any fuel now or tomorrow: current_prices has a price of it, or its next price is known.';
COMMENT ON COLUMN fuel_v1.stations.has_moved           IS 'Whether its feed has lately moved it by more than 2 km; the old position counts for a week.';
COMMENT ON COLUMN fuel_v1.stations.source              IS 'The feed or archive whose station record represents it; see station_records for others.';
COMMENT ON COLUMN fuel_v1.stations.source_station_code IS 'The code of the station in that feed or archive.';
COMMENT ON COLUMN fuel_v1.stations.first_seen_at       IS 'When a feed first named it; of an archive, when the local day of its first row began.';
COMMENT ON COLUMN fuel_v1.stations.last_seen_at        IS 'When a feed or an archive last named it with a price; of one that never had a price, when a feed last described it. Of a feed that publishes late, the instant that its answer shows; of an archive, the end of the local day of its last row.';

CREATE OR REPLACE VIEW fuel_v1.localities AS
WITH seller AS (
  SELECT
    station.state,
    -- initcap makes St Mary'S of ST MARY'S.
    regexp_replace(initcap(lower(station.suburb)), '''S\M', '''s', 'g') AS suburb,
    station.postcode,
    station.latitude,
    station.longitude
  FROM fuel.station
  WHERE station.place_id = station.station_id
    AND EXISTS (SELECT FROM fuel.present_span AS sold WHERE sold.station_id = station.station_id)
)
SELECT
  place.kind,
  place.name,
  -- The postcode that most stations of the suburb have.
  mode() WITHIN GROUP (ORDER BY seller.postcode) AS postcode,
  seller.state,
  round(avg(seller.latitude), 6)::numeric(9, 6) AS latitude,
  round(avg(seller.longitude), 6)::numeric(9, 6) AS longitude,
  count(*)::integer AS stations
FROM seller
CROSS JOIN LATERAL (VALUES ('suburb', seller.suburb), ('postcode', seller.postcode)) AS place (kind, name)
WHERE place.name IS NOT NULL
GROUP BY place.kind, place.name, seller.state;
COMMENT ON VIEW fuel_v1.localities IS
  'Suburbs, towns and postcodes with a station that has reported a price. One row per state and suburb, and one per '
  'state and postcode. The feed of Western Australia has suburbs but no postcodes.';
COMMENT ON COLUMN fuel_v1.localities.kind      IS 'suburb or postcode.';
COMMENT ON COLUMN fuel_v1.localities.name      IS 'The name of the suburb, each word with a capital letter, or the postcode.';
COMMENT ON COLUMN fuel_v1.localities.postcode  IS 'The postcode; for a suburb, the postcode of most of its stations; NULL: none is stated.';
COMMENT ON COLUMN fuel_v1.localities.state     IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.localities.latitude  IS 'Degrees, the mean over its stations; NULL: no position is known.';
COMMENT ON COLUMN fuel_v1.localities.longitude IS 'Degrees, the mean over its stations; NULL: no position is known.';
COMMENT ON COLUMN fuel_v1.localities.stations  IS 'Number of stations there, including closed ones.';

-- A difference by empty fields only is no change of the station. Victoria's brands, for example, are read once a day,
-- and the runs between leave them empty.
CREATE OR REPLACE VIEW fuel.sketch AS
SELECT
  part.station_id,
  part.wording_md5,
  whole.wording_md5 AS whole_md5,
  -- If several descriptions are fuller, the sketch does not tell which of them held when it was first seen.
  CASE WHEN whole.fitting = 1 THEN part.first_seen_at END AS first_seen_at,
  part.last_seen_at
FROM fuel.station_description AS part
CROSS JOIN LATERAL (
  SELECT fuller.wording_md5, count(*) OVER () AS fitting
  FROM fuel.station_description AS fuller
  WHERE fuller.station_id = part.station_id
    AND (fuller.state, fuller.name, fuller.address, fuller.is_public)
      = (part.state, part.name, part.address, part.is_public)
    AND (fuller.latitude, fuller.longitude, fuller.details)
      IS NOT DISTINCT FROM (part.latitude, part.longitude, part.details)
    AND coalesce(fuller.brand = part.brand, part.brand IS NULL)
    AND coalesce(fuller.suburb = part.suburb, part.suburb IS NULL)
    AND coalesce(fuller.postcode = part.postcode, part.postcode IS NULL)
    AND num_nonnulls(fuller.brand, fuller.suburb, fuller.postcode)
      > num_nonnulls(part.brand, part.suburb, part.postcode)
  ORDER BY
    num_nonnulls(fuller.brand, fuller.suburb, fuller.postcode) DESC, fuller.last_seen_at DESC, fuller.wording_md5
  LIMIT 1
) AS whole
-- What has every field is not compared.
WHERE num_nonnulls(part.brand, part.suburb, part.postcode) < 3;
COMMENT ON VIEW fuel.sketch IS
  'Descriptions that state less than another one and nothing else. One row per station record and such a description.';
COMMENT ON COLUMN fuel.sketch.whole_md5     IS 'The fullest description that it fits; of several, the newest.';
COMMENT ON COLUMN fuel.sketch.first_seen_at IS 'Oldest document with it; NULL: it fits several fuller descriptions.';

CREATE OR REPLACE VIEW fuel_v1.station_history AS
SELECT
  record.place_id AS station_id,
  source.source,
  description.state,
  description.name,
  description.brand AS written_brand,
  description.address,
  description.suburb,
  description.postcode,
  description.latitude,
  description.longitude,
  description.is_public,
  description.details::text AS details,
  least(description.first_seen_at, sketched.first_seen_at) AS first_seen_at,
  greatest(description.last_seen_at, sketched.last_seen_at) AS last_seen_at
FROM fuel.station_description AS description
JOIN fuel.station AS record USING (station_id)
JOIN fuel.source USING (source_id)
CROSS JOIN LATERAL (
  SELECT min(sketch.first_seen_at) AS first_seen_at, max(sketch.last_seen_at) AS last_seen_at
  FROM fuel.sketch
  WHERE sketch.station_id = description.station_id AND sketch.whole_md5 = description.wording_md5
) AS sketched
WHERE NOT EXISTS (
  SELECT
  FROM fuel.sketch
  WHERE sketch.station_id = description.station_id AND sketch.wording_md5 = description.wording_md5);
COMMENT ON VIEW fuel_v1.station_history IS
  'How stations were described over time: renamed, rebranded, moved. One row per station and description, '
  'with the first and last time it was seen. A description that differs from a fuller one only by empty '
  'fields counts as a sighting of the fuller one.';
COMMENT ON COLUMN fuel_v1.station_history.station_id    IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_history.source        IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel_v1.station_history.state         IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.station_history.name          IS 'Trading name.';
COMMENT ON COLUMN fuel_v1.station_history.written_brand IS 'Brand as the feed wrote it; NULL: none named.';
COMMENT ON COLUMN fuel_v1.station_history.address       IS 'Address as the feed wrote it.';
COMMENT ON COLUMN fuel_v1.station_history.suburb        IS 'Suburb or town; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_history.postcode      IS 'Postcode; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_history.latitude      IS 'Degrees; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.station_history.longitude     IS 'Degrees; NULL: not stated or impossible.';
COMMENT ON COLUMN fuel_v1.station_history.is_public     IS 'False: members or permit holders only.';
COMMENT ON COLUMN fuel_v1.station_history.details       IS 'What else the feed stated of it, as a JSON object of texts by name, such as phone; NULL: nothing.';
COMMENT ON COLUMN fuel_v1.station_history.first_seen_at IS 'Instant of the oldest document with this description.';
COMMENT ON COLUMN fuel_v1.station_history.last_seen_at  IS 'Instant of the newest document with this description.';

CREATE OR REPLACE VIEW fuel_v1.station_records AS
SELECT
  record.place_id AS station_id,
  record.station_id AS record_id,
  source.source,
  record.station_code AS source_station_code,
  coalesce(newest.name, record.name) AS name,
  CASE WHEN newest.name IS NULL THEN record.brand ELSE newest.brand END AS written_brand,
  coalesce(newest.address, record.address) AS address,
  CASE WHEN newest.name IS NULL THEN record.suburb ELSE newest.suburb END AS suburb,
  CASE WHEN newest.name IS NULL THEN record.postcode ELSE newest.postcode END AS postcode,
  record.matched_by,
  record.match_doubt
FROM fuel.station AS record
JOIN fuel.source USING (source_id)
-- A field that the newest description leaves empty is taken from the newest one that has it, as in stations.
CROSS JOIN LATERAL (
  SELECT
    (array_agg(description.name ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS name,
    (array_agg(description.brand ORDER BY description.last_seen_at DESC, description.wording_md5)
      FILTER (WHERE description.brand IS NOT NULL))[1] AS brand,
    (array_agg(description.address ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS address,
    (array_agg(description.suburb ORDER BY description.last_seen_at DESC, description.wording_md5)
      FILTER (WHERE description.suburb IS NOT NULL))[1] AS suburb,
    (array_agg(description.postcode ORDER BY description.last_seen_at DESC, description.wording_md5)
      FILTER (WHERE description.postcode IS NOT NULL))[1] AS postcode
  FROM fuel.station_description AS description
  WHERE description.station_id = record.station_id
) AS newest
-- A station record is left out if only runs that do not count reported it.
WHERE newest.name IS NOT NULL
  OR EXISTS (SELECT FROM fuel.shown_price AS pair WHERE pair.station_id = record.station_id);
COMMENT ON VIEW fuel_v1.station_records IS
  'What feeds and archives call each station, and how their station records were matched. One row per '
  'station record of a source.';
COMMENT ON COLUMN fuel_v1.station_records.station_id          IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_records.record_id           IS 'Number of the record; the station has the number of the record that represents it.';
COMMENT ON COLUMN fuel_v1.station_records.source              IS 'The feed or archive.';
COMMENT ON COLUMN fuel_v1.station_records.source_station_code IS 'Its code there; in archives without codes, its name and address in a normal form.';
COMMENT ON COLUMN fuel_v1.station_records.name                IS 'Trading name there; NULL until described.';
COMMENT ON COLUMN fuel_v1.station_records.written_brand       IS 'Brand as it was last written there; NULL: none named.';
COMMENT ON COLUMN fuel_v1.station_records.address             IS 'Address there; NULL until described.';
COMMENT ON COLUMN fuel_v1.station_records.suburb              IS 'Suburb or town as last stated; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_records.postcode            IS 'Postcode as last stated; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.station_records.matched_by          IS 'How the record was matched: itself (it represents the station), code, address, name (the address alone does not decide), position or person.';
COMMENT ON COLUMN fuel_v1.station_records.match_doubt         IS 'Why a person should check the match; NULL: nothing is in doubt.';

CREATE OR REPLACE VIEW fuel_v1.regions AS
SELECT
  region.region,
  region.name,
  region.kind,
  region.state,
  region.latitude,
  region.longitude,
  region.radius_km,
  (
    SELECT count(*)::integer FROM fuel.region_station
    JOIN fuel.station USING (station_id)
    WHERE region_station.region = region.region AND station.place_id = station.station_id
  ) AS stations,
  region_clock.time_zone
FROM fuel.region
JOIN fuel.region_clock USING (region);
COMMENT ON VIEW fuel_v1.regions IS 'The regions over which averages, trends and verdicts are computed. One row per region.';
COMMENT ON COLUMN fuel_v1.regions.region    IS 'Code, as in the other views.';
COMMENT ON COLUMN fuel_v1.regions.name      IS 'Name, as it is written within a sentence.';
COMMENT ON COLUMN fuel_v1.regions.kind      IS 'nation, state, capital, area, or rest: the part of a state outside its capitals.';
COMMENT ON COLUMN fuel_v1.regions.state     IS 'The state or territory that it lies in; NULL: the nation, or an area across borders.';
COMMENT ON COLUMN fuel_v1.regions.latitude  IS 'Degrees, of its centre; NULL: the nation, states and rests of states.';
COMMENT ON COLUMN fuel_v1.regions.longitude IS 'Degrees, of its centre; NULL: the nation, states and rests of states.';
COMMENT ON COLUMN fuel_v1.regions.radius_km IS 'How far it reaches from its centre, in kilometres; NULL: the nation, states and rests of states.';
COMMENT ON COLUMN fuel_v1.regions.stations  IS 'Stations in it, open or not, as of the last aggregate; see region_stations.';
COMMENT ON COLUMN fuel_v1.regions.time_zone IS 'IANA zone in which its days are counted: that of its state, or of the nation.';

CREATE OR REPLACE VIEW fuel_v1.region_stations AS
SELECT
  region_station.region,
  region_station.station_id
FROM fuel.region_station
JOIN fuel.station USING (station_id)
WHERE station.place_id = station.station_id;
COMMENT ON VIEW fuel_v1.region_stations IS
  'Which stations are in which region, as of the last aggregate. One row per region and station, open or not; a station may be in several.';
COMMENT ON COLUMN fuel_v1.region_stations.region     IS 'The region.';
COMMENT ON COLUMN fuel_v1.region_stations.station_id IS 'The station.';
