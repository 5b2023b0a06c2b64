-- The stored history: a set of reported facts that only grows, so that neither order nor
-- repetition matters. Everything after these two tables can be computed from them again.
--
-- Keys hold station_id and time and nothing crosses stations, so that the tables can be distributed
-- by station_id as they are.

CREATE TABLE fuel.price (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  source_id    smallint    NOT NULL,
  effective_at timestamptz NOT NULL,
  price_tenths integer     NOT NULL,
  run_id       integer     NOT NULL,
  learnt_at    timestamptz NOT NULL,
  CONSTRAINT price_pk PRIMARY KEY (station_id, fuel_id, effective_at, source_id, price_tenths),
  CONSTRAINT price_plausible_ck CHECK (price_tenths BETWEEN 0 AND 30000)
) PARTITION BY RANGE (effective_at);
COMMENT ON TABLE  fuel.price              IS
  'Reported facts: this source says that from this instant on the station sold this fuel at this '
  'price, and we learnt it then. One partition per UTC month, made when first needed.';
COMMENT ON COLUMN fuel.price.station_id   IS 'The station.';
COMMENT ON COLUMN fuel.price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.price.source_id    IS 'Who says so.';
COMMENT ON COLUMN fuel.price.effective_at IS 'When the price began, by the source''s own stamp.';
COMMENT ON COLUMN fuel.price.price_tenths IS
  'Tenths of a cent per litre: 1899 is 189.9 c/L. 0: the source says that it is not offered.';
COMMENT ON COLUMN fuel.price.run_id       IS 'The run that brought the oldest document saying so.';
COMMENT ON COLUMN fuel.price.learnt_at    IS 'When that document was fetched.';
COMMENT ON CONSTRAINT price_pk ON fuel.price IS
  'A fact is kept once. The price is part of the key: two documents that give one instant two '
  'prices are two facts, and readers take the one learnt last, so that order of arrival is no matter.';
COMMENT ON CONSTRAINT price_plausible_ck ON fuel.price IS
  'Between nothing and 3,000 c, which no unit slip of ten passes for petrol.';

CREATE TABLE fuel.listing (
  station_id integer     NOT NULL,
  fuel_id    smallint    NOT NULL,
  source_id  smallint    NOT NULL,
  changed_at timestamptz NOT NULL,
  is_listed  boolean     NOT NULL,
  CONSTRAINT listing_pk PRIMARY KEY (station_id, fuel_id, source_id, changed_at)
);
CREATE INDEX listing_source_idx ON fuel.listing (source_id, changed_at);
COMMENT ON TABLE  fuel.listing            IS
  'What complete lists say by what they leave out: the instants at which a station and fuel appeared '
  'in or vanished from its feed''s lists. Holds at the instants of those lists and until the next.';
COMMENT ON COLUMN fuel.listing.station_id IS 'The station.';
COMMENT ON COLUMN fuel.listing.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.listing.source_id  IS 'The feed.';
COMMENT ON COLUMN fuel.listing.changed_at IS 'When the first list that differs was fetched.';
COMMENT ON COLUMN fuel.listing.is_listed  IS 'Whether it is listed from then on.';
COMMENT ON CONSTRAINT listing_pk ON fuel.listing IS 'A list says one thing.';

CREATE TABLE fuel.current_price (
  station_id        integer     NOT NULL,
  fuel_id           smallint    NOT NULL,
  source_id         smallint    NOT NULL,
  price_tenths      integer     NOT NULL,
  since_at          timestamptz NOT NULL,
  stamped_at        timestamptz NOT NULL,
  stamped_tenths    integer     NOT NULL,
  learnt_at         timestamptz NOT NULL,
  next_tenths       integer,
  next_effective_at timestamptz,
  is_listed         boolean,
  is_flagged        boolean     NOT NULL,
  CONSTRAINT current_price_pk PRIMARY KEY (station_id, fuel_id),
  CONSTRAINT current_price_next_ck CHECK ((next_tenths IS NULL) = (next_effective_at IS NULL)),
  CONSTRAINT current_price_order_ck CHECK (stamped_at < next_effective_at)
) WITH (fillfactor = 80);
CREATE INDEX current_price_source_idx ON fuel.current_price (source_id);
COMMENT ON TABLE  fuel.current_price                   IS
  'The price in effect and the next one of every station and fuel: a cache of fuel.price and '
  'fuel.listing, so that nobody walks the history to know the present.';
COMMENT ON COLUMN fuel.current_price.station_id        IS 'The station.';
COMMENT ON COLUMN fuel.current_price.fuel_id           IS 'The fuel.';
COMMENT ON COLUMN fuel.current_price.source_id         IS 'Who says so.';
COMMENT ON COLUMN fuel.current_price.price_tenths      IS
  'Price in effect, tenths of a cent per litre. 0: not offered.';
COMMENT ON COLUMN fuel.current_price.since_at          IS
  'Since when that price holds without a change, restatements folded.';
COMMENT ON COLUMN fuel.current_price.stamped_at        IS 'The newest stamp that has begun.';
COMMENT ON COLUMN fuel.current_price.stamped_tenths    IS 'The price under that stamp.';
COMMENT ON COLUMN fuel.current_price.learnt_at         IS 'When that stamp was first fetched.';
COMMENT ON COLUMN fuel.current_price.next_tenths       IS 'The price after it. NULL: not known.';
COMMENT ON COLUMN fuel.current_price.next_effective_at IS 'When that one begins. NULL: not known.';
COMMENT ON COLUMN fuel.current_price.is_listed         IS
  'Whether the newest complete list of its feed has it. NULL: no complete list ever had it, as with '
  'feeds whose prices end by themselves.';
COMMENT ON COLUMN fuel.current_price.is_flagged        IS
  'Doubtful: shown, but left out of averages until confirmed.';
COMMENT ON CONSTRAINT current_price_pk       ON fuel.current_price IS 'One row per station and fuel.';
COMMENT ON CONSTRAINT current_price_next_ck  ON fuel.current_price IS 'The next price has an instant.';
COMMENT ON CONSTRAINT current_price_order_ck ON fuel.current_price IS 'The next price is later.';

CREATE TABLE fuel.dirty_day (
  fuel_id smallint NOT NULL,
  day     date     NOT NULL,
  CONSTRAINT dirty_day_pk PRIMARY KEY (fuel_id, day)
);
COMMENT ON TABLE  fuel.dirty_day         IS
  'Days whose averages a new fact may have changed; emptied as they are made again.';
COMMENT ON COLUMN fuel.dirty_day.fuel_id IS 'The fuel.';
COMMENT ON COLUMN fuel.dirty_day.day     IS 'The price day.';
COMMENT ON CONSTRAINT dirty_day_pk ON fuel.dirty_day IS 'A day is dirty once.';

GRANT SELECT, INSERT, UPDATE (learnt_at, run_id) ON fuel.price TO fuel_writer;
GRANT SELECT, INSERT ON fuel.listing TO fuel_writer;
GRANT SELECT, INSERT, UPDATE ON fuel.current_price TO fuel_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.dirty_day TO fuel_writer;
