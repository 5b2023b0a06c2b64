-- What bowser notify has seen, and what it has to tell.

CREATE TABLE fuel.notice_rule (
  rule    text        NOT NULL,
  seen    jsonb       NOT NULL,
  seen_at timestamptz NOT NULL,
  dropped integer     NOT NULL DEFAULT 0,
  CONSTRAINT notice_rule_pk PRIMARY KEY (rule),
  CONSTRAINT notice_rule_dropped_ck CHECK (dropped >= 0)
);
COMMENT ON TABLE fuel.notice_rule IS 'What each rule of notify.json5 has seen last.';
COMMENT ON COLUMN fuel.notice_rule.rule    IS 'Its name.';
COMMENT ON COLUMN fuel.notice_rule.seen    IS 'What it looks at, as it was then.';
COMMENT ON COLUMN fuel.notice_rule.seen_at IS 'When.';
COMMENT ON COLUMN fuel.notice_rule.dropped IS 'How many notices gave way to newer ones, because too many waited.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.notice_rule TO fuel_writer;

CREATE TABLE fuel.notice (
  notice_id integer     NOT NULL GENERATED ALWAYS AS IDENTITY,
  rule      text        NOT NULL,
  made_at   timestamptz NOT NULL,
  content   jsonb       NOT NULL,
  attempts  integer     NOT NULL DEFAULT 0,
  told_at   timestamptz,
  CONSTRAINT notice_pk PRIMARY KEY (notice_id)
);
CREATE INDEX notice_waiting_idx ON fuel.notice (rule, notice_id) WHERE told_at IS NULL;
COMMENT ON TABLE fuel.notice IS 'What rules of notify.json5 have to tell, and told in the last thirty days.';
COMMENT ON COLUMN fuel.notice.notice_id IS 'Its number, by which a receiver knows a repetition.';
COMMENT ON COLUMN fuel.notice.rule      IS 'The rule.';
COMMENT ON COLUMN fuel.notice.made_at   IS 'When that was seen.';
COMMENT ON COLUMN fuel.notice.content   IS 'What is told.';
COMMENT ON COLUMN fuel.notice.attempts  IS 'How often telling it was begun.';
COMMENT ON COLUMN fuel.notice.told_at   IS 'When its receiver took it. NULL: it waits.';
GRANT SELECT, INSERT, UPDATE, DELETE ON fuel.notice TO fuel_writer;
