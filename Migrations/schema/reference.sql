-- Small tables that change with the law or the configuration, not with prices.

CREATE TABLE fuel.state (
  state            text     NOT NULL,
  name             text     NOT NULL,
  time_zone        text     NOT NULL,
  price_day_starts interval NOT NULL,
  days_made_until  date,
  CONSTRAINT state_pk PRIMARY KEY (state),
  CONSTRAINT state_price_day_ck CHECK (price_day_starts BETWEEN '0' AND '12 hours')
);
COMMENT ON TABLE fuel.state IS 'The states and territories.';
COMMENT ON COLUMN fuel.state.state            IS 'Published abbreviation, such as NSW.';
COMMENT ON COLUMN fuel.state.name             IS 'Name in full.';
COMMENT ON COLUMN fuel.state.time_zone        IS 'IANA zone whose calendar day is the price day.';
COMMENT ON COLUMN fuel.state.price_day_starts IS
  'Local time at which the price day begins: 06:00 in Western Australia, where prices are fixed from then for 24 '
  'hours by law, midnight elsewhere.';
COMMENT ON COLUMN fuel.state.days_made_until  IS 'The last price day of which fuel.station_month was made. NULL: none.';
GRANT SELECT, UPDATE (days_made_until) ON fuel.state TO fuel_writer;
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
  fuel_id     smallint NOT NULL,
  fuel        text     NOT NULL,
  name        text     NOT NULL,
  unit        text     NOT NULL,
  is_averaged boolean  NOT NULL,
  is_mapped   boolean  NOT NULL DEFAULT true,
  CONSTRAINT fuel_pk PRIMARY KEY (fuel_id),
  CONSTRAINT fuel_code_uq UNIQUE (fuel)
);
COMMENT ON TABLE fuel.fuel IS 'The fuels, by canonical code.';
COMMENT ON COLUMN fuel.fuel.fuel_id     IS 'Number kept beside every price; never reused.';
COMMENT ON COLUMN fuel.fuel.fuel        IS 'Canonical code, such as U91.';
COMMENT ON COLUMN fuel.fuel.name        IS 'What drivers call it.';
COMMENT ON COLUMN fuel.fuel.unit        IS 'Unit of the price as the feeds give it.';
COMMENT ON COLUMN fuel.fuel.is_averaged IS
  'Whether averages are made. Gases and hydrogen are not: no source states their unit.';
COMMENT ON COLUMN fuel.fuel.is_mapped IS
  'False: a code of a feed that nobody has mapped to a fuel yet. Its prices are kept under it.';
GRANT SELECT, INSERT ON fuel.fuel TO fuel_writer;
INSERT INTO fuel.fuel (fuel_id, fuel, name, unit, is_averaged) VALUES
  (1, 'U91', 'unleaded 91', 'c/L', true),
  (2, 'E10', 'unleaded with 10 % ethanol', 'c/L', true),
  (3, 'P95', 'premium unleaded 95', 'c/L', true),
  (4, 'P98', 'premium unleaded 98', 'c/L', true),
  (5, 'DL', 'diesel', 'c/L', true),
  (6, 'PDL', 'premium diesel', 'c/L', true),
  (7, 'LPG', 'autogas', 'c/L', true),
  (8, 'E85', 'ethanol 85', 'c/L', true),
  (9, 'B20', 'biodiesel 20', 'c/L', true),
  (10, 'LAF', 'low aromatic fuel', 'c/L', true),
  (11, 'E5', 'premium with 5 % ethanol', 'c/L', true),
  (12, 'LRP', 'lead replacement', 'c/L', true),
  (13, 'CNG', 'compressed natural gas', 'unknown', false),
  (14, 'LNG', 'liquefied natural gas', 'unknown', false),
  (15, 'H2', 'hydrogen', 'unknown', false);

CREATE TABLE fuel.country (
  country   text NOT NULL,
  name      text NOT NULL,
  time_zone text NOT NULL
);
CREATE UNIQUE INDEX country_one_idx ON fuel.country ((true));
ALTER TABLE fuel.country REPLICA IDENTITY FULL;
COMMENT ON TABLE fuel.country IS 'The country whose prices these are. One row.';
COMMENT ON COLUMN fuel.country.country   IS 'Its code among the regions, such as AU.';
COMMENT ON COLUMN fuel.country.name      IS 'Its name.';
COMMENT ON COLUMN fuel.country.time_zone IS 'IANA zone in which days of the nation are counted.';
INSERT INTO fuel.country (country, name, time_zone) VALUES ('AU', 'Australia', 'Australia/Sydney');

