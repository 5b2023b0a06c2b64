-- What came, and what it says: runs with their documents and refused rows, the answers, a set that only grows, and the
-- facts that follow from them. Spans, days and averages can be computed from them again.

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
COMMENT ON TABLE fuel.list_composition IS 'What lists are made of. Lists that follow one another mostly share a row.';
COMMENT ON COLUMN fuel.list_composition.composition_id IS 'Number of the composition.';
COMMENT ON COLUMN fuel.list_composition.digest         IS 'Digest of the other columns.';
COMMENT ON COLUMN fuel.list_composition.stations       IS 'How many stations the list names.';
COMMENT ON COLUMN fuel.list_composition.fuels          IS 'How many prices it has of each fuel.';
COMMENT ON COLUMN fuel.list_composition.brands         IS 'How many stations of each brand.';
GRANT SELECT, INSERT ON fuel.list_composition TO fuel_writer;

CREATE TABLE fuel.run (
  run_id             integer       NOT NULL GENERATED ALWAYS AS IDENTITY,
  source_id          smallint      NOT NULL,
  started_at         timestamptz   NOT NULL,
  finished_at        timestamptz,
  taken_at           timestamptz,
  outcome            text          NOT NULL,
  is_complete        boolean       NOT NULL,
  describes_stations boolean       NOT NULL,
  documents          text[]        NOT NULL,
  payload_sha256     bytea,
  payload_bytes      bigint        NOT NULL,
  requests           integer       NOT NULL,
  received           integer       NOT NULL,
  stored             integer       NOT NULL,
  unchanged          integer       NOT NULL,
  duplicate          integer       NOT NULL,
  rejected           integer       NOT NULL,
  rejected_by_reason jsonb         NOT NULL,
  flagged            integer       NOT NULL,
  error              text,
  kind               text          NOT NULL DEFAULT 'live',
  fetched_at         timestamptz,
  replaces_run_id    integer,
  warnings           text[]        NOT NULL DEFAULT '{}',
  clock_skew         interval,
  unmapped           integer       NOT NULL DEFAULT 0,
  pairs              integer       NOT NULL DEFAULT 0,
  content_digest     bytea,
  change_number      bigint,
  composition_id     integer,
  stamps             integer[],
  content            bigint,
  is_repeat          boolean       NOT NULL DEFAULT false,
  shortcomings       text[]        NOT NULL DEFAULT '{}',
  awaits_tomorrow    boolean       NOT NULL DEFAULT false,
  told_days          timestamptz[],
  is_overtaken       boolean,
  frozen_since_at    timestamptz,
  -- For lists of before compositions were kept, is_complete says that it was a list.
  confirms           boolean       NOT NULL GENERATED ALWAYS AS (
    (is_complete OR composition_id IS NOT NULL) AND outcome IN ('running', 'stored', 'unchanged') AND NOT is_repeat
      AND frozen_since_at IS NULL)
    STORED,
  CONSTRAINT run_pk PRIMARY KEY (run_id),
  CONSTRAINT run_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT run_replaces_fk FOREIGN KEY (replaces_run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT run_composition_fk FOREIGN KEY (composition_id) REFERENCES fuel.list_composition (composition_id),
  CONSTRAINT run_counts_ck CHECK (received = stored + unchanged + duplicate + rejected),
  CONSTRAINT run_taken_ck CHECK (taken_at IS NOT NULL OR outcome NOT IN ('stored', 'unchanged')),
  CONSTRAINT run_kind_ck CHECK (kind IN ('live', 'replay', 'reprocess', 'backfill')),
  CONSTRAINT run_outcome_ck CHECK (
    outcome IN ('running', 'stored', 'unchanged', 'rehearsed', 'refused', 'failed', 'interrupted', 'superseded',
      'withdrawn')),
  CONSTRAINT run_instants_ck CHECK (
    isfinite(started_at) AND isfinite(finished_at) AND isfinite(taken_at) AND isfinite(fetched_at)),
  CONSTRAINT run_overtaken_ck CHECK ((is_overtaken IS NULL) = (change_number IS NULL))
);
CREATE INDEX run_complete_idx ON fuel.run (source_id, taken_at) WHERE is_complete;
CREATE INDEX run_confirms_idx ON fuel.run (source_id, taken_at) WHERE confirms;
CREATE INDEX run_started_idx ON fuel.run (source_id, started_at DESC);
CREATE INDEX run_replaces_idx ON fuel.run (replaces_run_id) WHERE replaces_run_id IS NOT NULL;
CREATE INDEX run_content_idx ON fuel.run (content_digest) WHERE content_digest IS NOT NULL;
CREATE UNIQUE INDEX run_change_idx ON fuel.run (change_number);
CREATE INDEX run_uncounted_idx ON fuel.run (run_id) WHERE outcome IN ('superseded', 'withdrawn', 'refused');
-- Which runs of a feed lie between two others, whatever came of them.
CREATE INDEX run_taken_idx ON fuel.run (source_id, taken_at);
-- Each run closes those of its feed that have died. Without an index the server looks for them among all runs (F-S24).
CREATE INDEX run_running_idx ON fuel.run (source_id) WHERE outcome = 'running';
-- Which answers report a price day.
CREATE INDEX run_told_days_idx ON fuel.run USING gin (told_days) WHERE told_days IS NOT NULL;
COMMENT ON TABLE fuel.run IS 'Attempts to read a feed.';
COMMENT ON COLUMN fuel.run.run_id             IS 'Number of the run. At 2,000 runs a day an integer lasts 2,900 years.';
COMMENT ON COLUMN fuel.run.source_id          IS 'The feed.';
COMMENT ON COLUMN fuel.run.started_at         IS 'When it began.';
COMMENT ON COLUMN fuel.run.finished_at        IS 'When it ended. NULL while it runs.';
COMMENT ON COLUMN fuel.run.taken_at IS
  'The instant whose state its documents show: when the last one was fetched or recorded, less the feed''s delay. '
  'NULL: none came.';
COMMENT ON COLUMN fuel.run.outcome IS
  'running; stored (something new); unchanged (nothing new); rehearsed (a dry run that fetched); refused (the '
  'documents); failed (the fetch or the store); interrupted (the process died); superseded (its documents were read '
  'again); withdrawn (by a person). What the last two and refused runs reported does not count.';
COMMENT ON COLUMN fuel.run.is_complete IS
  'Whether it stored a complete list of the feed, whose gaps mean not offered. Judged again when a list near it '
  'arrives late or is taken back.';
COMMENT ON COLUMN fuel.run.describes_stations IS 'Whether it described the stations too.';
COMMENT ON COLUMN fuel.run.documents          IS 'Names of the documents that came.';
COMMENT ON COLUMN fuel.run.payload_sha256     IS 'Digest over the names and bytes of its documents. NULL: none came.';
COMMENT ON COLUMN fuel.run.payload_bytes      IS 'Size of its documents together.';
COMMENT ON COLUMN fuel.run.requests           IS 'Requests sent, retries and token calls included.';
COMMENT ON COLUMN fuel.run.received           IS 'Price records that came.';
COMMENT ON COLUMN fuel.run.stored             IS 'Records that told something new.';
COMMENT ON COLUMN fuel.run.unchanged          IS 'Records that were known already.';
COMMENT ON COLUMN fuel.run.duplicate          IS 'Records that repeated another of the same run.';
COMMENT ON COLUMN fuel.run.rejected           IS 'Records turned away.';
COMMENT ON COLUMN fuel.run.rejected_by_reason IS 'How many for which reason.';
COMMENT ON COLUMN fuel.run.flagged            IS 'Records stored but marked as doubtful.';
COMMENT ON COLUMN fuel.run.error              IS 'Why it was refused or failed. NULL: it was not.';
COMMENT ON COLUMN fuel.run.kind IS
  'live (fetched), replay (from a recording), reprocess (kept documents read again) or backfill (a file of an '
  'archive).';
COMMENT ON COLUMN fuel.run.fetched_at IS
  'When its last document came. Later than taken_at by the feed''s delay. NULL: none came.';
COMMENT ON COLUMN fuel.run.replaces_run_id    IS 'The run whose documents it read again. NULL: it brought its own.';
COMMENT ON COLUMN fuel.run.warnings           IS 'What was odd about the feed as a whole.';
COMMENT ON COLUMN fuel.run.clock_skew IS 'The provider''s clock less ours, by its Date header. NULL: it sent none.';
COMMENT ON COLUMN fuel.run.unmapped           IS 'Records stored under a fuel code that nobody has mapped yet.';
COMMENT ON COLUMN fuel.run.pairs IS 'For how many stations and fuels it named a price, also where it was refused.';
COMMENT ON COLUMN fuel.run.content_digest IS
  'BLAKE2 digest of the file that a backfill loaded; the file is known by it. NULL: no backfill.';
COMMENT ON COLUMN fuel.run.change_number IS
  'Its place in the order of commits: nobody sees a number before all smaller ones. NULL: nothing was stored.';
COMMENT ON COLUMN fuel.run.composition_id     IS 'What its list is made of. NULL: it brought no list.';
COMMENT ON COLUMN fuel.run.stamps IS
  'Its stamps at every twentieth of the list, oldest first, in minutes since 1970: a list that shows the past has '
  'older ones than the lists before it.';
COMMENT ON COLUMN fuel.run.content IS
  'Digest of what its list states, to know lists that state the same. NULL: it brought no list, or it is of before '
  'answers were kept.';
COMMENT ON COLUMN fuel.run.is_repeat IS
  'Whether its list repeats one of the past, judged by the lists around it. What it states is no news, so nothing of it '
  'counts.';
COMMENT ON COLUMN fuel.run.shortcomings IS
  'Why its list is not complete, judged by the lists around it. Empty: it is, or it brought none.';
COMMENT ON COLUMN fuel.run.awaits_tomorrow IS
  'Whether tomorrow''s prices were not published yet when they should have been: the feed stays due.';
COMMENT ON COLUMN fuel.run.told_days IS
  'When the days begin of which it told prices, for feeds that tell prices of whole days. NULL: another feed, or a '
  'run of before 0.5.';
COMMENT ON COLUMN fuel.run.is_overtaken IS
  'Whether a run of the same source with a later taken_at got its number before this one. NULL: no number.';
COMMENT ON COLUMN fuel.run.frozen_since_at IS
  'Since when lists have stated what its list states, for so long that it confirms nothing, judged by the lists before '
  'it. NULL: it is not frozen, or brought no list.';
COMMENT ON COLUMN fuel.run.confirms IS
  'Whether its list confirms the prices that it shows: it counts, repeats none of the past, and is not frozen.';
GRANT
  SELECT,
  INSERT (
    source_id, started_at, finished_at, taken_at, outcome, is_complete, describes_stations, documents, payload_sha256,
    payload_bytes, requests, received, stored, unchanged, duplicate, rejected, rejected_by_reason, flagged, error,
    kind, fetched_at, replaces_run_id, warnings, clock_skew, unmapped, pairs, content_digest, composition_id, stamps, content,
    is_repeat, shortcomings, awaits_tomorrow, told_days, frozen_since_at),
  UPDATE (
    finished_at, taken_at, outcome, is_complete, describes_stations, documents, payload_sha256, payload_bytes,
    requests, received, stored, unchanged, duplicate, rejected, rejected_by_reason, flagged, error, fetched_at,
    warnings, clock_skew, unmapped, pairs, composition_id, stamps, content, is_repeat, shortcomings, awaits_tomorrow, told_days,
    frozen_since_at)
ON fuel.run TO fuel_writer;

CREATE TABLE fuel.body (
  sha256  bytea       NOT NULL,
  bytes   bytea       NOT NULL,
  kept_at timestamptz NOT NULL,
  CONSTRAINT body_pk PRIMARY KEY (sha256)
);
-- Not valid for documents that were damaged before; bowser verify looks at each.
ALTER TABLE fuel.body ADD CONSTRAINT body_digest_ck CHECK (sha256 = sha256(bytes)) NOT VALID;
COMMENT ON TABLE fuel.body IS 'Documents of providers, byte for byte; equal ones once. Compressed by the server.';
COMMENT ON COLUMN fuel.body.sha256  IS 'Digest of the bytes.';
COMMENT ON COLUMN fuel.body.bytes   IS 'The bytes.';
COMMENT ON COLUMN fuel.body.kept_at IS 'When they first came.';
GRANT SELECT, INSERT ON fuel.body TO fuel_writer;

CREATE TABLE fuel.run_body (
  run_id     integer     NOT NULL,
  name       text        NOT NULL,
  sha256     bytea       NOT NULL,
  fetched_at timestamptz NOT NULL,
  CONSTRAINT run_body_pk PRIMARY KEY (run_id, name),
  CONSTRAINT run_body_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT run_body_body_fk FOREIGN KEY (sha256) REFERENCES fuel.body (sha256)
);
CREATE INDEX run_body_sha256_idx ON fuel.run_body (sha256);
COMMENT ON TABLE fuel.run_body IS 'Which documents a run had, as long as they are kept.';
COMMENT ON COLUMN fuel.run_body.run_id     IS 'The run.';
COMMENT ON COLUMN fuel.run_body.name       IS 'The document''s name within its run.';
COMMENT ON COLUMN fuel.run_body.sha256     IS 'Digest of its bytes.';
COMMENT ON COLUMN fuel.run_body.fetched_at IS 'When it came.';
GRANT SELECT, INSERT ON fuel.run_body TO fuel_writer;

CREATE TABLE fuel.reject (
  source_id   smallint    NOT NULL,
  reason      text        NOT NULL,
  raw_md5     uuid        NOT NULL,
  raw         text        NOT NULL,
  run_id      integer     NOT NULL,
  rejected_at timestamptz NOT NULL,
  CONSTRAINT reject_pk PRIMARY KEY (source_id, reason, raw_md5),
  CONSTRAINT reject_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT reject_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT reject_raw_ck CHECK (length(raw) <= 2000)
);
COMMENT ON TABLE fuel.reject IS
  'Records turned away. A record that comes again in a later run is kept once; the runs count it.';
COMMENT ON COLUMN fuel.reject.source_id   IS 'The feed.';
COMMENT ON COLUMN fuel.reject.reason      IS 'Why, from a fixed list.';
COMMENT ON COLUMN fuel.reject.raw_md5     IS 'Digest of the record, to know it again.';
COMMENT ON COLUMN fuel.reject.raw         IS 'The record as it came, or its fields.';
COMMENT ON COLUMN fuel.reject.run_id      IS 'The run that turned it away first.';
COMMENT ON COLUMN fuel.reject.rejected_at IS 'When that was.';
GRANT SELECT, INSERT ON fuel.reject TO fuel_writer;

CREATE TABLE fuel.run_to_read (
  run_id integer NOT NULL,
  CONSTRAINT run_to_read_pk PRIMARY KEY (run_id),
  CONSTRAINT run_to_read_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id)
);
COMMENT ON TABLE fuel.run_to_read IS
  'Runs whose kept answers have to be read again: they count again, or would be believed now.';
