-- A list is judged by the lists around it, and again when one of those arrives late or is taken back. Evidence
-- stays as it came: a run that does not count any more keeps its rows.

CREATE TABLE fuel.list_composition (
  composition_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  digest         uuid    NOT NULL,
  stations       integer NOT NULL,
  fuels          jsonb   NOT NULL,
  brands         jsonb   NOT NULL,
  CONSTRAINT list_composition_pk PRIMARY KEY (composition_id),
  CONSTRAINT list_composition_digest_uq UNIQUE (digest),
  CONSTRAINT list_composition_stations_ck CHECK (stations >= 0)
);
COMMENT ON TABLE  fuel.list_composition                IS
  'What lists are made of. Lists that follow one another mostly share a row.';
COMMENT ON COLUMN fuel.list_composition.composition_id IS 'Number of the composition.';
COMMENT ON COLUMN fuel.list_composition.digest         IS 'Digest of the other columns.';
COMMENT ON COLUMN fuel.list_composition.stations       IS 'How many stations the list names.';
COMMENT ON COLUMN fuel.list_composition.fuels          IS 'How many prices it has of each fuel.';
COMMENT ON COLUMN fuel.list_composition.brands         IS 'How many stations of each brand.';
COMMENT ON CONSTRAINT list_composition_pk          ON fuel.list_composition IS 'One row per composition.';
COMMENT ON CONSTRAINT list_composition_digest_uq   ON fuel.list_composition IS 'A composition is kept once.';
COMMENT ON CONSTRAINT list_composition_stations_ck ON fuel.list_composition IS 'A count.';
GRANT SELECT, INSERT ON fuel.list_composition TO fuel_writer;

ALTER TABLE fuel.run
  ADD COLUMN composition_id integer,
  ADD COLUMN stamps integer[],
  ADD COLUMN shortcomings text[] NOT NULL DEFAULT '{}',
  ADD CONSTRAINT run_composition_fk
    FOREIGN KEY (composition_id) REFERENCES fuel.list_composition (composition_id),
  DROP CONSTRAINT run_outcome_ck,
  ADD CONSTRAINT run_outcome_ck CHECK (
    outcome IN (
      'running', 'stored', 'unchanged', 'rehearsed', 'refused', 'failed', 'interrupted',
      'superseded', 'withdrawn'));
CREATE INDEX run_list_idx ON fuel.run (source_id, taken_at) WHERE composition_id IS NOT NULL;
CREATE INDEX run_uncounted_idx ON fuel.run (run_id)
  WHERE outcome IN ('superseded', 'withdrawn', 'refused');
COMMENT ON COLUMN fuel.run.pairs          IS
  'For how many stations and fuels it named a price, also where it was refused.';
COMMENT ON COLUMN fuel.run.composition_id IS 'What its list is made of. NULL: it brought no list.';
COMMENT ON COLUMN fuel.run.stamps         IS
  'Its stamps at every twentieth of the list, oldest first, in minutes since 1970: a list that shows the past has '
  'older ones than the lists before it.';
COMMENT ON COLUMN fuel.run.shortcomings   IS
  'Why its list is not complete, judged by the lists around it. Empty: it is, or it brought none.';
COMMENT ON COLUMN fuel.run.outcome        IS
  'running; stored (something new); unchanged (nothing new); rehearsed (a dry run that fetched); '
  'refused (the documents); failed (the fetch or the store); interrupted (the process died); '
  'superseded (its documents were read again); withdrawn (by a person). What the last two and refused runs '
  'reported does not count.';
COMMENT ON COLUMN fuel.run.is_complete    IS
  'Whether it stored a complete list of the feed, whose gaps mean «not offered». Judged again when a list '
  'near it arrives late or is taken back.';
COMMENT ON CONSTRAINT run_composition_fk ON fuel.run IS 'A known composition.';
COMMENT ON CONSTRAINT run_outcome_ck     ON fuel.run IS 'A known outcome.';

