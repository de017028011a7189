-- Sessions that people push. The session's number is the second part of every key, so that all rows of a session
-- are together. Times are ms since 1970; 0 is unknown.
CREATE TABLE session(
  team text NOT NULL REFERENCES team,
  session bigint GENERATED ALWAYS AS IDENTITY,
  owner text NOT NULL,
  shared boolean NOT NULL DEFAULT false,
  public text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  native text COLLATE "C" NOT NULL,
  -- `project` is a hash of `project_key`.
  project bigint NOT NULL DEFAULT 0,
  project_key text COLLATE "C" NOT NULL DEFAULT '',
  project_name text COLLATE "C" NOT NULL DEFAULT '',
  cwd text NOT NULL DEFAULT '',
  part text NOT NULL DEFAULT '',
  branch text NOT NULL DEFAULT '',
  title text NOT NULL DEFAULT '',
  title_by text NOT NULL DEFAULT '',
  summary text NOT NULL DEFAULT '',
  started bigint NOT NULL DEFAULT 0,
  ended bigint NOT NULL DEFAULT 0,
  kind text NOT NULL DEFAULT '',
  parent text NOT NULL DEFAULT '',
  archived integer NOT NULL DEFAULT 0,
  model text NOT NULL DEFAULT '',
  turns integer NOT NULL DEFAULT 0,
  PRIMARY KEY (team, session),
  UNIQUE (team, owner, agent, native),
  UNIQUE (team, public),
  FOREIGN KEY (team, owner) REFERENCES person);
CREATE INDEX session_ended ON session(team, ended DESC, public) WHERE turns > 0;
CREATE INDEX session_project ON session(team, project, ended DESC) WHERE turns > 0;
CREATE INDEX session_native ON session(team, native);

-- Titles and checkpoints are indexed as turns below 0. `words` has what was asked (A; also dates, and parts of
-- names), answered (B), done (C), and the words of the turns beside it (D); `size` counts them.
CREATE TABLE turn(
  team text NOT NULL,
  session bigint NOT NULL,
  n bigint NOT NULL,
  turn bigint GENERATED ALWAYS AS IDENTITY,
  at bigint NOT NULL,
  asked text NOT NULL,
  answered text NOT NULL,
  steps text NOT NULL,
  size integer NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (team, session, n),
  UNIQUE (team, turn),
  FOREIGN KEY (team, session) REFERENCES session ON DELETE CASCADE);
CREATE INDEX turn_at ON turn(team, at DESC, turn DESC);
-- Without a list of pending words, which every search would have to scan.
CREATE INDEX turn_words ON turn USING gin(words) WITH (fastupdate = off);

-- The number of turns and words, for ranking; each person changes only their own rows.
CREATE TABLE turn_total(
  team text NOT NULL,
  owner text NOT NULL,
  shared boolean NOT NULL,
  turns bigint NOT NULL DEFAULT 0,
  words bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (team, owner, shared),
  FOREIGN KEY (team, owner) REFERENCES person);

CREATE TABLE touch(
  team text NOT NULL,
  session bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  how text NOT NULL,
  at bigint NOT NULL,
  -- A path may be longer than an index takes.
  path_hash bytea NOT NULL,
  PRIMARY KEY (team, session, path_hash),
  FOREIGN KEY (team, session) REFERENCES session ON DELETE CASCADE);
CREATE INDEX touch_at ON touch(team, at DESC);

CREATE TABLE ref(
  team text NOT NULL,
  session bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  value_hash bytea NOT NULL,
  PRIMARY KEY (team, session, kind, value_hash),
  FOREIGN KEY (team, session) REFERENCES session ON DELETE CASCADE);

CREATE TABLE checkpoint(
  team text NOT NULL,
  session bigint NOT NULL,
  number bigint NOT NULL,
  public text COLLATE "C" NOT NULL,
  title text NOT NULL,
  overview text NOT NULL,
  at bigint NOT NULL,
  work_done text NOT NULL,
  technical_details text NOT NULL,
  important_files text NOT NULL,
  next_steps text NOT NULL,
  history text NOT NULL,
  status text NOT NULL,
  path text NOT NULL,
  PRIMARY KEY (team, session, number),
  FOREIGN KEY (team, session) REFERENCES session ON DELETE CASCADE);
