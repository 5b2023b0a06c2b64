-- Small tables that change with the law or the configuration, not with prices.

CREATE TABLE fuel.state (
  state            text     NOT NULL,
  name             text     NOT NULL,
  time_zone        text     NOT NULL,
  price_day_starts interval NOT NULL,
  CONSTRAINT state_pk PRIMARY KEY (state),
  CONSTRAINT state_price_day_ck CHECK (price_day_starts BETWEEN '0' AND '12 hours')
);
COMMENT ON TABLE  fuel.state                  IS 'The states and territories.';
COMMENT ON COLUMN fuel.state.state            IS 'Published abbreviation, such as NSW.';
COMMENT ON COLUMN fuel.state.name             IS 'Name in full.';
COMMENT ON COLUMN fuel.state.time_zone        IS 'IANA zone whose calendar day is the price day.';
COMMENT ON COLUMN fuel.state.price_day_starts IS
  'Local time at which the price day begins: 06:00 in Western Australia, where prices are fixed '
  'from then for 24 hours by law, midnight elsewhere.';
COMMENT ON CONSTRAINT state_pk           ON fuel.state IS 'One row per state.';
COMMENT ON CONSTRAINT state_price_day_ck ON fuel.state IS 'In the first half of the day.';
INSERT INTO fuel.state (state, name, time_zone, price_day_starts) VALUES
  ('NSW', 'New South Wales', 'Australia/Sydney', '0'),
  ('ACT', 'Australian Capital Territory', 'Australia/Sydney', '0'),
  ('VIC', 'Victoria', 'Australia/Melbourne', '0'),
  ('QLD', 'Queensland', 'Australia/Brisbane', '0'),
  ('SA', 'South Australia', 'Australia/Adelaide', '0'),
  ('WA', 'Western Australia', 'Australia/Perth', '6 hours'),
  ('TAS', 'Tasmania', 'Australia/Hobart', '0'),
  ('NT', 'Northern Territory', 'Australia/Darwin', '0');

CREATE TABLE fuel.fuel (
  fuel_id        smallint NOT NULL,
  fuel           text     NOT NULL,
  name           text     NOT NULL,
  unit           text     NOT NULL,
  lowest_tenths  integer  NOT NULL,
  highest_tenths integer  NOT NULL,
  is_averaged    boolean  NOT NULL,
  CONSTRAINT fuel_pk PRIMARY KEY (fuel_id),
  CONSTRAINT fuel_code_uq UNIQUE (fuel),
  CONSTRAINT fuel_band_ck CHECK (0 < lowest_tenths AND lowest_tenths < highest_tenths)
);
COMMENT ON TABLE  fuel.fuel                IS 'The fuels, by canonical code.';
COMMENT ON COLUMN fuel.fuel.fuel_id        IS 'Number kept beside every price; never reused.';
COMMENT ON COLUMN fuel.fuel.fuel           IS 'Canonical code, such as U91.';
COMMENT ON COLUMN fuel.fuel.name           IS 'What drivers call it.';
COMMENT ON COLUMN fuel.fuel.unit           IS 'Unit of the price as the feeds give it.';
COMMENT ON COLUMN fuel.fuel.lowest_tenths  IS 'A lower price is refused, in tenths of a cent.';
COMMENT ON COLUMN fuel.fuel.highest_tenths IS 'A higher price is refused, in tenths of a cent.';
COMMENT ON COLUMN fuel.fuel.is_averaged    IS
  'Whether averages are made. Gases and hydrogen are not: no source states their unit.';
COMMENT ON CONSTRAINT fuel_pk      ON fuel.fuel IS 'One row per fuel.';
COMMENT ON CONSTRAINT fuel_code_uq ON fuel.fuel IS 'A code means one fuel.';
COMMENT ON CONSTRAINT fuel_band_ck ON fuel.fuel IS 'The band is not empty.';
INSERT INTO fuel.fuel
  (fuel_id, fuel, name, unit, lowest_tenths, highest_tenths, is_averaged)
VALUES
  (1, 'U91', 'unleaded 91', 'c/L', 400, 5500, true),
  (2, 'E10', 'unleaded with 10 % ethanol', 'c/L', 400, 5500, true),
  (3, 'P95', 'premium unleaded 95', 'c/L', 400, 5500, true),
  (4, 'P98', 'premium unleaded 98', 'c/L', 400, 5500, true),
  (5, 'DL', 'diesel', 'c/L', 400, 5500, true),
  (6, 'PDL', 'premium diesel', 'c/L', 400, 5500, true),
  (7, 'LPG', 'autogas', 'c/L', 200, 3000, true),
  (8, 'E85', 'ethanol 85', 'c/L', 500, 5500, true),
  (9, 'B20', 'biodiesel 20', 'c/L', 400, 5500, true),
  (10, 'LAF', 'low aromatic fuel', 'c/L', 400, 5500, true),
  (11, 'E5', 'premium with 5 % ethanol', 'c/L', 400, 5500, true),
  (12, 'LRP', 'lead replacement', 'c/L', 400, 5500, true),
  (13, 'CNG', 'compressed natural gas', 'unknown', 200, 30000, false),
  (14, 'LNG', 'liquefied natural gas', 'unknown', 200, 30000, false),
  (15, 'H2', 'hydrogen', 'unknown', 200, 30000, false);

