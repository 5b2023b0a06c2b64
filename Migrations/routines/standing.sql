-- Which runs count, and which lists are complete. A run stores a row only where it differs from the newest earlier row,
-- whether or not that row counts. Where it does not differ, it relies on the earlier row. Before a run is withdrawn or
-- refused, the runs that rely on its rows therefore get rows of their own. So a run can stop counting and count again
-- without changing what other runs report, and no row is deleted. What may have changed is noted in pg_temp.changed.

-- Records which stations and fuels the rows of a run concern, and the instant from which the rows apply.
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

-- Changes whether the list of a run is complete.
CREATE OR REPLACE FUNCTION fuel.set_completeness(p_run_id integer, p_is_complete boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  this_run fuel.run;
BEGIN
  SELECT run.* INTO STRICT this_run FROM fuel.run WHERE run.run_id = p_run_id;
  IF this_run.is_complete = p_is_complete THEN
    RETURN;
  END IF;
  IF this_run.is_complete THEN
    PERFORM fuel.spell_out(p_run_id, array_agg(listing.station_id), array_agg(listing.fuel_id))
    FROM fuel.listing
    WHERE listing.run_id = p_run_id AND listing.source_id = this_run.source_id
    HAVING count(*) > 0;
  END IF;
  UPDATE fuel.run SET is_complete = p_is_complete WHERE run.run_id = p_run_id;
  -- Which codes are shown together in complete lists decides which of them are one station.
  UPDATE fuel.source SET are_links_due = true
  WHERE source.source_id = this_run.source_id AND NOT source.are_links_due;
  PERFORM fuel.note_changes_of(p_run_id);
END
$$;
COMMENT ON FUNCTION fuel.set_completeness(integer, boolean) IS
  'Changes whether the list of a run is complete.';
GRANT EXECUTE ON FUNCTION fuel.set_completeness(integer, boolean) TO fuel_writer;

-- Makes a run stop counting.
CREATE OR REPLACE FUNCTION fuel.discount_run(p_run_id integer, p_outcome text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fuel.set_completeness(p_run_id, false);
  -- A run is superseded when its documents are read again. A price that the new reading does not report was misread,
  -- and must not be stored for the later runs that relied on it. So nothing is stored for the followers of such a run.
  PERFORM fuel.spell_out_prices(p_run_id, true)
  FROM fuel.run
  WHERE run.run_id = p_run_id
    AND run.outcome IN ('stored', 'unchanged')
    AND p_outcome <> 'superseded';
  PERFORM fuel.note_changes_of(p_run_id);
  PERFORM fuel.forget_sightings(p_run_id);
  UPDATE fuel.run SET outcome = p_outcome, describes_stations = false WHERE run.run_id = p_run_id;
END
$$;
COMMENT ON FUNCTION fuel.discount_run(integer, text) IS
  'Makes a run stop counting: superseded, withdrawn or refused.';
GRANT EXECUTE ON FUNCTION fuel.discount_run(integer, text) TO fuel_writer;

-- Makes a run count again. The caller then judges whether its list is complete.
CREATE OR REPLACE FUNCTION fuel.recount_run(p_run_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE fuel.run SET
    outcome = CASE WHEN run.stored > 0 THEN 'stored' ELSE 'unchanged' END,
    error = NULL
  WHERE run.run_id = p_run_id;
  UPDATE fuel.station SET first_seen_at = run.taken_at
  FROM fuel.run
  WHERE run.run_id = p_run_id
    AND station.source_id = run.source_id
    AND station.first_seen_at > run.taken_at
    AND EXISTS (
      SELECT FROM fuel.price
      WHERE price.run_id = p_run_id AND price.station_id = station.station_id);
  PERFORM fuel.forget_sightings(p_run_id);
  PERFORM fuel.note_changes_of(p_run_id);
END
$$;
COMMENT ON FUNCTION fuel.recount_run(integer) IS 'Makes a run that had stopped counting count again.';
GRANT EXECUTE ON FUNCTION fuel.recount_run(integer) TO fuel_writer;

-- Updates from when until when a feed was read. Only runs that count are considered.
CREATE OR REPLACE FUNCTION fuel.span_of_feed(p_source_id smallint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before   fuel.source;
  first_at timestamptz;
BEGIN
  SELECT source.* INTO STRICT before FROM fuel.source WHERE source.source_id = p_source_id;
  UPDATE fuel.source SET
    first_taken_at = read.first_taken_at,
    last_taken_at = read.last_taken_at,
    last_listed_at = read.last_listed_at,
    changes = source.changes % 1000000000000 + 1
  FROM (
    SELECT
      min(run.taken_at) AS first_taken_at,
      max(run.taken_at) AS last_taken_at,
      max(run.taken_at) FILTER (WHERE run.is_complete) AS last_listed_at
    FROM fuel.run
    -- Among the runs under way, only the one of this transaction has taken_at set.
    WHERE run.source_id = p_source_id
      AND run.outcome IN ('running', 'stored', 'unchanged')
      AND run.taken_at IS NOT NULL
  ) AS read
  WHERE source.source_id = p_source_id
  RETURNING source.first_taken_at INTO first_at;
  IF first_at IS DISTINCT FROM before.first_taken_at THEN
    PERFORM fuel.touch_archives(before.scheme, before.first_taken_at, first_at);
  END IF;
END
$$;
COMMENT ON FUNCTION fuel.span_of_feed(smallint) IS
  'Updates from when until when a feed was read, by the runs that count.';
GRANT EXECUTE ON FUNCTION fuel.span_of_feed(smallint) TO fuel_writer;

-- Updates what depends on which runs count, after runs have changed: from when until when the feed was read, the
-- silence around the runs, and the cache fuel.current_price.
CREATE OR REPLACE FUNCTION fuel.settle_standings(
  p_source_id smallint, p_run_ids integer[], p_last_listed_at timestamptz, p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  feed fuel.source;
BEGIN
  PERFORM fuel.span_of_feed(p_source_id);
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  -- As in fuel.absorb: the runs of a recording may be ahead of the clock.
  p_clock := greatest(p_clock, feed.last_taken_at);
  PERFORM fuel.touch_silence(
    p_source_id, run.taken_at, run.composition_id IS NOT NULL OR run.is_complete,
    least(p_last_listed_at, feed.last_listed_at), p_clock)
  FROM fuel.run
  WHERE run.run_id = ANY (p_run_ids)
  ORDER BY run.taken_at;
  PERFORM fuel.refresh_current(
    p_source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), NULL, NULL, '-infinity', p_clock)
  FROM (
    SELECT DISTINCT changed.station_id, changed.fuel_id FROM pg_temp.changed
  ) AS pair
  HAVING count(*) > 0;
END
$$;
COMMENT ON FUNCTION fuel.settle_standings(smallint, integer[], timestamptz, timestamptz) IS
  'Updates the cache of a feed after runs of it started or stopped counting.';
GRANT EXECUTE ON FUNCTION fuel.settle_standings(smallint, integer[], timestamptz, timestamptz)
  TO fuel_writer;
