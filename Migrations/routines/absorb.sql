-- Merges what a run reports into the history. The steps belong to the run's transaction. The program calls
-- fuel.begin_absorbing and stores the stations. It then judges the list, finds what differs from what the feed showed
-- before (pg_temp.difference), and calls fuel.absorb. The stations and fuels that changed, each with the instant from
-- which it changed, are left in pg_temp.changed. The program makes their spans.
--
-- Cost: every step touches only what differs. The history is read only for the stations and fuels that changed.
--
-- The end state does not depend on the order in which runs arrive. A run that is older than one already stored ("late")
-- takes longer where its lateness matters. So does a run that reads the documents of an earlier run again: the earlier
-- run no longer counts.
--
-- Two instants are kept apart: the documents show the state of p_taken_at, and they were known from p_learnt_at on.
-- They differ by the feed's delay.

-- Begins to absorb a run. If its documents were read before, the earlier readings no longer count. is_late: a run with
-- a later taken_at is stored, or the documents were read before. is_direct: the run is not late, and what its feed
-- shows was last reported by runs that count.
CREATE OR REPLACE FUNCTION fuel.begin_absorbing(
  p_run_id integer, p_taken_at timestamptz, OUT is_late boolean, OUT is_direct boolean)
LANGUAGE plpgsql AS $$
DECLARE
  feed        fuel.source;
  -- The run that fetched the documents. It is an earlier run where documents are read again.
  reported_by integer;
  earlier     integer;
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  SELECT coalesce(run.replaces_run_id, run.run_id) INTO reported_by
  FROM fuel.run
  WHERE run.run_id = p_run_id;

  -- Stations and fuels that may have changed, each with the instant from which it may have changed.
  CREATE TEMPORARY TABLE changed (
    station_id integer     NOT NULL,
    fuel_id    smallint    NOT NULL,
    begins_at  timestamptz NOT NULL
  ) ON COMMIT DROP;
  IF reported_by <> p_run_id THEN
    FOR earlier IN
      SELECT run.run_id
      FROM fuel.run
      WHERE (run.run_id = reported_by OR run.replaces_run_id = reported_by)
        AND run.run_id <> p_run_id
        AND run.outcome IN ('stored', 'unchanged', 'refused', 'failed', 'interrupted')
      ORDER BY run.run_id
    LOOP
      PERFORM fuel.discount_run(earlier, 'superseded');
    END LOOP;
    PERFORM fuel.span_of_feed(feed.source_id);
    PERFORM fuel.forget_descriptions(reported_by);
    DELETE FROM fuel.run_to_read
    USING fuel.run
    WHERE run.run_id = run_to_read.run_id
      AND (run.run_id = reported_by OR run.replaces_run_id = reported_by);
  END IF;
  UPDATE fuel.run SET taken_at = p_taken_at WHERE run.run_id = p_run_id;
  is_late := reported_by <> p_run_id OR coalesce(feed.last_taken_at > p_taken_at, false);
  is_direct := NOT is_late AND CASE
    -- Only runs of the last days can have reported days that this run reports.
    WHEN feed.tells_whole_days THEN NOT EXISTS (
      SELECT
      FROM fuel.run
      WHERE run.source_id = feed.source_id
        AND run.taken_at > p_taken_at - fuel.announced_ahead()
        AND fuel.is_kept(run)
        AND run.outcome NOT IN ('stored', 'unchanged'))
    ELSE (
      SELECT coalesce(bool_and(since.is_hint), true) FROM fuel.runs_since_list(p_run_id) AS since)
  END;
END
$$;
COMMENT ON FUNCTION fuel.begin_absorbing(integer, timestamptz) IS
  'Begins to merge a run into the history. Returns whether a later run is stored or its documents were read before '
  '(is_late), and whether it is not late and what its feed shows was last reported by runs that count (is_direct).';
GRANT EXECUTE ON FUNCTION fuel.begin_absorbing(integer, timestamptz) TO fuel_writer;

