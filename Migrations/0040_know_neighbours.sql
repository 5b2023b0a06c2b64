-- Where each station lay when doubts were judged last. Whether a price is doubtful depends on the neighbours of its
-- station, so the suspects of a state are judged again where one of its stations comes, goes or moves.
ALTER TABLE fuel.counted_place
  ADD COLUMN latitude  numeric(9, 6),
  ADD COLUMN longitude numeric(9, 6);
COMMENT ON COLUMN fuel.counted_place.latitude  IS 'Degrees. NULL: its position is not known, or no run that counts names it.';
COMMENT ON COLUMN fuel.counted_place.longitude IS 'Degrees. NULL as latitude is.';
