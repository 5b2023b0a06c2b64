-- What looks at the history of a station and fuel is told how far back to look.

DROP FUNCTION IF EXISTS fuel.refresh_current(smallint, integer[], smallint[], timestamptz[], integer[], timestamptz);
DROP FUNCTION IF EXISTS fuel.evidence(integer[], smallint[], timestamptz[], timestamptz, timestamptz);
