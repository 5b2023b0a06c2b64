-- Days of stations and regions, made of spans, and the runs that make them.

-- The days of a station are read and written by the month, all at once. One value of bytes costs a tenth of six arrays.
CREATE TABLE fuel.station_month (
  station_id integer  NOT NULL,
  fuel_id    smallint NOT NULL,
  month      date     NOT NULL,
  known_days integer  NOT NULL,
  days       bytea    NOT NULL,
  CONSTRAINT station_month_pk PRIMARY KEY (station_id, fuel_id, month),
  CONSTRAINT station_month_month_ck CHECK (extract(day FROM month) = 1),
  CONSTRAINT station_month_days_ck CHECK (octet_length(days) BETWEEN 16 AND 31 * 16 AND octet_length(days) % 16 = 0)
) PARTITION BY RANGE (month);
ALTER TABLE fuel.station_month ALTER COLUMN days SET STORAGE PLAIN;
CREATE INDEX station_month_fuel_idx ON fuel.station_month (month, fuel_id);
COMMENT ON TABLE fuel.station_month IS
  'What a station charged for a fuel on each price day that has ended, by month: the layer between spans and the '
  'averages of regions. One partition per year.';
COMMENT ON COLUMN fuel.station_month.month      IS 'First day of the month.';
COMMENT ON COLUMN fuel.station_month.known_days IS 'On how many of its days a price is known.';
COMMENT ON COLUMN fuel.station_month.days IS
  'Runs of equal days from the first of the month on, as fuel.days_of reads them: sixteen bytes a run.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.station_month TO fuel_writer;

-- No foreign key leads to fuel.region: to look the region up for each average was a third of writing it. Only an
-- aggregate removes a region, under its lock, and it removes the averages of the region too.
CREATE TABLE fuel.daily_rollup (
  region              text          NOT NULL,
  fuel_id             smallint      NOT NULL,
  day                 date          NOT NULL,
  average_cpl         numeric(6, 2) NOT NULL,
  median_cpl          numeric(6, 2) NOT NULL,
  p25_cpl             numeric(6, 2) NOT NULL,
  min_cpl             numeric(6, 2) NOT NULL,
  max_cpl             numeric(6, 2) NOT NULL,
  stations            integer       NOT NULL,
  coverage            numeric(4, 3) NOT NULL,
  is_ended            boolean       NOT NULL,
  excluded_stale      integer       NOT NULL DEFAULT 0,
  excluded_flagged    integer       NOT NULL DEFAULT 0,
  excluded_restricted integer       NOT NULL DEFAULT 0,
  stations_expected   integer,
  is_complete         boolean,
  is_usable           boolean,
  complete_states     integer,
  states              integer,
  made_at             timestamptz   NOT NULL DEFAULT now(),
  CONSTRAINT daily_rollup_pk PRIMARY KEY (region, fuel_id, day),
  CONSTRAINT daily_rollup_order_ck CHECK (
    min_cpl <= p25_cpl AND p25_cpl <= median_cpl AND median_cpl <= max_cpl AND average_cpl BETWEEN min_cpl AND max_cpl),
  CONSTRAINT daily_rollup_sample_ck CHECK (stations > 0 AND coverage BETWEEN 0 AND 1)
);
CREATE INDEX daily_rollup_day_idx ON fuel.daily_rollup (day);
-- fuel_v1.coverage shows how many stations are expected on each day of a region. Without this index it reads the averages
-- themselves, each on a page of its own.
CREATE INDEX daily_rollup_expected_idx ON fuel.daily_rollup (region, day, stations_expected);
COMMENT ON TABLE fuel.daily_rollup IS
  'Averages of a region and fuel over one price day, made anew when days of its month are listed in fuel.due.';
COMMENT ON COLUMN fuel.daily_rollup.day                 IS 'The price day.';
COMMENT ON COLUMN fuel.daily_rollup.average_cpl IS 'Mean over stations of each station''s time-weighted price, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.median_cpl          IS 'Median of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.p25_cpl             IS 'Lower quartile of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.min_cpl             IS 'Lowest of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.max_cpl             IS 'Highest of the same, c/L.';
COMMENT ON COLUMN fuel.daily_rollup.stations            IS 'How many stations it rests on.';
COMMENT ON COLUMN fuel.daily_rollup.coverage IS
  'Share of those stations'' day, so far as it has passed, with a believed price.';
