-- Takes out listing rows that say what the row before them says already. They arise when a late list
-- is put between two others, carry no information, and must go, so that the same lists always leave
-- the same rows. The writer may not delete; this deletes nothing else.
CREATE OR REPLACE FUNCTION fuel.prune_listing(
  p_source_id smallint, p_station_ids integer[], p_fuel_ids smallint[])
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.listing
  USING (
    SELECT
      listing.station_id,
      listing.fuel_id,
      listing.changed_at,
      listing.is_listed,
      lag(listing.is_listed) OVER (
        PARTITION BY listing.station_id, listing.fuel_id ORDER BY listing.changed_at
      ) AS was_listed
    FROM unnest(p_station_ids, p_fuel_ids) AS pair (station_id, fuel_id)
    JOIN fuel.listing USING (station_id, fuel_id)
    WHERE listing.source_id = p_source_id
  ) AS stored
  WHERE listing.source_id = p_source_id
    AND listing.station_id = stored.station_id
    AND listing.fuel_id = stored.fuel_id
    AND listing.changed_at = stored.changed_at
    AND stored.was_listed = stored.is_listed
$$;
COMMENT ON FUNCTION fuel.prune_listing(smallint, integer[], smallint[]) IS
  'Removes rows of fuel.listing that repeat the one before them, of some pairs.';
REVOKE EXECUTE ON FUNCTION fuel.prune_listing(smallint, integer[], smallint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.prune_listing(smallint, integer[], smallint[]) TO fuel_writer;
