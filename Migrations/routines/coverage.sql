-- Which days each source covers. For an archive, the loaded files decide how far it reaches; for a feed, its lists
-- decide.

-- In an archive of changes, a month is covered from its first day to the last day on which a price began, and to its
-- end if at most its last three days have no new price. In an archive of whole days, a day without a price is not
-- covered.
CREATE OR REPLACE FUNCTION fuel.archive_intervals()
RETURNS TABLE (source_id smallint, scheme text, first_day date, last_day date) LANGUAGE sql STABLE AS $$
  SELECT
    covered.source_id,
    source.scheme,
    covered.month,
    CASE
      WHEN covered.last_day >= month.ends_on - 3 THEN month.ends_on
      ELSE covered.last_day
    END
  FROM fuel.archive_coverage AS covered
  JOIN fuel.source USING (source_id)
  CROSS JOIN LATERAL (
    SELECT (covered.month + interval '1 month')::date - 1 AS ends_on
  ) AS month
  WHERE NOT source.tells_whole_days
  UNION ALL
  SELECT stated.source_id, stated.scheme, min(stated.day), max(stated.day)
  FROM (
    SELECT
      covered.source_id,
      source.scheme,
      covered.month + bit.number AS day,
      covered.month + bit.number
        - row_number() OVER (PARTITION BY covered.source_id ORDER BY covered.month, bit.number)::integer AS run
    FROM fuel.archive_coverage AS covered
    JOIN fuel.source USING (source_id)
    JOIN generate_series(0, 30) AS bit (number) ON covered.days & (1 << bit.number) <> 0
    WHERE source.tells_whole_days
  ) AS stated
  GROUP BY stated.source_id, stated.scheme, stated.run
$$;
COMMENT ON FUNCTION fuel.archive_intervals IS
  'The runs of days that the files of each archive cover; those of archives of changes month by month.';

-- Between the first and the last list of an interval, each list is believed until the next one. Lists that were taken
-- before p_from_at are read only as far back as a list is believed.
CREATE OR REPLACE FUNCTION fuel.list_intervals(
  p_from_at timestamptz, p_until_at timestamptz, p_known_at timestamptz DEFAULT 'infinity')