COMMENT ON COLUMN fuel.run_to_read.run_id IS 'The run.';
GRANT SELECT, INSERT, DELETE ON fuel.run_to_read TO fuel_writer;

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
COMMENT ON TABLE fuel.withdrawal IS 'Decisions of a person that a run does not count, or counts again.';
COMMENT ON COLUMN fuel.withdrawal.withdrawal_id IS 'Number of the decision.';
COMMENT ON COLUMN fuel.withdrawal.run_id        IS 'The run.';
COMMENT ON COLUMN fuel.withdrawal.decided_at    IS 'When that was decided.';
COMMENT ON COLUMN fuel.withdrawal.counts_again  IS 'Whether it undoes an earlier decision.';
COMMENT ON COLUMN fuel.withdrawal.reason        IS 'Why.';
COMMENT ON COLUMN fuel.withdrawal.change_number IS 'Place in the order of commits, as of runs.';

-- Tables without a key say which row is changed by all of its columns, so that another server can follow.
CREATE TABLE fuel.change_counter (
  newest bigint NOT NULL
);
ALTER TABLE fuel.change_counter REPLICA IDENTITY FULL;
COMMENT ON TABLE fuel.change_counter IS 'One row, whose lock puts commits in order. A lock that readers cannot take.';
COMMENT ON COLUMN fuel.change_counter.newest IS 'The highest change_number of fuel.run.';
INSERT INTO fuel.change_counter (newest) VALUES (0);