CREATE TABLE fuel.withdrawal (
  withdrawal_id integer     NOT NULL GENERATED ALWAYS AS IDENTITY,
  run_id        integer     NOT NULL,
  decided_at    timestamptz NOT NULL,
  counts_again  boolean     NOT NULL,
  reason        text        NOT NULL,
  change_number bigint      NOT NULL,
  CONSTRAINT withdrawal_pk PRIMARY KEY (withdrawal_id),
  CONSTRAINT withdrawal_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT withdrawal_reason_ck CHECK (reason <> '')
);
CREATE INDEX withdrawal_change_idx ON fuel.withdrawal (change_number);
CREATE INDEX withdrawal_run_idx ON fuel.withdrawal (run_id);
COMMENT ON TABLE  fuel.withdrawal               IS
  'Decisions of a person that a run does not count, or counts again.';
COMMENT ON COLUMN fuel.withdrawal.withdrawal_id IS 'Number of the decision.';
COMMENT ON COLUMN fuel.withdrawal.run_id        IS 'The run.';
COMMENT ON COLUMN fuel.withdrawal.decided_at    IS 'When that was decided.';
COMMENT ON COLUMN fuel.withdrawal.counts_again  IS 'Whether it undoes an earlier decision.';
COMMENT ON COLUMN fuel.withdrawal.reason        IS 'Why.';
COMMENT ON COLUMN fuel.withdrawal.change_number IS 'Place in the order of commits, as of runs.';
COMMENT ON CONSTRAINT withdrawal_pk        ON fuel.withdrawal IS 'One row per decision.';
COMMENT ON CONSTRAINT withdrawal_run_fk    ON fuel.withdrawal IS 'A known run.';
COMMENT ON CONSTRAINT withdrawal_reason_ck ON fuel.withdrawal IS 'A reason is given.';
GRANT SELECT, INSERT ON fuel.withdrawal TO fuel_writer;

-- The same fact may be reported by several runs: whichever of them counts keeps it.
UPDATE fuel.price SET run_id = again.run_id
FROM fuel.run AS told
JOIN fuel.run AS again
  ON again.replaces_run_id = told.run_id AND again.outcome IN ('stored', 'unchanged')
WHERE price.run_id = told.run_id AND told.outcome = 'superseded';
ALTER TABLE fuel.price DROP CONSTRAINT price_pk;
ALTER TABLE fuel.price ADD CONSTRAINT price_pk
  PRIMARY KEY (station_id, fuel_id, effective_at, source_id, price_tenths, run_id);
COMMENT ON TABLE  fuel.price IS
  'Reported facts: this source says that from this instant on the station sold this fuel at this '
  'price, and this run said so first of those that were stored by then. One partition per UTC month, made when '
  'first needed. Which of them count says fuel.counted_price.';
COMMENT ON COLUMN fuel.price.run_id    IS 'The run that reported it.';
COMMENT ON COLUMN fuel.price.learnt_at IS 'When its document was fetched.';
COMMENT ON CONSTRAINT price_pk ON fuel.price IS
  'A run reports a fact once. The price is part of the key: two documents that give one instant two '
  'prices are two facts, and readers take the one learnt last, so that order of arrival is no matter.';
