-- Verdicts from the price cycle: where a market stands, what a verdict rested on, how good verdicts are.

ALTER TABLE fuel.verdict
  ADD COLUMN based_on_day date,
  ADD COLUMN average_cpl numeric(6, 2),
  ADD COLUMN before_cpl numeric(6, 2),
  ADD COLUMN change_1d_cpl numeric(6, 2),
  ADD COLUMN phase text,
  ADD COLUMN days_in_phase integer,
  ADD COLUMN last_trough_cpl numeric(6, 2),
  ADD COLUMN last_peak_cpl numeric(6, 2),
  ADD COLUMN inputs_md5 uuid,
  ADD CONSTRAINT verdict_phase_ck CHECK (phase IN ('rising', 'falling'));
COMMENT ON COLUMN fuel.verdict.based_on_day    IS 'The last day whose average it used. NULL: none.';
COMMENT ON COLUMN fuel.verdict.average_cpl     IS 'That average as it was then, so far where the day had not ended, c/L.';
COMMENT ON COLUMN fuel.verdict.before_cpl      IS
  'The average of the day before that, over by then, as it was known then, c/L. NULL: none.';
COMMENT ON COLUMN fuel.verdict.change_1d_cpl   IS 'Change per day since the average before, c/L.';
COMMENT ON COLUMN fuel.verdict.phase           IS 'rising or falling. NULL: it has not moved by six cents yet.';
COMMENT ON COLUMN fuel.verdict.days_in_phase   IS 'Days since the phase began.';
COMMENT ON COLUMN fuel.verdict.last_trough_cpl IS 'Average at the last trough, c/L. NULL: none is known.';
COMMENT ON COLUMN fuel.verdict.last_peak_cpl   IS 'Average at the last peak, c/L. NULL: none is known.';
COMMENT ON COLUMN fuel.verdict.inputs_md5      IS
  'Digest of all daily averages that it used, to tell whether they are still what they were.';
COMMENT ON CONSTRAINT verdict_phase_ck ON fuel.verdict IS 'A known word.';

CREATE TABLE fuel.market (
  region        text     NOT NULL,
  fuel_id       smallint NOT NULL,
  is_cycling    boolean  NOT NULL,
  trough_on     date,
  typical_days  integer,
  CONSTRAINT market_pk PRIMARY KEY (region, fuel_id),
  CONSTRAINT market_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region)
);
COMMENT ON TABLE  fuel.market              IS 'Whether a region and fuel has a price cycle, as of the last aggregate.';
COMMENT ON COLUMN fuel.market.region       IS 'The region.';
COMMENT ON COLUMN fuel.market.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.market.is_cycling   IS
  'The last three cycles are alike, what rises falls again, and the present one is not overdue.';
COMMENT ON COLUMN fuel.market.trough_on    IS 'When the present cycle began. NULL: there is none.';
COMMENT ON COLUMN fuel.market.typical_days IS 'The middle of the last three cycles'' lengths. NULL: no cycle.';
COMMENT ON CONSTRAINT market_pk        ON fuel.market IS 'One row per region and fuel.';
COMMENT ON CONSTRAINT market_region_fk ON fuel.market IS 'A known region.';

CREATE TABLE fuel.cycle (
  region     text          NOT NULL,
  fuel_id    smallint      NOT NULL,
  trough_on  date          NOT NULL,
  trough_cpl numeric(6, 2) NOT NULL,
  peak_on    date          NOT NULL,
  peak_cpl   numeric(6, 2) NOT NULL,
  ends_on    date          NOT NULL,
  CONSTRAINT cycle_pk PRIMARY KEY (region, fuel_id, trough_on),
  CONSTRAINT cycle_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region),
  CONSTRAINT cycle_order_ck CHECK (trough_on < peak_on AND peak_on < ends_on),
  CONSTRAINT cycle_height_ck CHECK (trough_cpl < peak_cpl)
);
COMMENT ON TABLE  fuel.cycle            IS 'The last price cycles of regions and fuels that have one.';
COMMENT ON COLUMN fuel.cycle.region     IS 'The region.';
COMMENT ON COLUMN fuel.cycle.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.cycle.trough_on  IS 'The day on which it began.';
COMMENT ON COLUMN fuel.cycle.trough_cpl IS 'The average of that day, c/L.';
COMMENT ON COLUMN fuel.cycle.peak_on    IS 'The day of its peak.';
COMMENT ON COLUMN fuel.cycle.peak_cpl   IS 'The average of that day, c/L.';
COMMENT ON COLUMN fuel.cycle.ends_on    IS 'The day of the next trough, on which the next one began.';
COMMENT ON CONSTRAINT cycle_pk        ON fuel.cycle IS 'A cycle begins once.';
COMMENT ON CONSTRAINT cycle_region_fk ON fuel.cycle IS 'A known region.';
COMMENT ON CONSTRAINT cycle_order_ck  ON fuel.cycle IS 'Trough, peak, trough.';
COMMENT ON CONSTRAINT cycle_height_ck ON fuel.cycle IS 'Peaks are above troughs.';