CREATE TABLE fuel.answer (
  run_id      integer       NOT NULL,
  base_run_id integer,
  depth       smallint      NOT NULL,
  station_ids integer[]     NOT NULL,
  fuel_ids    smallint[]    NOT NULL,
  stamps      timestamptz[] NOT NULL,
  tenths      integer[]     NOT NULL,
  is_adopted  boolean       NOT NULL DEFAULT false,
  CONSTRAINT answer_pk PRIMARY KEY (run_id),
  CONSTRAINT answer_run_fk FOREIGN KEY (run_id) REFERENCES fuel.run (run_id),
  CONSTRAINT answer_base_fk FOREIGN KEY (base_run_id) REFERENCES fuel.answer (run_id),
  CONSTRAINT answer_base_ck CHECK (base_run_id < run_id),
  CONSTRAINT answer_depth_ck CHECK ((depth = 0) = (base_run_id IS NULL)),
  CONSTRAINT answer_lines_ck CHECK (
    cardinality(station_ids) = cardinality(fuel_ids) AND cardinality(station_ids) = cardinality(stamps)
    AND cardinality(station_ids) = cardinality(tenths))
);
COMMENT ON TABLE fuel.answer IS
  'What each answer of a feed states, whole and for ever. Facts follow from the answers that count. Most are stored as '
  'the difference from an earlier answer: all lines of the station records and fuels that differ.';
