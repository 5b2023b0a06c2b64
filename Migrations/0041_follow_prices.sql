-- Where a list only goes on with a newer price, the newest span says all that its spans are made of.

ALTER TABLE fuel.present_span ADD COLUMN is_level boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.present_span.is_level IS
  'Whether the price before it is known to lie near it, or not to exist, so that a price that follows and lies near it '
  'makes no price suspect. false: it is not known.';
-- The stations of touched records come with how many of their records were touched.
DROP FUNCTION IF EXISTS fuel.touched_stations(integer[], smallint[], timestamptz[]);
DROP FUNCTION IF EXISTS fuel.refresh_present_spans(integer[], smallint[], timestamptz);