ALTER TABLE fuel.region_station ADD COLUMN is_nearest boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.region_station.is_nearest IS
  'Whether it is the smallest region that the station lies in, whose verdict the station follows.';
GRANT UPDATE (is_nearest) ON fuel.region_station TO fuel_writer;

CREATE TABLE fuel.station_habit (
  station_id     integer       NOT NULL,
  fuel_id        smallint      NOT NULL,
  region         text          NOT NULL,
  difference_cpl numeric(6, 2) NOT NULL,
  days           integer       NOT NULL,
  until_day      date          NOT NULL,
  CONSTRAINT station_habit_pk PRIMARY KEY (station_id, fuel_id, region),
  CONSTRAINT station_habit_region_fk FOREIGN KEY (region) REFERENCES fuel.region (region)
);
COMMENT ON TABLE  fuel.station_habit                IS
  'A station''s usual place beside its nearest region, to tell when it stands out.';
COMMENT ON COLUMN fuel.station_habit.station_id     IS 'The station.';
COMMENT ON COLUMN fuel.station_habit.fuel_id        IS 'The fuel.';
COMMENT ON COLUMN fuel.station_habit.region         IS 'The smallest region that it lies in.';
COMMENT ON COLUMN fuel.station_habit.difference_cpl IS
  'Median over sixty days of its day''s price less the region''s average, c/L.';
COMMENT ON COLUMN fuel.station_habit.days           IS 'On how many days both were known.';
COMMENT ON COLUMN fuel.station_habit.until_day      IS 'The last of those sixty days.';
COMMENT ON CONSTRAINT station_habit_pk        ON fuel.station_habit IS 'One row per station, fuel, region.';
COMMENT ON CONSTRAINT station_habit_region_fk ON fuel.station_habit IS 'A known region.';

-- Averages of this moment, kept so that many readers cost nothing.
ALTER TABLE fuel.source ADD COLUMN changes bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN fuel.source.changes IS 'Counts up with everything it brings, to tell whether what was made of it still holds.';
CREATE INDEX current_price_fuel_idx ON fuel.current_price (fuel_id);

CREATE TABLE fuel.average_kept (
  region              text        NOT NULL,
  fuel_id             smallint    NOT NULL,
  average_cpl         numeric(6, 2),
  median_cpl          numeric(6, 2),
  p25_cpl             numeric(6, 2),
  min_cpl             numeric(5, 1),
  max_cpl             numeric(5, 1),
  stations            integer     NOT NULL,
  excluded_stale      integer     NOT NULL,
  excluded_flagged    integer     NOT NULL,
  excluded_restricted integer     NOT NULL,
  excluded_delayed    integer     NOT NULL,
  delay_hours         integer     NOT NULL,
  as_of_at            timestamptz NOT NULL,
  CONSTRAINT average_kept_pk PRIMARY KEY (region, fuel_id)
);
COMMENT ON TABLE  fuel.average_kept                     IS 'fuel.average_live as of the last aggregate.';
COMMENT ON COLUMN fuel.average_kept.region              IS 'The region.';
COMMENT ON COLUMN fuel.average_kept.fuel_id             IS 'The fuel.';
COMMENT ON COLUMN fuel.average_kept.average_cpl         IS 'Mean, c/L; NULL: none counts.';
COMMENT ON COLUMN fuel.average_kept.median_cpl          IS 'Median, c/L.';
COMMENT ON COLUMN fuel.average_kept.p25_cpl             IS 'Lower quartile, c/L.';
COMMENT ON COLUMN fuel.average_kept.min_cpl             IS 'Lowest, c/L.';
COMMENT ON COLUMN fuel.average_kept.max_cpl             IS 'Highest, c/L.';
COMMENT ON COLUMN fuel.average_kept.stations            IS 'How many stations count.';
COMMENT ON COLUMN fuel.average_kept.excluded_stale      IS 'Left out: too old to believe.';
COMMENT ON COLUMN fuel.average_kept.excluded_flagged    IS 'Left out: doubtful.';
COMMENT ON COLUMN fuel.average_kept.excluded_restricted IS 'Left out: for members only.';
COMMENT ON COLUMN fuel.average_kept.excluded_delayed    IS 'Left out: published late.';
COMMENT ON COLUMN fuel.average_kept.delay_hours         IS 'How late the region publishes.';
COMMENT ON COLUMN fuel.average_kept.as_of_at            IS 'The instant whose prices these are.';
COMMENT ON CONSTRAINT average_kept_pk ON fuel.average_kept IS 'One row per region and fuel.';

