-- Merges one staged run into the history: stations, facts, what a complete list says by its gaps,
-- and the cache of what its lists show. Called inside the
-- run's transaction, after pg_temp.staged_station and pg_temp.staged_price were loaded. Which stations and
-- fuels it changed, and from when on, is left in pg_temp.changed for the program, which makes their spans.
--
-- Cost: one pass over the staged rows beside the cache; everything after it touches only what
-- differs. The history is never read but for the pairs that changed.
--
-- Every step gives the same end state whatever order runs arrive in. A run that is older than one
-- already stored takes the longer way where it matters (marked «late»). So does one that reads the
-- documents of an earlier run again: what that run had said is withdrawn first.
--
-- Two instants: the documents show the state of p_taken_at and were known from p_learnt_at on; they
-- differ by the feed's delay.
CREATE OR REPLACE FUNCTION fuel.absorb(
  p_run_id integer, p_taken_at timestamptz, p_learnt_at timestamptz, p_is_complete boolean,
  p_refuse_below numeric, p_partial_below numeric, p_clock timestamptz)
RETURNS TABLE (
  stored integer, is_complete boolean, refusal text, warnings text[])
LANGUAGE plpgsql AS $$
DECLARE
  feed             fuel.source;
  -- The run whose documents these are: an earlier one where they are read again.
  told_by          integer;
  is_late          boolean;
  next_run_id      integer;
  next_run_at      timestamptz;
  next_learnt_at   timestamptz;
  told_before      integer;
  told_now         integer;
  moved_ids        integer[];
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  SELECT coalesce(run.replaces_run_id, run.run_id) INTO told_by
  FROM fuel.run
  WHERE run.run_id = p_run_id;
  is_late := told_by <> p_run_id OR coalesce(feed.last_taken_at > p_taken_at, false);
  -- A clock that stands before what is stored already would call the present the future.
  p_clock := greatest(p_clock, feed.last_taken_at, p_taken_at);
  stored := 0;
  warnings := '{}';
  is_complete := p_is_complete;

  -- Pairs and instants from which on something may have changed.
  CREATE TEMPORARY TABLE changed (
    station_id integer     NOT NULL,
    fuel_id    smallint    NOT NULL,
    begins_at  timestamptz NOT NULL
  ) ON COMMIT DROP;
  CREATE TEMPORARY TABLE withdrawn (
    station_id   integer     NOT NULL,
    fuel_id      smallint    NOT NULL,
    effective_at timestamptz NOT NULL,
    price_tenths integer,
    learnt_at    timestamptz NOT NULL
  ) ON COMMIT DROP;
  IF told_by <> p_run_id THEN
    INSERT INTO pg_temp.withdrawn SELECT * FROM fuel.withdraw_run(told_by, p_run_id);
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT withdrawn.station_id, withdrawn.fuel_id, withdrawn.effective_at
    FROM pg_temp.withdrawn;
    DELETE FROM pg_temp.withdrawn WHERE withdrawn.price_tenths IS NULL;
  END IF;

  -- Stations. A code that only a price names becomes a station too, so that no price is lost
  -- until the site list is read again. Codes are put together only where one is new.
  INSERT INTO fuel.station (
    source_id, station_code, state, time_zone, is_public, first_seen_at)
  SELECT DISTINCT
    feed.source_id, new.station_code, state.state, state.time_zone, true, p_taken_at
  FROM (
    SELECT staged.station_code
    FROM pg_temp.staged_station AS staged
    WHERE NOT EXISTS (
      SELECT
      FROM fuel.station
      WHERE station.source_id = feed.source_id AND station.station_code = staged.station_code)
    UNION ALL
    SELECT staged.station_code
    FROM pg_temp.staged_price AS staged
    WHERE NOT EXISTS (
      SELECT
      FROM fuel.station
      WHERE station.source_id = feed.source_id AND station.station_code = staged.station_code)
  ) AS new
  JOIN fuel.state ON state.state = feed.state
  ORDER BY new.station_code;

  -- Who counts in averages, and in which, is decided by a station's description for the whole past.
  -- By itself: joined to a cache without rows the function would never be called.
  SELECT array_agg(moved.station_id)
  INTO moved_ids
  FROM fuel.describe_stations(feed.source_id, told_by, p_taken_at, is_late) AS moved;
  PERFORM fuel.mark_places_dirty(array_agg(DISTINCT station.place_id), p_clock)
  FROM fuel.station
  WHERE station.station_id = ANY (moved_ids)
  HAVING count(*) > 0;
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

  -- Where a feed stamps nothing, a price that holds already is told again under its own stamp, and
  -- another one began when it was seen.
  UPDATE pg_temp.staged_price SET
    effective_at = CASE
      WHEN held.price_tenths = staged_price.price_tenths THEN held.effective_at ELSE p_taken_at
    END,
    held_tenths = nullif(held.price_tenths, staged_price.price_tenths)
  FROM (
    SELECT staged.ctid AS place, price.effective_at, price.price_tenths
    FROM pg_temp.staged_price AS staged
    JOIN fuel.station
      ON station.source_id = feed.source_id AND station.station_code = staged.station_code
    LEFT JOIN LATERAL (
      SELECT price.effective_at, price.price_tenths
      FROM fuel.price
      WHERE price.station_id = station.station_id
        AND price.fuel_id = staged.fuel_id
        AND price.source_id = feed.source_id
        AND price.effective_at <= p_taken_at
      ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
      LIMIT 1
    ) AS price ON true
    WHERE staged.effective_at IS NULL
  ) AS held
  WHERE staged_price.ctid = held.place;

  -- What differs from the cache: new facts, pairs that appeared, vanished or came back.
  CREATE TEMPORARY TABLE difference ON COMMIT DROP AS
  SELECT
    coalesce(staged.station_id, known.station_id) AS station_id,
    coalesce(staged.fuel_id, known.fuel_id) AS fuel_id,
    staged.effective_at,
    staged.price_tenths,
    staged.held_tenths,
    staged.station_id IS NOT NULL AS is_listed,
    coalesce(known.is_listed, false) AS was_listed,
    staged.effective_at < known.stamped_at AS is_set_back
  FROM (
    SELECT
      station.station_id,
      staged_price.fuel_id,
      staged_price.effective_at,
      staged_price.price_tenths,
      staged_price.held_tenths
    FROM pg_temp.staged_price
    JOIN fuel.station
      ON station.source_id = feed.source_id AND station.station_code = staged_price.station_code
  ) AS staged
  FULL JOIN (
    SELECT current_price.*
    FROM fuel.current_price
    WHERE current_price.source_id = feed.source_id
  ) AS known USING (station_id, fuel_id)
  -- A price that only a partial list told ends too where the next complete one does not have it.
  WHERE (
      staged.station_id IS NULL
      AND (known.is_listed OR known.price_tenths > 0)
      AND absorb.is_complete)
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

  IF p_is_complete THEN
    SELECT judged.is_complete, judged.refusal, judged.warnings
    INTO is_complete, refusal, warnings
    FROM fuel.judge_list(
      feed.source_id, p_taken_at, is_late, p_refuse_below, p_partial_below) AS judged;
    -- The caller takes everything back.
    IF refusal IS NOT NULL THEN
      RETURN NEXT;
      RETURN;
    END IF;
    IF NOT absorb.is_complete THEN
      DELETE FROM pg_temp.difference WHERE NOT difference.is_listed;
    END IF;
  END IF;

  -- Where prices are told for whole days absence proves nothing, but half a list is a fault all the
  -- same: a live one is held against the last that had the same documents.
  IF feed.tells_whole_days AND NOT p_is_complete THEN
    SELECT before.pairs INTO told_before
    FROM fuel.run AS before
    JOIN fuel.run AS present ON present.run_id = p_run_id AND present.kind = 'live'
    WHERE before.source_id = feed.source_id
      AND before.kind = 'live'
      AND before.outcome IN ('stored', 'unchanged')
      AND before.taken_at < p_taken_at
      AND before.documents = present.documents
    ORDER BY before.taken_at DESC, before.run_id DESC
    LIMIT 1;
    SELECT count(*) INTO told_now
    FROM (
      SELECT DISTINCT staged_price.station_code, staged_price.fuel_id FROM pg_temp.staged_price
    ) AS pair;
    IF told_now < told_before * p_refuse_below THEN
      refusal := format(
        'only %s prices where %s came before: below %s %%',
        told_now, told_before, round(p_refuse_below * 100));
      RETURN NEXT;
      RETURN;
    ELSIF told_now < told_before * p_partial_below THEN
      warnings := warnings || format('short: %s prices where %s came before', told_now, told_before);
    END IF;
  END IF;

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
      difference.price_tenths, told_by, p_learnt_at
    FROM pg_temp.difference
    WHERE difference.is_listed
    ORDER BY difference.station_id, difference.fuel_id, difference.effective_at
    ON CONFLICT DO NOTHING
    RETURNING station_id, fuel_id, effective_at, price_tenths
  ),
  -- What was withdrawn and is said again was never in doubt.
  restored AS (
    DELETE FROM pg_temp.withdrawn
    USING inserted
    WHERE withdrawn.station_id = inserted.station_id
      AND withdrawn.fuel_id = inserted.fuel_id
      AND withdrawn.effective_at = inserted.effective_at
      AND withdrawn.price_tenths = inserted.price_tenths
    RETURNING 1
  ),
  noted AS (
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT inserted.station_id, inserted.fuel_id, inserted.effective_at FROM inserted
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM noted) - (SELECT count(*) FROM restored) INTO stored;
  INSERT INTO fuel.withdrawn_price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at, withdrawn_by)
  SELECT
    withdrawn.station_id, withdrawn.fuel_id, feed.source_id, withdrawn.effective_at,
    withdrawn.price_tenths, told_by, withdrawn.learnt_at, p_run_id
  FROM pg_temp.withdrawn;
  IF is_late THEN
    -- A late sighting of an unstamped price ends at the next sighting, which told what held before.
    SELECT run.run_id, run.taken_at, run.fetched_at INTO next_run_id, next_run_at, next_learnt_at
    FROM fuel.run
    WHERE run.source_id = feed.source_id
      AND run.outcome IN ('stored', 'unchanged')
      AND run.taken_at > p_taken_at
    ORDER BY run.taken_at, run.run_id
    LIMIT 1;
    INSERT INTO fuel.price (
      station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
    SELECT
      difference.station_id, difference.fuel_id, feed.source_id, next_run_at,
      difference.held_tenths, next_run_id, next_learnt_at
    FROM pg_temp.difference
    WHERE next_run_at IS NOT NULL
      AND difference.held_tenths IS NOT NULL
      AND NOT EXISTS (
        SELECT
        FROM fuel.price
        WHERE price.station_id = difference.station_id
          AND price.fuel_id = difference.fuel_id
          AND price.source_id = feed.source_id
          AND price.effective_at > p_taken_at
          AND price.effective_at <= next_run_at)
    ON CONFLICT DO NOTHING;

    -- An older document told the same earlier. Of two prices under one stamp another may count now.
    WITH corrected AS (
      UPDATE fuel.price SET learnt_at = p_learnt_at, run_id = told_by
      FROM pg_temp.difference
      WHERE price.station_id = difference.station_id
        AND price.fuel_id = difference.fuel_id
        AND price.source_id = feed.source_id
        AND price.effective_at = difference.effective_at
        AND price.price_tenths = difference.price_tenths
        AND price.learnt_at > p_learnt_at
      RETURNING price.station_id, price.fuel_id, price.effective_at
    )
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT corrected.station_id, corrected.fuel_id, corrected.effective_at FROM corrected;
  END IF;

  PERFORM fuel.merge_listing(
    feed.source_id, p_taken_at, p_learnt_at, absorb.is_complete, is_late);

  UPDATE fuel.source SET
    first_taken_at = least(source.first_taken_at, p_taken_at),
    last_taken_at = greatest(source.last_taken_at, p_taken_at),
    last_listed_at = CASE
      WHEN absorb.is_complete THEN greatest(source.last_listed_at, p_taken_at)
      ELSE source.last_listed_at
    END,
    changes = source.changes + 1
  WHERE source.source_id = feed.source_id;

  -- Next prices that have begun since become present ones, so that the one after them is next.
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT known.station_id, known.fuel_id, known.next_effective_at
  FROM fuel.current_price AS known
  WHERE known.source_id = feed.source_id AND known.next_effective_at <= p_clock;

  -- A station counts in matching once it has sold something; one that is known by its name and
  -- address is told from another by the days on which both are told of.
  IF NOT feed.has_codes OR EXISTS (
    SELECT
    FROM pg_temp.changed
    WHERE NOT EXISTS (
      SELECT FROM fuel.current_price AS pair WHERE pair.station_id = changed.station_id))
  THEN
    UPDATE fuel.source SET are_links_due = true WHERE source.source_id = feed.source_id;
  END IF;

  PERFORM fuel.refresh_current(
    feed.source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), p_clock)
  FROM (
    SELECT DISTINCT changed.station_id, changed.fuel_id FROM pg_temp.changed
  ) AS pair
  HAVING count(*) > 0;

  -- What is in pg_temp.changed the program makes the spans of.
  PERFORM fuel.touch_silence(
    feed.source_id, p_taken_at, absorb.is_complete, feed.last_listed_at, p_clock);
  IF told_by <> p_run_id THEN
    PERFORM fuel.forget_ghosts(feed.source_id);
  END IF;
  -- A transaction may hold several runs.
  DROP TABLE pg_temp.difference, pg_temp.withdrawn;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fuel.absorb(
  integer, timestamptz, timestamptz, boolean, numeric, numeric, timestamptz) IS
  'Merges the staged rows of a run into the history. Answers how many facts were new, whether the list '
  'counts as complete, why it was refused if it was, and what was odd about it.';
GRANT EXECUTE ON FUNCTION fuel.absorb(
  integer, timestamptz, timestamptz, boolean, numeric, numeric, timestamptz) TO fuel_writer;
