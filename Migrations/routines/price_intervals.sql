-- A query of docs/cookbook.md answers how long prices hold.
DROP FUNCTION IF EXISTS fuel.price_intervals(smallint, smallint[], interval[], timestamptz);