COMMENT ON COLUMN fuel.answer.run_id      IS 'The run that brought it.';
COMMENT ON COLUMN fuel.answer.base_run_id IS 'The answer from which it is a difference. NULL: it is stored whole.';
COMMENT ON COLUMN fuel.answer.depth       IS 'How many answers have to be read before it.';
COMMENT ON COLUMN fuel.answer.station_ids IS 'The station record of each line.';
COMMENT ON COLUMN fuel.answer.fuel_ids    IS 'The fuel of each line.';
COMMENT ON COLUMN fuel.answer.stamps      IS 'When the price of each line begins. -infinity: not stated.';
COMMENT ON COLUMN fuel.answer.tenths      IS
  'The price of each line, tenths of a cent per litre. 0: not offered. -1: unlike its base, it does not state this '
  'station record and fuel.';
COMMENT ON COLUMN fuel.answer.is_adopted IS
  'Whether it stands for all that a feed had stated before answers were kept: what it showed at the end. The facts of '
  'that time follow from no answer.';
GRANT SELECT, INSERT ON fuel.answer TO fuel_writer;

-- The keys of facts begin with the station, and nothing crosses stations, so these tables could be distributed by
-- station_id.
CREATE TABLE fuel.price (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  source_id    smallint    NOT NULL,
  effective_at timestamptz NOT NULL,
  price_tenths integer     NOT NULL,
  run_id       integer     NOT NULL,
  learnt_at    timestamptz NOT NULL,
  CONSTRAINT price_pk PRIMARY KEY (station_id, fuel_id, effective_at, source_id, price_tenths, run_id),
  CONSTRAINT price_plausible_ck CHECK (price_tenths BETWEEN 0 AND 30000)
) PARTITION BY RANGE (effective_at);
-- Who catches up asks run by run.
CREATE INDEX price_run_idx ON fuel.price (run_id);
COMMENT ON TABLE fuel.price IS
  'Facts: this source says that from this instant on the station sold this fuel at this price, and the answer of this '
  'run was the first of those that count to say so. They follow from fuel.answer and can be made again. One partition '
  'per UTC year, made when first needed.';
