-- Brands that sell to members only, by configuration. Their prices are nobody else's, so averages leave them out.
ALTER TABLE fuel.brand_name ADD COLUMN is_members_only boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fuel.brand_name.is_members_only IS
  'Whether only members may buy at a station whose brand or name contains these words.';
