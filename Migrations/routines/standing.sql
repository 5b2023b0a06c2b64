-- Which runs count, and which lists are complete: when that changes, what the lists after them show is written down
-- first, and no row goes. What may have changed is noted in pg_temp.changed.

-- The run that reports a station and fuel next after an instant: the next list that shows it.
CREATE OR REPLACE FUNCTION fuel.next_showing(
  p_source_id smallint, p_taken_at timestamptz, p_station_id integer, p_fuel_id smallint)
RETURNS TABLE (run_id integer, taken_at timestamptz, fetched_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  -- The next complete list: until then lists may lack what is offered.
  ends_at timestamptz;
BEGIN
  SELECT min(run.taken_at) INTO ends_at
  FROM fuel.run
  WHERE run.source_id = p_source_id AND run.is_complete AND run.taken_at > p_taken_at;
  RETURN QUERY
  SELECT run.run_id, run.taken_at, run.fetched_at
  FROM fuel.run
  WHERE run.source_id = p_source_id
    AND run.outcome IN ('stored', 'unchanged')
    AND run.taken_at > p_taken_at
    AND run.taken_at <= coalesce(ends_at, 'infinity')
    AND (run.is_complete OR run.composition_id IS NOT NULL)
    AND coalesce((
      SELECT said.is_listed
      FROM fuel.listing AS said
      WHERE said.station_id = p_station_id
        AND said.fuel_id = p_fuel_id
        AND said.source_id = p_source_id
        AND said.changed_at = run.taken_at
        AND said.run_id = run.run_id
    ), (
      SELECT listing.is_listed
      FROM fuel.counted_listing AS listing
      WHERE listing.station_id = p_station_id
        AND listing.fuel_id = p_fuel_id
        AND listing.source_id = p_source_id
        AND listing.changed_at <= run.taken_at
      ORDER BY listing.changed_at DESC, listing.is_listed DESC
      LIMIT 1
    ), false)
  ORDER BY run.taken_at, run.run_id
  LIMIT 1;
  IF FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT run.run_id, run.taken_at, run.fetched_at
  FROM fuel.listing
  JOIN fuel.run USING (run_id)
  WHERE listing.station_id = p_station_id
    AND listing.fuel_id = p_fuel_id
    AND listing.source_id = p_source_id
    AND listing.changed_at > ends_at
    AND listing.is_listed
    AND run.outcome IN ('stored', 'unchanged')
  ORDER BY listing.changed_at
  LIMIT 1;
END
$$;
COMMENT ON FUNCTION fuel.next_showing(smallint, timestamptz, integer, smallint) IS
  'The run whose list shows a station and fuel next after an instant.';
GRANT EXECUTE ON FUNCTION fuel.next_showing(smallint, timestamptz, integer, smallint) TO fuel_writer;

-- The facts that a run was the first to report were reported by others too, which stored nothing because of it: by
-- the next list that shows them, or for prices of whole days by the next answer with the same documents.
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
    CROSS JOIN (
      SELECT run.run_id, run.fetched_at
      FROM fuel.run
      WHERE run.source_id = told.source_id
        AND run.outcome IN ('stored', 'unchanged')
        AND run.taken_at > told.taken_at
        AND run.documents = told.documents
      ORDER BY run.taken_at, run.run_id
      LIMIT 1
    ) AS heir
    WHERE fact.run_id = p_run_id AND fact.source_id = told.source_id
    ON CONFLICT DO NOTHING;
    RETURN;
  END IF;
  INSERT INTO fuel.price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
  SELECT
    fact.station_id, fact.fuel_id, fact.source_id,
    -- What a feed does not stamp began when it was seen.
    CASE WHEN fact.effective_at = told.taken_at THEN heir.taken_at ELSE fact.effective_at END,
    fact.price_tenths, heir.run_id, heir.fetched_at
  FROM fuel.price AS fact
  CROSS JOIN LATERAL fuel.next_showing(
    fact.source_id, told.taken_at, fact.station_id, fact.fuel_id) AS heir
  WHERE fact.run_id = p_run_id
    AND fact.source_id = told.source_id
    -- By then it shows another price.
    AND NOT EXISTS (
      SELECT
      FROM fuel.counted_price AS later
      WHERE later.station_id = fact.station_id
        AND later.fuel_id = fact.fuel_id
        AND later.source_id = fact.source_id
        AND later.learnt_at > told.fetched_at
        AND later.learnt_at <= heir.fetched_at)
  ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION fuel.hand_over_facts(integer) IS
  'Writes down which run reported the facts of a run next.';
GRANT EXECUTE ON FUNCTION fuel.hand_over_facts(integer) TO fuel_writer;

-- The other way round: before a late list shows another price than the list before it, what the next one shows is
-- written down.
CREATE OR REPLACE FUNCTION fuel.spell_out_prices(
  p_run_id integer, p_learnt_at timestamptz, p_taken_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO fuel.price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
  SELECT
    fact.station_id, fact.fuel_id, fact.source_id, before.effective_at, before.price_tenths,
    heir.run_id, heir.fetched_at
  FROM fuel.price AS fact
  CROSS JOIN LATERAL (
    SELECT price.effective_at, price.price_tenths
    FROM fuel.counted_price AS price
    WHERE price.station_id = fact.station_id
      AND price.fuel_id = fact.fuel_id
      AND price.source_id = fact.source_id
      AND price.run_id <> p_run_id
      AND price.learnt_at <= p_learnt_at
    ORDER BY price.learnt_at DESC, price.effective_at DESC, price.price_tenths DESC
    LIMIT 1
  ) AS before
  CROSS JOIN LATERAL fuel.next_showing(
    fact.source_id, p_taken_at, fact.station_id, fact.fuel_id) AS heir
  WHERE fact.run_id = p_run_id
    AND NOT EXISTS (
      SELECT
      FROM fuel.counted_price AS later
      WHERE later.station_id = fact.station_id
        AND later.fuel_id = fact.fuel_id
        AND later.source_id = fact.source_id
        AND later.learnt_at > p_learnt_at
        AND later.learnt_at <= heir.fetched_at)
  ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION fuel.spell_out_prices(integer, timestamptz, timestamptz) IS
  'Writes down which prices the lists after a late one show, where it shows others than the one before it.';
GRANT EXECUTE ON FUNCTION fuel.spell_out_prices(integer, timestamptz, timestamptz) TO fuel_writer;

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
    told.source_id, told.taken_at, array_agg(listing.station_id), array_agg(listing.fuel_id))
  FROM fuel.listing
  WHERE listing.run_id = p_run_id AND listing.source_id = told.source_id
  HAVING count(*) > 0;
  UPDATE fuel.run SET is_complete = p_is_complete WHERE run.run_id = p_run_id;
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
  PERFORM fuel.span_of_feed(run.source_id) FROM fuel.run WHERE run.run_id = p_run_id;
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
  PERFORM fuel.note_changes_of(p_run_id);
  PERFORM fuel.span_of_feed(run.source_id) FROM fuel.run WHERE run.run_id = p_run_id;
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

-- What follows when runs have changed their standing since a list was last seen: the cache, the silence around them,
-- stations that nothing tells of any more.
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
    p_source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), p_clock)
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
