-- Only all sightings of a description together show when it was seen first and last.
CREATE OR REPLACE FUNCTION fuel.date_wordings() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH span AS (
    SELECT
      description.station_id,
      description.wording_md5,
      -- The lowest bit is the first day of a month.
      (first.month + bit_count(((first.days & -first.days) - 1)::bit(32))::integer)::timestamp
        AT TIME ZONE station.time_zone AS first_at,
      (last.month + length(ltrim(last.days::bit(32)::text, '0')))::timestamp
        AT TIME ZONE station.time_zone AS last_at
    FROM fuel.source
    JOIN fuel.station USING (source_id)
    JOIN fuel.station_description AS description USING (station_id)
    CROSS JOIN LATERAL (
      SELECT sighting.month, sighting.days
      FROM fuel.station_sighting AS sighting
      WHERE sighting.station_id = description.station_id
        AND sighting.wording_md5 = description.wording_md5
      ORDER BY sighting.month
      LIMIT 1
    ) AS first
    CROSS JOIN LATERAL (
      SELECT sighting.month, sighting.days
      FROM fuel.station_sighting AS sighting
      WHERE sighting.station_id = description.station_id
        AND sighting.wording_md5 = description.wording_md5
      ORDER BY sighting.month DESC
      LIMIT 1
    ) AS last
    WHERE source.are_links_due
  )
  UPDATE fuel.station_description AS description SET
    first_seen_at = span.first_at,
    last_seen_at = span.last_at
  FROM span
  WHERE description.station_id = span.station_id
    AND description.wording_md5 = span.wording_md5
    AND (description.first_seen_at, description.last_seen_at) IS DISTINCT FROM (span.first_at, span.last_at);

  -- A station record of an archive takes the fields of its newest description, and its first_seen_at from its oldest
  -- one.
  UPDATE fuel.station AS record SET
    name = newest.name, brand = newest.brand, address = newest.address, suburb = newest.suburb,
    postcode = newest.postcode, state = newest.state, time_zone = newest.time_zone,
    latitude = newest.latitude, longitude = newest.longitude, is_public = newest.sells_to_all,
    first_seen_at = newest.first_at
  FROM (
    SELECT DISTINCT ON (description.station_id)
      description.*,
      description.is_public AND fuel.sells_to_all(description.name, description.brand) AS sells_to_all,
      min(description.first_seen_at) OVER (PARTITION BY description.station_id) AS first_at
    FROM fuel.station_description AS description
    JOIN fuel.station USING (station_id)
    JOIN fuel.source ON source.source_id = station.source_id
    WHERE source.kind = 'archive' AND source.are_links_due
    ORDER BY description.station_id, description.last_seen_at DESC, description.wording_md5
  ) AS newest
  WHERE record.station_id = newest.station_id
    AND (
      record.name, record.brand, record.address, record.suburb, record.postcode, record.state,
      record.time_zone, record.latitude, record.longitude, record.is_public,
      record.first_seen_at
    ) IS DISTINCT FROM (
      newest.name, newest.brand, newest.address, newest.suburb, newest.postcode, newest.state,
      newest.time_zone, newest.latitude, newest.longitude, newest.sells_to_all, newest.first_at);
END
$$;
COMMENT ON FUNCTION fuel.date_wordings IS
  'Updates the descriptions of archives from their sightings, and station records from their newest description.';

-- No price of the runs began before p_from_at. The days of an archive come with its files. So nothing reads the facts of
-- all years again after each run.
CREATE OR REPLACE FUNCTION fuel.sight_days(p_source_id smallint, p_run_ids integer[], p_from_at timestamptz) RETURNS void
-- Planned anew for each call, because few runs and all runs need different plans.
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  IF (p_run_ids IS NULL) = EXISTS (
    SELECT
    FROM fuel.station
    JOIN fuel.station_sighting USING (station_id)
    WHERE station.source_id = p_source_id)
  THEN
    RETURN;
  END IF;
  INSERT INTO fuel.station_sighting AS known (station_id, wording_md5, month, days)
  SELECT
    seen.station_id, md5('')::uuid, date_trunc('month', seen.day)::date,
    bit_or(1 << (extract(day FROM seen.day)::integer - 1))
  FROM (
    SELECT DISTINCT price.station_id, (price.effective_at AT TIME ZONE station.time_zone)::date AS day
    FROM fuel.counted_price AS price
    JOIN fuel.station USING (station_id)
    WHERE price.source_id = p_source_id
      AND price.effective_at >= p_from_at
      AND (p_run_ids IS NULL OR price.run_id = ANY (p_run_ids))
  ) AS seen
  GROUP BY seen.station_id, date_trunc('month', seen.day)
  ORDER BY seen.station_id, date_trunc('month', seen.day)
  ON CONFLICT ON CONSTRAINT station_sighting_pk DO UPDATE SET days = known.days | excluded.days
  WHERE known.days <> known.days | excluded.days;