COMMENT ON COLUMN fuel.price.station_id   IS 'The station.';
COMMENT ON COLUMN fuel.price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.price.source_id    IS 'Who says so.';
COMMENT ON COLUMN fuel.price.effective_at IS 'When the price began, by the source''s own stamp.';
COMMENT ON COLUMN fuel.price.price_tenths IS
  'Tenths of a cent per litre: 1899 is 189.9 c/L. 0: the source says that it is not offered.';
COMMENT ON COLUMN fuel.price.run_id       IS 'The run that reported it.';
COMMENT ON COLUMN fuel.price.learnt_at    IS 'When its document was fetched.';
GRANT SELECT, INSERT ON fuel.price TO fuel_writer;

CREATE TABLE fuel.listing (
  station_id integer     NOT NULL,
  fuel_id    smallint    NOT NULL,
  source_id  smallint    NOT NULL,
  changed_at timestamptz NOT NULL,
  is_listed  boolean     NOT NULL,
  is_proof   boolean     NOT NULL DEFAULT true,
  run_id     integer     NOT NULL,
  CONSTRAINT listing_pk PRIMARY KEY (station_id, fuel_id, source_id, changed_at, run_id)
);
-- What a run lists, wherever its rows lie.
CREATE INDEX listing_run_idx ON fuel.listing (run_id);
COMMENT ON TABLE fuel.listing IS
  'Facts: what lists say by what they show and leave out. From an instant on the lists of the feed show the station and '
  'fuel, or do not. They follow from fuel.answer and can be made again.';
