-- What a run reports, merged into the history. Called inside the run's transaction: fuel.begin_absorbing, the
-- stations, then, when the program has judged the list and found what differs from what the feed showed before
-- (pg_temp.difference), fuel.absorb. Which stations and fuels it changed, and from when on, is left in
-- pg_temp.changed for the program, which makes their spans.
--
-- Cost: everything here touches only what differs. The history is never read but for the pairs that changed.
--
-- Every step gives the same end state whatever order runs arrive in. A run that is older than one
-- already stored takes the longer way where it matters (marked "late"). So does one that reads the
-- documents of an earlier run again: that run no longer counts.
--
-- Two instants: the documents show the state of p_taken_at and were known from p_learnt_at on; they
-- differ by the feed's delay.

-- Begins to absorb a run: what its documents said before no longer counts. is_late: a later one is stored, or its
-- documents were read before; is_direct: it is not, and what its feed shows was said last by runs that count.
CREATE OR REPLACE FUNCTION fuel.begin_absorbing(
  p_run_id integer, p_taken_at timestamptz, OUT is_late boolean, OUT is_direct boolean)
LANGUAGE plpgsql AS $$
DECLARE
  feed    fuel.source;
  -- The run whose documents these are: an earlier one where they are read again.
  told_by integer;
  earlier integer;
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  SELECT coalesce(run.replaces_run_id, run.run_id) INTO told_by
  FROM fuel.run
  WHERE run.run_id = p_run_id;

  -- Pairs and instants from which on something may have changed.
  CREATE TEMPORARY TABLE changed (
    station_id integer     NOT NULL,
    fuel_id    smallint    NOT NULL,
    begins_at  timestamptz NOT NULL
  ) ON COMMIT DROP;
  IF told_by <> p_run_id THEN
    FOR earlier IN
      SELECT run.run_id
      FROM fuel.run
      WHERE (run.run_id = told_by OR run.replaces_run_id = told_by)
        AND run.run_id <> p_run_id
        AND run.outcome IN ('stored', 'unchanged', 'refused', 'failed', 'interrupted')
      ORDER BY run.run_id
    LOOP
      PERFORM fuel.discount_run(earlier, 'superseded');
    END LOOP;
    PERFORM fuel.span_of_feed(feed.source_id);
    PERFORM fuel.forget_descriptions(told_by);
    DELETE FROM fuel.run_to_read
    USING fuel.run
    WHERE run.run_id = run_to_read.run_id
      AND (run.run_id = told_by OR run.replaces_run_id = told_by);
  END IF;
  UPDATE fuel.run SET taken_at = p_taken_at WHERE run.run_id = p_run_id;
  is_late := told_by <> p_run_id OR coalesce(feed.last_taken_at > p_taken_at, false);
  is_direct := NOT is_late AND CASE
    -- Answers tell no other days than that of the next day.
    WHEN feed.tells_whole_days THEN NOT EXISTS (
      SELECT
      FROM fuel.run
      WHERE run.source_id = feed.source_id
        AND run.taken_at > p_taken_at - interval '3 days'
        AND fuel.is_kept(run)
        AND run.outcome NOT IN ('stored', 'unchanged'))
    ELSE (
      SELECT coalesce(bool_and(since.is_hint), true) FROM fuel.runs_since_list(p_run_id) AS since)
  END;
END
$$;
COMMENT ON FUNCTION fuel.begin_absorbing(integer, timestamptz) IS
  'Begins to merge a run into the history. Answers whether a later one is stored, or its documents were read before, '
  'and whether what its feed shows was said last by runs that count.';
GRANT EXECUTE ON FUNCTION fuel.begin_absorbing(integer, timestamptz) TO fuel_writer;

-- Stores stations under new codes. A code that only a price names becomes a station too, so that no price is lost
-- until the site list is read again.
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
  'Stores stations of a feed of which nothing but their codes is known yet.';
GRANT EXECUTE ON FUNCTION fuel.add_stations(smallint, text[], timestamptz) TO fuel_writer;

-- What a feed that stamps nothing had reported last of its stations and fuels, by an instant.
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

-- Everything after the stations. p_is_list: it brought a list; p_is_complete: and that was judged complete.
CREATE OR REPLACE FUNCTION fuel.absorb(
  p_run_id integer, p_taken_at timestamptz, p_learnt_at timestamptz, p_is_list boolean,
  p_is_complete boolean, p_clock timestamptz)
