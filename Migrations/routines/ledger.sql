-- What the program asks about earlier runs of a feed.

CREATE OR REPLACE VIEW fuel.list AS
SELECT run.*
FROM fuel.run
-- Of the runs that are under way, only the one that this transaction stores has a composition.
WHERE run.composition_id IS NOT NULL AND run.outcome IN ('running', 'stored', 'unchanged', 'refused');
COMMENT ON VIEW fuel.list IS 'The runs that brought a list, without those that were withdrawn or read again.';

-- Returns the lists of a feed that count, by what they state: from p_memory before the lists began to state what they did
-- at p_from_at, until they no longer state what they did at p_until_at.
CREATE OR REPLACE FUNCTION fuel.stated_lists(
  p_source_id smallint, p_from_at timestamptz, p_until_at timestamptz, p_memory interval)
RETURNS TABLE (run_id integer, taken_at timestamptz, content bigint, frozen_since_at timestamptz)
LANGUAGE sql STABLE AS $$
  WITH stated AS NOT MATERIALIZED (
    SELECT run.run_id, run.taken_at, run.content, run.frozen_since_at
    FROM fuel.run
    WHERE run.source_id = p_source_id
      AND run.content IS NOT NULL
      AND run.outcome IN ('running', 'stored', 'unchanged')
      AND NOT run.is_repeat
  )
  SELECT stated.*
  FROM stated
  WHERE stated.taken_at >= coalesce((
      SELECT max(other.taken_at)
      FROM stated AS other
      WHERE other.taken_at < p_from_at
        AND other.content <> (
          SELECT last.content
          FROM stated AS last
          WHERE last.taken_at < p_from_at
          ORDER BY last.taken_at DESC, last.content DESC
          LIMIT 1)
    ) - p_memory, '-infinity')
    AND stated.taken_at <= coalesce((
      SELECT min(other.taken_at)
      FROM stated AS other
      WHERE other.taken_at > p_until_at
        AND other.content <> (
          SELECT last.content
          FROM stated AS last
          WHERE last.taken_at <= p_until_at
          ORDER BY last.taken_at DESC, last.content DESC
          LIMIT 1)
    ), 'infinity')
$$;
COMMENT ON FUNCTION fuel.stated_lists IS
  'The lists of a feed whose judgement may hang on what lists stated between two instants, and those that decide it.';

-- Returns the number of a composition of lists. It is stored where it is new.
CREATE OR REPLACE FUNCTION fuel.composition(p_stations integer, p_fuels jsonb, p_brands jsonb) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  wanted uuid := md5(ROW(p_stations, p_fuels, p_brands)::text)::uuid;
BEGIN
  IF NOT EXISTS (SELECT FROM fuel.list_composition AS known WHERE known.digest = wanted) THEN
    INSERT INTO fuel.list_composition (digest, stations, fuels, brands)
    VALUES (wanted, p_stations, p_fuels, p_brands)
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN (SELECT known.composition_id FROM fuel.list_composition AS known WHERE known.digest = wanted);
END
$$;
COMMENT ON FUNCTION fuel.composition IS 'The number of what a list is made of: stations, prices by fuel, stations by brand.';

CREATE OR REPLACE FUNCTION fuel.feed_history(p_source text, p_latest timestamptz)
RETURNS TABLE (
  last_at timestamptz, not_before_at timestamptz, tried_at timestamptz, sent_no_request boolean, failures bigint,
  awaits_tomorrow boolean)
LANGUAGE sql STABLE AS $$
  SELECT
    good.last_at,
    source.not_before_at,
    tried.started_at,
    coalesce(tried.requests = 0 AND tried.outcome = 'failed', false),
    (
      SELECT count(*)
      FROM fuel.run
      WHERE run.source_id = source.source_id
        AND run.kind = 'live'
        AND run.started_at > coalesce(good.last_at, '-infinity')
        AND run.started_at <= p_latest
        AND run.outcome IN ('refused', 'failed', 'interrupted')
    ),
    coalesce(good.awaits_tomorrow, false)
  FROM fuel.source
  LEFT JOIN LATERAL (
    SELECT run.taken_at + source.delay AS last_at, run.awaits_tomorrow
    FROM fuel.run
    WHERE run.source_id = source.source_id
      AND run.outcome IN ('stored', 'unchanged')
      AND run.taken_at <= p_latest - source.delay
    ORDER BY run.taken_at DESC
    LIMIT 1
  ) AS good ON true
  LEFT JOIN LATERAL (
    SELECT run.started_at, run.requests, run.outcome
    FROM fuel.run
    WHERE run.source_id = source.source_id AND run.kind = 'live' AND run.started_at <= p_latest
    ORDER BY run.started_at DESC
    LIMIT 1
  ) AS tried ON true
  WHERE source.source = p_source
$$;
COMMENT ON FUNCTION fuel.feed_history IS 'How the last runs of a feed went, which decides whether it is due.';

GRANT EXECUTE ON FUNCTION fuel.stated_lists, fuel.composition, fuel.feed_history TO fuel_writer;
