-- The queue. `key` makes an item unique: it is stored once, however often it is sent. What is done keeps its row
-- for some days, without its payload, so that a late repetition is still recognised.
CREATE TABLE job(
  team text NOT NULL REFERENCES team,
  id bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  key text NOT NULL,
  person text NOT NULL,
  payload jsonb NOT NULL,
  state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'done', 'dead')),
  attempts integer NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,
  worker text NOT NULL DEFAULT '',
  error text NOT NULL DEFAULT '',
  created timestamptz NOT NULL DEFAULT now(),
  finished timestamptz,
  PRIMARY KEY (team, id),
  UNIQUE (team, kind, key));
-- A row is in one of these at a time. Items that were tried before are taken one by one, so they are apart.
CREATE INDEX job_new ON job(team, id) WHERE state = 'ready' AND attempts = 0;
CREATE INDEX job_again ON job(team, run_at, id) WHERE state = 'ready' AND attempts > 0;
CREATE INDEX job_running ON job(team, lease_until) WHERE state = 'running';
CREATE INDEX job_done ON job(team, finished) WHERE state = 'done';
CREATE INDEX job_dead ON job(team, id) WHERE state = 'dead';

ALTER TABLE job ENABLE ROW LEVEL SECURITY;
CREATE POLICY job_own ON job TO told_app
  USING (team = current_setting('told.team', true) AND person = current_setting('told.person', true));
GRANT SELECT, INSERT, UPDATE ON job TO told_app;