CREATE TABLE fuel.average_keeping (
  kept_at     timestamptz NOT NULL,
  holds_until timestamptz NOT NULL,
  changes     numeric     NOT NULL
);
COMMENT ON TABLE  fuel.average_keeping             IS 'Until when fuel.average_kept holds; no row: it does not.';
COMMENT ON COLUMN fuel.average_keeping.kept_at     IS 'As of when it was made.';
COMMENT ON COLUMN fuel.average_keeping.holds_until IS
  'When the next price takes effect by itself, a quarter of an hour later at most.';
COMMENT ON COLUMN fuel.average_keeping.changes     IS 'What the sources had counted to; more has come where they count higher.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.average_kept, fuel.average_keeping TO fuel_writer;

CREATE TABLE fuel.fill_up_score (
  method                text     NOT NULL,
  region                text     NOT NULL,
  fuel_id               smallint NOT NULL,
  year                  integer,
  windows               integer  NOT NULL,
  perfect_cpl           numeric(6, 2),
  saving_cpl            numeric(6, 2),
  capture               numeric(5, 3),
  capture_3d            numeric(5, 3),
  capture_7d            numeric(5, 3),
  wait_share            numeric(4, 3),
  fill_up_share         numeric(4, 3),
  no_difference_share   numeric(4, 3),
  wait_right            numeric(4, 3),
  fill_up_right         numeric(4, 3),
  no_difference_right   numeric(4, 3),
  flips_30d             numeric(5, 2),
  from_day              date     NOT NULL,
  until_day             date     NOT NULL,
  computed_at           timestamptz NOT NULL
);
CREATE UNIQUE INDEX fill_up_score_idx ON fuel.fill_up_score (
  method, region, fuel_id, coalesce(year, 0));
COMMENT ON TABLE  fuel.fill_up_score                     IS
  'How good a method''s verdicts would have been, by the last backtest over the stored history.';
COMMENT ON COLUMN fuel.fill_up_score.method              IS 'The method, or a baseline.';
COMMENT ON COLUMN fuel.fill_up_score.region              IS 'The region.';
COMMENT ON COLUMN fuel.fill_up_score.fuel_id             IS 'The fuel.';
COMMENT ON COLUMN fuel.fill_up_score.year                IS 'The calendar year. NULL: all of them.';
COMMENT ON COLUMN fuel.fill_up_score.windows             IS 'Windows of six days that were scored.';
COMMENT ON COLUMN fuel.fill_up_score.perfect_cpl         IS 'What perfect timing saves, c/L.';
COMMENT ON COLUMN fuel.fill_up_score.saving_cpl          IS 'What following the verdicts saves, c/L.';
COMMENT ON COLUMN fuel.fill_up_score.capture             IS 'The one of the other, within five days.';
COMMENT ON COLUMN fuel.fill_up_score.capture_3d          IS 'The same within three days.';
COMMENT ON COLUMN fuel.fill_up_score.capture_7d          IS 'The same within seven days.';
COMMENT ON COLUMN fuel.fill_up_score.wait_share          IS 'Share of days with wait.';
COMMENT ON COLUMN fuel.fill_up_score.fill_up_share       IS 'Share of days with fill_up.';
COMMENT ON COLUMN fuel.fill_up_score.no_difference_share IS 'Share of days with no_difference.';
COMMENT ON COLUMN fuel.fill_up_score.wait_right          IS 'Share of waits followed within three days by a price lower by a cent.';
COMMENT ON COLUMN fuel.fill_up_score.fill_up_right       IS 'Share of fill_ups followed by none.';
COMMENT ON COLUMN fuel.fill_up_score.no_difference_right IS 'Share of no_differences followed by three days within three cents.';
COMMENT ON COLUMN fuel.fill_up_score.flips_30d           IS 'Turns from fill_up to wait or back in thirty days.';
COMMENT ON COLUMN fuel.fill_up_score.from_day            IS 'First day of the history that was scored.';
COMMENT ON COLUMN fuel.fill_up_score.until_day           IS 'Last day of it.';
COMMENT ON COLUMN fuel.fill_up_score.computed_at         IS 'When.';

GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.market, fuel.cycle, fuel.station_habit, fuel.fill_up_score
  TO fuel_writer;
