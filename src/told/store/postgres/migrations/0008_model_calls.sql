-- What the judge was asked for the team, and what it cost; no text. A call is noted before it is made, with an estimate,
-- so that workers that ask at the same time stay within the budget of a day.
CREATE TABLE model_call(
  team text NOT NULL REFERENCES team,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT now(),
  person text NOT NULL,
  session text NOT NULL,
  model text NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL DEFAULT 0,
  failed text NOT NULL DEFAULT '',
  PRIMARY KEY (team, id));
CREATE INDEX model_call_at ON model_call(team, at);
ALTER TABLE model_call ENABLE ROW LEVEL SECURITY;
CREATE POLICY model_call_own ON model_call TO told_app USING (team = own_team() AND person = own_person());
GRANT SELECT ON model_call TO told_app;

-- How far the judge has read a session.
CREATE TABLE reviewed(
  team text NOT NULL,
  person text NOT NULL,
  session bigint NOT NULL,
  next_turn integer NOT NULL,
  PRIMARY KEY (team, session),
  FOREIGN KEY (team, person) REFERENCES person,
  FOREIGN KEY (team, session) REFERENCES session ON DELETE CASCADE);
ALTER TABLE reviewed ENABLE ROW LEVEL SECURITY;
CREATE POLICY reviewed_own ON reviewed TO told_app USING (team = own_team() AND person = own_person());
GRANT SELECT, INSERT, UPDATE ON reviewed TO told_app;

-- New items may wait for a time, too.
DROP INDEX job_new;
CREATE INDEX job_new ON job(team, run_at, id) WHERE state = 'ready' AND attempts = 0;
