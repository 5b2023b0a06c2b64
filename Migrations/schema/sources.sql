-- Who tells prices: feeds and archives, with their limits, their terms and the days that they cover.

CREATE TABLE fuel.source (
  source_id             smallint    NOT NULL GENERATED ALWAYS AS IDENTITY,
  source                text        NOT NULL,
  state                 text        NOT NULL,
  cadence               interval    NOT NULL,
  price_lapses_after    interval    NOT NULL,
  sight_lapses_after    interval    NOT NULL,
  tells_whole_days      boolean     NOT NULL,
  attribution           text        NOT NULL,
  is_enabled            boolean     NOT NULL,
  calls_per_month       integer     NOT NULL,
  first_taken_at        timestamptz,
  last_taken_at         timestamptz,
  last_listed_at        timestamptz,
  not_before_at         timestamptz,
  account               text        NOT NULL,
  delay                 interval    NOT NULL DEFAULT '00:00:00',
  holding_confirms      boolean     NOT NULL DEFAULT true,
  kind                  text        NOT NULL DEFAULT 'feed',
  scheme                text        NOT NULL,
  are_links_due         boolean     NOT NULL DEFAULT false,
  has_codes             boolean     NOT NULL DEFAULT true,
  changes               bigint      NOT NULL DEFAULT 0,
  publishes_tomorrow_at time,
  days_known_until_at   timestamptz,
  CONSTRAINT source_pk PRIMARY KEY (source_id),
  CONSTRAINT source_name_uq UNIQUE (source),
  CONSTRAINT source_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT source_order_ck CHECK (first_taken_at <= last_taken_at),
  CONSTRAINT source_delay_ck CHECK (delay BETWEEN '0' AND '7 days'),
  CONSTRAINT source_kind_ck CHECK (kind IN ('feed', 'archive')),
  CONSTRAINT source_not_before_ck CHECK (isfinite(not_before_at)),
  CONSTRAINT source_instants_ck CHECK (
    isfinite(first_taken_at) AND isfinite(last_taken_at) AND isfinite(last_listed_at))
);
COMMENT ON TABLE fuel.source IS 'Who tells us prices: feeds and archives.';
COMMENT ON COLUMN fuel.source.source_id             IS 'Number kept beside every price.';
COMMENT ON COLUMN fuel.source.source                IS 'The id of the feed or archive, such as qld-fpd.';
COMMENT ON COLUMN fuel.source.state                 IS 'State that it mainly covers.';
COMMENT ON COLUMN fuel.source.cadence               IS 'How often a run is expected.';
COMMENT ON COLUMN fuel.source.price_lapses_after IS 'A price is not believed for longer than this after its own stamp.';
COMMENT ON COLUMN fuel.source.sight_lapses_after IS
  'A price is not believed for longer than this after it was last seen listed.';
COMMENT ON COLUMN fuel.source.tells_whole_days IS
  'Whether its prices hold for whole price days, so that a day is known from any run that has it. Otherwise averages '
  'begin with its first run.';
COMMENT ON COLUMN fuel.source.attribution           IS 'The wording that the licence asks for.';
COMMENT ON COLUMN fuel.source.is_enabled            IS 'Whether the configuration has it switched on.';
COMMENT ON COLUMN fuel.source.calls_per_month       IS 'Allowed requests per UTC month; 0 is no limit.';
COMMENT ON COLUMN fuel.source.first_taken_at IS
  'When its oldest stored documents were fetched. Averages begin here: before it only prices that had not changed '
  'since are known, which is a biased choice. NULL before the first run.';
COMMENT ON COLUMN fuel.source.last_taken_at IS
  'When its newest stored documents were fetched. NULL before the first run.';
COMMENT ON COLUMN fuel.source.last_listed_at IS
  'When its newest list was fetched that confirms prices: this one value confirms every price still listed. NULL before '
  'the first, and for feeds whose prices end by themselves.';
COMMENT ON COLUMN fuel.source.not_before_at IS
  'The provider asked not to be called before this. NULL where it did not.';
COMMENT ON COLUMN fuel.source.account IS
  'Feeds of one account share its key, its token and its quota. Mostly the feed itself.';
COMMENT ON COLUMN fuel.source.delay IS
  'How old its prices are when they are published, by its own rule. 0: they are of now.';
COMMENT ON COLUMN fuel.source.holding_confirms IS
  'Whether a doubtful price that is still reported a day later is believed. Not where the provider stamps everything '
  'anew each day, so that a mistake looks confirmed for weeks.';
