-- What feeds differ in: how late they are, whose key they use, what their stamps are worth, under
-- which terms; and codes that nobody has mapped yet.

ALTER TABLE fuel.source
  ADD COLUMN account text,
  ADD COLUMN delay interval NOT NULL DEFAULT '0',
  ADD COLUMN holding_confirms boolean NOT NULL DEFAULT true,
  ADD CONSTRAINT source_delay_ck CHECK (delay BETWEEN '0' AND '7 days');
UPDATE fuel.source SET account = source;
ALTER TABLE fuel.source ALTER COLUMN account SET NOT NULL;
COMMENT ON COLUMN fuel.source.account          IS
  'Feeds of one account share its key, its token and its quota. Mostly the feed itself.';
COMMENT ON COLUMN fuel.source.delay            IS
  'How old its prices are when they are published, by its own rule. 0: they are of now.';
COMMENT ON COLUMN fuel.source.holding_confirms IS
  'Whether a doubtful price that is still reported a day later is believed. Not where the provider '
  'stamps everything anew each day, so that a mistake looks confirmed for weeks.';
COMMENT ON CONSTRAINT source_delay_ck ON fuel.source IS 'Up to a week.';

CREATE TABLE fuel.terms (
  source_id   smallint    NOT NULL,
  since_at    timestamptz NOT NULL,
  licence     text        NOT NULL,
  attribution text        NOT NULL,
  CONSTRAINT terms_pk PRIMARY KEY (source_id, since_at),
  CONSTRAINT terms_source_fk FOREIGN KEY (source_id) REFERENCES fuel.source (source_id)
);
COMMENT ON TABLE  fuel.terms             IS 'Under which terms a feed''s data were taken, since when.';
COMMENT ON COLUMN fuel.terms.source_id   IS 'The feed.';
COMMENT ON COLUMN fuel.terms.since_at    IS 'When the configuration first said so.';
COMMENT ON COLUMN fuel.terms.licence     IS 'The licence.';
COMMENT ON COLUMN fuel.terms.attribution IS 'The wording it asks for.';
COMMENT ON CONSTRAINT terms_pk        ON fuel.terms IS 'One set of terms at a time.';
COMMENT ON CONSTRAINT terms_source_fk ON fuel.terms IS 'A known feed.';

ALTER TABLE fuel.fuel ADD COLUMN is_mapped boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN fuel.fuel.is_mapped IS
  'False: a code of a feed that nobody has mapped to a fuel yet. Its prices are kept under it.';

CREATE TABLE fuel.brand_name (
  written    text NOT NULL,
  valid_from date NOT NULL,
  valid_to   date NOT NULL,
  brand      text NOT NULL,
  CONSTRAINT brand_name_pk PRIMARY KEY (written, valid_from),
  CONSTRAINT brand_name_order_ck CHECK (valid_from < valid_to),
  CONSTRAINT brand_name_case_ck CHECK (written = lower(written))
);
COMMENT ON TABLE  fuel.brand_name            IS
  'How feeds write brands, from the configuration: names, spellings and codes.';
COMMENT ON COLUMN fuel.brand_name.written    IS 'As a feed writes it, in lower case.';
COMMENT ON COLUMN fuel.brand_name.valid_from IS 'First day on which it means that brand.';
COMMENT ON COLUMN fuel.brand_name.valid_to   IS 'First day on which it no longer does.';
COMMENT ON COLUMN fuel.brand_name.brand      IS 'The brand.';
COMMENT ON CONSTRAINT brand_name_pk       ON fuel.brand_name IS 'A spelling means one brand at a time.';
COMMENT ON CONSTRAINT brand_name_order_ck ON fuel.brand_name IS 'The span is not empty.';
COMMENT ON CONSTRAINT brand_name_case_ck  ON fuel.brand_name IS 'Compared without case.';

ALTER TABLE fuel.region
  ADD COLUMN postcodes text[] NOT NULL DEFAULT '{}',
  ADD COLUMN valid_from date NOT NULL DEFAULT '-infinity',
  ADD COLUMN valid_to date NOT NULL DEFAULT 'infinity';
COMMENT ON COLUMN fuel.region.postcodes  IS
  'Ranges such as 2000-2234 that place stations of which no position is known.';
COMMENT ON COLUMN fuel.region.valid_from IS 'First price day on which it is averaged.';
COMMENT ON COLUMN fuel.region.valid_to   IS 'First price day on which it no longer is.';

GRANT SELECT, INSERT ON fuel.terms TO fuel_writer;
GRANT INSERT ON fuel.fuel TO fuel_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.brand_name TO fuel_writer;
