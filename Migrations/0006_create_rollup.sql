-- What the aggregator computes and views show.

CREATE TABLE fuel.daily_rollup (
  region      text          NOT NULL,
  fuel_id     smallint      NOT NULL,
  day         date          NOT NULL,
  average_cpl numeric(6, 2) NOT NULL,
  median_cpl  numeric(6, 2) NOT NULL,
  p25_cpl     numeric(6, 2) NOT NULL,
  min_cpl     numeric(6, 2) NOT NULL,
  max_cpl     numeric(6, 2) NOT NULL,
  stations    integer       NOT NULL,
  coverage    numeric(4, 3) NOT NULL,
  is_ended    boolean       NOT NULL,
  CONSTRAINT daily_rollup_pk PRIMARY KEY (region, fuel_id, day),
  CONSTRAINT daily_rollup_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region),
  CONSTRAINT daily_rollup_order_ck CHECK (
    min_cpl <= p25_cpl AND p25_cpl <= median_cpl AND median_cpl <= max_cpl
    AND average_cpl BETWEEN min_cpl AND max_cpl),
  CONSTRAINT daily_rollup_sample_ck CHECK (stations > 0 AND coverage BETWEEN 0 AND 1)
);
CREATE INDEX daily_rollup_day_idx ON fuel.daily_rollup (day);
COMMENT ON TABLE  fuel.daily_rollup             IS
  'Averages of a region and fuel over one price day, rebuilt whole when the day is dirty.';
COMMENT ON COLUMN fuel.daily_rollup.region      IS 'The region.';
COMMENT ON COLUMN fuel.daily_rollup.fuel_id     IS 'The fuel.';
COMMENT ON COLUMN fuel.daily_rollup.day         IS 'The price day.';
COMMENT ON COLUMN fuel.daily_rollup.average_cpl IS
  'Mean over stations of each station''s time-weighted price, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.median_cpl  IS 'Median of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.p25_cpl     IS 'Lower quartile of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.min_cpl     IS 'Lowest of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.max_cpl     IS 'Highest of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.stations    IS 'How many stations it rests on.';
COMMENT ON COLUMN fuel.daily_rollup.coverage    IS
  'Share of those stations'' day, so far as it has passed, with a believed price.';
COMMENT ON COLUMN fuel.daily_rollup.is_ended    IS
  'Whether the day was over, for the nation in every state.';
COMMENT ON CONSTRAINT daily_rollup_pk        ON fuel.daily_rollup IS 'One row per region, fuel, day.';
COMMENT ON CONSTRAINT daily_rollup_region_fk ON fuel.daily_rollup IS 'A known region.';
COMMENT ON CONSTRAINT daily_rollup_order_ck  ON fuel.daily_rollup IS 'In order of size.';
COMMENT ON CONSTRAINT daily_rollup_sample_ck ON fuel.daily_rollup IS 'It rests on something.';

CREATE TABLE fuel.region_change (
  region         text          NOT NULL,
  fuel_id        smallint      NOT NULL,
  change_24h_cpl numeric(6, 2),
  change_7d_cpl  numeric(6, 2),
  as_of_at       timestamptz   NOT NULL,
  CONSTRAINT region_change_pk PRIMARY KEY (region, fuel_id),
  CONSTRAINT region_change_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region)
);
COMMENT ON TABLE  fuel.region_change                IS
  'How a region''s average moved, over the stations that had a price at both ends.';
COMMENT ON COLUMN fuel.region_change.region         IS 'The region.';
COMMENT ON COLUMN fuel.region_change.fuel_id        IS 'The fuel.';
COMMENT ON COLUMN fuel.region_change.change_24h_cpl IS 'Against 24 hours before. NULL: too few stations.';
COMMENT ON COLUMN fuel.region_change.change_7d_cpl  IS 'Against 7 days before. NULL: too few stations.';
COMMENT ON COLUMN fuel.region_change.as_of_at       IS 'The later end.';
COMMENT ON CONSTRAINT region_change_pk        ON fuel.region_change IS 'One row per region and fuel.';
COMMENT ON CONSTRAINT region_change_region_fk ON fuel.region_change IS 'A known region.';

