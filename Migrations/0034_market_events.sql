-- What a state has outside of its capitals is a region too.
ALTER TABLE fuel.region DROP CONSTRAINT region_kind_ck, DROP CONSTRAINT region_circle_ck;
ALTER TABLE fuel.region
  ADD CONSTRAINT region_kind_ck CHECK (kind IN ('nation', 'state', 'capital', 'area', 'rest')),
  ADD CONSTRAINT region_circle_ck CHECK (
    (kind IN ('nation', 'state', 'rest')) = (radius_km IS NULL)
    AND (latitude IS NULL) = (radius_km IS NULL)
    AND (longitude IS NULL) = (radius_km IS NULL)),
  ADD CONSTRAINT region_rest_ck CHECK (kind <> 'rest' OR state IS NOT NULL);
COMMENT ON COLUMN fuel.region.kind IS 'nation, state, capital, area, or rest: the stations of a state outside of its capitals.';
COMMENT ON CONSTRAINT region_kind_ck   ON fuel.region IS 'A known kind.';
COMMENT ON CONSTRAINT region_circle_ck ON fuel.region IS 'Capitals and areas have a whole circle, the others none.';
COMMENT ON CONSTRAINT region_rest_ck   ON fuel.region IS 'A rest is that of a state.';

-- What happened to the market as a whole, such as a change of excise: told by the configuration, so that before and after
-- can be asked.
CREATE TABLE fuel.market_event (
  day      date NOT NULL,
  state    text,
  fuel     text,
  what     text NOT NULL,
  cpl      numeric(6, 2),
  CONSTRAINT market_event_what_ck CHECK (what <> ''),
  CONSTRAINT market_event_uq UNIQUE NULLS NOT DISTINCT (day, state, fuel, what),
  CONSTRAINT market_event_state_fk FOREIGN KEY (state) REFERENCES fuel.state (state)
);
-- Another server follows it by whole rows: it has no key without NULL.
ALTER TABLE fuel.market_event REPLICA IDENTITY FULL;
COMMENT ON TABLE  fuel.market_event       IS 'Events of the configuration, as of the last aggregate.';
COMMENT ON COLUMN fuel.market_event.day   IS 'The day from which it held.';
COMMENT ON COLUMN fuel.market_event.state IS 'The state; NULL: the whole nation.';
COMMENT ON COLUMN fuel.market_event.fuel  IS 'Fuel code; NULL: all of them.';
COMMENT ON COLUMN fuel.market_event.what  IS 'What happened, in a sentence.';
COMMENT ON COLUMN fuel.market_event.cpl   IS 'By how much it changed what a litre costs, cents; NULL: not told.';
COMMENT ON CONSTRAINT market_event_what_ck  ON fuel.market_event IS 'An event says what it is.';
COMMENT ON CONSTRAINT market_event_uq       ON fuel.market_event IS 'An event is told once.';
COMMENT ON CONSTRAINT market_event_state_fk ON fuel.market_event IS 'A known state.';
GRANT SELECT, INSERT, DELETE ON fuel.market_event TO fuel_writer;
