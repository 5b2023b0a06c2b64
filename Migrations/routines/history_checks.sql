-- What the history holds, for those who load it: which days are there.
CREATE OR REPLACE FUNCTION fuel.known_days(p_clock timestamptz)
RETURNS TABLE (source text, scheme text, is_archive boolean, day date)
LANGUAGE sql STABLE AS $$
  SELECT source.source, source.scheme, source.kind = 'archive', covered.day
  FROM fuel.covered_days(p_clock) AS covered
  JOIN fuel.source USING (source_id)
$$;
COMMENT ON FUNCTION fuel.known_days(timestamptz) IS 'The price days that each archive and each feed covers.';
GRANT EXECUTE ON FUNCTION fuel.known_days(timestamptz) TO fuel_writer;