COMMENT ON COLUMN fuel.daily_rollup.is_ended            IS 'Whether the day was over, for the nation in every state.';
COMMENT ON COLUMN fuel.daily_rollup.excluded_stale IS
  'Stations left out: told of, but not seen for too long to be believed.';
COMMENT ON COLUMN fuel.daily_rollup.excluded_flagged    IS 'Stations left out: only doubtful prices.';
COMMENT ON COLUMN fuel.daily_rollup.excluded_restricted IS 'Stations left out: for members only.';
COMMENT ON COLUMN fuel.daily_rollup.stations_expected IS
  'Of how many stations a price is expected: those with a price in this month or the one before.';
COMMENT ON COLUMN fuel.daily_rollup.is_complete IS
  'Over, covered by a source, long enough known, and of enough of the expected stations; for the nation in every '
  'state.';
COMMENT ON COLUMN fuel.daily_rollup.is_usable IS
  'Whether verdicts may rest on it: known for most of the expected stations'' day, so far as it has passed.';
COMMENT ON COLUMN fuel.daily_rollup.complete_states     IS 'How many states are complete.';
COMMENT ON COLUMN fuel.daily_rollup.states              IS 'How many there are; 1 for a region within a state.';
COMMENT ON COLUMN fuel.daily_rollup.made_at IS 'When it was made, by which a hub knows what is new.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.daily_rollup TO fuel_writer;

CREATE TABLE fuel.region_change (
  region         text          NOT NULL,
  fuel_id        smallint      NOT NULL,
  change_24h_cpl numeric(6, 2),
  change_7d_cpl  numeric(6, 2),
  as_of_at       timestamptz   NOT NULL,
  CONSTRAINT region_change_pk PRIMARY KEY (region, fuel_id),
  CONSTRAINT region_change_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region) ON DELETE CASCADE
);
COMMENT ON TABLE fuel.region_change IS
  'How a region''s average moved, over the stations that had a price at both ends.';
COMMENT ON COLUMN fuel.region_change.change_24h_cpl IS 'Against 24 hours before. NULL: too few stations.';
COMMENT ON COLUMN fuel.region_change.change_7d_cpl  IS 'Against 7 days before. NULL: too few stations.';
COMMENT ON COLUMN fuel.region_change.as_of_at       IS 'The later end.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.region_change TO fuel_writer;

CREATE TABLE fuel.aggregate_run (
  aggregate_run_id integer     NOT NULL GENERATED ALWAYS AS IDENTITY,
  started_at       timestamptz NOT NULL,
  finished_at      timestamptz,
  outcome          text        NOT NULL,
  days             integer     NOT NULL,
  verdicts         integer     NOT NULL,
  new_verdicts     integer     NOT NULL,
  changes          numeric,
  due_at           timestamptz,
  CONSTRAINT aggregate_run_pk PRIMARY KEY (aggregate_run_id),
  CONSTRAINT aggregate_run_outcome_ck CHECK (outcome IN ('running', 'done', 'interrupted')),
  CONSTRAINT aggregate_run_finished_ck CHECK ((finished_at IS NULL) = (outcome = 'running'))
);
COMMENT ON TABLE fuel.aggregate_run IS 'Every run of the aggregate, good or bad.';
COMMENT ON COLUMN fuel.aggregate_run.aggregate_run_id IS 'Number of the run.';
COMMENT ON COLUMN fuel.aggregate_run.started_at       IS 'When it began.';
COMMENT ON COLUMN fuel.aggregate_run.finished_at      IS 'When it ended; NULL while it runs.';
COMMENT ON COLUMN fuel.aggregate_run.outcome IS 'running, done, or interrupted (it failed, or its process died).';
COMMENT ON COLUMN fuel.aggregate_run.days             IS 'Days of averages made again.';
COMMENT ON COLUMN fuel.aggregate_run.verdicts         IS 'Verdicts judged.';
COMMENT ON COLUMN fuel.aggregate_run.new_verdicts     IS 'Verdicts that differ from the last one.';
COMMENT ON COLUMN fuel.aggregate_run.changes IS
  'What the sources had counted to; more has come where they count higher. NULL: it made nothing.';
COMMENT ON COLUMN fuel.aggregate_run.due_at IS
  'When the next one is due though nothing comes: when a price takes effect or lapses, or a day ends, a quarter of an '
  'hour later at most. NULL: it made nothing.';
GRANT SELECT, INSERT, UPDATE ON fuel.aggregate_run TO fuel_writer;