-- Planned anew for each run, so that months in which none of its prices began are left out.
RETURNS integer LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  feed             fuel.source;
  told_by          integer;
  is_late          boolean;
  is_unstamped     boolean;
  -- Between which instants its prices begin, and from when on rows of other runs may say the same.
  first_at         timestamptz;
  last_at          timestamptz;
  others_from      timestamptz;
  part             record;
  stored           integer;
BEGIN
  SELECT source.* INTO STRICT feed
  FROM fuel.run
  JOIN fuel.source USING (source_id)
  WHERE run.run_id = p_run_id;
  SELECT coalesce(run.replaces_run_id, run.run_id), fuel.is_unstamped(run) INTO told_by, is_unstamped
  FROM fuel.run
  WHERE run.run_id = p_run_id;
  SELECT
    min(difference.effective_at), max(difference.effective_at), min(difference.effective_at) - fuel.stamps_go_back()
  INTO first_at, last_at, others_from
  FROM pg_temp.difference;
  is_late := told_by <> p_run_id OR coalesce(feed.last_taken_at > p_taken_at, false);
  -- A clock that stands before what is stored already would call the present the future.
  p_clock := greatest(p_clock, feed.last_taken_at, p_taken_at);

  -- Facts.
  PERFORM fuel.ensure_price_month(month.begins_at)
  FROM (
    SELECT DISTINCT date_trunc('month', difference.effective_at, 'UTC') AS begins_at
    FROM pg_temp.difference
    WHERE difference.effective_at IS NOT NULL
    UNION
    SELECT date_trunc('month', p_taken_at, 'UTC') WHERE is_unstamped
  ) AS month
  ORDER BY month.begins_at;

  -- A run stores what it says of a station and fuel where the newest run before it that has rows of that does not say
  -- the same, or does not count; prices of whole days one by one. News store all they say.
  WITH told AS MATERIALIZED (
    SELECT
      difference.station_id,
      difference.fuel_id,
      -- What is not stamped began when it was seen; readers fold what goes on.
      CASE
        WHEN is_unstamped AND difference.effective_at <= p_taken_at THEN p_taken_at
        ELSE difference.effective_at
      END AS effective_at,
      difference.price_tenths,
      -- Not EXISTS, for which the server may read the whole history once instead of one pair.
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
        WHEN feed.tells_whole_days THEN before.says_so IS TRUE
        ELSE bool_and(before.says_so IS TRUE) OVER pair AND count(*) OVER pair = max(before.prices) OVER pair
      END AS is_told
    FROM pg_temp.difference
    LEFT JOIN LATERAL (
      SELECT
        count(*) AS prices,
        bool_or(
          last.price_tenths = difference.price_tenths
            AND (last.effective_at = difference.effective_at
              OR (is_unstamped AND greatest(last.effective_at, difference.effective_at) <= p_taken_at))
            AND run.outcome IN ('stored', 'unchanged')) AS says_so
      FROM (
        SELECT
          newest.*,
          max(newest.effective_at) FILTER (WHERE newest.effective_at <= p_taken_at) OVER () AS present_at
        FROM (
          -- A run may tell the next price too.
          SELECT price.effective_at, price.price_tenths, price.run_id
          FROM fuel.told_price AS price
          -- Asked here and not where it is joined, so that nothing is looked for of news.
          WHERE difference.may_be_known
            AND (p_is_list OR feed.tells_whole_days)
            AND price.station_id = difference.station_id
            AND price.fuel_id = difference.fuel_id
            AND price.source_id = feed.source_id
            -- A list before it may have shown a later one, or one of long before.
            AND price.effective_at >= difference.effective_at - fuel.stamps_go_back()
            AND price.effective_at >= others_from
            AND (price.learnt_at, price.run_id) < (p_learnt_at, p_run_id)
            AND (p_is_list OR price.effective_at = difference.effective_at)
          ORDER BY price.learnt_at DESC, price.run_id DESC
          FETCH FIRST ROW WITH TIES
        ) AS newest
      ) AS last
      JOIN fuel.run USING (run_id)
      -- What was next then may be present by now.
      WHERE last.effective_at >= coalesce(last.present_at, '-infinity')
    ) AS before ON true
    WHERE difference.is_listed
    WINDOW pair AS (PARTITION BY difference.station_id, difference.fuel_id)
  ),
  inserted AS (
    INSERT INTO fuel.price (
      station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
    SELECT
      told.station_id, told.fuel_id, feed.source_id, told.effective_at, told.price_tenths, p_run_id,
      p_learnt_at
    FROM told
    WHERE NOT told.is_told
    ORDER BY told.station_id, told.fuel_id, told.effective_at
    ON CONFLICT DO NOTHING
  ),
  noted AS (
    INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
    SELECT told.station_id, told.fuel_id, told.effective_at FROM told WHERE NOT told.is_told
  )
  SELECT count(*) FILTER (WHERE NOT told.was_known) INTO stored
  FROM (
    SELECT DISTINCT station_id, fuel_id, effective_at, price_tenths, was_known FROM told
  ) AS told;

  -- From here on its gaps count.
  UPDATE fuel.run SET
    fetched_at = p_learnt_at,
    is_complete = p_is_complete
  WHERE run.run_id = p_run_id;
  IF NOT feed.tells_whole_days THEN
    PERFORM fuel.merge_listing(p_run_id, p_is_list, is_late);
  END IF;
  -- Lists that do not count may lie after the newest run that does.
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
    changes = source.changes + 1
  WHERE source.source_id = feed.source_id;

  -- Next prices that have begun since become present ones, so that the one after them is next.
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT known.station_id, known.fuel_id, known.next_effective_at
  FROM fuel.current_price AS known
  WHERE known.source_id = feed.source_id AND known.next_effective_at <= p_clock;

  -- A station counts in matching once it has sold something; one that is known by its name and address is told from
  -- another by the days on which both are told of, and codes of one address by the lists that show both.
  IF NOT feed.has_codes OR (is_late AND p_is_list) OR EXISTS (
    SELECT
    FROM pg_temp.changed
    WHERE NOT EXISTS (
      SELECT FROM fuel.current_price AS pair WHERE pair.station_id = changed.station_id))
    -- A code of which a person is asked, or an old one, that comes back beside the new one.
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

  FOR part IN
    SELECT
      pair.is_newest, array_agg(pair.station_id) AS station_ids, array_agg(pair.fuel_id) AS fuel_ids,
      array_agg(pair.effective_at) AS ats, array_agg(pair.price_tenths) AS tenths,
      -- Nothing that counted has gone, so that the newest of each is what was the newest, or newer.
      -- A clock that went back is told apart.
      CASE
        WHEN is_late OR bool_or(pair.stamped_at > p_clock) THEN '-infinity'
        ELSE coalesce(least(first_at, min(pair.stamped_at)), '-infinity')
      END AS from_at
    FROM (
      SELECT
        changed.station_id, changed.fuel_id, told.effective_at, told.price_tenths, known.stamped_at,
        coalesce(
          told.is_news AND told.effective_at <= p_clock AND known.is_listed AND known.next_effective_at IS NULL, false)
          AS is_newest
      FROM (SELECT DISTINCT station_id, fuel_id FROM pg_temp.changed) AS changed
      LEFT JOIN fuel.current_price AS known USING (station_id, fuel_id)
      -- The newest list told last what it tells.
      LEFT JOIN (
        SELECT
          difference.station_id, difference.fuel_id, max(difference.effective_at) AS effective_at,
          max(difference.price_tenths) AS price_tenths, NOT bool_or(difference.may_be_known) AS is_news
        FROM pg_temp.difference
        WHERE difference.is_listed AND p_is_list AND NOT is_late AND NOT is_unstamped
        GROUP BY difference.station_id, difference.fuel_id
        HAVING count(*) = 1
      ) AS told USING (station_id, fuel_id)
    ) AS pair
    GROUP BY pair.is_newest
  LOOP
    IF part.is_newest THEN
      PERFORM fuel.show_newest(part.station_ids, part.fuel_ids, part.ats, part.tenths, p_learnt_at);
    ELSE
      PERFORM fuel.refresh_current(
        feed.source_id, part.station_ids, part.fuel_ids, part.ats, part.tenths, part.from_at, p_clock);
    END IF;
  END LOOP;

  -- What is in pg_temp.changed the program makes the spans of.
  PERFORM fuel.touch_silence(
    feed.source_id, p_taken_at, p_is_complete, feed.last_listed_at, p_clock);
  IF told_by <> p_run_id THEN
    PERFORM fuel.forget_ghosts(
      feed.source_id, array_agg(changed.station_id), array_agg(changed.fuel_id))
    FROM (SELECT DISTINCT changed.station_id, changed.fuel_id FROM pg_temp.changed) AS changed;
  END IF;
  -- A transaction may hold several runs.
  DROP TABLE pg_temp.difference;
  RETURN stored;
END
$$;
COMMENT ON FUNCTION fuel.absorb(
  integer, timestamptz, timestamptz, boolean, boolean, timestamptz) IS
  'Merges what differs of a run into the history. Answers how many facts were new.';
GRANT EXECUTE ON FUNCTION fuel.absorb(
  integer, timestamptz, timestamptz, boolean, boolean, timestamptz) TO fuel_writer;