REVOKE UPDATE (learnt_at, run_id) ON fuel.price FROM fuel_writer;
-- What had been taken back: the runs that reported it do not count.
INSERT INTO fuel.price (
  station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
SELECT
  withdrawn.station_id, withdrawn.fuel_id, withdrawn.source_id, withdrawn.effective_at,
  withdrawn.price_tenths, withdrawn.run_id, min(withdrawn.learnt_at)
FROM fuel.withdrawn_price AS withdrawn
JOIN fuel.run USING (run_id)
WHERE run.outcome = 'superseded'
GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT DO NOTHING;
DROP TABLE fuel.withdrawn_price;

ALTER TABLE fuel.listing ADD COLUMN run_id integer;
UPDATE fuel.listing SET run_id = list.run_id
FROM (
  SELECT run.source_id, run.taken_at, max(run.run_id) AS run_id
  FROM fuel.run
  WHERE run.is_complete
  GROUP BY run.source_id, run.taken_at
) AS list
WHERE list.source_id = listing.source_id AND list.taken_at = listing.changed_at;
-- Nothing is known of who said so; it never counted beside a list.
DELETE FROM fuel.listing WHERE listing.run_id IS NULL;
ALTER TABLE fuel.listing ALTER COLUMN run_id SET NOT NULL;
ALTER TABLE fuel.listing DROP CONSTRAINT listing_pk;
ALTER TABLE fuel.listing ADD CONSTRAINT listing_pk
  PRIMARY KEY (station_id, fuel_id, source_id, changed_at, run_id);
CREATE INDEX listing_run_idx ON fuel.listing USING brin (run_id);
COMMENT ON TABLE  fuel.listing IS
  'What lists say by what they leave out: the instants at which a station and fuel appeared in or vanished from '
  'its feed''s lists. Holds at the instants of those lists and until the next. Which rows count says '
  'fuel.counted_listing: those of complete lists.';
COMMENT ON CONSTRAINT listing_pk ON fuel.listing IS 'A list says one thing of a station and fuel.';
COMMENT ON COLUMN fuel.listing.changed_at IS 'When the list was taken.';
COMMENT ON COLUMN fuel.listing.run_id     IS 'The run that brought the list.';

ALTER TABLE fuel.current_price ADD COLUMN shows_older boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.current_price.shows_older IS
  'Whether its feed showed another price last than the one with the newest stamp, as when it repeats an old answer.';

-- How large the newest list of each feed is, so that the next one is held against it.
INSERT INTO fuel.list_composition (digest, stations, fuels, brands)
SELECT md5(newest.source_id::text || ' before')::uuid, newest.stations, newest.fuels, '{}'
FROM (
  SELECT
    listed.source_id,
    sum(listed.pairs) AS pairs,
    (
      SELECT count(DISTINCT known.station_id)
      FROM fuel.current_price AS known
      WHERE known.source_id = listed.source_id AND known.is_listed
    ) AS stations,
    jsonb_object_agg(listed.fuel, listed.pairs) AS fuels
  FROM (
    SELECT known.source_id, fuel.fuel, count(*) AS pairs
    FROM fuel.current_price AS known
    JOIN fuel.fuel USING (fuel_id)
    WHERE known.is_listed
    GROUP BY known.source_id, fuel.fuel
  ) AS listed
  GROUP BY listed.source_id
) AS newest;
UPDATE fuel.run SET
  composition_id = composition.composition_id,
  pairs = (SELECT sum(fuel.value::integer) FROM jsonb_each_text(composition.fuels) AS fuel)
FROM fuel.source
JOIN fuel.list_composition AS composition
  ON composition.digest = md5(source.source_id::text || ' before')::uuid
WHERE run.source_id = source.source_id
  AND run.is_complete
  AND run.taken_at = source.last_listed_at;

-- Routines whose shape has changed or that have gone; the present texts are applied after this.
DROP FUNCTION IF EXISTS fuel.absorb(
  integer, timestamptz, timestamptz, boolean, numeric, numeric, timestamptz);
DROP FUNCTION IF EXISTS fuel.judge_list(smallint, timestamptz, boolean, numeric, numeric);
DROP FUNCTION IF EXISTS fuel.missing_of_list(smallint);
DROP FUNCTION IF EXISTS fuel.prune_listing(smallint, integer[], smallint[], timestamptz);
DROP FUNCTION IF EXISTS fuel.withdraw_run(integer, integer);
DROP FUNCTION IF EXISTS fuel.merge_listing(smallint, timestamptz, timestamptz, boolean, boolean);
DROP FUNCTION IF EXISTS fuel.compared_days(text, date);
DROP VIEW IF EXISTS fuel.price_event;
