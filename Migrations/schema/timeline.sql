-- The timeline: for each station and fuel the spans during which one price is believed, made from everything that was
-- reported. What answers a question about prices reads spans.

CREATE TABLE fuel.shown_price (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  source_id    smallint    NOT NULL,
  price_tenths integer     NOT NULL,
  stamped_at   timestamptz NOT NULL,
  learnt_at    timestamptz NOT NULL,
  is_listed    boolean,
  CONSTRAINT shown_price_pk PRIMARY KEY (station_id, fuel_id)
) WITH (fillfactor = 80);
CREATE INDEX shown_price_source_idx ON fuel.shown_price (source_id);
COMMENT ON TABLE fuel.shown_price IS
  'What a feed stated last of every station and fuel of which a fact counts: the newest of its facts. The present of '
  'readers is fuel.present_span.';
COMMENT ON COLUMN fuel.shown_price.price_tenths IS 'The price, tenths of a cent per litre. 0: not offered.';
COMMENT ON COLUMN fuel.shown_price.stamped_at   IS 'When it begins.';
COMMENT ON COLUMN fuel.shown_price.learnt_at    IS 'When it was fetched.';
COMMENT ON COLUMN fuel.shown_price.is_listed IS
  'Whether the newest list that says anything about it shows it. NULL: no list ever did, as with feeds whose prices end '
  'by themselves.';
GRANT SELECT, INSERT, UPDATE ON fuel.shown_price TO fuel_writer;

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
    doubt IN ('far', 'placeholder') AND doubt_from_at IS NOT NULL AND doubt_until_at IS NOT NULL OR doubt IS NULL
    AND doubt_from_at IS NULL AND doubt_until_at IS NULL)
) PARTITION BY RANGE (from_at);
CREATE INDEX span_suspect_idx ON fuel.span (fuel_id, from_at) WHERE is_suspect;
COMMENT ON TABLE fuel.span IS
  'The times during which one price of a station and fuel is believed. Made from the reports of all its records; '
  'spans of one station and fuel do not overlap. One partition per UTC year.';
COMMENT ON COLUMN fuel.span.from_at        IS 'When the price began, restatements folded.';
COMMENT ON COLUMN fuel.span.until_at IS
  'Until when it is believed. Of an open span: until when, if no list shows it any more; see fuel.believed.';
COMMENT ON COLUMN fuel.span.lapses_at      IS 'Until when it would be believed had it been seen all the time.';
COMMENT ON COLUMN fuel.span.is_open        IS 'Whether lists to come keep it alive.';
COMMENT ON COLUMN fuel.span.is_ended       IS 'Whether a report ended it. False: it lapsed, or it is open.';
COMMENT ON COLUMN fuel.span.price_tenths   IS 'Tenths of a cent per litre.';
COMMENT ON COLUMN fuel.span.source_id      IS 'Who reported its beginning.';
COMMENT ON COLUMN fuel.span.seen_by        IS 'Who reported it last; that feed''s lists keep it alive.';
COMMENT ON COLUMN fuel.span.stated_at IS
  'When its last report began: later than from_at where the price was stated again.';
COMMENT ON COLUMN fuel.span.learnt_at      IS 'When its last report was first fetched.';
COMMENT ON COLUMN fuel.span.is_suspect IS
  'Far from the station''s own prices, so that its neighbours decide whether it is doubtful.';
COMMENT ON COLUMN fuel.span.doubt          IS 'Why it is doubtful: far or placeholder. NULL: it is not.';
COMMENT ON COLUMN fuel.span.doubt_from_at  IS 'From when on it is doubtful.';
COMMENT ON COLUMN fuel.span.doubt_until_at IS 'Until when it is doubtful.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.span TO fuel_writer;

CREATE TABLE fuel.present_span (
  LIKE fuel.span INCLUDING COMMENTS,
  next_from_at   timestamptz,
  next_tenths    integer,
  CONSTRAINT present_span_pk PRIMARY KEY (station_id, fuel_id),
  CONSTRAINT present_span_next_ck CHECK ((next_from_at IS NULL) = (next_tenths IS NULL))
) WITH (fillfactor = 80);
ALTER TABLE fuel.present_span DROP COLUMN is_suspect;
CREATE INDEX present_span_fuel_idx ON fuel.present_span (fuel_id);
COMMENT ON TABLE fuel.present_span IS
  'A copy of the newest span of every station and fuel, and of the one after it, so that nobody walks the history to '
  'know the present. A station and fuel without a row has no span.';
COMMENT ON COLUMN fuel.present_span.from_at IS
  'As in fuel.span: the newest that had begun when it was written, else the first one.';
COMMENT ON COLUMN fuel.present_span.next_from_at   IS 'When the next span begins. NULL: none is known.';
COMMENT ON COLUMN fuel.present_span.next_tenths    IS 'Its price, tenths of a cent per litre. NULL: none is known.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.present_span TO fuel_writer;

CREATE TABLE fuel.due (
  step     text     NOT NULL,
  number   integer  NOT NULL,
  part     smallint NOT NULL,
  from_on  date     NOT NULL,
  until_on date     NOT NULL DEFAULT 'infinity',
  CONSTRAINT due_pk PRIMARY KEY (step, number, part),
  CONSTRAINT due_step_ck CHECK (step IN ('months', 'spans', 'days', 'averages')),
  CONSTRAINT due_order_ck CHECK (from_on <= until_on),
  CONSTRAINT due_month_ck CHECK (step <> 'averages' OR (
    number = date_trunc('month', from_on::timestamp)::date - date '1970-01-01'
    AND until_on < date_trunc('month', from_on::timestamp) + interval '1 month'))
);
COMMENT ON TABLE fuel.due IS
  'The one list of what an aggregate has to make again.';
COMMENT ON COLUMN fuel.due.step IS
  'months: months of an archive, in which every record and fuel has spans to make; spans: those of a record and fuel, '
  'where no run made them; days: those of a station and fuel changed; averages: '
  'those of days of a fuel within a month may have changed.';
COMMENT ON COLUMN fuel.due.number IS
  'The station record, the station, or the first day of the month in days since 1970-01-01.';
COMMENT ON COLUMN fuel.due.part     IS 'The fuel; of a month the archive.';
COMMENT ON COLUMN fuel.due.from_on  IS 'The first day that may be different.';
COMMENT ON COLUMN fuel.due.until_on IS 'The last one; of months any day of the last month.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.due TO fuel_writer;
