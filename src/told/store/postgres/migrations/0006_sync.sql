-- Series of the log that clients exchange. The server relays them as they are: it has no key of encrypted spaces,
-- and keeps nothing that was replaced or deleted.

-- The plain log of the team, whose memories the server knows; NULL until a member's client creates it.
ALTER TABLE team ADD COLUMN space text;
-- One member key belongs to one person.
CREATE UNIQUE INDEX person_key ON person(team, public_key);

-- `owner` is the person to whom a space of own machines belongs; empty for a team's space, which everybody sees.
-- `person` is who writes the series. `head` is NULL until all files of the first write have arrived. `applied` is
-- the last operation that the server's own memories have.
CREATE TABLE series_head(
  team text NOT NULL REFERENCES team,
  space text NOT NULL,
  owner text NOT NULL,
  series text NOT NULL,
  person text NOT NULL,
  head bytea,
  applied bigint NOT NULL DEFAULT 0,
  changed timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team, space, owner, series),
  FOREIGN KEY (team, person) REFERENCES person);

-- `digest` is the BLAKE2b of the data, as heads have it.
CREATE TABLE series_file(
  team text NOT NULL,
  space text NOT NULL,
  owner text NOT NULL,
  series text NOT NULL,
  name text NOT NULL,
  person text NOT NULL,
  digest text NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (team, space, owner, series, name),
  FOREIGN KEY (team, space, owner, series) REFERENCES series_head ON DELETE CASCADE);

ALTER TABLE series_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE series_file ENABLE ROW LEVEL SECURITY;
CREATE POLICY series_head_read ON series_head FOR SELECT TO told_app
  USING (team = current_setting('told.team', true) AND owner IN ('', current_setting('told.person', true)));
CREATE POLICY series_head_insert ON series_head FOR INSERT TO told_app
  WITH CHECK (team = current_setting('told.team', true) AND owner IN ('', current_setting('told.person', true))
              AND person = current_setting('told.person', true));
CREATE POLICY series_head_update ON series_head FOR UPDATE TO told_app
  USING (team = current_setting('told.team', true) AND person = current_setting('told.person', true));
CREATE POLICY series_head_delete ON series_head FOR DELETE TO told_app
  USING (team = current_setting('told.team', true) AND person = current_setting('told.person', true));
CREATE POLICY series_file_read ON series_file FOR SELECT TO told_app
  USING (team = current_setting('told.team', true) AND owner IN ('', current_setting('told.person', true)));
CREATE POLICY series_file_insert ON series_file FOR INSERT TO told_app
  WITH CHECK (team = current_setting('told.team', true) AND owner IN ('', current_setting('told.person', true))
              AND person = current_setting('told.person', true));
CREATE POLICY series_file_update ON series_file FOR UPDATE TO told_app
  USING (team = current_setting('told.team', true) AND person = current_setting('told.person', true));
CREATE POLICY series_file_delete ON series_file FOR DELETE TO told_app
  USING (team = current_setting('told.team', true) AND person = current_setting('told.person', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON series_head TO told_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON series_file TO told_app;
