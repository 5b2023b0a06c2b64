-- The timeline: for each station and fuel the spans during which one price is believed, made by one
-- function of the program from everything that was reported. What answers a question about prices reads
-- spans; nothing else knows for how long a price is believed, or which price is doubtful.

CREATE TABLE fuel.span (
  station_id     integer     NOT NULL,
  fuel_id        smallint    NOT NULL,
  from_at        timestamptz NOT NULL,
  until_at       timestamptz NOT NULL,
  lapses_at      timestamptz NOT NULL,
  is_open        boolean     NOT NULL,
  is_ended       boolean     NOT NULL,
  price_tenths   integer     NOT NULL,
  source_id      smallint    NOT NULL,
  seen_by        smallint    NOT NULL,
  stated_at      timestamptz NOT NULL,
  learnt_at      timestamptz NOT NULL,
  is_suspect     boolean     NOT NULL,
  doubt          text,
  doubt_from_at  timestamptz,
  doubt_until_at timestamptz,
  CONSTRAINT span_pk PRIMARY KEY (station_id, fuel_id, from_at),
  CONSTRAINT span_order_ck CHECK (from_at <= until_at AND until_at <= lapses_at),
  CONSTRAINT span_price_ck CHECK (price_tenths BETWEEN 1 AND 30000),
  CONSTRAINT span_doubt_ck CHECK (
    doubt IN ('far', 'placeholder')
    AND doubt_from_at IS NOT NULL AND doubt_until_at IS NOT NULL
    OR doubt IS NULL AND doubt_from_at IS NULL AND doubt_until_at IS NULL)
) PARTITION BY RANGE (from_at);
CREATE INDEX span_suspect_idx ON fuel.span (fuel_id, from_at) WHERE is_suspect;
COMMENT ON TABLE  fuel.span                IS
  'The times during which one price of a station and fuel is believed. Made from the reports of all its '
  'records; spans of one station and fuel do not overlap. One partition per UTC year.';
COMMENT ON COLUMN fuel.span.station_id     IS 'The station.';
COMMENT ON COLUMN fuel.span.fuel_id        IS 'The fuel.';
COMMENT ON COLUMN fuel.span.from_at        IS 'When the price began, restatements folded.';
COMMENT ON COLUMN fuel.span.until_at       IS
  'Until when it is believed. Of an open span: until when, if no list shows it any more; see fuel.believed.';
COMMENT ON COLUMN fuel.span.lapses_at      IS
  'Until when it would be believed had it been seen all the time.';
COMMENT ON COLUMN fuel.span.is_open        IS 'Whether lists to come keep it alive.';
COMMENT ON COLUMN fuel.span.is_ended       IS 'Whether a report ended it. False: it lapsed, or it is open.';
COMMENT ON COLUMN fuel.span.price_tenths   IS 'Tenths of a cent per litre.';
COMMENT ON COLUMN fuel.span.source_id      IS 'Who reported its beginning.';
COMMENT ON COLUMN fuel.span.seen_by        IS 'Who reported it last; that feed''s lists keep it alive.';
COMMENT ON COLUMN fuel.span.stated_at      IS
  'When its last report began: later than from_at where the price was stated again.';
COMMENT ON COLUMN fuel.span.learnt_at      IS 'When its last report was first fetched.';
COMMENT ON COLUMN fuel.span.is_suspect     IS
  'Far from the station''s own prices, so that its neighbours decide whether it is doubtful.';
COMMENT ON COLUMN fuel.span.doubt          IS 'Why it is doubtful: far or placeholder. NULL: it is not.';
COMMENT ON COLUMN fuel.span.doubt_from_at  IS 'From when on it is doubtful.';
COMMENT ON COLUMN fuel.span.doubt_until_at IS 'Until when it is doubtful.';
COMMENT ON CONSTRAINT span_pk       ON fuel.span IS 'A span begins once.';
COMMENT ON CONSTRAINT span_order_ck ON fuel.span IS 'It ends after it begins, and lapses at its end or later.';
COMMENT ON CONSTRAINT span_price_ck ON fuel.span IS 'As in fuel.price; what is not offered has no span.';
COMMENT ON CONSTRAINT span_doubt_ck ON fuel.span IS 'A doubt has a known reason and both ends.';

