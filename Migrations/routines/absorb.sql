-- Merges one staged run into the history: stations, facts, what a complete list says by its gaps,
-- the cache of present prices, and the days whose averages may have changed. Called inside the
-- run's transaction, after pg_temp.staged_station and pg_temp.staged_price were loaded.
--
-- Cost: one pass over the staged rows beside the cache; everything after it touches only what
-- differs. The history is never read but for the pairs that changed.
--
-- Every step gives the same end state whatever order runs arrive in. A run that is older than one
-- already stored takes the longer way where it matters (marked «late»).
CREATE OR REPLACE FUNCTION fuel.absorb(
  p_run_id integer, p_taken_at timestamptz, p_is_complete boolean,
  p_refuse_below numeric, p_partial_below numeric, p_clock timestamptz)
RETURNS TABLE (stored integer, is_complete boolean, refusal text)
LANGUAGE plpgsql AS $$
DECLARE
  feed          fuel.source;
  is_late       boolean;
  is_newest     boolean;
  listed_before integer;
  listed_now    integer;
  next_list_at  timestamptz;
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  is_late := coalesce(feed.last_taken_at > p_taken_at, false);
  -- A clock that stands before what is stored already would call the present the future.
  p_clock := greatest(p_clock, feed.last_taken_at, p_taken_at);
  stored := 0;
  is_complete := p_is_complete;

  -- A list that is much shorter than the one before is a fault of the feed, not the end of half
  -- the stations. It is compared with what was listed just before it, late or not.
  IF p_is_complete THEN
    IF is_late THEN
      SELECT count(*) INTO listed_before
      FROM (
        SELECT DISTINCT ON (listing.station_id, listing.fuel_id) listing.is_listed
        FROM fuel.listing
        WHERE listing.source_id = feed.source_id AND listing.changed_at < p_taken_at
        ORDER BY listing.station_id, listing.fuel_id, listing.changed_at DESC
      ) AS known
      WHERE known.is_listed;
    ELSE
      SELECT count(*) INTO listed_before
      FROM fuel.current_price AS known
      WHERE known.source_id = feed.source_id AND known.is_listed;
    END IF;
    SELECT count(*) INTO listed_now
    FROM (
      SELECT DISTINCT staged_price.station_code, staged_price.fuel_id FROM pg_temp.staged_price
    ) AS pair;
    IF listed_now < listed_before * p_refuse_below THEN
      refusal := format(
        'only %s prices where %s were listed before: below %s %%',
        listed_now, listed_before, round(p_refuse_below * 100));
      RETURN NEXT;
      RETURN;
    END IF;
    is_complete := listed_now >= listed_before * p_partial_below;
  END IF;

  -- Stations. A code that only a price names becomes a station too, so that no price is lost
  -- until the site list is read again.
  INSERT INTO fuel.station (
    source_id, station_code, state, time_zone, is_public, first_seen_at)
  SELECT feed.source_id, staged.station_code, state.state, state.time_zone, true, p_taken_at
  FROM (
    SELECT staged_station.station_code FROM pg_temp.staged_station
    UNION
    SELECT staged_price.station_code FROM pg_temp.staged_price
  ) AS staged
  JOIN fuel.state ON state.state = feed.state
  WHERE NOT EXISTS (
    SELECT
    FROM fuel.station
    WHERE station.source_id = feed.source_id AND station.station_code = staged.station_code)
  ORDER BY staged.station_code;

  -- Pairs and instants from which on something may have changed.
  CREATE TEMPORARY TABLE changed (
    station_id integer     NOT NULL,
    fuel_id    smallint    NOT NULL,
    begins_at  timestamptz NOT NULL
  ) ON COMMIT DROP;

  -- The newest description counts; what a description leaves open stays as it was. An older one
  -- still tells of stations that nobody has described.
  is_newest := NOT EXISTS (
    SELECT
    FROM fuel.run
    WHERE run.source_id = feed.source_id AND run.describes_stations AND run.taken_at > p_taken_at);
  -- Who counts in averages, and in which, is decided by these two for the whole past.
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT station.station_id, pair.fuel_id, station.first_seen_at
  FROM pg_temp.staged_station AS staged
  JOIN fuel.station
    ON station.source_id = feed.source_id AND station.station_code = staged.station_code
  JOIN fuel.current_price AS pair USING (station_id)
  WHERE (is_newest OR station.name IS NULL)
    AND (station.is_public, station.state) IS DISTINCT FROM (staged.is_public, staged.state);
  UPDATE fuel.station SET
    state = staged.state,
    time_zone = staged.time_zone,
    name = staged.name,
    brand = coalesce(staged.brand, station.brand),
    address = staged.address,
    suburb = coalesce(staged.suburb, station.suburb),
    postcode = coalesce(staged.postcode, station.postcode),
    latitude = coalesce(staged.latitude, station.latitude),
    longitude = coalesce(staged.longitude, station.longitude),
    is_public = staged.is_public
  FROM pg_temp.staged_station AS staged
  WHERE station.source_id = feed.source_id
    AND station.station_code = staged.station_code
    AND (is_newest OR station.name IS NULL)
    AND (
      station.state, station.time_zone, station.name, station.brand, station.address,
      station.suburb, station.postcode, station.latitude, station.longitude, station.is_public
    ) IS DISTINCT FROM (
      staged.state, staged.time_zone, staged.name, coalesce(staged.brand, station.brand),
      staged.address, coalesce(staged.suburb, station.suburb),
      coalesce(staged.postcode, station.postcode), coalesce(staged.latitude, station.latitude),
      coalesce(staged.longitude, station.longitude), staged.is_public);
  IF is_late THEN
    UPDATE fuel.station SET first_seen_at = p_taken_at
    FROM (
      SELECT staged_station.station_code FROM pg_temp.staged_station
      UNION
      SELECT staged_price.station_code FROM pg_temp.staged_price
    ) AS staged
    WHERE station.source_id = feed.source_id
      AND station.station_code = staged.station_code
      AND station.first_seen_at > p_taken_at;
  END IF;

  -- What differs from the cache: new facts, pairs that appeared, vanished or came back.
  CREATE TEMPORARY TABLE difference ON COMMIT DROP AS
  SELECT
    coalesce(staged.station_id, known.station_id) AS station_id,
    coalesce(staged.fuel_id, known.fuel_id) AS fuel_id,
    staged.effective_at,
    staged.price_tenths,
    staged.station_id IS NOT NULL AS is_listed,
    coalesce(known.is_listed, false) AS was_listed
  FROM (
    SELECT
      station.station_id,
      staged_price.fuel_id,
      staged_price.effective_at,
      staged_price.price_tenths
    FROM pg_temp.staged_price
    JOIN fuel.station
      ON station.source_id = feed.source_id AND station.station_code = staged_price.station_code
  ) AS staged
  FULL JOIN (
    SELECT current_price.*
    FROM fuel.current_price
    WHERE current_price.source_id = feed.source_id
  ) AS known USING (station_id, fuel_id)
  WHERE (staged.station_id IS NULL AND known.is_listed AND absorb.is_complete)
    OR (
      staged.station_id IS NOT NULL
      AND (
        is_late
        OR known.station_id IS NULL
        OR (absorb.is_complete AND known.is_listed IS NOT TRUE)
        OR NOT (
          (staged.effective_at = known.stamped_at AND staged.price_tenths = known.stamped_tenths)
          OR (
            known.next_effective_at IS NOT NULL
            AND staged.effective_at = known.next_effective_at
            AND staged.price_tenths = known.next_tenths))));

  -- Facts.
  PERFORM fuel.ensure_price_month(month.begins_at)
  FROM (
    SELECT DISTINCT date_trunc('month', difference.effective_at, 'UTC') AS begins_at
    FROM pg_temp.difference
    WHERE difference.effective_at IS NOT NULL
  ) AS month
  ORDER BY month.begins_at;

  WITH inserted AS (
    INSERT INTO fuel.price (
      station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
    SELECT
      difference.station_id, difference.fuel_id, feed.source_id, difference.effective_at,
      difference.price_tenths, p_run_id, p_taken_at
    FROM pg_temp.difference
    WHERE difference.is_listed
    ORDER BY difference.station_id, difference.fuel_id, difference.effective_at
    ON CONFLICT DO NOTHING
    RETURNING station_id, fuel_id, effective_at
  )
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT inserted.station_id, inserted.fuel_id, inserted.effective_at FROM inserted;
  GET DIAGNOSTICS stored = ROW_COUNT;
  IF is_late THEN
    -- An older document told the same earlier. Of two prices under one stamp another may count now.
    WITH corrected AS (
      UPDATE fuel.price SET learnt_at = p_taken_at, run_id = p_run_id
      FROM pg_temp.difference
      WHERE price.station_id = difference.station_id
        AND price.fuel_id = difference.fuel_id
        AND price.source_id = feed.source_id
        AND price.effective_at = difference.effective_at
        AND price.price_tenths = difference.price_tenths
        AND price.learnt_at > p_taken_at
      RETURNING price.station_id, price.fuel_id, price.effective_at
    )
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT corrected.station_id, corrected.fuel_id, corrected.effective_at FROM corrected;
  END IF;

  CREATE TEMPORARY TABLE pair_listing (
    station_id integer  NOT NULL,
    fuel_id    smallint NOT NULL,
    is_listed  boolean  NOT NULL,
    was_listed boolean  NOT NULL
  ) ON COMMIT DROP;
  -- Listings. Between two lists the earlier one holds; a late list is put between its neighbours
  -- so that the one after it still says what it said.
  IF absorb.is_complete THEN
    IF is_late THEN
      SELECT min(run.taken_at) INTO next_list_at
      FROM fuel.run
      WHERE run.source_id = feed.source_id AND run.is_complete AND run.taken_at > p_taken_at;
    END IF;
    INSERT INTO pg_temp.pair_listing (station_id, fuel_id, is_listed, was_listed)
    SELECT
      pair.station_id,
      pair.fuel_id,
      pair.is_listed,
      CASE
        WHEN is_late THEN coalesce((
          SELECT listing.is_listed
          FROM fuel.listing
          WHERE listing.station_id = pair.station_id
            AND listing.fuel_id = pair.fuel_id
            AND listing.source_id = feed.source_id
            AND listing.changed_at <= p_taken_at
          ORDER BY listing.changed_at DESC
          LIMIT 1
        ), false)
        ELSE pair.was_listed
      END AS was_listed
    FROM (
      SELECT
        difference.station_id,
        difference.fuel_id,
        bool_or(difference.is_listed) AS is_listed,
        bool_or(difference.was_listed) AS was_listed
      FROM pg_temp.difference
      GROUP BY difference.station_id, difference.fuel_id
      UNION ALL
      -- A late list also says of pairs absent today that they were absent then.
      SELECT known.station_id, known.fuel_id, false, false
      FROM fuel.current_price AS known
      WHERE is_late
        AND known.source_id = feed.source_id
        AND NOT EXISTS (
          SELECT
          FROM pg_temp.difference
          WHERE difference.station_id = known.station_id AND difference.fuel_id = known.fuel_id)
    ) AS pair;
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed)
    SELECT pair.station_id, pair.fuel_id, feed.source_id, p_taken_at, pair.is_listed
    FROM pg_temp.pair_listing AS pair
    WHERE pair.is_listed <> pair.was_listed
    UNION ALL
    SELECT pair.station_id, pair.fuel_id, feed.source_id, next_list_at, pair.was_listed
    FROM pg_temp.pair_listing AS pair
    WHERE pair.is_listed <> pair.was_listed AND next_list_at IS NOT NULL
    ON CONFLICT DO NOTHING;
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT pair.station_id, pair.fuel_id, change.at
    FROM pg_temp.pair_listing AS pair
    CROSS JOIN LATERAL (VALUES (p_taken_at), (next_list_at)) AS change (at)
    WHERE pair.is_listed <> pair.was_listed AND change.at IS NOT NULL;
    IF is_late THEN
      PERFORM fuel.prune_listing(
        feed.source_id, array_agg(pair.station_id), array_agg(pair.fuel_id))
      FROM pg_temp.pair_listing AS pair
      WHERE pair.is_listed <> pair.was_listed
      HAVING count(*) > 0;
    END IF;
  END IF;

  UPDATE fuel.source SET
    first_taken_at = least(source.first_taken_at, p_taken_at),
    last_taken_at = greatest(source.last_taken_at, p_taken_at),
    last_listed_at = CASE
      WHEN absorb.is_complete THEN greatest(source.last_listed_at, p_taken_at)
      ELSE source.last_listed_at
    END
  WHERE source.source_id = feed.source_id;

  PERFORM fuel.refresh_current(
    feed.source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), p_clock)
  FROM (
    SELECT DISTINCT changed.station_id, changed.fuel_id FROM pg_temp.changed
  ) AS pair
  HAVING count(*) > 0;

  PERFORM fuel.mark_dirty(feed.source_id, p_taken_at, absorb.is_complete, p_clock);
  -- A transaction may hold several runs.
  DROP TABLE pg_temp.difference, pg_temp.changed, pg_temp.pair_listing;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fuel.absorb(integer, timestamptz, boolean, numeric, numeric, timestamptz) IS
  'Merges the staged rows of a run into the history. Answers how many facts were new, whether the '
  'list counts as complete, and why it was refused if it was.';
GRANT EXECUTE ON FUNCTION fuel.absorb(
  integer, timestamptz, boolean, numeric, numeric, timestamptz) TO fuel_writer;
