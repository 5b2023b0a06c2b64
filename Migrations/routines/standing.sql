-- Which runs count, and which lists are complete: when that changes, what the lists after them show is written down
-- first, and no row goes. What may have changed is noted in pg_temp.changed.

-- Whether a list shows a station and fuel: as it says itself, or as the complete list before it.
CREATE OR REPLACE FUNCTION fuel.is_shown(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_run_id integer,
  p_taken_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce((
  SELECT said.is_listed
  FROM fuel.listing AS said
  WHERE said.station_id = p_station_id
    AND said.fuel_id = p_fuel_id
    AND said.source_id = p_source_id
    AND said.changed_at = p_taken_at
    AND said.run_id = p_run_id
), (
  SELECT listing.is_listed
  FROM fuel.counted_listing AS listing
  WHERE listing.station_id = p_station_id
    AND listing.fuel_id = p_fuel_id
    AND listing.source_id = p_source_id
    AND listing.changed_at <= p_taken_at
  ORDER BY listing.changed_at DESC, listing.is_listed DESC
  LIMIT 1
), false);
COMMENT ON FUNCTION fuel.is_shown(integer, smallint, smallint, integer, timestamptz) IS
  'Whether a stored list shows a station and fuel.';
GRANT EXECUTE ON FUNCTION fuel.is_shown(integer, smallint, smallint, integer, timestamptz) TO fuel_writer;

-- The lists beside and after a run up to the next complete one: until then lists may lack what is offered. Lists that
-- were taken back may count again.
DROP FUNCTION IF EXISTS fuel.lists_after(integer);
CREATE FUNCTION fuel.lists_after(p_run_id integer)
RETURNS TABLE (run_id integer, taken_at timestamptz, fetched_at timestamptz, counts boolean)
LANGUAGE sql STABLE AS $$
  SELECT
    list.run_id, list.taken_at, coalesce(list.fetched_at, list.taken_at),
    list.outcome IN ('stored', 'unchanged')
  FROM fuel.run AS told
  JOIN fuel.run AS list ON list.source_id = told.source_id
  WHERE told.run_id = p_run_id
    AND list.run_id <> p_run_id
    AND (list.is_complete OR list.composition_id IS NOT NULL)
    AND (
      list.outcome IN ('stored', 'unchanged')
      -- One that was refused when it came is read again before it counts.
      OR (list.outcome IN ('withdrawn', 'refused') AND list.stored + list.unchanged > 0))
    AND list.taken_at >= told.taken_at
    AND list.taken_at <= coalesce((
      SELECT min(complete.taken_at)
      FROM fuel.run AS complete
      WHERE complete.source_id = told.source_id
        AND complete.is_complete
        AND complete.run_id <> p_run_id
        AND complete.taken_at >= told.taken_at
    ), 'infinity')
$$;
COMMENT ON FUNCTION fuel.lists_after(integer) IS
  'The stored lists beside and after a run, up to the next complete one.';
GRANT EXECUTE ON FUNCTION fuel.lists_after(integer) TO fuel_writer;

-- Which run shows the stations and fuels of a run's facts next, and which that does not count would before it. Leaves
-- out those that by then show another price, or none ever again.
CREATE OR REPLACE FUNCTION fuel.heirs(p_run_id integer)
RETURNS TABLE (
  station_id integer, fuel_id smallint, effective_at timestamptz, price_tenths integer,
  run_id integer, taken_at timestamptz, fetched_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  told fuel.run;
BEGIN
  SELECT run.* INTO STRICT told FROM fuel.run WHERE run.run_id = p_run_id;
  RETURN QUERY
  WITH fact AS MATERIALIZED (
    SELECT price.station_id, price.fuel_id, price.source_id, price.effective_at, price.price_tenths
    FROM fuel.price
    WHERE price.run_id = p_run_id AND price.source_id = told.source_id
  ),
  list AS MATERIALIZED (
    SELECT * FROM fuel.lists_after(p_run_id)
  ),
  shown AS MATERIALIZED (
    SELECT fact.*, list.run_id, list.taken_at, list.fetched_at, list.counts
    FROM fact
    CROSS JOIN LATERAL (
      -- In order before they are asked, so that the server asks no further than the first that shows it.
      SELECT list.run_id, list.taken_at, list.fetched_at, list.counts
      FROM (SELECT * FROM list WHERE list.counts ORDER BY list.taken_at, list.run_id OFFSET 0) AS list
      WHERE fuel.is_shown(
        fact.station_id, fact.fuel_id, fact.source_id, list.run_id, list.taken_at)
      LIMIT 1
    ) AS list
    UNION ALL
    SELECT fact.*, list.run_id, list.taken_at, list.fetched_at, list.counts
    FROM fact
    JOIN list ON NOT list.counts
    WHERE fuel.is_shown(
      fact.station_id, fact.fuel_id, fact.source_id, list.run_id, list.taken_at)
  ),
  heir AS (
    SELECT shown.* FROM shown
    UNION ALL
    SELECT fact.*, later.run_id, later.taken_at, later.fetched_at, true
    FROM fact
    CROSS JOIN LATERAL (
      SELECT run.run_id, run.taken_at, run.fetched_at
      FROM fuel.listing
      JOIN fuel.run USING (run_id)
      WHERE listing.station_id = fact.station_id
        AND listing.fuel_id = fact.fuel_id
        AND listing.source_id = fact.source_id
        AND listing.changed_at > (SELECT max(list.taken_at) FROM list)
        AND listing.is_listed
        AND run.outcome IN ('stored', 'unchanged')
      ORDER BY listing.changed_at
      LIMIT 1
    ) AS later
    WHERE NOT EXISTS (
      SELECT
      FROM shown
      WHERE shown.counts
        AND shown.station_id = fact.station_id
        AND shown.fuel_id = fact.fuel_id)
  )
  SELECT
    heir.station_id, heir.fuel_id, heir.effective_at, heir.price_tenths, heir.run_id, heir.taken_at,
    heir.fetched_at
  FROM heir
  -- Not EXISTS, for which the server may read the whole history once instead of one pair.
  WHERE NOT coalesce((
    SELECT true
    FROM fuel.counted_price AS later
    WHERE later.station_id = heir.station_id
      AND later.fuel_id = heir.fuel_id
      AND later.source_id = heir.source_id
      AND later.learnt_at > told.fetched_at
      AND later.learnt_at <= heir.fetched_at
    LIMIT 1
  ), false)
  AND NOT coalesce((
    SELECT true
    FROM fuel.price AS own
    WHERE own.station_id = heir.station_id
      AND own.fuel_id = heir.fuel_id
      AND own.source_id = heir.source_id
      AND own.run_id = heir.run_id
    LIMIT 1
  ), false);
END
$$;
COMMENT ON FUNCTION fuel.heirs(integer) IS
  'Which runs show the stations and fuels of a run next, where no other price was reported by then: the next one that '
  'counts, and those that do not.';
GRANT EXECUTE ON FUNCTION fuel.heirs(integer) TO fuel_writer;

-- What a feed does not stamp began when it was seen.
CREATE OR REPLACE FUNCTION fuel.is_unstamped(p_run fuel.run) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (p_run).composition_id IS NOT NULL AND coalesce(cardinality((p_run).stamps), 0) = 0;
COMMENT ON FUNCTION fuel.is_unstamped(fuel.run) IS 'Whether the list of a run stamps no price.';
GRANT EXECUTE ON FUNCTION fuel.is_unstamped(fuel.run) TO fuel_writer;

-- The facts that a run was the first to report were reported by others too, which stored nothing because of it: by
-- the next list that shows them, or for prices of whole days by the next answer of that day with the same documents.
CREATE OR REPLACE FUNCTION fuel.hand_over_facts(p_run_id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  told fuel.run;
  feed fuel.source;
BEGIN
  SELECT run.* INTO STRICT told FROM fuel.run WHERE run.run_id = p_run_id;
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = told.source_id;
  IF feed.tells_whole_days THEN
    INSERT INTO fuel.price (
      station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
    SELECT
      fact.station_id, fact.fuel_id, fact.source_id, fact.effective_at, fact.price_tenths,
      heir.run_id, heir.fetched_at
    FROM fuel.price AS fact
    CROSS JOIN LATERAL (
      SELECT run.run_id, run.fetched_at
      FROM fuel.run
      WHERE run.source_id = told.source_id
        AND run.outcome IN ('stored', 'unchanged')
        AND run.run_id <> p_run_id
        AND run.taken_at >= told.taken_at
        AND run.taken_at < fact.effective_at + interval '1 day'
        AND run.documents = told.documents
      ORDER BY run.taken_at, run.run_id
      LIMIT 1
    ) AS heir
    WHERE fact.run_id = p_run_id
      AND fact.source_id = told.source_id
      AND NOT coalesce((
        SELECT true
        FROM fuel.counted_price AS later
        WHERE later.station_id = fact.station_id
          AND later.fuel_id = fact.fuel_id
          AND later.source_id = fact.source_id
          AND later.effective_at = fact.effective_at
          AND (later.learnt_at > told.fetched_at OR later.run_id = heir.run_id)
          AND later.learnt_at <= heir.fetched_at
        LIMIT 1
      ), false)
    ON CONFLICT DO NOTHING;
    RETURN;
  END IF;
  INSERT INTO fuel.price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
  SELECT
    heir.station_id, heir.fuel_id, told.source_id,
    CASE
      WHEN fuel.is_unstamped(told) AND heir.effective_at = told.taken_at THEN heir.taken_at
      ELSE heir.effective_at
    END,
    heir.price_tenths, heir.run_id, heir.fetched_at
  FROM fuel.heirs(p_run_id) AS heir
  ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION fuel.hand_over_facts(integer) IS
  'Writes down which run reported the facts of a run next.';
GRANT EXECUTE ON FUNCTION fuel.hand_over_facts(integer) TO fuel_writer;

-- The other way round: before a late list shows another price than the list before it, what the next one shows is
-- written down. A price without a stamp begins anew with it.
CREATE OR REPLACE FUNCTION fuel.spell_out_prices(p_run_id integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  told fuel.run;
BEGIN
  SELECT run.* INTO STRICT told FROM fuel.run WHERE run.run_id = p_run_id;
  INSERT INTO fuel.price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
  SELECT
    heir.station_id, heir.fuel_id, told.source_id,
    CASE WHEN fuel.is_unstamped(told) THEN heir.taken_at ELSE before.effective_at END, before.price_tenths,
    heir.run_id, heir.fetched_at
  FROM fuel.heirs(p_run_id) AS heir
  CROSS JOIN LATERAL (
    SELECT price.effective_at, price.price_tenths
    FROM fuel.counted_price AS price
    WHERE price.station_id = heir.station_id
      AND price.fuel_id = heir.fuel_id
      AND price.source_id = told.source_id
      AND price.run_id <> p_run_id
      AND price.learnt_at <= told.fetched_at
    ORDER BY price.learnt_at DESC, price.effective_at DESC, price.price_tenths DESC
    LIMIT 1
  ) AS before
  ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION fuel.spell_out_prices(integer) IS
  'Writes down which prices the lists after a late one show, where it shows others than the one before it.';
GRANT EXECUTE ON FUNCTION fuel.spell_out_prices(integer) TO fuel_writer;

-- Notes what a run's rows are of, from when on they tell.
CREATE OR REPLACE FUNCTION fuel.note_changes_of(p_run_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO pg_temp.changed (station_id, fuel_id, begins_at)
  SELECT listing.station_id, listing.fuel_id, listing.changed_at
  FROM fuel.listing
  JOIN fuel.run USING (run_id)
  WHERE listing.run_id = p_run_id AND listing.source_id = run.source_id
  UNION
  SELECT price.station_id, price.fuel_id, least(price.effective_at, run.taken_at)
  FROM fuel.price
  JOIN fuel.run USING (run_id)
  WHERE price.run_id = p_run_id AND price.source_id = run.source_id;
END
$$;
COMMENT ON FUNCTION fuel.note_changes_of(integer) IS
  'Notes in pg_temp.changed which stations and fuels a run reported or left out.';
GRANT EXECUTE ON FUNCTION fuel.note_changes_of(integer) TO fuel_writer;

-- Changes whether a list is complete, of a run that counts.
CREATE OR REPLACE FUNCTION fuel.set_completeness(p_run_id integer, p_is_complete boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  told fuel.run;
BEGIN
  SELECT run.* INTO STRICT told FROM fuel.run WHERE run.run_id = p_run_id;
  IF told.is_complete = p_is_complete THEN
    RETURN;
  END IF;
  PERFORM fuel.spell_out(
    told.source_id, p_run_id, told.taken_at, array_agg(listing.station_id), array_agg(listing.fuel_id))
  FROM fuel.listing
  WHERE listing.run_id = p_run_id AND listing.source_id = told.source_id
  HAVING count(*) > 0;
  UPDATE fuel.run SET is_complete = p_is_complete WHERE run.run_id = p_run_id;
  -- Which codes complete lists show at once decides which of them are one station.
  UPDATE fuel.source SET are_links_due = true
  WHERE source.source_id = told.source_id AND NOT source.are_links_due;
  PERFORM fuel.note_changes_of(p_run_id);
END
$$;
COMMENT ON FUNCTION fuel.set_completeness(integer, boolean) IS
  'Changes whether the list of a run is complete.';
GRANT EXECUTE ON FUNCTION fuel.set_completeness(integer, boolean) TO fuel_writer;

-- A run does not count any more.
CREATE OR REPLACE FUNCTION fuel.discount_run(p_run_id integer, p_outcome text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fuel.set_completeness(p_run_id, false);
  -- What is read again and not said again was misread; other runs would say no more.
  PERFORM fuel.hand_over_facts(p_run_id)
  FROM fuel.run
  WHERE run.run_id = p_run_id
    AND run.outcome IN ('stored', 'unchanged')
    AND p_outcome <> 'superseded';
  PERFORM fuel.note_changes_of(p_run_id);
  UPDATE fuel.run SET outcome = p_outcome, describes_stations = false WHERE run.run_id = p_run_id;
END
$$;
COMMENT ON FUNCTION fuel.discount_run(integer, text) IS
  'Makes a run not count any more: superseded, withdrawn or refused.';
GRANT EXECUTE ON FUNCTION fuel.discount_run(integer, text) TO fuel_writer;

-- A run counts again. Whether its list is complete is judged after this.
CREATE OR REPLACE FUNCTION fuel.recount_run(p_run_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE fuel.run SET
    outcome = CASE WHEN run.stored > 0 THEN 'stored' ELSE 'unchanged' END,
    error = NULL
  WHERE run.run_id = p_run_id;
  -- Lists of before lists were judged by others have nothing else to say it.
  PERFORM fuel.set_completeness(p_run_id, true)
  FROM fuel.run
  WHERE run.run_id = p_run_id
    AND run.composition_id IS NULL
    AND EXISTS (SELECT FROM fuel.listing WHERE listing.run_id = p_run_id);
  UPDATE fuel.station SET first_seen_at = run.taken_at
  FROM fuel.run
  WHERE run.run_id = p_run_id
    AND station.source_id = run.source_id
    AND station.first_seen_at > run.taken_at
    AND EXISTS (
      SELECT FROM fuel.price
      WHERE price.run_id = p_run_id AND price.station_id = station.station_id);
  -- What came while it did not count left to the runs before it what it shows now.
  PERFORM fuel.spell_out_prices(run.run_id)
  FROM fuel.run
  WHERE run.run_id = p_run_id AND run.composition_id IS NOT NULL;
  PERFORM fuel.note_changes_of(p_run_id);
END
$$;
COMMENT ON FUNCTION fuel.recount_run(integer) IS 'Makes a run that did not count any more count again.';
GRANT EXECUTE ON FUNCTION fuel.recount_run(integer) TO fuel_writer;

-- From when to when a feed was read, by the runs that count.
CREATE OR REPLACE FUNCTION fuel.span_of_feed(p_source_id smallint) RETURNS void LANGUAGE sql AS $$
  UPDATE fuel.source SET
    first_taken_at = read.first_taken_at,
    last_taken_at = read.last_taken_at,
    last_listed_at = read.last_listed_at,
    changes = source.changes + 1
  FROM (
    SELECT
      min(run.taken_at) AS first_taken_at,
      max(run.taken_at) AS last_taken_at,
      max(run.taken_at) FILTER (WHERE run.is_complete) AS last_listed_at
    FROM fuel.run
    -- Of those that run only the one of this transaction was taken.
    WHERE run.source_id = p_source_id
      AND run.outcome IN ('running', 'stored', 'unchanged')
      AND run.taken_at IS NOT NULL
  ) AS read
  WHERE source.source_id = p_source_id
$$;
COMMENT ON FUNCTION fuel.span_of_feed(smallint) IS
  'Brings up to date from when to when a feed was read.';
GRANT EXECUTE ON FUNCTION fuel.span_of_feed(smallint) TO fuel_writer;

-- What follows when runs have changed their standing: from when to when the feed was read, the silence around them,
-- and the cache.
CREATE OR REPLACE FUNCTION fuel.settle_standings(
  p_source_id smallint, p_run_ids integer[], p_last_listed_at timestamptz, p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  feed fuel.source;
BEGIN
  PERFORM fuel.span_of_feed(p_source_id);
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  PERFORM fuel.touch_silence(
    p_source_id, run.taken_at, run.composition_id IS NOT NULL OR run.is_complete,
    least(p_last_listed_at, feed.last_listed_at), p_clock)
  FROM fuel.run
  WHERE run.run_id = ANY (p_run_ids)
  ORDER BY run.taken_at;
  PERFORM fuel.refresh_current(
    p_source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), NULL, NULL, p_clock)
  FROM (
    SELECT DISTINCT changed.station_id, changed.fuel_id FROM pg_temp.changed
  ) AS pair
  HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION fuel.settle_standings(smallint, integer[], timestamptz, timestamptz) IS
  'Brings the cache of a feed up to date after runs of it changed their standing.';
GRANT EXECUTE ON FUNCTION fuel.settle_standings(smallint, integer[], timestamptz, timestamptz)
  TO fuel_writer;