CREATE INDEX checkpoint_public ON checkpoint(team, public);
CREATE INDEX checkpoint_at ON checkpoint(team, at DESC);

ALTER TABLE session ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_total ENABLE ROW LEVEL SECURITY;
ALTER TABLE touch ENABLE ROW LEVEL SECURITY;
ALTER TABLE ref ENABLE ROW LEVEL SECURITY;
ALTER TABLE checkpoint ENABLE ROW LEVEL SECURITY;

DO $$
DECLARE
  one text;
  own constant text := $own$team = (SELECT current_setting('told.team', true))
    AND owner = (SELECT current_setting('told.person', true))$own$;
  seen constant text := $seen$team = (SELECT current_setting('told.team', true))
    AND (shared OR owner = (SELECT current_setting('told.person', true)))$seen$;
  of_own text;
BEGIN
  FOREACH one IN ARRAY ARRAY['session', 'turn_total'] LOOP
    EXECUTE format('CREATE POLICY %I ON %I FOR SELECT TO told_app USING (%s)', one || '_seen', one, seen);
    EXECUTE format('CREATE POLICY %I ON %I TO told_app USING (%s) WITH CHECK (%s)', one || '_own', one, own, own);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO told_app', one);
  END LOOP;
  -- The inner query sees the sessions that the person sees.
  FOREACH one IN ARRAY ARRAY['turn', 'touch', 'ref', 'checkpoint'] LOOP
    EXECUTE format('CREATE POLICY %1$I ON %2$I FOR SELECT TO told_app USING (
      team = (SELECT current_setting(''told.team'', true))
      AND EXISTS (SELECT FROM session s WHERE s.team = %2$I.team AND s.session = %2$I.session))',
      one || '_seen', one);
    of_own := format('team = (SELECT current_setting(''told.team'', true))
      AND EXISTS (SELECT FROM session s WHERE s.team = %1$I.team AND s.session = %1$I.session
        AND s.owner = (SELECT current_setting(''told.person'', true)))', one);
    EXECUTE format('CREATE POLICY %I ON %I TO told_app USING (%s) WITH CHECK (%s)',
      one || '_own', one, of_own, of_own);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO told_app', one);
  END LOOP;
END $$;

-- Row-level security keeps `@@` from using an index, because the operator is not known to be leakproof. So these
-- functions match as the tables' owner, and check themselves what the person may see.

-- Count the turns that match, up to `most`; of more, return an estimate that is at least `most`.
CREATE FUNCTION count_turns(of_team text, query tsquery, most integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = told, pg_temp SET enable_seqscan = off AS $$
DECLARE
  plan json;
  expected bigint;
  found bigint;
BEGIN
  IF numnode(query) = 0 THEN
    RETURN 0;
  END IF;
  -- PostgreSQL's statistics know common words without a look at the index.
  EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM turn WHERE words @@ ' || quote_literal(query::text) || '::tsquery'
    INTO plan;
  expected := plan->0->'Plan'->>'Plan Rows';
  IF expected > 8 * most THEN
    RETURN expected;
  END IF;
  EXECUTE $query$
    SELECT count(*) FROM (
      SELECT FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session
      WHERE t.team = $1 AND t.team = current_setting('told.team', true)
        AND (s.shared OR s.owner = current_setting('told.person', true)) AND t.words @@ $2
      LIMIT $3) AS counted
    $query$ INTO found USING of_team, query, most;
  RETURN CASE WHEN found < most THEN found ELSE greatest(found, expected) END;
END $$;

-- Return the best turns that match, by a rough score: each of three groups of `terms` counts by its
-- worth. Without terms, the newest come first.
-- `newest`: only so many of the newest matches; 0: all, up to a bound. `n_below`: only lower numbers.
CREATE FUNCTION match_turns(
  of_team text, query tsquery, of_agent text DEFAULT '', since bigint DEFAULT 0, until bigint DEFAULT 0,
  n_below bigint DEFAULT 0, newest integer DEFAULT 0, weights real[] DEFAULT '{1,1,1,1}',
  terms tsquery[] DEFAULT NULL, worths double precision[] DEFAULT NULL, usual_size double precision DEFAULT 1,
  most integer DEFAULT NULL)
RETURNS TABLE(turn bigint, session bigint, n bigint, at bigint, size integer, answered_size integer, words text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = told, pg_temp SET enable_seqscan = off AS $$
BEGIN
  IF numnode(query) = 0 THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT c.turn, c.session, c.n, c.at, c.size, octet_length(c.answered), c.words::text FROM (
      SELECT t.turn, t.session, t.n, t.at, t.size, t.answered, t.words
      FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session
      WHERE t.team = $1 AND t.team = current_setting('told.team', true)
        AND (s.shared OR s.owner = current_setting('told.person', true)) AND t.words @@ $2
        AND ($3 = '' OR s.agent = $3) AND t.at >= $4 AND ($5 = 0 OR t.at < $5) AND ($6 = 0 OR t.n < $6)
      %s LIMIT $7) c
    ORDER BY (ts_rank($8, c.words, $9[1]) * $10[1] + ts_rank($8, c.words, $9[2]) * $10[2]
      + ts_rank($8, c.words, $9[3]) * $10[3]) / (1.3 + 0.9 * c.size / $11) DESC, c.at DESC, c.turn DESC
    LIMIT $12
    $query$, CASE WHEN newest > 0 THEN 'ORDER BY t.at DESC, t.turn DESC' ELSE '' END)
    USING of_team, query, of_agent, since, until, n_below, CASE WHEN newest > 0 THEN newest ELSE 10000 END,
      weights, terms, worths, usual_size, most;
END $$;

-- Return those of some words that a turn contains.
CREATE FUNCTION known_words(of_team text, candidates text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = told, pg_temp SET enable_seqscan = off AS $$
  SELECT c FROM unnest(candidates) AS c WHERE EXISTS (
    SELECT FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session
    WHERE t.team = of_team AND t.team = current_setting('told.team', true)
      AND (s.shared OR s.owner = current_setting('told.person', true))
      AND t.words @@ quote_literal(c)::tsquery)
$$;

REVOKE ALL ON FUNCTION count_turns, match_turns, known_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_turns, match_turns, known_words TO told_app;

-- For direct SQL. A person sees in them what they see with told.
CREATE VIEW session_view WITH (security_invoker = true) AS
  SELECT s.team, s.public AS id, s.agent, s.native, p.name AS owner, s.shared, s.project_key AS project, s.title,
    s.summary, s.cwd, s.branch, s.turns, to_timestamp(nullif(s.started, 0) / 1000.0) AS started,
    to_timestamp(nullif(s.ended, 0) / 1000.0) AS ended
  FROM session s JOIN person p ON p.team = s.team AND p.person = s.owner;
COMMENT ON VIEW session_view IS 'Sessions that people pushed; `id` is told''s.';
CREATE VIEW turn_view WITH (security_invoker = true) AS
  SELECT t.team, s.public AS session, t.n, to_timestamp(nullif(t.at, 0) / 1000.0) AS at, t.asked, t.answered, t.steps
  FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session WHERE t.n >= 0;
COMMENT ON VIEW turn_view IS 'One row for each exchange, with the id of its session.';
CREATE VIEW touch_view WITH (security_invoker = true) AS
  SELECT f.team, s.public AS session, f.path, f.how, to_timestamp(nullif(f.at, 0) / 1000.0) AS at
  FROM touch f JOIN session s ON s.team = f.team AND s.session = f.session;
COMMENT ON VIEW touch_view IS 'Files that sessions read or changed.';
CREATE VIEW checkpoint_view WITH (security_invoker = true) AS
  SELECT c.team, c.public AS id, s.public AS session, s.project_key AS project, c.title, c.overview,
    c.work_done, c.technical_details, c.important_files, c.next_steps, c.history, c.status,
    to_timestamp(nullif(c.at, 0) / 1000.0) AS at
  FROM checkpoint c JOIN session s ON s.team = c.team AND s.session = c.session;
COMMENT ON VIEW checkpoint_view IS 'Checkpoints of sessions.';
GRANT SELECT ON session_view, turn_view, touch_view, checkpoint_view TO told_app;