COMMENT ON COLUMN fuel.listing.station_id IS 'The station.';
COMMENT ON COLUMN fuel.listing.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.listing.source_id  IS 'The feed.';
COMMENT ON COLUMN fuel.listing.changed_at IS
  'When the list was taken. Where is_proof is false: when the last list was taken that showed it.';
COMMENT ON COLUMN fuel.listing.is_listed  IS 'Whether it is listed from then on.';
COMMENT ON COLUMN fuel.listing.is_proof IS
  'Whether that it is not listed means that it is not offered. False: the list was not complete.';
COMMENT ON COLUMN fuel.listing.run_id     IS 'The run that brought the list.';
GRANT SELECT, INSERT ON fuel.listing TO fuel_writer;

CREATE TABLE fuel.price_confirmation (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  price_tenths integer     NOT NULL,
  confirmed_by text        NOT NULL,
  confirmed_at timestamptz NOT NULL,
  CONSTRAINT price_confirmation_pk PRIMARY KEY (station_id, fuel_id, price_tenths),
  CONSTRAINT price_confirmation_station_fk FOREIGN KEY (station_id) REFERENCES fuel.station (station_id)
);
COMMENT ON TABLE fuel.price_confirmation IS
  'Prices that looked doubtful and that a person found to be true; see fuel.confirm_price.';
COMMENT ON COLUMN fuel.price_confirmation.station_id   IS 'The station.';
COMMENT ON COLUMN fuel.price_confirmation.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.price_confirmation.price_tenths IS 'The price, tenths of a cent per litre.';
COMMENT ON COLUMN fuel.price_confirmation.confirmed_by IS 'The login that confirmed it.';
COMMENT ON COLUMN fuel.price_confirmation.confirmed_at IS 'When.';
GRANT SELECT, INSERT ON fuel.price_confirmation TO fuel_writer;

CREATE TABLE fuel.archive_price (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  source_id    smallint    NOT NULL,
  effective_at timestamptz NOT NULL,
  price_tenths integer     NOT NULL,
  run_id       integer     NOT NULL,
  CONSTRAINT archive_price_plausible_ck CHECK (price_tenths BETWEEN 0 AND 30000)
) PARTITION BY LIST (source_id);
COMMENT ON TABLE fuel.archive_price IS
  'Reported facts of archives, as fuel.price has those of feeds. Partitioned by archive and by its local month, so '
  'that a new month is loaded into a table of its own. An archive does not tell when it was published: its facts '
  'count as known when they took effect, because the scheme published them then. Each month has a primary key of its '
  'own: station_id, fuel_id, effective_at, price_tenths. A fact is kept once; two files that give one instant two '
  'prices are two facts, and the higher counts.';
COMMENT ON COLUMN fuel.archive_price.station_id   IS 'The station record.';
COMMENT ON COLUMN fuel.archive_price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.archive_price.source_id    IS 'The archive.';
COMMENT ON COLUMN fuel.archive_price.effective_at IS 'When the price began.';
COMMENT ON COLUMN fuel.archive_price.price_tenths IS
  'Tenths of a cent per litre: 1899 is 189.9 c/L. 0: the archive says that it is not offered.';
