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
