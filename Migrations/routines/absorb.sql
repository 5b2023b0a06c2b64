-- The steps of a run's transaction that belong to the database. The program reads an answer, stores its stations, keeps
-- it (fuel.answer), and makes the facts anew that it may change: Sources/Pipeline/Ingest/Refold.swift. Then it calls
-- fuel.propagate_runs.
--
-- Two instants are kept apart: the documents show the state of taken_at, and they were known from fetched_at on. They
-- differ by the feed's delay.

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
COMMENT ON FUNCTION fuel.add_stations IS 'Stores stations of a feed for which only the codes are known yet.';

-- Deletes facts that no longer follow from the answers that count. The writer may not delete facts by itself. Facts from
-- before answers were kept stay: nothing else tells them. Arrays of equal length describe the facts, in the order of
-- the columns of fuel.price; kind is 0 for a price and 1 for a listing.
CREATE OR REPLACE FUNCTION fuel.drop_facts(
  p_source_id smallint, p_kinds smallint[], p_station_ids integer[], p_fuel_ids smallint[], p_ats timestamptz[],
  p_tenths integer[], p_run_ids integer[])
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.price
  USING unnest(p_kinds, p_station_ids, p_fuel_ids, p_ats, p_tenths, p_run_ids)
    AS gone (kind, station_id, fuel_id, at, tenths, run_id)
  WHERE gone.kind = 0
    AND price.station_id = gone.station_id
    AND price.fuel_id = gone.fuel_id
    AND price.effective_at = gone.at
    AND price.source_id = p_source_id
    AND price.price_tenths = gone.tenths
    AND price.run_id = gone.run_id
    AND EXISTS (SELECT FROM fuel.answer WHERE answer.run_id = gone.run_id AND NOT answer.is_adopted);
  DELETE FROM fuel.listing
  USING unnest(p_kinds, p_station_ids, p_fuel_ids, p_ats, p_run_ids) AS gone (kind, station_id, fuel_id, at, run_id)
  WHERE gone.kind = 1
    AND listing.station_id = gone.station_id
    AND listing.fuel_id = gone.fuel_id
    AND listing.source_id = p_source_id
    AND listing.changed_at = gone.at
    AND listing.run_id = gone.run_id
    AND EXISTS (SELECT FROM fuel.answer WHERE answer.run_id = gone.run_id AND NOT answer.is_adopted);
$$;
COMMENT ON FUNCTION fuel.drop_facts IS 'Deletes facts of a feed that no longer follow from its answers.';

