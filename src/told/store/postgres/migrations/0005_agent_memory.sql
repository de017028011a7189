-- What agent-memory's clients send and read, in tables of its shape. Its API knows no owner: the rows of a team
-- are visible to the team. `created_by` is the person whose token wrote a row.

-- Its clients expect small whole numbers as ids, counted for each team.
CREATE TABLE agent_memory_counter(
  team text NOT NULL,
  kind text NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (team, kind));

CREATE TABLE agent_memory_project(
  team text NOT NULL,
  id bigint NOT NULL,
  name text NOT NULL,
  full_path text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team, id),
  UNIQUE (team, name));

CREATE TABLE agent_memory_session(
  team text NOT NULL,
  id bigint NOT NULL,
  session_id text NOT NULL,
  project_id bigint NOT NULL,
  agent_type text NOT NULL DEFAULT 'claude-code',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'failed')),
  started_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  summary text,
  prompt_count integer NOT NULL DEFAULT 0,
  created_by text NOT NULL,
  PRIMARY KEY (team, id),
  UNIQUE (team, session_id),
  FOREIGN KEY (team, project_id) REFERENCES agent_memory_project ON DELETE CASCADE);
CREATE INDEX agent_memory_session_started ON agent_memory_session(team, started_at DESC);
CREATE INDEX agent_memory_session_project ON agent_memory_session(team, project_id);

-- `words` has less than 1 MB, the limit of a tsvector, however long the texts are. `memory` is told's own memory
-- that was made of the row.
CREATE TABLE agent_memory_observation(
  team text NOT NULL,
  id bigint NOT NULL,
  session_id bigint NOT NULL,
  project_id bigint NOT NULL,
  title text NOT NULL,
  subtitle text,
  type text NOT NULL DEFAULT 'discovery' CHECK (type IN
    ('decision', 'bugfix', 'feature', 'refactor', 'discovery', 'change', 'pattern', 'gotcha')),
  narrative text,
  facts jsonb NOT NULL DEFAULT '[]',
  concepts jsonb NOT NULL DEFAULT '[]',
  files_read jsonb NOT NULL DEFAULT '[]',
  files_modified jsonb NOT NULL DEFAULT '[]',
  raw_text text NOT NULL,
  embedding halfvec(256),
  embedding_model text,
  tool_name text,
  prompt_number integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  memory text,
  words tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('english', left(title, 10000)), 'A')
    || setweight(to_tsvector('english', left(coalesce(subtitle, ''), 10000)), 'B')
    || setweight(to_tsvector('english', left(coalesce(narrative, ''), 50000)), 'C')
    || setweight(to_tsvector('english', left(raw_text, 100000)), 'D')) STORED,
  PRIMARY KEY (team, id),
  FOREIGN KEY (team, session_id) REFERENCES agent_memory_session ON DELETE CASCADE,
  FOREIGN KEY (team, project_id) REFERENCES agent_memory_project ON DELETE CASCADE);
CREATE INDEX agent_memory_observation_created ON agent_memory_observation(team, created_at DESC, id DESC);
CREATE INDEX agent_memory_observation_project ON agent_memory_observation(team, project_id, created_at DESC);
CREATE INDEX agent_memory_observation_session ON agent_memory_observation(team, session_id, id);
CREATE INDEX agent_memory_observation_memory ON agent_memory_observation(team, memory) WHERE memory IS NOT NULL;
CREATE INDEX agent_memory_observation_words ON agent_memory_observation USING gin(words);
CREATE INDEX agent_memory_observation_embedding ON agent_memory_observation
  USING hnsw(embedding halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);

CREATE TABLE agent_memory_lesson(
  team text NOT NULL,
  id bigint NOT NULL,
  project_id bigint,
  title text NOT NULL,
  rule text NOT NULL,
  severity text NOT NULL DEFAULT 'warning' CHECK (severity IN ('critical', 'warning', 'info')),
  trigger_tool text,
  trigger_pattern text,
  source_observation_id bigint,
  trigger_count integer NOT NULL DEFAULT 0,
  last_triggered_at timestamptz,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  memory text,
  words tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('english', left(title, 10000)), 'A')
    || setweight(to_tsvector('english', left(rule, 100000)), 'B')) STORED,
  PRIMARY KEY (team, id),
  FOREIGN KEY (team, project_id) REFERENCES agent_memory_project ON DELETE CASCADE,
  FOREIGN KEY (team, source_observation_id) REFERENCES agent_memory_observation
    ON DELETE SET NULL (source_observation_id));
CREATE INDEX agent_memory_lesson_project ON agent_memory_lesson(team, project_id) WHERE active;
CREATE INDEX agent_memory_lesson_memory ON agent_memory_lesson(team, memory) WHERE memory IS NOT NULL;
CREATE INDEX agent_memory_lesson_words ON agent_memory_lesson USING gin(words);

-- Tool calls that clients sent, each with a job. The same item sent twice in a session is kept once.
CREATE TABLE agent_memory_item(
  team text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  session_id bigint NOT NULL,
  tool_name text,
  tool_input jsonb,
  tool_response_preview text,
  cwd text,
  last_user_message text,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'done', 'skipped')),
  created_at timestamptz NOT NULL DEFAULT now(),
  processed_at timestamptz,
  created_by text NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (team, id),
  UNIQUE (team, session_id, hash),
  FOREIGN KEY (team, session_id) REFERENCES agent_memory_session ON DELETE CASCADE);

-- The latest re-embedding. One whose server ended says so: nobody notes its progress any more.
CREATE TABLE agent_memory_embedding_run(
  team text NOT NULL PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('running', 'cancelling', 'done', 'cancelled')),
  total integer NOT NULL,
  processed integer NOT NULL DEFAULT 0,
  errors integer NOT NULL DEFAULT 0,
  model text NOT NULL,
  only_missing boolean NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  noted_at timestamptz NOT NULL DEFAULT now());

DO $$ DECLARE name text; BEGIN
  FOREACH name IN ARRAY ARRAY['counter', 'project', 'session', 'observation', 'lesson', 'item', 'embedding_run'] LOOP
    EXECUTE format('ALTER TABLE agent_memory_%s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY team_own ON agent_memory_%s TO told_app'
      ' USING (team = current_setting(''told.team'', true))', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON agent_memory_%s TO told_app', name);
  END LOOP;
END $$;

-- Row-level security keeps `@@` from using an index, so this function looks for words with its owner's rights, and
-- returns what belongs to the viewer's team only.
CREATE FUNCTION agent_memory_matches(query tsquery) RETURNS TABLE (observation bigint, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = told, public, pg_temp AS $$ BEGIN
  RETURN QUERY EXECUTE
    'SELECT o.id, ts_rank_cd(o.words, $1) FROM agent_memory_observation o WHERE o.team = $2 AND o.words @@ $1'
    USING query, current_setting('told.team', true);
END $$;
REVOKE ALL ON FUNCTION agent_memory_matches FROM PUBLIC;
GRANT EXECUTE ON FUNCTION agent_memory_matches TO told_app;