CREATE TABLE fuel.present_span (
  station_id     integer     NOT NULL,
  fuel_id        smallint    NOT NULL,
  from_at        timestamptz NOT NULL,
  until_at       timestamptz NOT NULL,
  lapses_at      timestamptz NOT NULL,
  is_open        boolean     NOT NULL,
  is_ended       boolean     NOT NULL,
  price_tenths   integer     NOT NULL,
  source_id      smallint    NOT NULL,
  seen_by        smallint    NOT NULL,
  stated_at      timestamptz NOT NULL,
  learnt_at      timestamptz NOT NULL,
  doubt          text,
  doubt_from_at  timestamptz,
  doubt_until_at timestamptz,
  next_from_at   timestamptz,
  next_tenths    integer,
  CONSTRAINT present_span_pk PRIMARY KEY (station_id, fuel_id),
  CONSTRAINT present_span_next_ck CHECK ((next_from_at IS NULL) = (next_tenths IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX present_span_fuel_idx ON fuel.present_span (fuel_id);
COMMENT ON TABLE  fuel.present_span                IS
  'A copy of the newest span of every station and fuel, and of the one after it, so that nobody walks the '
  'history to know the present. A station and fuel without a row has no span.';
COMMENT ON COLUMN fuel.present_span.station_id     IS 'The station.';
COMMENT ON COLUMN fuel.present_span.fuel_id        IS 'The fuel.';
COMMENT ON COLUMN fuel.present_span.from_at        IS
  'As in fuel.span: the newest that had begun when it was written, else the first one.';
COMMENT ON COLUMN fuel.present_span.until_at       IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.lapses_at      IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.is_open        IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.is_ended       IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.price_tenths   IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.source_id      IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.seen_by        IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.stated_at      IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.learnt_at      IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.doubt          IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.doubt_from_at  IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.doubt_until_at IS 'As in fuel.span.';
COMMENT ON COLUMN fuel.present_span.next_from_at   IS 'When the next span begins. NULL: none is known.';
COMMENT ON COLUMN fuel.present_span.next_tenths    IS 'Its price, tenths of a cent per litre. NULL: none is known.';
COMMENT ON CONSTRAINT present_span_pk      ON fuel.present_span IS 'One row per station and fuel.';
COMMENT ON CONSTRAINT present_span_next_ck ON fuel.present_span IS 'The next price has an instant.';

CREATE TABLE fuel.touched (
  station_id integer     NOT NULL,
  fuel_id    smallint    NOT NULL,
  from_at    timestamptz NOT NULL,
  CONSTRAINT touched_pk PRIMARY KEY (station_id, fuel_id)
);
COMMENT ON TABLE  fuel.touched            IS
  'Records and fuels of which something was reported since their spans were made. A run makes the spans of '
  'its own; an aggregate those that are left: archives, links, confirmations.';
COMMENT ON COLUMN fuel.touched.station_id IS 'The station record.';
COMMENT ON COLUMN fuel.touched.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.touched.from_at    IS 'From when on something may be different.';
COMMENT ON CONSTRAINT touched_pk ON fuel.touched IS 'Touched once.';

CREATE TABLE fuel.touched_month (
  source_id smallint NOT NULL,
  month     date     NOT NULL,
  CONSTRAINT touched_month_pk PRIMARY KEY (source_id, month)
);
COMMENT ON TABLE  fuel.touched_month           IS
  'Local months of archives that were loaded since their spans were made: every station and fuel of them is '
  'touched.';
COMMENT ON COLUMN fuel.touched_month.source_id IS 'The archive.';
COMMENT ON COLUMN fuel.touched_month.month     IS 'First day of the month.';
COMMENT ON CONSTRAINT touched_month_pk ON fuel.touched_month IS 'Touched once.';

CREATE TABLE fuel.station_month (
  station_id integer    NOT NULL,
  fuel_id    smallint   NOT NULL,
  month      date       NOT NULL,
  known_days integer    NOT NULL,
  standing   smallint[] NOT NULL,
  mean       integer[]  NOT NULL,
  low        smallint[] NOT NULL,
  high       smallint[] NOT NULL,
  last       smallint[] NOT NULL,
  seconds    integer[]  NOT NULL,
  CONSTRAINT station_month_pk PRIMARY KEY (station_id, fuel_id, month),
  CONSTRAINT station_month_month_ck CHECK (extract(day FROM month) = 1),
  CONSTRAINT station_month_days_ck CHECK (
    cardinality(standing) BETWEEN 1 AND 31
    AND cardinality(mean) = cardinality(standing) AND cardinality(low) = cardinality(standing)
    AND cardinality(high) = cardinality(standing) AND cardinality(last) = cardinality(standing)
    AND cardinality(seconds) = cardinality(standing))
) PARTITION BY RANGE (month);
CREATE INDEX station_month_fuel_idx ON fuel.station_month (month, fuel_id);
COMMENT ON TABLE  fuel.station_month            IS
  'What a station charged for a fuel on each price day that has ended, by month: the layer between spans and '
  'the averages of regions. Position 1 of each array is the first day of the month. One partition per '
  'year.';
COMMENT ON COLUMN fuel.station_month.station_id IS 'The station.';
COMMENT ON COLUMN fuel.station_month.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.station_month.month      IS 'First day of the month.';
COMMENT ON COLUMN fuel.station_month.known_days IS 'On how many of its days a price is known.';
COMMENT ON COLUMN fuel.station_month.standing   IS
  '0: nothing was reported; 1: a price is known; 2: every price is doubtful; 3: the price is too old.';
COMMENT ON COLUMN fuel.station_month.mean       IS
  'Mean over the time for which a price is believed, in 65,536ths of a tenth of a cent per litre.';
COMMENT ON COLUMN fuel.station_month.low        IS 'Lowest price, tenths of a cent per litre.';
COMMENT ON COLUMN fuel.station_month.high       IS 'Highest price, tenths of a cent per litre.';
COMMENT ON COLUMN fuel.station_month.last       IS 'Last price, tenths of a cent per litre.';
COMMENT ON COLUMN fuel.station_month.seconds    IS 'For how many seconds of the day a price is believed.';
COMMENT ON CONSTRAINT station_month_pk       ON fuel.station_month IS 'A month once.';
COMMENT ON CONSTRAINT station_month_month_ck ON fuel.station_month IS 'The first of a month.';
COMMENT ON CONSTRAINT station_month_days_ck  ON fuel.station_month IS 'One entry a day in each array.';

CREATE TABLE fuel.stale_days (
  station_id  integer  NOT NULL,
  fuel_id     smallint NOT NULL,
  first_month date     NOT NULL,
  last_month  date     NOT NULL,
  CONSTRAINT stale_days_pk PRIMARY KEY (station_id, fuel_id),
  CONSTRAINT stale_days_order_ck CHECK (first_month <= last_month)
);
COMMENT ON TABLE  fuel.stale_days             IS
  'Stations and fuels whose spans have changed since their days were made.';
COMMENT ON COLUMN fuel.stale_days.station_id  IS 'The station.';
COMMENT ON COLUMN fuel.stale_days.fuel_id     IS 'The fuel.';
COMMENT ON COLUMN fuel.stale_days.first_month IS 'First day of the first month to make again.';
COMMENT ON COLUMN fuel.stale_days.last_month  IS 'First day of the last one.';
COMMENT ON CONSTRAINT stale_days_pk       ON fuel.stale_days IS 'Stale once.';
COMMENT ON CONSTRAINT stale_days_order_ck ON fuel.stale_days IS 'At least one month.';

CREATE TABLE fuel.archive_coverage (
  source_id smallint NOT NULL,
  month     date     NOT NULL,
  last_day  date     NOT NULL,
  CONSTRAINT archive_coverage_pk PRIMARY KEY (source_id, month),
  CONSTRAINT archive_coverage_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT archive_coverage_day_ck CHECK (last_day BETWEEN month AND month + 30)
);
COMMENT ON TABLE  fuel.archive_coverage           IS
  'How far the files of an archive reach in each local month of which they hold prices. No price is '
  'carried into a day that neither an archive nor a feed of the scheme covers.';
COMMENT ON COLUMN fuel.archive_coverage.source_id IS 'The archive.';
COMMENT ON COLUMN fuel.archive_coverage.month     IS 'First day of the month.';
COMMENT ON COLUMN fuel.archive_coverage.last_day  IS 'The last day on which a price began.';
COMMENT ON CONSTRAINT archive_coverage_pk        ON fuel.archive_coverage IS 'A month once.';
COMMENT ON CONSTRAINT archive_coverage_source_fk ON fuel.archive_coverage IS 'A known archive.';
COMMENT ON CONSTRAINT archive_coverage_day_ck    ON fuel.archive_coverage IS 'A day of the month.';
INSERT INTO fuel.archive_coverage (source_id, month, last_day)
SELECT told.source_id, date_trunc('month', told.day)::date, max(told.day)
FROM (
  SELECT DISTINCT
    archived.source_id,
    ((archived.effective_at AT TIME ZONE state.time_zone) - state.price_day_starts)::date AS day
  FROM fuel.archive_price AS archived
  JOIN fuel.source USING (source_id)
  JOIN fuel.state USING (state)
) AS told
GROUP BY told.source_id, date_trunc('month', told.day);

CREATE TABLE fuel.source_day (
  source_id smallint NOT NULL,
  day       date     NOT NULL,
  why       text,
  CONSTRAINT source_day_pk PRIMARY KEY (source_id, day),
  CONSTRAINT source_day_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id),
  CONSTRAINT source_day_why_ck CHECK (why IN ('not_loaded', 'outage', 'late', 'before_first_run'))
);
COMMENT ON TABLE  fuel.source_day           IS
  'Which local price days each feed and archive covers, as of the last aggregate.';
COMMENT ON COLUMN fuel.source_day.source_id IS 'The feed or archive.';
COMMENT ON COLUMN fuel.source_day.day       IS 'The price day of its state.';
COMMENT ON COLUMN fuel.source_day.why       IS 'Why it is not covered. NULL: it is.';
COMMENT ON CONSTRAINT source_day_pk        ON fuel.source_day IS 'A day once.';
COMMENT ON CONSTRAINT source_day_source_fk ON fuel.source_day IS 'A known source.';
COMMENT ON CONSTRAINT source_day_why_ck    ON fuel.source_day IS 'A known reason.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.source_day TO fuel_writer;

CREATE TABLE fuel.price_lapse (
  source_id    smallint NOT NULL,
  fuel_id      smallint NOT NULL,
  lapses_after interval NOT NULL,
  CONSTRAINT price_lapse_pk PRIMARY KEY (source_id, fuel_id),
  CONSTRAINT price_lapse_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id)
);
COMMENT ON TABLE  fuel.price_lapse              IS
  'Fuels whose prices a source is believed for longer or less long than for the others.';
COMMENT ON COLUMN fuel.price_lapse.source_id    IS 'The feed or archive.';
COMMENT ON COLUMN fuel.price_lapse.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.price_lapse.lapses_after IS 'As fuel.source.price_lapses_after, for this fuel.';
COMMENT ON CONSTRAINT price_lapse_pk        ON fuel.price_lapse IS 'One limit a fuel.';
COMMENT ON CONSTRAINT price_lapse_source_fk ON fuel.price_lapse IS 'A known source.';

ALTER TABLE fuel.daily_rollup
  ADD COLUMN stations_expected integer,
  ADD COLUMN is_complete boolean,
  ADD COLUMN is_usable boolean,
  ADD COLUMN complete_states integer,
  ADD COLUMN states integer;
COMMENT ON COLUMN fuel.daily_rollup.stations_expected IS
  'Of how many stations a price is expected: those with a price in this month or the one before.';
COMMENT ON COLUMN fuel.daily_rollup.is_complete       IS
  'Over, covered by a source, long enough known, and of enough of the expected stations; for the nation in '
  'every state.';
COMMENT ON COLUMN fuel.daily_rollup.is_usable         IS
  'Whether verdicts may rest on it: known for most of the expected stations'' day, so far as it has passed.';
COMMENT ON COLUMN fuel.daily_rollup.complete_states   IS 'How many states are complete.';
COMMENT ON COLUMN fuel.daily_rollup.states            IS 'How many there are; 1 for a region within a state.';

ALTER TABLE fuel.state ADD COLUMN days_made_until date;
COMMENT ON COLUMN fuel.state.days_made_until IS
  'The last price day of which fuel.station_month was made. NULL: none.';

-- Every price was reported before there was a timeline.
INSERT INTO fuel.touched (station_id, fuel_id, from_at)
SELECT pair.station_id, pair.fuel_id, '-infinity'::timestamptz FROM fuel.current_price AS pair
UNION
SELECT DISTINCT archived.station_id, archived.fuel_id, '-infinity'::timestamptz
FROM fuel.archive_price AS archived;

GRANT SELECT, INSERT, UPDATE, DELETE ON
  fuel.span, fuel.present_span, fuel.touched, fuel.touched_month, fuel.station_month, fuel.stale_days
  TO fuel_writer;
GRANT SELECT, INSERT, UPDATE ON fuel.archive_coverage TO fuel_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.price_lapse TO fuel_writer;
GRANT UPDATE (days_made_until) ON fuel.state TO fuel_writer;

-- Routines whose shape has changed; their present texts are applied after this.
DROP FUNCTION IF EXISTS fuel.absorb(
  integer, timestamptz, timestamptz, boolean, numeric, numeric, timestamptz);
