-- Brand and name say that only members may buy, or have the words of a brand for members. Case and punctuation do not
-- matter.
CREATE OR REPLACE FUNCTION fuel.sells_to_all(p_name text, p_brand text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT stated.words NOT LIKE ALL (ARRAY['% members only %', '% membership required %']) AND NOT EXISTS (
    SELECT
    FROM fuel.brand_name AS known
    WHERE known.is_members_only
      AND stated.words LIKE '% ' || trim(regexp_replace(known.written, '[^[:alnum:]]+', ' ', 'g')) || ' %')
  FROM (
    SELECT regexp_replace(lower(concat(' ', p_name, ' ', p_brand, ' ')), '[^[:alnum:]]+', ' ', 'g') AS words
  ) AS stated
$$;
COMMENT ON FUNCTION fuel.sells_to_all IS
  'Whether a station with this name and brand sells to anybody, and not to the members of a brand only.';

-- The description that was seen last counts. A field that it leaves empty is taken from the newest description that has
-- it. A record without any description is left out: what is known of it stays as it is, because its prices may still
-- count.
--
-- If a feed moves a station by more than two kilometres, the station keeps its old position until the new one has been
-- reported for a week. Codes are reused, and digits are mistyped.
CREATE OR REPLACE FUNCTION fuel.redescribed_stations(p_station_ids integer[])
RETURNS TABLE (
  station_id integer, state text, time_zone text, name text, brand text, address text, suburb text, postcode text,
  latitude numeric, longitude numeric, is_public boolean, has_moved boolean)
LANGUAGE sql STABLE AS $$
  WITH wanted AS (
    SELECT
      description.station_id,
      (array_agg(description.state ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS state,
      (array_agg(description.time_zone ORDER BY description.last_seen_at DESC, description.wording_md5))[1]
        AS time_zone,
      (array_agg(description.name ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS name,
      (array_agg(description.brand ORDER BY description.last_seen_at DESC, description.wording_md5)
        FILTER (WHERE description.brand IS NOT NULL))[1] AS brand,
      (array_agg(description.address ORDER BY description.last_seen_at DESC, description.wording_md5))[1] AS address,
      (array_agg(description.suburb ORDER BY description.last_seen_at DESC, description.wording_md5)
        FILTER (WHERE description.suburb IS NOT NULL))[1] AS suburb,
      (array_agg(description.postcode ORDER BY description.last_seen_at DESC, description.wording_md5)
        FILTER (WHERE description.postcode IS NOT NULL))[1] AS postcode,
      (array_agg(description.latitude ORDER BY description.last_seen_at DESC, description.wording_md5)
        FILTER (WHERE description.latitude IS NOT NULL))[1] AS latitude,
      (array_agg(description.longitude ORDER BY description.last_seen_at DESC, description.wording_md5)
        FILTER (WHERE description.longitude IS NOT NULL))[1] AS longitude,
      (array_agg(description.is_public ORDER BY description.last_seen_at DESC, description.wording_md5))[1]
        AS is_public
    FROM unnest(p_station_ids) AS given (station_id)
    JOIN fuel.station_description AS description USING (station_id)
    GROUP BY description.station_id
  ),
  described AS (
    SELECT
      wanted.station_id, wanted.state, wanted.time_zone, wanted.name, wanted.brand, wanted.address, wanted.suburb,
      wanted.postcode, coalesce(elsewhere.latitude, wanted.latitude) AS latitude,
      coalesce(elsewhere.longitude, wanted.longitude) AS longitude,
      wanted.is_public AND fuel.sells_to_all(wanted.name, wanted.brand) AS is_public,
      elsewhere.latitude IS NOT NULL AS has_moved
    FROM wanted
    -- The former position, if it is far away and the new position has been reported for less than a week.
    LEFT JOIN LATERAL (
      SELECT description.latitude, description.longitude, description.last_seen_at
      FROM fuel.station_description AS description
      WHERE description.station_id = wanted.station_id
        AND fuel.kilometres(description.latitude, description.longitude, wanted.latitude, wanted.longitude) > 2
      ORDER BY description.last_seen_at DESC, description.wording_md5
      LIMIT 1
    ) AS elsewhere ON (
      SELECT max(description.last_seen_at) - min(description.first_seen_at) < interval '7 days'
      FROM fuel.station_description AS description
      WHERE description.station_id = wanted.station_id
        AND description.last_seen_at > elsewhere.last_seen_at
        AND fuel.kilometres(description.latitude, description.longitude, wanted.latitude, wanted.longitude) <= 2)
  )
  SELECT described.*
  FROM described
  JOIN fuel.station USING (station_id)
  WHERE (
      station.state, station.time_zone, station.name, station.brand, station.address, station.suburb,
      station.postcode, station.latitude, station.longitude, station.is_public, station.has_moved
    ) IS DISTINCT FROM (
      described.state, described.time_zone, described.name, described.brand, described.address, described.suburb,
      described.postcode, described.latitude, described.longitude, described.is_public, described.has_moved)
$$;
COMMENT ON FUNCTION fuel.redescribed_stations IS
  'The station records of feeds that differ from what their descriptions say, with what these say.';

CREATE OR REPLACE FUNCTION fuel.renew_stations(p_station_ids integer[]) RETURNS void LANGUAGE sql AS $$
  UPDATE fuel.station SET
    state = described.state,
    time_zone = described.time_zone,
    name = described.name,
    brand = described.brand,
    address = described.address,
    suburb = described.suburb,
    postcode = described.postcode,
    latitude = described.latitude,
    longitude = described.longitude,
    is_public = described.is_public,
    has_moved = described.has_moved
  FROM fuel.redescribed_stations(p_station_ids) AS described
  WHERE station.station_id = described.station_id
$$;
COMMENT ON FUNCTION fuel.renew_stations IS 'Brings station records of feeds up to date with their descriptions.';

-- A station was first seen by the oldest run that counts and names it, in a price or in a description.
CREATE OR REPLACE FUNCTION fuel.first_sights(p_station_ids integer[])
RETURNS TABLE (station_id integer, first_seen_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT station.station_id, coalesce(min(seen.at), 'infinity')
  FROM fuel.station
  LEFT JOIN LATERAL (
    SELECT run.taken_at AS at
    FROM fuel.counted_price AS price
    JOIN fuel.run USING (run_id)
    WHERE price.station_id = station.station_id AND price.source_id = station.source_id
    UNION ALL
    SELECT description.first_seen_at
    FROM fuel.station_description AS description
    WHERE description.station_id = station.station_id
  ) AS seen ON true
  WHERE station.station_id = ANY (p_station_ids)
  GROUP BY station.station_id
  HAVING station.first_seen_at <> coalesce(min(seen.at), 'infinity')
$$;
COMMENT ON FUNCTION fuel.first_sights IS
  'When station records of feeds were first seen, where their rows say otherwise; infinity: by no run that counts.';

CREATE OR REPLACE FUNCTION fuel.renew_first_sights(p_station_ids integer[]) RETURNS void LANGUAGE sql AS $$
  UPDATE fuel.station SET first_seen_at = seen.first_seen_at
  FROM fuel.first_sights(p_station_ids) AS seen
  WHERE station.station_id = seen.station_id
$$;
COMMENT ON FUNCTION fuel.renew_first_sights IS 'Corrects when station records of feeds were first seen.';

CREATE OR REPLACE FUNCTION fuel.describe_stations(
  p_source_id smallint, p_run_id integer, p_taken_at timestamptz, p_is_late boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  new_descriptions integer;
BEGIN
  WITH described AS (
  INSERT INTO fuel.station_description AS known (
    station_id, wording_md5, state, time_zone, name, brand, address, suburb, postcode, latitude,
    longitude, is_public, details, run_id, first_seen_at, last_seen_at)
  SELECT
    station.station_id, staged.wording_md5, staged.state, staged.time_zone, staged.name, staged.brand, staged.address,
    staged.suburb, staged.postcode, staged.latitude, staged.longitude, staged.is_public, staged.details, p_run_id,
    p_taken_at, p_taken_at
  FROM pg_temp.staged_station AS staged
  JOIN fuel.station ON station.source_id = p_source_id AND station.station_code = staged.station_code
  ORDER BY station.station_id
  ON CONFLICT ON CONSTRAINT station_description_pk DO UPDATE SET
    run_id = CASE
      WHEN excluded.first_seen_at < known.first_seen_at THEN excluded.run_id ELSE known.run_id
    END,
    first_seen_at = least(known.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  WHERE excluded.first_seen_at < known.first_seen_at OR excluded.last_seen_at > known.last_seen_at
  -- xmax is 0 in a row that this statement inserted. In a row that ON CONFLICT updated, xmax names the transaction that
  -- locked it.
  RETURNING known.xmax = 0 AS is_new
  )
  SELECT count(*) FILTER (WHERE described.is_new) INTO new_descriptions FROM described;
  IF new_descriptions > 0 THEN
    -- The mark is set even where it is set already: matching that is under way has not seen these descriptions. The
    -- update waits for it, so that the mark is not lost.
    UPDATE fuel.source SET are_links_due = true WHERE source.source_id = p_source_id;
  END IF;

  PERFORM fuel.renew_stations(array_agg(station.station_id))
  FROM pg_temp.staged_station AS staged
  JOIN fuel.station ON station.source_id = p_source_id AND station.station_code = staged.station_code
  -- In a run in order of time most stations are unchanged. This condition leaves them out at once.
  WHERE p_is_late OR station.has_moved
    OR (
      station.state, station.time_zone, station.name, station.brand, station.address,
      station.suburb, station.postcode, station.latitude, station.longitude, station.is_public
    ) IS DISTINCT FROM (
      staged.state, staged.time_zone, staged.name, coalesce(staged.brand, station.brand),
      staged.address, coalesce(staged.suburb, station.suburb),
      coalesce(staged.postcode, station.postcode),
      coalesce(staged.latitude, station.latitude),
      coalesce(staged.longitude, station.longitude), staged.is_public)
  HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION fuel.describe_stations IS
  'Stores the staged descriptions of stations, and describes each station by its newest one.';

GRANT EXECUTE ON FUNCTION
  fuel.sells_to_all, fuel.redescribed_stations, fuel.renew_stations, fuel.first_sights, fuel.renew_first_sights,
  fuel.describe_stations TO fuel_writer;