-- Brings fuel.shown_price up to date for stations and fuels. p_from_ats: the fact that was learnt last of each began at or
-- after this instant. Of several instants the latest counts.
CREATE OR REPLACE FUNCTION fuel.refresh_shown(
  p_source_id smallint, p_station_ids integer[], p_fuel_ids smallint[], p_from_ats timestamptz[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO fuel.shown_price (
    station_id, fuel_id, source_id, price_tenths, stamped_at, learnt_at, is_listed)
  SELECT
    pair.station_id, pair.fuel_id, p_source_id, told.price_tenths, told.effective_at, told.learnt_at, listed.is_listed
  FROM (
    SELECT pair.station_id, pair.fuel_id, max(pair.from_at) AS from_at
    FROM unnest(p_station_ids, p_fuel_ids, p_from_ats) AS pair (station_id, fuel_id, from_at)
    GROUP BY pair.station_id, pair.fuel_id
  ) AS pair
  CROSS JOIN LATERAL (
    SELECT price.price_tenths, price.effective_at, price.learnt_at
    FROM fuel.counted_price AS price
    WHERE price.station_id = pair.station_id
      AND price.fuel_id = pair.fuel_id
      AND price.source_id = p_source_id
      AND price.effective_at >= pair.from_at
    ORDER BY price.learnt_at DESC, price.run_id DESC, price.effective_at DESC, price.price_tenths DESC
    LIMIT 1
  ) AS told
  LEFT JOIN LATERAL (
    SELECT listing.is_listed
    FROM fuel.counted_listing AS listing
    WHERE listing.station_id = pair.station_id
      AND listing.fuel_id = pair.fuel_id
      AND listing.source_id = p_source_id
    ORDER BY listing.changed_at DESC, listing.turn DESC
    LIMIT 1
  ) AS listed ON true
  ORDER BY pair.station_id, pair.fuel_id
  ON CONFLICT ON CONSTRAINT shown_price_pk DO UPDATE SET
    source_id = excluded.source_id, price_tenths = excluded.price_tenths, stamped_at = excluded.stamped_at,
    learnt_at = excluded.learnt_at, is_listed = excluded.is_listed
$$;
COMMENT ON FUNCTION fuel.refresh_shown IS 'Updates fuel.shown_price for some stations and fuels of a feed.';

-- Makes what a feed shows anew. It runs with the owner's rights, because the writer may not delete rows.
CREATE OR REPLACE FUNCTION fuel.renew_shown(p_source_id smallint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.shown_price WHERE shown_price.source_id = p_source_id;
  SELECT fuel.refresh_shown(
    p_source_id, array_agg(pair.station_id), array_agg(pair.fuel_id), array_agg('-infinity'::timestamptz))
  FROM (
    SELECT DISTINCT price.station_id, price.fuel_id FROM fuel.counted_price AS price WHERE price.source_id = p_source_id
  ) AS pair
  HAVING count(*) > 0
$$;
COMMENT ON FUNCTION fuel.renew_shown IS 'Makes fuel.shown_price of a feed anew from its facts.';

-- Returns whether a list in order may change which station records of its feed are one station. Every run of a feed whose
-- codes are made of names and addresses may do so (NOT has_codes): two names are two stations if both have prices on
-- the same day. So does the first price of a station record, because the record takes part in matching from then on.
-- p_listed_ids: the station records of which a list shows something again.
CREATE OR REPLACE FUNCTION fuel.may_change_links(p_source_id smallint, p_station_ids integer[], p_listed_ids integer[])
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT source.has_codes
    OR EXISTS (
      SELECT
      FROM unnest(p_station_ids) AS told (station_id)
      WHERE NOT EXISTS (SELECT FROM fuel.shown_price AS pair WHERE pair.station_id = told.station_id))
    -- A station record that awaits a person's decision (fuel.station_doubt), or one that shares its station with another
    -- record of the feed, such as an old code beside the new one.
    OR EXISTS (
      SELECT
      FROM fuel.station_doubt AS doubt
      WHERE doubt.first_id = ANY (p_listed_ids) OR doubt.second_id = ANY (p_listed_ids))
    OR EXISTS (
      SELECT
      FROM fuel.station AS record
      JOIN fuel.station AS other
        ON other.place_id = record.place_id
        AND other.source_id = record.source_id
        AND other.station_id <> record.station_id
      WHERE record.station_id = ANY (p_listed_ids))
  FROM fuel.source
  WHERE source.source_id = p_source_id
$$;
COMMENT ON FUNCTION fuel.may_change_links IS
  'Whether what a run in order brought may change which station records are one station.';

CREATE OR REPLACE FUNCTION fuel.span_of_feed(p_source_id smallint, p_clock timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before  fuel.source;
  becomes fuel.source;
BEGIN
  SELECT source.* INTO STRICT before FROM fuel.source WHERE source.source_id = p_source_id;
  UPDATE fuel.source SET
    -- Each of these is found at an end of an index. Among the runs under way, only the one of this transaction has
    -- taken_at set.
    first_taken_at = (
      SELECT min(run.taken_at)
      FROM fuel.run
      WHERE run.source_id = p_source_id AND run.outcome IN ('running', 'stored', 'unchanged')),
    last_taken_at = (
      SELECT max(run.taken_at)
      FROM fuel.run
      WHERE run.source_id = p_source_id AND run.outcome IN ('running', 'stored', 'unchanged')),
    last_listed_at = (
      SELECT max(run.taken_at) FROM fuel.run WHERE run.source_id = p_source_id AND run.confirms),
    -- It begins again after 10^12, so that no number that somebody writes there stops the next run.
    changes = source.changes % 1000000000000 + 1
  WHERE source.source_id = p_source_id
  RETURNING source.* INTO becomes;
  IF becomes.first_taken_at IS DISTINCT FROM before.first_taken_at THEN
    PERFORM fuel.touch_archives(before.scheme, before.first_taken_at, becomes.first_taken_at);
  END IF;
  PERFORM fuel.mark_open_days(p_source_id, before.last_listed_at, greatest(p_clock, becomes.last_taken_at));
END
$$;
COMMENT ON FUNCTION fuel.span_of_feed IS
  'Updates from when until when a feed was read, by the runs that count, and lists the days that change with that.';

-- Updates what hangs on facts and on the standing of runs, after facts were made: links of stations that are due, what
-- feeds show, when stations were first seen, and when the feed was read.
--
-- p_run_ids: the runs that came, counted no longer, or were judged otherwise. p_is_appended: it is one run, newer than all
-- others. p_station_ids, p_fuel_ids: the stations and fuels whose facts changed; p_from_ats: see fuel.refresh_shown;
-- p_told_ats: when the answer of a new fact was taken. p_new_run_ids, p_new_from_at: the runs of new prices, and when the
-- first of these began; p_is_lossy: facts are gone. p_listed_ids: stations of which a list shows something again.
-- p_turned_from_at: see fuel.touch_frozen.
--
-- Returns the stations and fuels whose spans change because lists confirm their prices for longer or shorter, each with
-- the instant from which they change.
CREATE OR REPLACE FUNCTION fuel.propagate_runs(
  p_source_id smallint, p_run_ids integer[], p_is_appended boolean, p_station_ids integer[], p_fuel_ids smallint[],
  p_from_ats timestamptz[], p_told_ats timestamptz[], p_new_run_ids integer[], p_new_from_at timestamptz,
  p_is_lossy boolean, p_listed_ids integer[], p_turned_from_at timestamptz, p_clock timestamptz)
RETURNS TABLE (station_id integer, fuel_id smallint, begins_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  before fuel.source;
  feed   fuel.source;
BEGIN
  SELECT source.* INTO STRICT before FROM fuel.source WHERE source.source_id = p_source_id;
  IF NOT p_is_appended OR fuel.may_change_links(p_source_id, p_station_ids, p_listed_ids) THEN
    UPDATE fuel.source SET are_links_due = true WHERE source.source_id = p_source_id;
  END IF;
  IF p_is_lossy THEN
    PERFORM fuel.forget_sightings(p_source_id);
  ELSIF NOT before.has_codes AND p_new_from_at IS NOT NULL THEN
    PERFORM fuel.sight_days(p_source_id, p_new_run_ids, p_new_from_at);
  END IF;
  IF cardinality(p_station_ids) > 0 THEN
    PERFORM fuel.refresh_shown(p_source_id, p_station_ids, p_fuel_ids, p_from_ats);
    UPDATE fuel.station SET first_seen_at = told.at
    FROM (
      SELECT told.station_id, min(told.at) AS at
      FROM unnest(p_station_ids, p_told_ats) AS told (station_id, at)
      GROUP BY told.station_id
    ) AS told
    WHERE station.station_id = told.station_id AND station.first_seen_at > told.at;
  END IF;
  -- A station that had been described only by runs that stopped counting.
  UPDATE fuel.station SET first_seen_at = coalesce((
    SELECT min(description.first_seen_at)
    FROM fuel.station_description AS description
    WHERE description.station_id = station.station_id), 'infinity')
  WHERE station.source_id = p_source_id AND station.first_seen_at = 'infinity';
  PERFORM fuel.span_of_feed(p_source_id, p_clock);
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = p_source_id;
  RETURN QUERY
  SELECT silence.*
  FROM fuel.run
  CROSS JOIN LATERAL fuel.touch_silence(
    -- Of the run that is being stored it is known whether its list confirms prices. A list that changed may have done so.
    p_source_id, run.taken_at, run.confirms OR (run.composition_id IS NOT NULL AND run.outcome <> 'running'),
    -- The runs of a recording may be ahead of the clock.
    least(before.last_listed_at, feed.last_listed_at), greatest(p_clock, feed.last_taken_at)) AS silence
  WHERE run.run_id = ANY (p_run_ids)
  UNION ALL
  SELECT turned.*
  FROM fuel.touch_frozen(p_source_id, p_turned_from_at) AS turned;
END
$$;
COMMENT ON FUNCTION fuel.propagate_runs IS
  'Updates what hangs on facts and on the standing of runs of a feed, after facts were made.';

GRANT EXECUTE ON FUNCTION
  fuel.add_stations, fuel.drop_facts, fuel.refresh_shown, fuel.renew_shown, fuel.may_change_links, fuel.span_of_feed,
  fuel.propagate_runs TO fuel_writer;
