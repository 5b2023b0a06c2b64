-- The runs that rely on the rows of another run, and the rows that they get before that run stops counting.

-- Returns whether a list shows a station and fuel: by its own row, or by the newest row before it.
CREATE OR REPLACE FUNCTION fuel.is_shown(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_run_id integer,
  p_taken_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce((
  SELECT listing.is_listed
  FROM fuel.told_listing AS listing
  WHERE listing.station_id = p_station_id
    AND listing.fuel_id = p_fuel_id
    AND listing.source_id = p_source_id
    AND listing.changed_at <= p_taken_at
    AND (listing.changed_at, listing.run_id) <= (p_taken_at, p_run_id)
  ORDER BY listing.changed_at DESC, listing.run_id DESC
  LIMIT 1
), false);
COMMENT ON FUNCTION fuel.is_shown(integer, smallint, smallint, integer, timestamptz) IS
  'Whether a stored list shows a station and fuel.';
GRANT EXECUTE ON FUNCTION fuel.is_shown(integer, smallint, smallint, integer, timestamptz) TO fuel_writer;

-- Returns whether a run has rows that others may rely on. That is so for runs that count, and for runs that were stored
-- and later withdrawn or refused. A run that was refused when it arrived has no rows, and its documents are read again
-- before it counts. A superseded run is left out, because the newest reading of its documents takes its place.
CREATE OR REPLACE FUNCTION fuel.is_kept(p_run fuel.run) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (p_run).outcome IN ('stored', 'unchanged')
  OR ((p_run).outcome IN ('withdrawn', 'refused') AND (p_run).stored + (p_run).unchanged > 0);
COMMENT ON FUNCTION fuel.is_kept(fuel.run) IS 'Whether what a run reported is stored, whether it counts or not.';
GRANT EXECUTE ON FUNCTION fuel.is_kept(fuel.run) TO fuel_writer;

-- Returns the runs between a run and the newest complete list before it. They may have changed the listing since that
-- complete list. is_hint: the run has no list (an update) and counts. It reports nothing about what it does not name.
CREATE OR REPLACE FUNCTION fuel.runs_since_list(p_run_id integer)
RETURNS TABLE (run_id integer, is_list boolean, is_hint boolean) LANGUAGE sql STABLE AS $$
  SELECT
    run.run_id, run.composition_id IS NOT NULL,
    run.composition_id IS NULL AND run.outcome IN ('stored', 'unchanged')
  FROM fuel.run AS this_run
  JOIN fuel.run ON run.source_id = this_run.source_id
  WHERE this_run.run_id = p_run_id
    AND NOT run.is_complete
    AND fuel.is_kept(run)
    AND run.taken_at <= this_run.taken_at
    AND (run.taken_at, run.run_id) < (this_run.taken_at, this_run.run_id)
    AND run.taken_at >= coalesce((
      SELECT max(list.taken_at)
      FROM fuel.run AS list
      WHERE list.source_id = this_run.source_id AND list.is_complete AND list.taken_at < this_run.taken_at
    ), '-infinity')
$$;
COMMENT ON FUNCTION fuel.runs_since_list(integer) IS
  'The runs between a run and the newest complete list before it.';
GRANT EXECUTE ON FUNCTION fuel.runs_since_list(integer) TO fuel_writer;

-- Returns the lists after a run, up to and including the next complete one. The lists before that one are not complete:
-- they may lack what is offered.
CREATE OR REPLACE FUNCTION fuel.lists_after(p_run_id integer)
RETURNS TABLE (run_id integer, taken_at timestamptz, fetched_at timestamptz, counts boolean)
LANGUAGE sql STABLE AS $$
  SELECT
    list.run_id, list.taken_at, coalesce(list.fetched_at, list.taken_at),
    list.outcome IN ('stored', 'unchanged')
  FROM fuel.run AS this_run
  LEFT JOIN LATERAL (
    SELECT complete.taken_at, complete.run_id
    FROM fuel.run AS complete
    WHERE complete.source_id = this_run.source_id
      AND complete.is_complete
      AND complete.taken_at >= this_run.taken_at
      AND (complete.taken_at, complete.run_id) > (this_run.taken_at, this_run.run_id)
    ORDER BY complete.taken_at, complete.run_id
    LIMIT 1
  ) AS ends ON true
  JOIN fuel.run AS list ON list.source_id = this_run.source_id
  WHERE this_run.run_id = p_run_id
    AND (list.is_complete OR list.composition_id IS NOT NULL)
    AND fuel.is_kept(list)
    AND list.taken_at >= this_run.taken_at
    AND list.taken_at <= coalesce(ends.taken_at, 'infinity')
    AND (list.taken_at, list.run_id) > (this_run.taken_at, this_run.run_id)
    AND (ends.run_id IS NULL OR (list.taken_at, list.run_id) <= (ends.taken_at, ends.run_id))
$$;
COMMENT ON FUNCTION fuel.lists_after(integer) IS
  'The stored lists after a run, up to the next complete one.';
GRANT EXECUTE ON FUNCTION fuel.lists_after(integer) TO fuel_writer;

-- Returns the runs that rely on the rows of a run: they report the same as the run and have no row of their own. For a
-- station and fuel these are the next lists that show it. For a price of a whole day these are the next answers that
-- cover the day. Each series ends with the first run that counts.
CREATE OR REPLACE FUNCTION fuel.followers(p_run_id integer)
RETURNS TABLE (
  station_id integer, fuel_id smallint, effective_at timestamptz, price_tenths integer,
  run_id integer, taken_at timestamptz, fetched_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  this_run  fuel.run;
  feed      fuel.source;
  asked_for text[];
  goes_back interval;
BEGIN
  SELECT run.* INTO STRICT this_run FROM fuel.run WHERE run.run_id = p_run_id;
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = this_run.source_id;
  SELECT run.documents INTO STRICT asked_for
  FROM fuel.run
  WHERE run.run_id = coalesce(this_run.replaces_run_id, p_run_id);
  goes_back := fuel.stamps_go_back(this_run.source_id);
  RETURN QUERY
  WITH fact AS MATERIALIZED (
    SELECT
      price.station_id, price.fuel_id, price.effective_at, price.price_tenths,
      lead(price.effective_at) OVER (
        PARTITION BY price.station_id, price.fuel_id ORDER BY price.effective_at) AS next_at
    FROM fuel.price
    WHERE price.run_id = p_run_id AND price.source_id = this_run.source_id
  ),
  list AS MATERIALIZED (
    SELECT * FROM fuel.lists_after(p_run_id)
  ),
  shown AS MATERIALIZED (
    SELECT fact.*, list.run_id, list.taken_at, list.fetched_at, list.counts
    FROM fact
    CROSS JOIN list
    WHERE fuel.is_shown(
      fact.station_id, fact.fuel_id, this_run.source_id, list.run_id, list.taken_at)
  ),
  follower AS (
    SELECT
      shown.station_id, shown.fuel_id, shown.effective_at, shown.price_tenths, shown.next_at, shown.run_id,
      shown.taken_at, shown.fetched_at
    FROM shown
    UNION ALL
    -- The lists up to the next complete one leave the station and fuel out, and a later list shows it again.
    SELECT fact.*, again.run_id, again.taken_at, coalesce(again.fetched_at, again.taken_at)
    FROM fact
    CROSS JOIN LATERAL (
      SELECT
        run.run_id, run.taken_at, run.fetched_at,
        count(*) FILTER (WHERE run.outcome IN ('stored', 'unchanged')) OVER (
          ORDER BY run.taken_at, run.run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS counting
      FROM fuel.told_listing AS listing
      JOIN fuel.run USING (run_id)
      WHERE listing.station_id = fact.station_id
        AND listing.fuel_id = fact.fuel_id
        AND listing.source_id = this_run.source_id
        AND (listing.changed_at, listing.run_id) > (
          SELECT list.taken_at, list.run_id FROM list ORDER BY list.taken_at DESC, list.run_id DESC LIMIT 1)
        AND listing.is_listed
    ) AS again
    WHERE again.counting = 0 AND NOT EXISTS (
      SELECT
      FROM shown
      WHERE shown.counts
        AND shown.station_id = fact.station_id
        AND shown.fuel_id = fact.fuel_id)
    UNION ALL
    SELECT fact.*, answer.run_id, answer.taken_at, answer.fetched_at
    FROM fact
    CROSS JOIN LATERAL (
      SELECT
        run.run_id, run.taken_at, run.fetched_at,
        count(*) FILTER (WHERE run.outcome IN ('stored', 'unchanged')) OVER (
          ORDER BY run.taken_at, run.run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS counting
      FROM fuel.run
      WHERE feed.tells_whole_days
        AND run.source_id = this_run.source_id
        AND fuel.is_kept(run)
        AND run.taken_at >= this_run.taken_at
        AND (run.taken_at, run.run_id) > (this_run.taken_at, this_run.run_id)
        AND run.taken_at < fact.effective_at + interval '1 day'
        AND CASE
          WHEN run.told_days IS NULL THEN run.documents = asked_for
          ELSE fact.effective_at = ANY (run.told_days)
        END
    ) AS answer
    WHERE answer.counting = 0
  )
  SELECT
    follower.station_id, follower.fuel_id, follower.effective_at, follower.price_tenths, follower.run_id,
    follower.taken_at, follower.fetched_at
  FROM follower
  -- A price that was the next one in the run may be the present one by the time of the follower. The follower then no
  -- longer reports the price that was present before.
  WHERE (feed.tells_whole_days OR follower.next_at IS NULL OR follower.next_at > follower.taken_at)
  -- This is a scalar subquery and not EXISTS. For EXISTS the server may read the whole history once instead of one
  -- station and fuel.
  AND NOT coalesce((
    SELECT true
    FROM fuel.told_price AS later
    WHERE later.station_id = follower.station_id
      AND later.fuel_id = follower.fuel_id
      AND later.source_id = this_run.source_id
      AND (later.effective_at = follower.effective_at OR NOT feed.tells_whole_days)
      AND later.effective_at >= follower.effective_at - goes_back
      AND later.learnt_at >= this_run.fetched_at
      AND (later.learnt_at, later.run_id) > (this_run.fetched_at, this_run.run_id)
      AND (later.learnt_at, later.run_id) <= (follower.fetched_at, follower.run_id)
    LIMIT 1
  ), false);
END
$$;
COMMENT ON FUNCTION fuel.followers(integer) IS
  'The runs that rely on the rows of a run: they report the same and have no row of their own.';
GRANT EXECUTE ON FUNCTION fuel.followers(integer) TO fuel_writer;

-- Returns whether any price of a run's list has no stamp. Such a price began when it was seen, even where the feed
-- stamps its next prices. For lists from before version 0.4 it is not known whether they were stamped. The result is
-- then false.
CREATE OR REPLACE FUNCTION fuel.is_unstamped(p_run fuel.run) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN coalesce(cardinality((p_run).stamps) = 0, false);
COMMENT ON FUNCTION fuel.is_unstamped(fuel.run) IS 'Whether prices of the list of a run have no stamp.';
GRANT EXECUTE ON FUNCTION fuel.is_unstamped(fuel.run) TO fuel_writer;

-- Stores rows for the runs that rely on a run (fuel.followers): the run's own facts if p_own is true, otherwise the
-- facts that were reported before the run.
CREATE OR REPLACE FUNCTION fuel.spell_out_prices(p_run_id integer, p_own boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  this_run     fuel.run;
  feed         fuel.source;
  is_unstamped boolean;
  -- Earlier readings of the documents that the run read.
  earlier      integer[];
  goes_back    interval;
BEGIN
  SELECT run.* INTO STRICT this_run FROM fuel.run WHERE run.run_id = p_run_id;
  SELECT source.* INTO STRICT feed FROM fuel.source WHERE source.source_id = this_run.source_id;
  is_unstamped := fuel.is_unstamped(this_run);
  goes_back := fuel.stamps_go_back(this_run.source_id);
  SELECT array_agg(run.run_id) INTO earlier
  FROM fuel.run
  WHERE NOT p_own
    AND (run.run_id = this_run.replaces_run_id OR run.replaces_run_id = this_run.replaces_run_id)
    AND run.outcome = 'superseded';
  INSERT INTO fuel.price (
    station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
  SELECT
    follower.station_id, follower.fuel_id, this_run.source_id,
    CASE
      WHEN is_unstamped AND reported.effective_at <= follower.taken_at THEN follower.taken_at
      ELSE reported.effective_at
    END,
    reported.price_tenths, follower.run_id, follower.fetched_at
  FROM fuel.followers(p_run_id) AS follower
  CROSS JOIN LATERAL (
    SELECT follower.effective_at, follower.price_tenths
    WHERE p_own
    UNION ALL
    (
      SELECT before.effective_at, before.price_tenths
      FROM (
        SELECT
          newest.*,
          max(newest.effective_at) FILTER (WHERE newest.effective_at <= follower.taken_at) OVER () AS present_at
        FROM (
          SELECT price.effective_at, price.price_tenths
          FROM fuel.told_price AS price
          WHERE NOT p_own
            AND price.station_id = follower.station_id
            AND price.fuel_id = follower.fuel_id
            AND price.source_id = this_run.source_id
            AND (price.effective_at = follower.effective_at OR NOT feed.tells_whole_days)
            AND price.effective_at >= CASE
              WHEN is_unstamped THEN '-infinity'
              ELSE follower.effective_at - goes_back
            END
            AND (price.learnt_at, price.run_id) < (this_run.fetched_at, p_run_id)
          -- The newest earlier run may have reported the next price beside the present one, so all its rows are taken.
          ORDER BY price.learnt_at DESC, price.run_id DESC
          FETCH FIRST ROW WITH TIES
        ) AS newest
      ) AS before
      WHERE feed.tells_whole_days OR before.effective_at >= coalesce(before.present_at, '-infinity')
    )
  ) AS reported
  LEFT JOIN (
    -- Where the followers relied on an earlier reading of the same documents, they now rely on this reading. Nothing is
    -- stored for them there.
    SELECT DISTINCT price.station_id, price.fuel_id
    FROM fuel.price
    WHERE price.run_id = ANY (earlier)
  ) AS misread USING (station_id, fuel_id)
  WHERE misread.station_id IS NULL
  ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION fuel.spell_out_prices(integer, boolean) IS
  'Stores what the lists after a run show of its facts: what the run itself reported, before it stops counting, or '
  'what was reported before it, if it came late.';
GRANT EXECUTE ON FUNCTION fuel.spell_out_prices(integer, boolean) TO fuel_writer;