RETURNS TABLE (source_id smallint, from_at timestamptz, until_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT island.source_id, min(island.taken_at), max(island.taken_at)
  FROM (
    SELECT
      list.source_id,
      list.taken_at,
      sum(list.begins_anew::integer) OVER (
        PARTITION BY list.source_id ORDER BY list.taken_at) AS island
    FROM (
      SELECT
        run.source_id,
        run.taken_at,
        run.taken_at - lag(run.taken_at) OVER (PARTITION BY run.source_id ORDER BY run.taken_at)
          > sight.lapses_after AS begins_anew
      FROM fuel.sight
      -- OFFSET makes the server look for the lists of each feed in the index, from the first instant on.
      CROSS JOIN LATERAL (
        SELECT run.source_id, run.taken_at
        FROM fuel.run
        WHERE run.source_id = sight.source_id
          AND run.confirms
          AND run.taken_at >= p_from_at - sight.lapses_after
          AND run.taken_at <= p_until_at
          AND coalesce(run.fetched_at, run.taken_at) <= p_known_at
        OFFSET 0
      ) AS run
    ) AS list
  ) AS island
  GROUP BY island.source_id, island.island
$$;
COMMENT ON FUNCTION fuel.list_intervals IS
  'The times from an instant on in which each feed was read so often that its lists follow one another without a gap.';

-- Returns the price days that each source covers, up to an instant. Of feeds, days that ended before p_from_at may be
-- missing; whether later ones are covered follows from the lists since then and shortly before.
CREATE OR REPLACE FUNCTION fuel.covered_days(p_clock timestamptz, p_from_at timestamptz DEFAULT '-infinity')
RETURNS TABLE (source_id smallint, day date) LANGUAGE sql STABLE AS $$
  SELECT DISTINCT covered.source_id, series.day::date
  FROM (
    SELECT archived.source_id, archived.first_day, archived.last_day
    FROM fuel.archive_intervals() AS archived
    UNION ALL
    SELECT
      read.source_id,
      fuel.price_day(read.from_at, state.time_zone, state.price_day_starts),
      fuel.price_day(read.until_at, state.time_zone, state.price_day_starts)
    FROM (
      SELECT
        listed.source_id,
        listed.from_at,
        least(listed.until_at + sight.lapses_after - interval '1 second', p_clock) AS until_at
      FROM fuel.list_intervals(p_from_at, p_clock) AS listed
      JOIN fuel.sight USING (source_id)
      UNION ALL
      -- A feed whose prices hold for whole days has no lists. Each of its runs covers the price day on which it was taken.
      SELECT run.source_id, run.taken_at, run.taken_at
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE source.tells_whole_days AND run.outcome IN ('stored', 'unchanged') AND run.taken_at >= p_from_at
    ) AS read
    JOIN fuel.source ON source.source_id = read.source_id AND source.kind = 'feed'
    JOIN fuel.state USING (state)
  ) AS covered
  CROSS JOIN LATERAL generate_series(
    covered.first_day::timestamp, covered.last_day::timestamp, interval '1 day') AS series (day)
$$;
COMMENT ON FUNCTION fuel.covered_days IS
  'The price days that the files of each archive and the lists of each feed cover, up to an instant.';

CREATE OR REPLACE FUNCTION fuel.lapses()
RETURNS TABLE (source_id smallint, fuel_id smallint, lapses_after interval) LANGUAGE sql STABLE AS $$
  SELECT source.source_id, fuel.fuel_id, coalesce(price_lapse.lapses_after, source.price_lapses_after)
  FROM fuel.source
  CROSS JOIN fuel.fuel
  LEFT JOIN fuel.price_lapse USING (source_id, fuel_id)
$$;
COMMENT ON FUNCTION fuel.lapses IS
  'For how long a price of each feed and archive is believed after its stamp, by fuel.';

CREATE OR REPLACE FUNCTION fuel.silences()
RETURNS TABLE (source_id smallint, fuel_id smallint, days integer) LANGUAGE sql STABLE AS $$
  SELECT lapse.source_id, lapse.fuel_id, ceil(extract(epoch FROM lapse.lapses_after) / 86400)::integer
  FROM fuel.lapses() AS lapse
  JOIN fuel.source USING (source_id)
  WHERE source.kind = 'archive' AND NOT source.tells_whole_days
$$;
COMMENT ON FUNCTION fuel.silences IS
  'For how many days an archive of changes may be silent about a price that is still believed, by fuel.';

CREATE OR REPLACE FUNCTION fuel.refresh_source_days(p_clock timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- From when on the lists of some feed may have changed.
  changed_at timestamptz;
  quiet smallint[];
BEGIN
  -- A run that is being stored locks the row of its feed (fuel.forget_coverage). What it brings is not seen yet, so the
  -- days of its feed do not count as known afterwards. Runs of the other feeds wait until this is done.
  SELECT array_agg(feed.source_id) INTO quiet
  FROM (
    SELECT source.source_id
    FROM fuel.source
    WHERE source.kind = 'feed'
    ORDER BY source.source_id
    FOR NO KEY UPDATE SKIP LOCKED
  ) AS feed;
  SELECT least(p_clock, min(coalesce(source.days_known_until_at, '-infinity'))) INTO changed_at
  FROM fuel.source
  WHERE source.kind = 'feed';
  CREATE TEMPORARY TABLE wanted_day ON COMMIT DROP AS
  WITH source AS (
    SELECT
      source.*,
      state.time_zone,
      state.price_day_starts,
      fuel.price_day(p_clock, state.time_zone, state.price_day_starts) AS today,
      fuel.price_day(changed_at, state.time_zone, state.price_day_starts) AS changed_day
    FROM fuel.source
    JOIN fuel.state USING (state)
  ),
  day AS MATERIALIZED (
    SELECT covered.*
    FROM fuel.covered_days(p_clock, changed_at - interval '3 days') AS covered
    JOIN source USING (source_id)
    WHERE source.kind = 'archive' OR covered.day >= source.changed_day
    UNION ALL
    SELECT known.source_id, known.day
    FROM fuel.source_day AS known
    JOIN source USING (source_id)
    WHERE source.kind <> 'archive' AND known.why IS NULL AND known.day < source.changed_day
  ),
  began AS (
    SELECT source.scheme, min(day.day) AS first_day
    FROM day
    JOIN source USING (source_id)
    GROUP BY source.scheme
  )
  SELECT
    source.source_id,
    series.day::date AS day,
    CASE
      WHEN day.day IS NOT NULL THEN NULL
      WHEN source.kind = 'archive' THEN 'not_loaded'
      WHEN series.day < fuel.price_day(source.first_taken_at, source.time_zone, source.price_day_starts)
        THEN 'before_first_run'
      WHEN EXISTS (
        SELECT
        FROM fuel.run
        WHERE run.source_id = source.source_id
          AND run.frozen_since_at IS NOT NULL
          AND run.outcome IN ('stored', 'unchanged')
          AND NOT run.is_repeat
          AND run.taken_at >= fuel.price_day_begin(series.day::date, source.time_zone, source.price_day_starts)
          AND run.taken_at < fuel.price_day_begin(series.day::date + 1, source.time_zone, source.price_day_starts))
        THEN 'frozen'
      WHEN (series.day::date + 1 + source.price_day_starts) AT TIME ZONE source.time_zone
        > p_clock - source.delay THEN 'late'
      ELSE 'outage'
    END AS why
  FROM source
  JOIN began USING (scheme)
  CROSS JOIN LATERAL generate_series(
    began.first_day::timestamp, source.today::timestamp, interval '1 day') AS series (day)
  LEFT JOIN day ON day.source_id = source.source_id AND day.day = series.day
  WHERE source.first_taken_at IS NOT NULL;
  -- Whether a state is covered on a day decides whether the day is complete for the state and for the nation, for every
  -- fuel. In an archive of changes it also decides that of the days after it.
  PERFORM fuel.touch_averages(array_agg(fuel.fuel_id), array_agg(daterange(changed.day, changed.day, '[]')), false)
  FROM (
    SELECT DISTINCT (day + later.number) AS day
    FROM (
      SELECT wanted_day.source_id, wanted_day.day FROM pg_temp.wanted_day WHERE wanted_day.why IS NULL
    ) AS wanted
    FULL JOIN (
      SELECT source_day.source_id, source_day.day FROM fuel.source_day WHERE source_day.why IS NULL
    ) AS known USING (source_id, day)
    LEFT JOIN (
      SELECT silence.source_id, max(silence.days) AS days FROM fuel.silences() AS silence GROUP BY silence.source_id
    ) AS silent USING (source_id)
    CROSS JOIN LATERAL generate_series(0, coalesce(silent.days, 0)) AS later (number)
    WHERE (wanted IS NULL OR known IS NULL) AND day + later.number <= (p_clock + interval '1 day')::date
  ) AS changed
  CROSS JOIN (SELECT DISTINCT present_span.fuel_id FROM fuel.present_span) AS fuel;
  DELETE FROM fuel.source_day
  WHERE NOT EXISTS (
    SELECT
    FROM pg_temp.wanted_day AS wanted
    WHERE wanted.source_id = source_day.source_id AND wanted.day = source_day.day);
  INSERT INTO fuel.source_day AS known (source_id, day, why)
  SELECT wanted.source_id, wanted.day, wanted.why
  FROM pg_temp.wanted_day AS wanted
  ON CONFLICT ON CONSTRAINT source_day_pk DO UPDATE SET why = excluded.why
  WHERE known.why IS DISTINCT FROM excluded.why;
  DROP TABLE pg_temp.wanted_day;
  UPDATE fuel.source SET days_known_until_at = p_clock
  WHERE source.source_id = ANY (quiet) AND source.days_known_until_at IS DISTINCT FROM p_clock;
END
$$;
COMMENT ON FUNCTION fuel.refresh_source_days IS 'Updates which days each feed and archive covers.';

-- A run that begins or ceases to count, or whose list is judged anew, moves days_known_until_at of its source back to
-- its own instant.
CREATE OR REPLACE FUNCTION fuel.forget_coverage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- The row is locked in any case. Otherwise an aggregate that does not see this run yet could take its days for known.
  PERFORM FROM fuel.source WHERE source.source_id = NEW.source_id FOR NO KEY UPDATE;
  UPDATE fuel.source SET days_known_until_at = NEW.taken_at
  WHERE source.source_id = NEW.source_id AND source.days_known_until_at > NEW.taken_at;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION fuel.forget_coverage IS 'Notes that the days a feed covers may have changed from a run on.';
CREATE OR REPLACE TRIGGER run_coverage AFTER UPDATE ON fuel.run FOR EACH ROW
  WHEN (OLD.outcome <> NEW.outcome OR OLD.confirms <> NEW.confirms)
  EXECUTE FUNCTION fuel.forget_coverage();

GRANT EXECUTE ON FUNCTION
  fuel.archive_intervals, fuel.list_intervals, fuel.covered_days, fuel.lapses, fuel.silences,
  fuel.refresh_source_days TO fuel_writer;
