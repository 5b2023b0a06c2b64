-- What prices of an area look like, to tell which ones are doubtful.

CREATE TABLE fuel.area_level (
  state         text     NOT NULL,
  fuel_id       smallint NOT NULL,
  middle_tenths integer  NOT NULL,
  spread_tenths integer  NOT NULL,
  CONSTRAINT area_level_pk PRIMARY KEY (state, fuel_id),
  CONSTRAINT area_level_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state)
);
COMMENT ON TABLE  fuel.area_level               IS
  'Level and spread of the prices in effect, as of the last aggregate. Absent: too few stations.';
COMMENT ON COLUMN fuel.area_level.state         IS 'The state.';
COMMENT ON COLUMN fuel.area_level.fuel_id       IS 'The fuel.';
COMMENT ON COLUMN fuel.area_level.middle_tenths IS 'Median price, tenths of a cent.';
COMMENT ON COLUMN fuel.area_level.spread_tenths IS
  'Median distance from it scaled to a standard deviation, at least 4 % of it, tenths of a cent.';
COMMENT ON CONSTRAINT area_level_pk       ON fuel.area_level IS 'One row per state and fuel.';
COMMENT ON CONSTRAINT area_level_state_fk ON fuel.area_level IS 'A known state.';

ALTER TABLE fuel.current_price
  ADD COLUMN flag_lapses_at timestamptz,
  ADD COLUMN is_next_flagged boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.current_price.flag_lapses_at IS
  'When a doubtful price that still holds is believed. NULL: not by holding.';
COMMENT ON COLUMN fuel.current_price.is_next_flagged IS 'Whether the next price is doubtful.';

-- Pairs with a next price, to find those that have begun.
CREATE INDEX current_price_next_idx ON fuel.current_price (source_id)
  WHERE next_effective_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.area_level TO fuel_writer;

CREATE TABLE fuel.price_confirmation (
  station_id   integer     NOT NULL,
  fuel_id      smallint    NOT NULL,
  price_tenths integer     NOT NULL,
  confirmed_by text        NOT NULL,
  confirmed_at timestamptz NOT NULL,
  CONSTRAINT price_confirmation_pk PRIMARY KEY (station_id, fuel_id, price_tenths),
  CONSTRAINT price_confirmation_station_fk FOREIGN KEY (station_id)
    REFERENCES fuel.station (station_id)
);
COMMENT ON TABLE  fuel.price_confirmation              IS
  'Prices that looked doubtful and that a person found to be true; see fuel.confirm_price.';
COMMENT ON COLUMN fuel.price_confirmation.station_id   IS 'The station.';
COMMENT ON COLUMN fuel.price_confirmation.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.price_confirmation.price_tenths IS 'The price, tenths of a cent per litre.';
COMMENT ON COLUMN fuel.price_confirmation.confirmed_by IS 'The login that confirmed it.';
COMMENT ON COLUMN fuel.price_confirmation.confirmed_at IS 'When.';
COMMENT ON CONSTRAINT price_confirmation_pk         ON fuel.price_confirmation IS 'Confirmed once.';
COMMENT ON CONSTRAINT price_confirmation_station_fk ON fuel.price_confirmation IS 'A known station.';
GRANT SELECT, INSERT ON fuel.price_confirmation TO fuel_writer;
