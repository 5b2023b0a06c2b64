-- Members: databases with states of their own, of which this database makes one, as their hub. Empty in any other one.

CREATE TABLE fuel.member (
  member text     NOT NULL,
  number smallint NOT NULL,
  states text[]   NOT NULL,
  is_out boolean  NOT NULL DEFAULT false,
  CONSTRAINT member_pk PRIMARY KEY (member),
  CONSTRAINT member_number_uq UNIQUE (number),
  CONSTRAINT member_number_ck CHECK (number BETWEEN 1 AND 200)
);
COMMENT ON TABLE fuel.member IS 'The members of this hub, as config/hub.json5 names them. Empty: this database is no hub.';
COMMENT ON COLUMN fuel.member.member IS 'Its name, which is that of its foreign server.';
COMMENT ON COLUMN fuel.member.number IS 'Whose ranges of numbers it has: bowser migrate --member.';
COMMENT ON COLUMN fuel.member.states IS 'The states whose feeds and archives it reads. A state has one member.';
COMMENT ON COLUMN fuel.member.is_out IS 'Taken out by a person: nobody asks it, and the nation is not made.';
GRANT SELECT ON fuel.member TO fuel_writer;

CREATE TABLE fuel.member_region (
  region text NOT NULL,
  member text,
  CONSTRAINT member_region_pk PRIMARY KEY (region),
  CONSTRAINT member_region_member_fk FOREIGN KEY (member) REFERENCES fuel.member (member) ON DELETE CASCADE
);
COMMENT ON TABLE fuel.member_region IS 'Which member makes the averages of each region.';
COMMENT ON COLUMN fuel.member_region.member IS 'NULL: the hub makes them, because the region lies in several members.';
GRANT SELECT ON fuel.member_region TO fuel_writer;

CREATE TABLE fuel.member_day (
  member  text        NOT NULL,
  fuel_id smallint    NOT NULL,
  day     date        NOT NULL,
  made_at timestamptz NOT NULL,
  regions integer     NOT NULL,
  CONSTRAINT member_day_pk PRIMARY KEY (member, fuel_id, day)
);
COMMENT ON TABLE fuel.member_day IS
  'When each member had made the days of the regions that the hub makes, as the hub saw it last: a day that differs is '
  'made again.';
COMMENT ON COLUMN fuel.member_day.member IS 'The member.';
COMMENT ON COLUMN fuel.member_day.day IS 'The price day.';
COMMENT ON COLUMN fuel.member_day.made_at IS 'When the newest of these averages was made.';
COMMENT ON COLUMN fuel.member_day.regions IS 'In how many of these regions the member counts a station.';
GRANT SELECT ON fuel.member_day TO fuel_writer;
