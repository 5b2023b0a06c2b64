-- How late a state publishes. Its soonest feed decides. An archive, which publishes after months, does not.
CREATE OR REPLACE VIEW fuel.state_delay AS
SELECT state.state, coalesce(min(source.delay), '0') AS delay
FROM fuel.state
LEFT JOIN fuel.source ON source.state = state.state AND source.kind <> 'archive'
GROUP BY state.state;
COMMENT ON VIEW fuel.state_delay IS 'How late states publish. One row per state.';
GRANT SELECT ON fuel.state_delay TO fuel_writer;

-- Where every feed of a state publishes late, the averages of the state are of an earlier instant and say so. In any
-- other region a late price would pass for a price of now, so it is left out and counted.
CREATE OR REPLACE VIEW fuel.region_delay AS
SELECT
  region.region,
  coalesce(state_delay.delay, '0') AS delay,
  -- Today's average of a nation is not known either while one of its feeds publishes late.
  coalesce(state_delay.delay >= interval '12 hours', false) OR region.state IS NULL AND EXISTS (
    SELECT
    FROM fuel.source
    WHERE source.delay >= interval '12 hours' AND source.is_enabled AND source.first_taken_at IS NOT NULL
  ) AS is_late
FROM fuel.region
LEFT JOIN fuel.state_delay USING (state)
-- OFFSET 0 keeps the server from merging the view, so that the delay is found once for a region and not for every price
-- in it.
OFFSET 0;
COMMENT ON VIEW fuel.region_delay IS 'How old prices may be to count in a region. One row per region.';
COMMENT ON COLUMN fuel.region_delay.delay  IS 'Prices of feeds with a longer delay are left out.';
COMMENT ON COLUMN fuel.region_delay.is_late IS 'Whether today''s average is not known today.';
GRANT SELECT ON fuel.region_delay TO fuel_writer;
