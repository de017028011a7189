-- Teams, people, tokens, and what people did. Every table begins its key with the team: it is the column by
-- which rows are distributed when the database is spread over several machines.
GRANT USAGE ON SCHEMA told, public TO told_app;

CREATE TABLE team(
  team text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  settings jsonb NOT NULL DEFAULT '{}',
  created timestamptz NOT NULL DEFAULT now());

-- `public_key` is the member's key in the team's log; NULL until a client of this person connects.
CREATE TABLE person(
  team text NOT NULL REFERENCES team,
  person text NOT NULL,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('reader', 'member', 'admin')),
  public_key text,
  created timestamptz NOT NULL DEFAULT now(),
  removed timestamptz,
  PRIMARY KEY (team, person),
  UNIQUE (team, name));

-- Only a hash of a token is kept.
CREATE TABLE token(
  team text NOT NULL,
  token text NOT NULL,
  person text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('reader', 'member', 'admin')),
  created timestamptz NOT NULL DEFAULT now(),
  expires timestamptz,
  last_used timestamptz,
  revoked timestamptz,
  PRIMARY KEY (team, token),
  FOREIGN KEY (team, person) REFERENCES person);

CREATE TABLE audit(
  team text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT now(),
  person text NOT NULL,
  token text NOT NULL DEFAULT '',
  action text NOT NULL,
  target text NOT NULL DEFAULT '',
  detail jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (team, id));
CREATE INDEX audit_at ON audit(team, at DESC);

ALTER TABLE team ENABLE ROW LEVEL SECURITY;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
ALTER TABLE token ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY team_own ON team TO told_app USING (team = current_setting('told.team', true));
CREATE POLICY person_own ON person TO told_app USING (team = current_setting('told.team', true));
CREATE POLICY audit_write ON audit FOR INSERT TO told_app
  WITH CHECK (team = current_setting('told.team', true) AND person = current_setting('told.person', true));
GRANT SELECT ON team, person TO told_app;
GRANT INSERT ON audit TO told_app;
