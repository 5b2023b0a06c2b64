-- What counts of what was reported: facts of runs that count, and gaps of complete lists, where there was something to
-- leave out. This is the one place that says so.
--
-- The views told_price and told_listing return what was reported at all, whether it counts or not. A row stands where a
-- run reports something else than the newest earlier row does. What a run does not repeat is therefore read from that
-- earlier row. Of documents that were read again, only the newest reading is returned.
CREATE OR REPLACE VIEW fuel.told_price AS
SELECT
  price.station_id,
  price.fuel_id,
  price.source_id,
  price.effective_at,
  price.price_tenths,
  price.run_id,
  price.learnt_at
FROM fuel.price
WHERE price.run_id NOT IN (SELECT run.run_id FROM fuel.run WHERE run.outcome = 'superseded');
COMMENT ON VIEW fuel.told_price IS 'Reported facts, whether their runs count or not.';
COMMENT ON COLUMN fuel.told_price.station_id   IS 'The station.';
COMMENT ON COLUMN fuel.told_price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.told_price.source_id    IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel.told_price.effective_at IS 'When the price began.';
COMMENT ON COLUMN fuel.told_price.price_tenths IS 'Tenths of a cent per litre; 0: not offered.';
COMMENT ON COLUMN fuel.told_price.run_id       IS 'The run that reported it.';
COMMENT ON COLUMN fuel.told_price.learnt_at    IS 'When its document was fetched.';

CREATE OR REPLACE VIEW fuel.told_listing AS
SELECT
  listing.station_id,
  listing.fuel_id,
  listing.source_id,
  listing.changed_at,
  listing.is_listed,
  listing.run_id
FROM fuel.listing
WHERE listing.run_id NOT IN (SELECT run.run_id FROM fuel.run WHERE run.outcome = 'superseded');
COMMENT ON VIEW fuel.told_listing IS 'What runs list and leave out, whether the runs count or not.';
COMMENT ON COLUMN fuel.told_listing.station_id IS 'The station.';
COMMENT ON COLUMN fuel.told_listing.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.told_listing.source_id  IS 'The feed.';
COMMENT ON COLUMN fuel.told_listing.changed_at IS 'When the run was taken.';
COMMENT ON COLUMN fuel.told_listing.is_listed  IS 'Whether it is listed from then on.';
COMMENT ON COLUMN fuel.told_listing.run_id     IS 'The run.';

CREATE OR REPLACE VIEW fuel.counted_price AS
SELECT
  price.station_id,
  price.fuel_id,
  price.source_id,
  price.effective_at,
  price.price_tenths,
  price.run_id,
  price.learnt_at
FROM fuel.price
-- NOT IN, with which a statement reads those runs once. With NOT EXISTS the server looks up the run of each row.
WHERE price.run_id NOT IN (
  SELECT run.run_id FROM fuel.run WHERE run.outcome IN ('superseded', 'withdrawn', 'refused'));
COMMENT ON VIEW fuel.counted_price IS
  'Reported facts of the runs that count. A fact has a row for each run that was the first to report it when it was '
  'stored; it was learnt from the oldest of them.';
COMMENT ON COLUMN fuel.counted_price.station_id   IS 'The station.';
COMMENT ON COLUMN fuel.counted_price.fuel_id      IS 'The fuel.';
COMMENT ON COLUMN fuel.counted_price.source_id    IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel.counted_price.effective_at IS 'When the price began.';
COMMENT ON COLUMN fuel.counted_price.price_tenths IS 'Tenths of a cent per litre; 0: not offered.';
COMMENT ON COLUMN fuel.counted_price.run_id       IS 'The run that reported it.';
COMMENT ON COLUMN fuel.counted_price.learnt_at    IS 'When its document was fetched.';

-- Returns whether a feed had reported a price that counts of a station and fuel by the time of a list.
CREATE OR REPLACE FUNCTION fuel.was_told(
  p_station_id integer, p_fuel_id smallint, p_source_id smallint, p_taken_at timestamptz)
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((
    SELECT true
    FROM fuel.counted_price AS price
    JOIN fuel.source USING (source_id)
    WHERE price.station_id = p_station_id
      AND price.fuel_id = p_fuel_id
      AND price.source_id = p_source_id
      AND price.learnt_at <= p_taken_at + source.delay
    LIMIT 1
  ), false);
END
$$;
COMMENT ON FUNCTION fuel.was_told(integer, smallint, smallint, timestamptz) IS
  'Whether a feed had reported a price of a station and fuel by the time of a list.';
GRANT EXECUTE ON FUNCTION fuel.was_told(integer, smallint, smallint, timestamptz) TO fuel_writer;

CREATE OR REPLACE VIEW fuel.counted_listing AS
SELECT
  listing.station_id,
  listing.fuel_id,
  listing.source_id,
  listing.changed_at,
  listing.is_listed,
  listing.run_id
FROM fuel.listing
JOIN fuel.run USING (run_id)
WHERE run.is_complete
  -- If the list that first showed a station and fuel no longer counts, a gap in the next list ends nothing. The
  -- subquery is scalar and not EXISTS. For EXISTS the server may read the whole history once instead of one station and
  -- fuel.
  AND (
    listing.is_listed
    OR coalesce((
      SELECT true
      FROM fuel.listing AS before
      JOIN fuel.run AS list USING (run_id)
      WHERE before.station_id = listing.station_id
        AND before.fuel_id = listing.fuel_id
        AND before.source_id = listing.source_id
        AND before.changed_at < listing.changed_at
        AND before.is_listed
        AND list.is_complete
      LIMIT 1
    ), false)
    -- A function call, so that the server does not plan the years of prices where no row needs the check.
    OR fuel.was_told(listing.station_id, listing.fuel_id, listing.source_id, listing.changed_at));
COMMENT ON VIEW fuel.counted_listing IS
  'What complete lists show and leave out. A row may repeat the one before it. A station and '
  'fuel that was neither listed nor reported before is not left out.';
COMMENT ON COLUMN fuel.counted_listing.station_id IS 'The station.';
COMMENT ON COLUMN fuel.counted_listing.fuel_id    IS 'The fuel.';
COMMENT ON COLUMN fuel.counted_listing.source_id  IS 'The feed.';
COMMENT ON COLUMN fuel.counted_listing.changed_at IS 'When the list was taken.';
COMMENT ON COLUMN fuel.counted_listing.is_listed  IS 'Whether it is listed from then on.';
COMMENT ON COLUMN fuel.counted_listing.run_id     IS 'The run that brought the list.';
GRANT SELECT ON fuel.counted_price, fuel.counted_listing, fuel.told_price, fuel.told_listing TO fuel_writer;