-- Stores stations under codes that are new. A code that appears only with a price becomes a station record too, so that
-- no price is lost until the site list is read again.
CREATE OR REPLACE FUNCTION fuel.add_stations(
  p_source_id smallint, p_station_codes text[], p_taken_at timestamptz)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.station (
    source_id, station_code, state, time_zone, is_public, first_seen_at)
  SELECT source.source_id, new.station_code, state.state, state.time_zone, true, p_taken_at
  FROM fuel.source
  JOIN fuel.state USING (state)
  CROSS JOIN unnest(p_station_codes) AS new (station_code)
  WHERE source.source_id = p_source_id
  ORDER BY new.station_code
$$;
COMMENT ON FUNCTION fuel.add_stations(smallint, text[], timestamptz) IS
  'Stores stations of a feed for which only the codes are known yet.';
GRANT EXECUTE ON FUNCTION fuel.add_stations(smallint, text[], timestamptz) TO fuel_writer;

-- Returns, for a feed that stamps nothing, the newest price of each station and fuel that had begun by an instant.
CREATE OR REPLACE FUNCTION fuel.held_prices(p_source_id smallint, p_taken_at timestamptz)
RETURNS TABLE (station_id integer, fuel_id smallint, effective_at timestamptz, price_tenths integer)
LANGUAGE sql STABLE AS $$
  SELECT pair.station_id, pair.fuel_id, held.effective_at, held.price_tenths
  FROM fuel.current_price AS pair
  CROSS JOIN LATERAL (
    SELECT price.effective_at, price.price_tenths
    FROM fuel.counted_price AS price
    WHERE price.station_id = pair.station_id
      AND price.fuel_id = pair.fuel_id
      AND price.source_id = p_source_id
      AND price.effective_at <= p_taken_at
    ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
    LIMIT 1
  ) AS held
  WHERE pair.source_id = p_source_id
$$;
COMMENT ON FUNCTION fuel.held_prices(smallint, timestamptz) IS
  'The newest price of each station and fuel of a feed that had begun by an instant.';
GRANT EXECUTE ON FUNCTION fuel.held_prices(smallint, timestamptz) TO fuel_writer;

-- Takes all steps that follow the storing of stations. p_is_list: the run brought a list. p_is_complete: the list was
-- judged complete.
CREATE OR REPLACE FUNCTION fuel.absorb(
  p_run_id integer, p_taken_at timestamptz, p_learnt_at timestamptz, p_is_list boolean,
  p_is_complete boolean, p_clock timestamptz)
