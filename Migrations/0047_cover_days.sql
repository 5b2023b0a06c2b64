-- In an archive of whole days, a day without a price is not covered. So its days are kept one by one.
ALTER TABLE fuel.archive_coverage ADD COLUMN days integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN fuel.archive_coverage.days IS
  'The days on which a price began, as bits; the lowest bit is the first day.';
UPDATE fuel.archive_coverage AS covered SET days = sighted.days
FROM (
  SELECT station.source_id, sighting.month, bit_or(sighting.days) AS days
  FROM fuel.station_sighting AS sighting
  JOIN fuel.station USING (station_id)
  GROUP BY station.source_id, sighting.month
) AS sighted
WHERE sighted.source_id = covered.source_id AND sighted.month = covered.month;
GRANT UPDATE (days) ON fuel.archive_coverage TO fuel_writer;
CREATE TRIGGER archive_days_guard BEFORE UPDATE ON fuel.archive_coverage
  FOR EACH ROW WHEN (OLD.days & NEW.days <> OLD.days) EXECUTE FUNCTION fuel.guard_growth();
