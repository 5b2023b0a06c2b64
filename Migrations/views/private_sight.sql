-- Until when the lists of a feed keep a price alive that they show, and from when on the prices of the feed count. This
-- is the one place that knows how long a sighting is believed.
CREATE OR REPLACE VIEW fuel.sight AS
SELECT
  source.source_id,
  source.last_listed_at,
  source.last_listed_at + source.sight_lapses_after AS seen_until_at,
  CASE WHEN source.kind = 'feed' AND NOT source.tells_whole_days THEN source.first_taken_at END
    AS counts_from_at,
  source.sight_lapses_after AS lapses_after,
  source.delay
FROM fuel.source;
COMMENT ON VIEW fuel.sight IS 'How long the newest list of a feed is believed. One row per feed and archive.';
COMMENT ON COLUMN fuel.sight.counts_from_at IS
  'From when its prices count in averages: the first run of a feed. Before it, only prices that have not '
  'changed since are known. NULL: always, as for archives and prices of whole days.';
GRANT SELECT ON fuel.sight TO fuel_writer;
