-- fuel.region_clock says by which clock the days of a region are counted, the nation's among them.
DROP FUNCTION IF EXISTS fuel.nation_zone();