COMMENT ON COLUMN fuel.archive_price.run_id       IS 'The run that loaded it.';
GRANT SELECT, INSERT ON fuel.archive_price TO fuel_writer;

CREATE TABLE fuel.withdrawn_archive_price (LIKE fuel.archive_price INCLUDING COMMENTS);
CREATE INDEX withdrawn_archive_price_run_idx ON fuel.withdrawn_archive_price (run_id);
ALTER TABLE fuel.withdrawn_archive_price REPLICA IDENTITY FULL;
COMMENT ON TABLE fuel.withdrawn_archive_price IS
  'Facts of withdrawn files of archives, out of fuel.archive_price until the file counts again.';

CREATE TABLE fuel.fact_sum (
  run_id        integer NOT NULL,
  change_number bigint,
  facts         bigint  NOT NULL,
  hash_sum      numeric NOT NULL,
  CONSTRAINT fact_sum_facts_ck CHECK (facts > 0)
);
CREATE INDEX fact_sum_open_idx ON fuel.fact_sum (run_id) WHERE change_number IS NULL;
CREATE INDEX fact_sum_change_idx ON fuel.fact_sum (change_number);
ALTER TABLE fuel.fact_sum REPLICA IDENTITY FULL;
COMMENT ON TABLE fuel.fact_sum IS
  'Sums over the evidence of runs as it was stored: rows of answer and archive_price, and of price and listing of runs '
  'from before answers were kept. Only grows.';
COMMENT ON COLUMN fuel.fact_sum.run_id        IS 'The run that the facts name.';
COMMENT ON COLUMN fuel.fact_sum.change_number IS 'The link of the chain that covers it. NULL: the next one will.';
COMMENT ON COLUMN fuel.fact_sum.facts         IS 'How many rows.';
COMMENT ON COLUMN fuel.fact_sum.hash_sum      IS 'The sum of their hashes.';

CREATE TABLE fuel.chain_link (
  change_number bigint NOT NULL,
  digest        bytea  NOT NULL,
  CONSTRAINT chain_link_pk PRIMARY KEY (change_number),
  CONSTRAINT chain_link_digest_ck CHECK (length(digest) = 32)
);
COMMENT ON TABLE fuel.chain_link IS
  'The chain of digests, a link for each change: SHA-256 over the link before and what the change says.';
COMMENT ON COLUMN fuel.chain_link.change_number IS 'The change: of a run or of a withdrawal.';
COMMENT ON COLUMN fuel.chain_link.digest        IS 'The digest.';

CREATE TABLE fuel.audit_log (
  entry_id      bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
  changed_at    timestamptz NOT NULL,
  login         text        NOT NULL,
  table_name    text        NOT NULL,
  was           jsonb,
  became        jsonb,
  change_number bigint,
  CONSTRAINT audit_log_pk PRIMARY KEY (entry_id),
  CONSTRAINT audit_log_row_ck CHECK (was IS NOT NULL OR became IS NOT NULL)
);
CREATE INDEX audit_log_open_idx ON fuel.audit_log (entry_id) WHERE change_number IS NULL;
CREATE INDEX audit_log_change_idx ON fuel.audit_log (change_number);
COMMENT ON TABLE fuel.audit_log IS
  'Changes of rows that decide what counts: whether a finished run counts, settings of sources, decisions about '
  'stations, descriptions that were taken back. Only grows.';
COMMENT ON COLUMN fuel.audit_log.entry_id      IS 'Its number.';
COMMENT ON COLUMN fuel.audit_log.changed_at    IS 'When, by the clock of the server.';
COMMENT ON COLUMN fuel.audit_log.login         IS 'The login that did it.';
COMMENT ON COLUMN fuel.audit_log.table_name    IS 'The table, in schema fuel.';
COMMENT ON COLUMN fuel.audit_log.was           IS 'The row before. NULL: there was none.';
COMMENT ON COLUMN fuel.audit_log.became        IS 'The row after. NULL: there is none.';
COMMENT ON COLUMN fuel.audit_log.change_number IS 'The link of the chain that covers it. NULL: the next one will.';