CREATE TABLE fuel.verdict (
  region              text          NOT NULL,
  fuel_id             smallint      NOT NULL,
  computed_at         timestamptz   NOT NULL,
  day                 date          NOT NULL,
  verdict             text          NOT NULL,
  basis               text          NOT NULL,
  rule                text,
  method              text          NOT NULL,
  record_cpl          numeric(6, 2),
  reason              text          NOT NULL,
  today_cpl           numeric(6, 2),
  tomorrow_cpl        numeric(6, 2),
  stations            integer       NOT NULL,
  expected_saving_cpl numeric(6, 2),
  confidence          numeric(3, 2),
  valid_until_at      timestamptz   NOT NULL,
  CONSTRAINT verdict_pk PRIMARY KEY (region, fuel_id, computed_at),
  CONSTRAINT verdict_verdict_ck CHECK (verdict IN ('fill_up', 'wait', 'no_difference')),
  CONSTRAINT verdict_basis_ck CHECK (basis IN (
    'tomorrow_price', 'price_cycle', 'price_trend', 'not_cycling', 'insufficient_data')),
  CONSTRAINT verdict_confidence_ck CHECK (confidence BETWEEN 0 AND 1)
);
COMMENT ON TABLE  fuel.verdict                     IS
  'Every verdict that was given, with what it was based on. Never changed afterwards.';
COMMENT ON COLUMN fuel.verdict.region              IS
  'The region. It may have left the configuration since; its verdicts stay.';
COMMENT ON COLUMN fuel.verdict.fuel_id             IS 'The fuel.';
COMMENT ON COLUMN fuel.verdict.computed_at         IS 'When it was given.';
COMMENT ON COLUMN fuel.verdict.day                 IS 'The price day it was given on.';
COMMENT ON COLUMN fuel.verdict.verdict             IS 'fill_up, wait or no_difference.';
COMMENT ON COLUMN fuel.verdict.basis               IS 'What kind of knowledge it rests on.';
COMMENT ON COLUMN fuel.verdict.rule                IS 'The rule that spoke. NULL: none could.';
COMMENT ON COLUMN fuel.verdict.method              IS 'Version of the whole method.';
COMMENT ON COLUMN fuel.verdict.record_cpl          IS
  'What following that rule saved lately, c/L. NULL: no record is kept for it.';
COMMENT ON COLUMN fuel.verdict.reason              IS 'In words, for drivers.';
COMMENT ON COLUMN fuel.verdict.today_cpl           IS 'Average of today that it used, c/L. NULL: none.';
COMMENT ON COLUMN fuel.verdict.tomorrow_cpl        IS
  'Average of tomorrow over the same stations, c/L. NULL: not known.';
COMMENT ON COLUMN fuel.verdict.stations            IS 'How many stations those averages rest on.';
COMMENT ON COLUMN fuel.verdict.expected_saving_cpl IS
  'What following it should save, c/L. NULL: nothing is claimed.';
COMMENT ON COLUMN fuel.verdict.confidence          IS 'From 0 to 1. NULL: not estimated.';
COMMENT ON COLUMN fuel.verdict.valid_until_at      IS 'When it lapses.';
COMMENT ON CONSTRAINT verdict_pk            ON fuel.verdict IS 'One verdict at a time.';
COMMENT ON CONSTRAINT verdict_verdict_ck    ON fuel.verdict IS 'A known word.';
COMMENT ON CONSTRAINT verdict_basis_ck      ON fuel.verdict IS 'A known word.';
COMMENT ON CONSTRAINT verdict_confidence_ck ON fuel.verdict IS 'A probability.';

GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.daily_rollup, fuel.region_change TO fuel_writer;
GRANT SELECT, INSERT ON fuel.verdict TO fuel_writer;