COMMENT ON COLUMN fuel.source.kind                  IS 'feed (asked again and again) or archive (files of the past).';
COMMENT ON COLUMN fuel.source.scheme IS
  'The official scheme it publishes, by the name of its feed: records of one scheme may be one place.';
COMMENT ON COLUMN fuel.source.are_links_due IS
  'It brought stations, wordings or sightings since its records were last matched.';
COMMENT ON COLUMN fuel.source.has_codes IS
  'Its station codes are the scheme''s own numbers: two codes are two stations. False: they are made of name and '
  'address.';
COMMENT ON COLUMN fuel.source.changes IS
  'Counts up with everything it brings, to tell whether what was made of it still holds.';
COMMENT ON COLUMN fuel.source.publishes_tomorrow_at IS
  'Local time from which on the feed has the prices of the next price day. NULL: it never has.';
COMMENT ON COLUMN fuel.source.days_known_until_at IS
  'What fuel.source_day states about the lists of a feed before this instant is up to date. NULL: nothing is.';
GRANT
  SELECT, INSERT,
  UPDATE (
    state, cadence, price_lapses_after, sight_lapses_after, tells_whole_days, attribution, is_enabled,
    calls_per_month, first_taken_at, last_taken_at, last_listed_at, not_before_at, account, delay, holding_confirms,
    scheme, are_links_due, has_codes, changes, publishes_tomorrow_at, days_known_until_at)
ON fuel.source TO fuel_writer;

CREATE TABLE fuel.price_lapse (
  source_id    smallint NOT NULL,
  fuel_id      smallint NOT NULL,
  lapses_after interval NOT NULL,
  CONSTRAINT price_lapse_pk PRIMARY KEY (source_id, fuel_id),
  CONSTRAINT price_lapse_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id)
);
COMMENT ON TABLE fuel.price_lapse IS
  'Fuels whose prices a source is believed for longer or less long than for the others.';
COMMENT ON COLUMN fuel.price_lapse.lapses_after IS 'As fuel.source.price_lapses_after, for this fuel.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.price_lapse TO fuel_writer;

CREATE TABLE fuel.terms (
  source_id   smallint    NOT NULL,
  since_at    timestamptz NOT NULL,
  licence     text        NOT NULL,
  attribution text        NOT NULL,
  CONSTRAINT terms_pk PRIMARY KEY (source_id, since_at),
  CONSTRAINT terms_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id)
);
COMMENT ON TABLE fuel.terms IS 'Under which terms a feed''s data were taken, since when.';
COMMENT ON COLUMN fuel.terms.since_at    IS 'When the configuration first said so.';
COMMENT ON COLUMN fuel.terms.licence     IS 'The licence.';
COMMENT ON COLUMN fuel.terms.attribution IS 'The wording it asks for.';
GRANT SELECT, INSERT ON fuel.terms TO fuel_writer;

CREATE TABLE fuel.archive_coverage (
  source_id smallint NOT NULL,
  month     date     NOT NULL,
  last_day  date     NOT NULL,
  days      integer  NOT NULL DEFAULT 0,
  CONSTRAINT archive_coverage_pk PRIMARY KEY (source_id, month),
  CONSTRAINT archive_coverage_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT archive_coverage_day_ck CHECK (last_day BETWEEN month AND month + 30)
);
COMMENT ON TABLE fuel.archive_coverage IS
  'How far the files of an archive reach in each local month of which they hold prices. No price is carried into a '
  'day that neither an archive nor a feed of the scheme covers.';
COMMENT ON COLUMN fuel.archive_coverage.month     IS 'First day of the month.';
COMMENT ON COLUMN fuel.archive_coverage.last_day  IS 'The last day on which a price began.';
COMMENT ON COLUMN fuel.archive_coverage.days IS
  'The days on which a price began, as bits; the lowest bit is the first day.';
GRANT SELECT, INSERT, UPDATE (last_day, days) ON fuel.archive_coverage TO fuel_writer;

CREATE TABLE fuel.source_day (
  source_id smallint NOT NULL,
  day       date     NOT NULL,
  why       text,
  CONSTRAINT source_day_pk PRIMARY KEY (source_id, day),
  CONSTRAINT source_day_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT source_day_why_ck CHECK (why IN ('not_loaded', 'outage', 'frozen', 'late', 'before_first_run'))
);
COMMENT ON TABLE fuel.source_day IS 'Which local price days each feed and archive covers, as of the last aggregate.';
COMMENT ON COLUMN fuel.source_day.day       IS 'The price day of its state.';
COMMENT ON COLUMN fuel.source_day.why       IS 'Why it is not covered. NULL: it is.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.source_day TO fuel_writer;
