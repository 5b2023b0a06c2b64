-- What `bowser verify` asks of the database. What its lists and answers ought to lead to is judged by the program.

CREATE OR REPLACE FUNCTION fuel.compare_facts(OUT facts bigint, OUT runs bigint, OUT faults text[])
LANGUAGE sql STABLE AS $$
  SELECT
    coalesce(sum(compared.held), 0)::bigint, count(*),
    coalesce(array_agg(
      CASE
        WHEN source.source IS NULL AND compared.held > 0
          THEN format('run %s does not exist, but %s facts name it', run_id, compared.held)
        ELSE format('run %s of %s: ', run_id, coalesce(source.source, 'an unknown feed')) || CASE
          WHEN compared.held = compared.stored
            THEN format('its %s facts differ from those that were stored', compared.held)
          ELSE format('it has %s facts, but %s were stored', compared.held, compared.stored)
        END
      END ORDER BY run_id
      -- A fact of a run that does not exist counts, and nobody can withdraw it.
    ) FILTER (WHERE compared.differs OR source.source IS NULL), '{}')
  FROM (
    SELECT
      run_id, coalesce(held.facts, 0) AS held, coalesce(summed.facts, 0) AS stored,
      (held.facts, held.hash_sum) IS DISTINCT FROM (summed.facts, summed.hash_sum) AS differs
    FROM (
      SELECT fact.run_id, count(*) AS facts, sum(fact.hash) AS hash_sum FROM fuel.fact_hash AS fact GROUP BY fact.run_id
    ) AS held
    FULL JOIN (
      SELECT sums.run_id, sum(sums.facts)::bigint AS facts, sum(sums.hash_sum) AS hash_sum
      FROM fuel.fact_sum AS sums
      GROUP BY sums.run_id
    ) AS summed USING (run_id)
  ) AS compared
  LEFT JOIN fuel.run USING (run_id)
  LEFT JOIN fuel.source USING (source_id)
$$;
COMMENT ON FUNCTION fuel.compare_facts IS
  'How much evidence of how many runs is stored, and a line for each run whose evidence differs from its sums.';

CREATE OR REPLACE FUNCTION fuel.stored_faults() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT found.fault
  FROM (
    -- Each link of the chain against the rows that it covers and the link before it.
    SELECT
      1 AS part, link.change_number AS number,
      format(
        'change %s%s: %s', link.change_number, ' (run ' || coalesce(run.run_id, withdrawal.run_id) || ')',
        CASE
          WHEN link.number_before <> link.change_number - 1 THEN 'the change before it is missing'
          ELSE 'its rows differ from what was stored'
        END) AS fault
    FROM (
      SELECT
        chain_link.*, lag(chain_link.digest) OVER in_order AS before,
        lag(chain_link.change_number) OVER in_order AS number_before
      FROM fuel.chain_link
      WINDOW in_order AS (ORDER BY chain_link.change_number)
    ) AS link
    LEFT JOIN fuel.run ON run.change_number = link.change_number
    LEFT JOIN fuel.withdrawal ON withdrawal.change_number = link.change_number
    WHERE link.number_before <> link.change_number - 1
      OR link.digest <> sha256(
        coalesce(link.before, '') || convert_to(fuel.link_text(link.change_number), 'UTF8'))
    UNION ALL
    -- What is stored about the order of runs against their instants and numbers, which the chain covers.
    SELECT 2, numbered.run_id, format('run %s: whether a later list came before it is stored wrongly', numbered.run_id)
    FROM (
      SELECT
        run.run_id,
        run.is_overtaken,
        coalesce(run.taken_at < max(run.taken_at) OVER (
          PARTITION BY run.source_id ORDER BY run.change_number
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS was_overtaken
      FROM fuel.run
      WHERE run.change_number IS NOT NULL
    ) AS numbered
    WHERE numbered.is_overtaken <> numbered.was_overtaken
    UNION ALL
    -- A run counts by what it stored, unless a person or a later reading of its documents decided otherwise.
    SELECT
      3, run.run_id,
      format('run %s of %s: nothing stored explains its outcome %s', run.run_id, source.source, run.outcome)
    FROM fuel.run
    JOIN fuel.source USING (source_id)
    LEFT JOIN LATERAL (
      SELECT NOT withdrawal.counts_again AS is_withdrawn
      FROM fuel.withdrawal
      WHERE withdrawal.run_id = run.run_id
      ORDER BY withdrawal.withdrawal_id DESC
      LIMIT 1
    ) AS decision ON true
    WHERE run.outcome = 'withdrawn' AND decision.is_withdrawn IS NOT TRUE
      OR run.outcome IN ('stored', 'unchanged') AND (
        decision.is_withdrawn IS TRUE OR (run.outcome = 'stored') <> (run.stored > 0))
      OR run.outcome = 'superseded' AND NOT EXISTS (
        SELECT
        FROM fuel.run AS later
        WHERE later.replaces_run_id = coalesce(run.replaces_run_id, run.run_id) AND later.run_id > run.run_id)
      OR run.outcome NOT IN ('stored', 'unchanged', 'withdrawn', 'superseded', 'refused', 'running')
        AND run.stored + run.unchanged > 0
      OR run.outcome = 'refused' AND run.composition_id IS NULL AND run.stored + run.unchanged > 0
    UNION ALL
    -- Archives are left out, because their stations are described when they are matched.
    SELECT
      4, station.station_id,
      format(
        'station %s (%s of %s): its row differs from %s; bowser aggregate --rebuild makes it anew',
        station.station_id, station.station_code, source.source, differs.from_what)
    FROM (
      SELECT array_agg(record.station_id) AS ids
      FROM fuel.station AS record
      JOIN fuel.source USING (source_id)
      WHERE source.kind <> 'archive') AS of_feeds
    CROSS JOIN LATERAL (
      SELECT described.station_id, 'what its descriptions say' AS from_what
      FROM fuel.redescribed_stations(of_feeds.ids) AS described
      UNION ALL
      SELECT seen.station_id, 'when a run first named it' FROM fuel.first_sights(of_feeds.ids) AS seen
    ) AS differs
    JOIN fuel.station USING (station_id)
    JOIN fuel.source USING (source_id)
    UNION ALL
    SELECT
      5, run_body.run_id,
      format('run %s: document %s differs from what was received', run_body.run_id, run_body.name)
    FROM fuel.body
    JOIN fuel.run_body USING (sha256)
    WHERE body.sha256 <> sha256(body.bytes)
  ) AS found
  ORDER BY found.part, found.number, found.fault
$$;
COMMENT ON FUNCTION fuel.stored_faults IS
  'What contradicts the chain, the order of runs, the decisions, the descriptions of stations or the digests of documents.';

GRANT EXECUTE ON FUNCTION fuel.compare_facts, fuel.stored_faults TO fuel_writer;
