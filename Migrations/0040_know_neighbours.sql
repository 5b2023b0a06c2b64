-- Where each station lay when the last aggregate compared it. Whether a price is doubtful depends on the neighbours of
-- its station, so prices are judged again where a neighbour comes, goes or moves.
ALTER TABLE fuel.counted_place
  ADD COLUMN latitude  numeric(9, 6),
  ADD COLUMN longitude numeric(9, 6);
COMMENT ON TABLE fuel.counted_place IS
  'Where the days of each station are counted, and where it lies as a neighbour of others, as of the last aggregate. '
  'Averages are made by this alone, so that what was counted can be taken out again.';
COMMENT ON COLUMN fuel.counted_place.latitude  IS
  'Degrees. NULL: the station is nobody''s neighbour: its position is not known, it sells to members only, it has '
  'become part of another one, or no run that counts names it.';
COMMENT ON COLUMN fuel.counted_place.longitude IS 'Degrees. NULL as latitude is.';
UPDATE fuel.counted_place AS counted SET latitude = station.latitude, longitude = station.longitude
FROM fuel.station
WHERE station.station_id = counted.station_id
  AND station.place_id = station.station_id
  AND station.is_public
  AND station.first_seen_at < 'infinity';
-- Its rows are different ones now.
DROP FUNCTION IF EXISTS fuel.count_places(timestamptz);