CREATE TABLE fuel.source (
  source_id          smallint    NOT NULL GENERATED ALWAYS AS IDENTITY,
  source             text        NOT NULL,
  state              text        NOT NULL,
  cadence            interval    NOT NULL,
  price_lapses_after interval    NOT NULL,
  sight_lapses_after interval    NOT NULL,
  tells_whole_days   boolean     NOT NULL,
  attribution        text        NOT NULL,
  is_enabled         boolean     NOT NULL,
  calls_per_month    integer     NOT NULL,
  first_taken_at     timestamptz,
  last_taken_at      timestamptz,
  last_listed_at     timestamptz,
  not_before_at      timestamptz,
  CONSTRAINT source_pk PRIMARY KEY (source_id),
  CONSTRAINT source_name_uq UNIQUE (source),
  CONSTRAINT source_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT source_order_ck CHECK (first_taken_at <= last_taken_at)
);
COMMENT ON TABLE  fuel.source                    IS 'Who tells us prices: the feeds.';
COMMENT ON COLUMN fuel.source.source_id          IS 'Number kept beside every price.';
COMMENT ON COLUMN fuel.source.source             IS 'The feed''s id, such as qld-fpd.';
COMMENT ON COLUMN fuel.source.state              IS 'State that it mainly covers.';
COMMENT ON COLUMN fuel.source.cadence            IS 'How often a run is expected.';
COMMENT ON COLUMN fuel.source.price_lapses_after IS
  'A price is not believed for longer than this after its own stamp.';
COMMENT ON COLUMN fuel.source.sight_lapses_after IS
  'A price is not believed for longer than this after it was last seen listed.';
COMMENT ON COLUMN fuel.source.tells_whole_days   IS
  'Whether its prices hold for whole price days, so that a day is known from any run that has it. '
  'Otherwise averages begin with its first run.';
COMMENT ON COLUMN fuel.source.attribution        IS 'The wording that the licence asks for.';
COMMENT ON COLUMN fuel.source.is_enabled         IS 'Whether the configuration has it switched on.';
COMMENT ON COLUMN fuel.source.calls_per_month    IS 'Allowed requests per UTC month; 0 is no limit.';
COMMENT ON COLUMN fuel.source.first_taken_at     IS
  'When its oldest stored documents were fetched. Averages begin here: before it only prices that '
  'had not changed since are known, which is a biased choice. NULL before the first run.';
COMMENT ON COLUMN fuel.source.last_taken_at      IS
  'When its newest stored documents were fetched. NULL before the first run.';
COMMENT ON COLUMN fuel.source.last_listed_at     IS
  'When its newest complete list was fetched: this one value confirms every price still listed. '
  'NULL before the first, and for feeds whose prices end by themselves.';
COMMENT ON COLUMN fuel.source.not_before_at      IS
  'The provider asked not to be called before this. NULL where it did not.';
COMMENT ON CONSTRAINT source_pk       ON fuel.source IS 'One row per feed.';
COMMENT ON CONSTRAINT source_name_uq  ON fuel.source IS 'A name means one feed.';
COMMENT ON CONSTRAINT source_state_fk ON fuel.source IS 'A known state.';
COMMENT ON CONSTRAINT source_order_ck ON fuel.source IS 'First is not after last.';

CREATE TABLE fuel.region (
  region     text    NOT NULL,
  name       text    NOT NULL,
  kind       text    NOT NULL,
  state      text,
  latitude   numeric(9, 6),
  longitude  numeric(9, 6),
  radius_km  numeric(6, 1),
  CONSTRAINT region_pk PRIMARY KEY (region),
  CONSTRAINT region_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT region_kind_ck CHECK (kind IN ('nation', 'state', 'capital', 'area')),
  CONSTRAINT region_circle_ck CHECK (
    (kind IN ('nation', 'state')) = (radius_km IS NULL)
    AND (latitude IS NULL) = (radius_km IS NULL)
    AND (longitude IS NULL) = (radius_km IS NULL))
);
COMMENT ON TABLE  fuel.region           IS 'What averages are made over, from the configuration.';
COMMENT ON COLUMN fuel.region.region    IS 'Its code: a state, AU, or a lower-case name.';
COMMENT ON COLUMN fuel.region.name      IS 'Its name for people.';
COMMENT ON COLUMN fuel.region.kind      IS 'nation, state, capital or area.';
COMMENT ON COLUMN fuel.region.state     IS
  'Stations of this state only; NULL: of any state (the nation, or a region across a border).';
COMMENT ON COLUMN fuel.region.latitude  IS 'Centre of its circle in degrees; NULL: no circle.';
COMMENT ON COLUMN fuel.region.longitude IS 'Centre of its circle in degrees; NULL: no circle.';
COMMENT ON COLUMN fuel.region.radius_km IS 'Radius of its circle; NULL: no circle.';
COMMENT ON CONSTRAINT region_pk        ON fuel.region IS 'One row per region.';
COMMENT ON CONSTRAINT region_state_fk  ON fuel.region IS 'A known state.';
COMMENT ON CONSTRAINT region_kind_ck   ON fuel.region IS 'A known kind.';
COMMENT ON CONSTRAINT region_circle_ck ON fuel.region IS
  'Capitals and areas have a whole circle, the others none.';

GRANT SELECT ON fuel.state, fuel.fuel TO fuel_writer;
GRANT SELECT, INSERT, UPDATE ON fuel.source TO fuel_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.region TO fuel_writer;
