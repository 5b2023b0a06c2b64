-- Takes out listing rows that tell nothing: one that says what the row before it says, unless a price was
-- learnt since the list before that this list does not have (then it ends that price), and an absence
-- before anything was known. They arise when a late list is put between two others, and must go, so
-- that the same lists always leave the same rows: one where a pair appears or vanishes, and one where it
-- is still absent after news of it. The writer may not delete; this deletes nothing else.
CREATE OR REPLACE FUNCTION fuel.prune_listing(
  p_source_id smallint, p_station_ids integer[], p_fuel_ids smallint[], p_list_at timestamptz)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM fuel.listing
  USING (
    SELECT
      listing.station_id,
      listing.fuel_id,
      listing.changed_at,
      listing.is_listed,
      lag(listing.is_listed, 1, false) OVER (
        PARTITION BY listing.station_id, listing.fuel_id ORDER BY listing.changed_at
      ) AS was_listed
    FROM unnest(p_station_ids, p_fuel_ids) AS pair (station_id, fuel_id)
    JOIN fuel.listing USING (station_id, fuel_id)
    WHERE listing.source_id = p_source_id
  ) AS stored,
  fuel.source
  WHERE source.source_id = p_source_id
    AND listing.source_id = p_source_id
    AND listing.station_id = stored.station_id
    AND listing.fuel_id = stored.fuel_id
    AND listing.changed_at = stored.changed_at
    AND stored.was_listed = stored.is_listed
    AND (
      stored.is_listed
      OR NOT coalesce((
        SELECT true
        FROM fuel.price
        WHERE price.station_id = stored.station_id
          AND price.fuel_id = stored.fuel_id
          AND price.source_id = p_source_id
          AND price.learnt_at > source.delay + coalesce(greatest(
            (
              SELECT max(run.taken_at)
              FROM fuel.run
              WHERE run.source_id = p_source_id
                AND run.is_complete
                AND run.taken_at < stored.changed_at
            ),
            -- The list that is being merged is no complete run yet.
            CASE WHEN p_list_at < stored.changed_at THEN p_list_at END), '-infinity')
          AND price.learnt_at <= stored.changed_at + source.delay
        LIMIT 1
      ), false))
$$;
COMMENT ON FUNCTION fuel.prune_listing(smallint, integer[], smallint[], timestamptz) IS
  'Removes rows of fuel.listing that tell nothing, of some pairs; the last argument is the list that is '
  'being merged, or NULL.';
REVOKE EXECUTE ON FUNCTION fuel.prune_listing(smallint, integer[], smallint[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fuel.prune_listing(smallint, integer[], smallint[], timestamptz)
  TO fuel_writer;