END
$$;
COMMENT ON FUNCTION fuel.sight_days IS
  'Stores on which days stations of a feed without codes were sighted: by some runs, or by all (NULL) if none is stored.';

-- The next match reads them anew. Those of archives stay: only their files tell them.
CREATE OR REPLACE FUNCTION fuel.forget_sightings(p_source_id smallint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.station_sighting AS sighting
  USING fuel.source, fuel.station
  WHERE source.source_id = p_source_id
    AND source.kind = 'feed'
    AND NOT source.has_codes
    AND station.source_id = source.source_id
    AND sighting.station_id = station.station_id
$$;
COMMENT ON FUNCTION fuel.forget_sightings IS
  'Deletes on which days stations of a feed without codes were sighted, because facts are gone.';

CREATE OR REPLACE FUNCTION fuel.listed_times(p_station_ids integer[])
RETURNS TABLE (station_id integer, from_at timestamptz, until_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT record.station_id, lower(record.shown), upper(record.shown)
  FROM (
    SELECT listed.station_id, unnest(range_agg(tstzrange(listed.changed_at, listed.until_at))) AS shown
    FROM (
      SELECT
        listing.station_id,
        listing.is_listed,
        listing.changed_at,
        lead(listing.changed_at) OVER (
          PARTITION BY listing.station_id, listing.fuel_id
          ORDER BY listing.changed_at, listing.turn) AS until_at
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = ANY (p_station_ids)
    ) AS listed
    WHERE listed.is_listed
    GROUP BY listed.station_id
  ) AS record
$$;
COMMENT ON FUNCTION fuel.listed_times IS
  'The times during which lists showed station records; an end that is NULL is not known yet.';

-- Applies pg_temp.wanted_match: which station record stands for which station. No fact moves. The spans of stations
-- that lose or gain a record are made again, from the record's first report on. Called after date_wordings.
CREATE OR REPLACE FUNCTION fuel.link_stations(p_undecided text[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  changed integer;
BEGIN
  PERFORM fuel.touch_moved(ARRAY(
    SELECT record.station_id
    FROM fuel.station AS record
    JOIN pg_temp.wanted_match AS wanted USING (station_id)
    WHERE record.place_id <> wanted.place_id));

  UPDATE fuel.station AS record SET
    place_id = wanted.place_id,
    matched_by = wanted.matched_by,
    match_doubt = wanted.match_doubt
  FROM pg_temp.wanted_match AS wanted
  WHERE record.station_id = wanted.station_id
    AND (record.place_id, record.matched_by, record.match_doubt)
      IS DISTINCT FROM (wanted.place_id, wanted.matched_by, wanted.match_doubt);
  GET DIAGNOSTICS changed = ROW_COUNT;

  -- A station that only archives know is described by the newest description among its records.
  UPDATE fuel.station SET
    name = newest.name, brand = newest.brand, address = newest.address, suburb = newest.suburb,
    postcode = newest.postcode, state = newest.state, time_zone = newest.time_zone,
    latitude = newest.latitude, longitude = newest.longitude, is_public = newest.sells_to_all
  FROM (
    SELECT DISTINCT ON (record.place_id)
      record.place_id,
      description.*,
      description.is_public AND fuel.sells_to_all(description.name, description.brand) AS sells_to_all
    FROM fuel.station AS record
    JOIN fuel.station AS head ON head.station_id = record.place_id
    JOIN fuel.source ON source.source_id = head.source_id AND source.kind = 'archive'
    JOIN fuel.station_description AS description ON description.station_id = record.station_id
    ORDER BY record.place_id, description.last_seen_at DESC, description.wording_md5
  ) AS newest
  WHERE station.station_id = newest.place_id
    AND (
      station.name, station.brand, station.address, station.suburb, station.postcode, station.state,
      station.time_zone, station.latitude, station.longitude, station.is_public
    ) IS DISTINCT FROM (
      newest.name, newest.brand, newest.address, newest.suburb, newest.postcode, newest.state,
      newest.time_zone, newest.latitude, newest.longitude, newest.sells_to_all);

  UPDATE fuel.source SET are_links_due = source.source = ANY (p_undecided)
  WHERE source.are_links_due <> (source.source = ANY (p_undecided));
  RETURN changed;
END
$$;
COMMENT ON FUNCTION fuel.link_stations IS
  'Updates stations with the result of matching. Feeds that are undecided are matched again next time. Returns '
  'how many station records changed.';

GRANT EXECUTE ON FUNCTION
  fuel.date_wordings, fuel.sight_days, fuel.forget_sightings, fuel.listed_times, fuel.link_stations TO fuel_writer;
