-- Batches of spans are made side by side, and their doubts judged when all of them are there: a note stays until then.
ALTER TABLE fuel.touched ADD COLUMN is_made boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.touched.is_made IS 'Whether its spans are made and only their doubts are left to be judged.';