CREATE TABLE fuel.region (
  region     text          NOT NULL,
  name       text          NOT NULL,
  kind       text          NOT NULL,
  state      text,
  latitude   numeric(9, 6),
  longitude  numeric(9, 6),
  radius_km  numeric(6, 1),
  postcodes  text[]        NOT NULL DEFAULT '{}',
  valid_from date          NOT NULL DEFAULT '-infinity',
  valid_to   date          NOT NULL DEFAULT 'infinity',
  CONSTRAINT region_pk PRIMARY KEY (region),
  CONSTRAINT region_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT region_kind_ck CHECK (kind IN ('nation', 'state', 'capital', 'area', 'rest')),
  CONSTRAINT region_circle_ck CHECK (
    (kind IN ('nation', 'state', 'rest')) = (radius_km IS NULL) AND (latitude IS NULL) = (radius_km IS NULL)
    AND (longitude IS NULL) = (radius_km IS NULL)),
  CONSTRAINT region_rest_ck CHECK (kind <> 'rest' OR state IS NOT NULL)
);
COMMENT ON TABLE fuel.region IS 'What averages are made over, from the configuration.';
COMMENT ON COLUMN fuel.region.region     IS 'Its code: a state, AU, or a lower-case name.';
COMMENT ON COLUMN fuel.region.name       IS 'Its name for people.';
COMMENT ON COLUMN fuel.region.kind IS
  'nation, state, capital, area, or rest: the stations of a state outside of its capitals.';
COMMENT ON COLUMN fuel.region.state IS
  'Stations of this state only; NULL: of any state (the nation, or a region across a border).';
COMMENT ON COLUMN fuel.region.latitude   IS 'Centre of its circle in degrees; NULL: no circle.';
COMMENT ON COLUMN fuel.region.longitude  IS 'Centre of its circle in degrees; NULL: no circle.';
COMMENT ON COLUMN fuel.region.radius_km  IS 'Radius of its circle; NULL: no circle.';
COMMENT ON COLUMN fuel.region.postcodes IS
  'Ranges such as 2000-2234 that place stations of which no position is known.';
COMMENT ON COLUMN fuel.region.valid_from IS 'First price day on which it is averaged.';
COMMENT ON COLUMN fuel.region.valid_to   IS 'First price day on which it no longer is.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.region TO fuel_writer;

CREATE TABLE fuel.brand_name (
  written         text    NOT NULL,
  valid_from      date    NOT NULL,
  valid_to        date    NOT NULL,
  brand           text    NOT NULL,
  is_members_only boolean NOT NULL DEFAULT false,
  CONSTRAINT brand_name_pk PRIMARY KEY (written, valid_from),
  CONSTRAINT brand_name_order_ck CHECK (valid_from < valid_to),
  CONSTRAINT brand_name_case_ck CHECK (written = lower(written))
);
COMMENT ON TABLE fuel.brand_name IS 'How feeds write brands, from the configuration: names, spellings and codes.';
COMMENT ON COLUMN fuel.brand_name.written         IS 'As a feed writes it, in lower case.';
COMMENT ON COLUMN fuel.brand_name.valid_from      IS 'First day on which it means that brand.';
COMMENT ON COLUMN fuel.brand_name.valid_to        IS 'First day on which it no longer does.';
COMMENT ON COLUMN fuel.brand_name.brand           IS 'The brand.';
COMMENT ON COLUMN fuel.brand_name.is_members_only IS
  'Whether only members may buy at a station whose brand or name contains these words.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.brand_name TO fuel_writer;

CREATE TABLE fuel.market_event (
  day   date          NOT NULL,
  state text,
  fuel  text,
  what  text          NOT NULL,
  cpl   numeric(6, 2),
  CONSTRAINT market_event_uq UNIQUE NULLS NOT DISTINCT (day, state, fuel, what),
  CONSTRAINT market_event_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state),
  CONSTRAINT market_event_what_ck CHECK (what <> '')
);
ALTER TABLE fuel.market_event REPLICA IDENTITY FULL;
COMMENT ON TABLE fuel.market_event IS 'Events of the configuration, as of the last aggregate.';
COMMENT ON COLUMN fuel.market_event.day   IS 'The day from which it held.';
COMMENT ON COLUMN fuel.market_event.state IS 'The state; NULL: the whole nation.';
COMMENT ON COLUMN fuel.market_event.fuel  IS 'Fuel code; NULL: all of them.';
COMMENT ON COLUMN fuel.market_event.what  IS 'What happened, in a sentence.';
COMMENT ON COLUMN fuel.market_event.cpl   IS 'Change of the fuel excise on petrol and diesel before GST, cents per litre; NULL: not stated.';
GRANT SELECT, INSERT, DELETE ON fuel.market_event TO fuel_writer;