-- The statements are planned anew for each run, so that the server leaves out years in which no price of the run
-- began.
RETURNS integer LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  feed             fuel.source;
  reported_by      integer;
  is_late          boolean;
  is_unstamped     boolean;
  -- The first and the last instant at which a price of the run begins, and the earliest stamp under which earlier runs
  -- may have reported what this run reports.
  first_at         timestamptz;
  last_at          timestamptz;
  others_from      timestamptz;
  goes_back        interval;
  stored           integer;
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  SELECT coalesce(run.replaces_run_id, run.run_id), fuel.is_unstamped(run) INTO reported_by, is_unstamped
  FROM fuel.run
  WHERE run.run_id = p_run_id;
  goes_back := fuel.stamps_go_back(feed.source_id);
  SELECT min(difference.effective_at), max(difference.effective_at), min(difference.effective_at) - goes_back
  INTO first_at, last_at, others_from
  FROM pg_temp.difference;
  is_late := reported_by <> p_run_id OR coalesce(feed.last_taken_at > p_taken_at, false);
  -- A clock that is behind the runs already stored would make present prices look like future ones.
  p_clock := greatest(p_clock, feed.last_taken_at, p_taken_at);

  -- The facts. Their partitions are made first.
  PERFORM fuel.ensure_year(year)
  FROM (
    SELECT extract(year FROM difference.effective_at AT TIME ZONE 'UTC')::integer AS year
    FROM pg_temp.difference
    WHERE difference.effective_at IS NOT NULL
    UNION
    SELECT extract(year FROM p_taken_at AT TIME ZONE 'UTC')::integer WHERE is_unstamped
  ) AS reported
  ORDER BY year;

  -- A run stores what it reports of a station and fuel unless the newest earlier run with rows of that station and fuel
  -- counts and reports the same. Prices of whole days are compared one by one. A run without a list (an update) stores
  -- everything that it reports.
  WITH reported AS MATERIALIZED (
    SELECT
      difference.station_id,
      difference.fuel_id,
      -- A price without a stamp began when it was seen. Readers of the history fold repeated reports of a price that
      -- goes on.
      CASE
        WHEN is_unstamped AND difference.effective_at <= p_taken_at THEN p_taken_at
        ELSE difference.effective_at
      END AS effective_at,
      difference.price_tenths,
      -- This is a scalar subquery and not EXISTS. For EXISTS the server may read the whole history once instead of one
      -- station and fuel.
      difference.may_be_known AND coalesce((
        SELECT true
        FROM fuel.price
        WHERE price.station_id = difference.station_id
          AND price.fuel_id = difference.fuel_id
          AND price.effective_at = difference.effective_at
          AND price.effective_at BETWEEN first_at AND last_at
          AND price.source_id = feed.source_id
          AND price.price_tenths = difference.price_tenths
        LIMIT 1
      ), false) AS was_known,
      CASE
        WHEN feed.tells_whole_days THEN before.is_same IS TRUE
        ELSE bool_and(before.is_same IS TRUE) OVER pair AND count(*) OVER pair = max(before.prices) OVER pair
      END AS is_repeated
    FROM pg_temp.difference
    LEFT JOIN LATERAL (
      SELECT
        count(*) AS prices,
        bool_or(
          last.price_tenths = difference.price_tenths
            AND (last.effective_at = difference.effective_at
              OR (is_unstamped AND greatest(last.effective_at, difference.effective_at) <= p_taken_at))
            AND run.outcome IN ('stored', 'unchanged')) AS is_same
      FROM (
        SELECT
          newest.*,
          max(newest.effective_at) FILTER (WHERE newest.effective_at <= p_taken_at) OVER () AS present_at
        FROM (
          -- The newest earlier run may have reported the next price beside the present one, so all its rows are taken.
          SELECT price.effective_at, price.price_tenths, price.run_id
          FROM fuel.told_price AS price
          -- Prices that are newer than all that is known, and prices of updates, are stored in any case. The conditions
          -- on may_be_known and on the kind of run stand here and not in the join, so that the history is not searched
          -- for such prices.
          WHERE difference.may_be_known
            AND (p_is_list OR feed.tells_whole_days)
            AND price.station_id = difference.station_id
            AND price.fuel_id = difference.fuel_id
            AND price.source_id = feed.source_id
            -- An earlier list may have shown a later stamp, or one that is older by up to goes_back. The
            -- second condition is the same bound for all prices of the run at once, so that the server can leave out
            -- the partitions before it.
            AND price.effective_at >= difference.effective_at - goes_back
            AND price.effective_at >= others_from
            AND (price.learnt_at, price.run_id) < (p_learnt_at, p_run_id)
            AND (p_is_list OR price.effective_at = difference.effective_at)
          ORDER BY price.learnt_at DESC, price.run_id DESC
          FETCH FIRST ROW WITH TIES
        ) AS newest
      ) AS last
      JOIN fuel.run USING (run_id)
      -- A price that was the next one when it was reported may be the present one by now. Then the price that was
      -- reported beside it as the present one no longer counts as shown.
      WHERE last.effective_at >= coalesce(last.present_at, '-infinity')
    ) AS before ON true
    WHERE difference.is_listed
    WINDOW pair AS (PARTITION BY difference.station_id, difference.fuel_id)
  ),
  inserted AS (
    INSERT INTO fuel.price (
      station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
    SELECT
      reported.station_id, reported.fuel_id, feed.source_id, reported.effective_at, reported.price_tenths, p_run_id,
      p_learnt_at
    FROM reported
    WHERE NOT reported.is_repeated
    ORDER BY reported.station_id, reported.fuel_id, reported.effective_at
    ON CONFLICT DO NOTHING
  ),
  noted AS (
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT reported.station_id, reported.fuel_id, reported.effective_at FROM reported WHERE NOT reported.is_repeated
  )
  SELECT count(*) FILTER (WHERE NOT reported.was_known) INTO stored
  FROM (
    SELECT DISTINCT station_id, fuel_id, effective_at, price_tenths, was_known FROM reported
  ) AS reported;

  IF NOT feed.has_codes AND first_at IS NOT NULL THEN
    PERFORM fuel.sight_days(feed.source_id, p_run_id, first_at);
  END IF;

  -- From here on, what the list leaves out counts as not offered, if the list is complete.
  UPDATE fuel.run SET
    fetched_at = p_learnt_at,
    is_complete = p_is_complete
  WHERE run.run_id = p_run_id;
  IF NOT feed.tells_whole_days THEN
    PERFORM fuel.merge_listing(p_run_id, p_is_list, is_late);
  END IF;
  -- Lists may follow even a run that is not late, because lists that do not count do not make a run late.
  IF is_late OR EXISTS (SELECT FROM fuel.lists_after(p_run_id)) THEN
    PERFORM fuel.spell_out_prices(p_run_id, false);
  END IF;

  UPDATE fuel.source SET
    first_taken_at = least(source.first_taken_at, p_taken_at),
    last_taken_at = greatest(source.last_taken_at, p_taken_at),
    last_listed_at = CASE
      WHEN p_is_complete THEN greatest(source.last_listed_at, p_taken_at)
      ELSE source.last_listed_at
    END,
    -- It begins again after 10^12, so that no number that somebody writes there stops the next run.
    changes = source.changes % 1000000000000 + 1
  WHERE source.source_id = feed.source_id;
  IF feed.first_taken_at IS NULL OR p_taken_at < feed.first_taken_at THEN
    PERFORM fuel.touch_archives(feed.scheme, feed.first_taken_at, p_taken_at);
  END IF;

  -- A next price that has begun meanwhile becomes the present price, and the price after it becomes the next one.
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT known.station_id, known.fuel_id, known.next_effective_at
  FROM fuel.current_price AS known
  WHERE known.source_id = feed.source_id AND known.next_effective_at <= p_clock;

  -- Station records are matched again if this run may change which of them are one station. Every run of a feed whose
  -- codes are made of names and addresses may do so (NOT has_codes): two names are two stations if both have prices on
  -- the same day. A late list may do so: two codes at one address are two stations if a complete list shows both. So
  -- does the first price of a station record, because the record takes part in matching from then on.
  IF NOT feed.has_codes OR (is_late AND p_is_list) OR EXISTS (
    SELECT
    FROM pg_temp.changed
    WHERE NOT EXISTS (
      SELECT FROM fuel.current_price AS pair WHERE pair.station_id = changed.station_id))
    -- The list shows again a station record that awaits a person's decision (fuel.station_doubt), or a record that
    -- shares its station with another record of the feed, such as an old code beside the new one.
    OR EXISTS (
      SELECT
      FROM pg_temp.difference
      JOIN fuel.station_doubt AS doubt ON difference.station_id IN (doubt.first_id, doubt.second_id)
      WHERE difference.is_listed AND NOT difference.was_listed)
    OR EXISTS (
      SELECT
      FROM pg_temp.difference
      JOIN fuel.station AS record USING (station_id)
      JOIN fuel.station AS other
        ON other.place_id = record.place_id
        AND other.source_id = record.source_id
        AND other.station_id <> record.station_id
      WHERE difference.is_listed AND NOT difference.was_listed)
  THEN
    UPDATE fuel.source SET are_links_due = true WHERE source.source_id = feed.source_id;
  END IF;

  -- Where the list only goes on with a newer price, that price is what the feed shows now. Whatever else changed is
  -- computed from the history.
  PERFORM fuel.show_newest(
    array_agg(pair.station_id), array_agg(pair.fuel_id), array_agg(pair.effective_at),
    array_agg(pair.price_tenths), p_learnt_at)
  FROM pg_temp.difference AS pair
  WHERE pair.only_follows AND pair.effective_at <= p_clock AND NOT is_unstamped
  HAVING count(*) > 0;
  PERFORM fuel.refresh_current(
    feed.source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), array_agg(pair.effective_at),
    array_agg(pair.price_tenths),
    -- A run that is not late makes no fact stop counting. The newest stamp of each station and fuel is therefore the
    -- one that was the newest before, or a newer one. There is no bound if the clock is behind a stored stamp.
    CASE
      WHEN is_late OR bool_or(pair.stamped_at > p_clock) THEN '-infinity'
      ELSE coalesce(least(first_at, min(pair.stamped_at)), '-infinity')
    END,
    p_clock)
  FROM (
    SELECT changed.station_id, changed.fuel_id, reported.effective_at, reported.price_tenths, known.stamped_at
    FROM (
      SELECT changed.station_id, changed.fuel_id
      FROM pg_temp.changed
      EXCEPT
      SELECT pair.station_id, pair.fuel_id
      FROM pg_temp.difference AS pair
      WHERE pair.only_follows AND pair.effective_at <= p_clock AND NOT is_unstamped
    ) AS changed
    LEFT JOIN fuel.current_price AS known USING (station_id, fuel_id)
    -- What the newest list reports of a station and fuel is also the last report of it.
    LEFT JOIN (
      SELECT
        difference.station_id, difference.fuel_id, max(difference.effective_at) AS effective_at,
        max(difference.price_tenths) AS price_tenths
      FROM pg_temp.difference
      WHERE difference.is_listed AND p_is_list AND NOT is_late AND NOT is_unstamped
      GROUP BY difference.station_id, difference.fuel_id
      HAVING count(*) = 1
    ) AS reported USING (station_id, fuel_id)
  ) AS pair
  HAVING count(*) > 0;

  -- The program makes the spans of what is in pg_temp.changed.
  PERFORM fuel.touch_silence(
    feed.source_id, p_taken_at, p_is_complete, feed.last_listed_at, p_clock);
  IF reported_by <> p_run_id THEN
    PERFORM fuel.forget_ghosts(
      feed.source_id, array_agg(changed.station_id), array_agg(changed.fuel_id))
    FROM (SELECT DISTINCT changed.station_id, changed.fuel_id FROM pg_temp.changed) AS changed;
  END IF;
  -- A station that had been reported only by runs that stopped counting is seen for the first time. Where there is none,
  -- the statement is not even planned, because it would open all years of prices.
  IF EXISTS (
    SELECT FROM fuel.station WHERE station.source_id = feed.source_id AND station.first_seen_at = 'infinity')
  THEN
    UPDATE fuel.station SET first_seen_at = p_taken_at
    WHERE station.source_id = feed.source_id
      AND station.first_seen_at = 'infinity'
      AND (
        EXISTS (
          SELECT FROM fuel.station_description AS description WHERE description.station_id = station.station_id)
        OR EXISTS (
          SELECT
          FROM fuel.counted_price AS price
          WHERE price.station_id = station.station_id AND price.source_id = feed.source_id));
  END IF;
  -- The table is dropped because a transaction may hold several runs.
  DROP TABLE pg_temp.difference;
  RETURN stored;
END
$$;
COMMENT ON FUNCTION fuel.absorb(
  integer, timestamptz, timestamptz, boolean, boolean, timestamptz) IS
  'Merges what differs of a run into the history. Returns how many facts were new.';
GRANT EXECUTE ON FUNCTION fuel.absorb(
  integer, timestamptz, timestamptz, boolean, boolean, timestamptz) TO fuel_writer;
