-- What a run reports is held against what its feed shows by the program, and stations come by their numbers.

DROP FUNCTION IF EXISTS fuel.take_stations(integer, timestamptz);
DROP FUNCTION IF EXISTS fuel.windows_to_make(integer[], smallint[], timestamptz[]);
DROP FUNCTION IF EXISTS fuel.refresh_current(smallint, integer[], smallint[], timestamptz);
