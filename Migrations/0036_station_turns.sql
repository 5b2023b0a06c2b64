-- Where a station does not follow its region's verdict is kept with the verdict, by the code that is scored.

ALTER TABLE fuel.verdict
  ADD COLUMN station_waits_from_cpl numeric(5, 1),
  ADD COLUMN station_fills_up_until_cpl numeric(5, 1);
COMMENT ON COLUMN fuel.verdict.station_waits_from_cpl     IS
  'A station that stands so far above its usual place waits, c/L. NULL: none does for that.';
COMMENT ON COLUMN fuel.verdict.station_fills_up_until_cpl IS
  'A station that stands at most so far above its usual place, less than nothing, fills up, c/L. NULL: none does for that.';
