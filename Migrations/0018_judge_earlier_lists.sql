-- How large lists were that came before lists were judged by one another, so that later ones are held against them. Of
-- the newest of each feed it is known which fuels it has, too.
INSERT INTO fuel.list_composition (digest, stations, fuels, brands)
VALUES (md5('before')::uuid, 0, '{}', '{}');
UPDATE fuel.run SET
  composition_id = (SELECT composition_id FROM fuel.list_composition WHERE digest = md5('before')::uuid),
  pairs = CASE
    WHEN run.outcome = 'refused' THEN (run.rejected_by_reason ->> 'run_refused')::integer
    ELSE run.stored + run.unchanged
  END,
  shortcomings = ARRAY(
    SELECT warning FROM unnest(run.warnings) AS warning
    WHERE NOT run.is_complete AND warning ~ '^(short: .* were listed$|nothing of |replayed: )'),
  warnings = ARRAY(
    SELECT warning FROM unnest(run.warnings) AS warning
    WHERE run.is_complete OR warning !~ '^(short: .* were listed$|nothing of |replayed: )')
WHERE run.composition_id IS NULL
  AND run.taken_at IS NOT NULL
  AND (
    (run.outcome IN ('stored', 'unchanged') AND (run.is_complete OR EXISTS (
      SELECT FROM unnest(run.warnings) AS warning
      WHERE warning ~ '^(short: .* were listed$|nothing of |replayed: )')))
    OR (
      run.outcome = 'refused'
      AND run.error ~ '^only [0-9]+ prices where [0-9]+ were listed before'
      AND run.rejected_by_reason ? 'run_refused'));

-- A fuel that nobody has mapped is known in lists by the feed's own code.
UPDATE fuel.list_composition AS composition SET
  fuels = (
    SELECT jsonb_object_agg(
      CASE WHEN listed.fuel LIKE '%:%' THEN split_part(listed.fuel, ':', 2) ELSE listed.fuel END, listed.pairs)
    FROM jsonb_each(composition.fuels) AS listed (fuel, pairs))
FROM fuel.source
WHERE composition.digest = md5(source.source_id::text || ' before')::uuid
  AND composition.fuels <> '{}';

COMMENT ON COLUMN fuel.run.is_complete IS
  'Whether it stored a complete list of the feed, whose gaps mean not offered. Judged again when a list '
  'near it arrives late or is taken back.';
