-- The journal and what is derived from it. `operation` is the journal: a hash chain for each person; everything
-- else can be rebuilt from it. Every key begins with the team, the column by which rows are distributed.
--
-- `reader` says who may read a row: one person, or '' for all of the team. Row-level security and every query
-- compare it, so an index that begins with it is enough for both.

-- One series for each person. Its row is locked while operations are appended. `key` marks forgotten words.
CREATE TABLE series(
  team text NOT NULL,
  series text NOT NULL,
  person text NOT NULL,
  number bigint NOT NULL DEFAULT 0,
  hash text NOT NULL,
  key bytea NOT NULL,
  PRIMARY KEY (team, series),
  UNIQUE (team, person));

-- `payload` is NULL when it was erased; the chain still verifies, because it covers the payload's hash only.
CREATE TABLE operation(
  team text NOT NULL,
  series text NOT NULL,
  number bigint NOT NULL,
  at bigint NOT NULL,
  kind text NOT NULL,
  memory text NOT NULL,
  by text NOT NULL,
  person text NOT NULL,
  payload text,
  payload_hash text NOT NULL,
  previous text NOT NULL,
  hash text NOT NULL,
  redacted text,
  PRIMARY KEY (team, series, number));
CREATE INDEX operation_kind ON operation(team, person, kind, number);

-- The operations that touch each family of memories (the first letters of their ids).
CREATE TABLE operation_of(
  team text NOT NULL,
  person text NOT NULL,
  family text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (team, person, family, number));

CREATE TABLE memory(
  team text NOT NULL,
  row bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  owner text NOT NULL,
  shared boolean NOT NULL,
  reader text NOT NULL GENERATED ALWAYS AS (CASE WHEN shared THEN '' ELSE owner END) STORED,
  machine text NOT NULL, number bigint NOT NULL, text text NOT NULL, kind text NOT NULL, label text NOT NULL,
  scope text NOT NULL, status text NOT NULL, locked boolean NOT NULL, trust text NOT NULL,
  importance double precision NOT NULL, alpha double precision NOT NULL, beta double precision NOT NULL,
  created bigint NOT NULL, updated bigint NOT NULL, expires bigint NOT NULL, superseded_by text NOT NULL,
  shown bigint NOT NULL, shown_last bigint NOT NULL, followed bigint NOT NULL, repeated bigint NOT NULL,
  confirmed bigint NOT NULL, marks text NOT NULL, context text NOT NULL, worded_by text NOT NULL,
  was text NOT NULL, last_at bigint NOT NULL, last_machine text NOT NULL, last_number bigint NOT NULL,
  detail text NOT NULL,
  extra text NOT NULL,
  about text NOT NULL,
  tokens tsvector NOT NULL,
  PRIMARY KEY (team, row),
  UNIQUE (team, id, owner));
CREATE INDEX memory_active ON memory(team, reader, scope, row DESC) WHERE status = 'active';
CREATE INDEX memory_kind ON memory(team, reader, scope, kind, row DESC) WHERE status = 'active';
CREATE INDEX memory_locked ON memory(team, owner, scope, row DESC) WHERE locked AND status = 'active';
CREATE INDEX memory_ended ON memory(team, reader, status, row DESC) WHERE status <> 'active';
CREATE INDEX memory_superseded ON memory(team, superseded_by) WHERE superseded_by <> '';
CREATE INDEX memory_idle ON memory(team, owner, last_at, row) WHERE NOT locked AND confirmed = 0
  AND status NOT IN ('archived', 'forgotten', 'candidate', 'dismissed');
CREATE INDEX memory_tokens ON memory USING gin(tokens);

-- What nobody but the owner reads, of shared memories as well: evidence with its quotes, and edges.
CREATE TABLE memory_own(
  team text NOT NULL, owner text NOT NULL, row bigint NOT NULL, evidence text NOT NULL, edges text NOT NULL,
  PRIMARY KEY (team, owner, row));

-- These tables list active memories only, each table the newest rows of a value side by side.
CREATE TABLE word_of(
  team text NOT NULL, word text NOT NULL, scope text NOT NULL, reader text NOT NULL, row bigint NOT NULL,
  PRIMARY KEY (team, word, scope, reader, row));
CREATE TABLE trigger_of(
  team text NOT NULL, kind text NOT NULL, value text NOT NULL, scope text NOT NULL, reader text NOT NULL,
  row bigint NOT NULL, PRIMARY KEY (team, kind, value, scope, reader, row));
CREATE TABLE topic_of(
  team text NOT NULL, name text NOT NULL, scope text NOT NULL, reader text NOT NULL, row bigint NOT NULL,
  PRIMARY KEY (team, name, scope, reader, row));
CREATE TABLE entity_of(
  team text NOT NULL, name text NOT NULL, scope text NOT NULL, reader text NOT NULL, row bigint NOT NULL,
  PRIMARY KEY (team, name, scope, reader, row));
-- The vector by which told compares memories exactly, and the signs of its numbers.
CREATE TABLE meaning_of(
  team text NOT NULL, scope text NOT NULL, model text NOT NULL, reader text NOT NULL, row bigint NOT NULL,
  vector bytea NOT NULL, signs bytea NOT NULL,
  PRIMARY KEY (team, row));
CREATE INDEX meaning_scope ON meaning_of(team, scope, model, reader, row DESC) INCLUDE (signs);

-- Of the owner alone.
CREATE TABLE evidence_of(
  team text NOT NULL, owner text NOT NULL, session text NOT NULL, agent text NOT NULL, turn bigint NOT NULL,
  row bigint NOT NULL, PRIMARY KEY (team, owner, session, agent, turn, row));
CREATE INDEX evidence_row ON evidence_of(team, row);
CREATE TABLE edge(
  team text NOT NULL, owner text NOT NULL, source text NOT NULL, kind text NOT NULL, target text NOT NULL,
  at bigint NOT NULL, by text NOT NULL, PRIMARY KEY (team, owner, source, kind, target));
CREATE INDEX edge_target ON edge(team, owner, target, kind, source);
CREATE TABLE shown(
  team text NOT NULL, owner text NOT NULL, session text NOT NULL, memory_id text NOT NULL, at bigint NOT NULL,
  PRIMARY KEY (team, owner, session, memory_id));
CREATE INDEX shown_memory ON shown(team, owner, memory_id, session);
CREATE TABLE noted(
  team text NOT NULL, owner text NOT NULL, topic text NOT NULL, name text NOT NULL, value text NOT NULL,
  at bigint NOT NULL, machine text NOT NULL, number bigint NOT NULL, PRIMARY KEY (team, owner, topic, name));
CREATE TABLE orphan(
  team text NOT NULL, owner text NOT NULL, memory_id text NOT NULL, PRIMARY KEY (team, owner, memory_id));

-- Embedding models, the same for all teams; each has a partial HNSW index, made when it is registered.
CREATE TABLE embedding_model(
  model text PRIMARY KEY, dimensions integer NOT NULL, created timestamptz NOT NULL DEFAULT now());
-- Written after the answer: keeping the HNSW index up to date costs more than everything else.
CREATE TABLE memory_vector(
  team text NOT NULL, row bigint NOT NULL, model text NOT NULL REFERENCES embedding_model,
  scope text NOT NULL, reader text NOT NULL, vector halfvec NOT NULL,
  PRIMARY KEY (team, model, row));

CREATE FUNCTION own_team() RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting('told.team', true) $$;
CREATE FUNCTION own_person() RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT current_setting('told.person', true) $$;
CREATE FUNCTION readers() RETURNS text[] LANGUAGE sql STABLE AS
  $$ SELECT ARRAY[current_setting('told.person', true), ''] $$;
DO $$ DECLARE name text; owns text; BEGIN
  FOREACH name IN ARRAY ARRAY['word_of', 'trigger_of', 'topic_of', 'entity_of', 'meaning_of', 'memory_vector']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY readable ON %I FOR SELECT TO told_app'
      ' USING (team = own_team() AND reader = ANY(readers()))', name);
    owns := format('(team = own_team() AND EXISTS (SELECT FROM memory m WHERE m.team = own_team()'
      ' AND m.row = %I.row AND m.owner = own_person()))', name);
    EXECUTE format('CREATE POLICY makes ON %I FOR INSERT TO told_app WITH CHECK ', name) || owns;
    EXECUTE format('CREATE POLICY removes ON %I FOR DELETE TO told_app USING ', name) || owns;
    EXECUTE format('CREATE POLICY changes ON %I FOR UPDATE TO told_app USING ', name) || owns;
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO told_app', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['memory_own', 'evidence_of', 'edge', 'shown', 'noted', 'orphan'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own ON %I TO told_app USING (team = own_team() AND owner = own_person())', name);
    EXECUTE format('GRANT SELECT, INSERT, DELETE, UPDATE ON %I TO told_app', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['series', 'operation_of'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own ON %I TO told_app USING (team = own_team() AND person = own_person())', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO told_app', name);
  END LOOP;
END $$;

ALTER TABLE memory ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON memory FOR SELECT TO told_app USING (team = own_team() AND reader = ANY(readers()));
CREATE POLICY makes ON memory FOR INSERT TO told_app
  WITH CHECK (team = own_team() AND owner = own_person());
CREATE POLICY changes ON memory FOR UPDATE TO told_app USING (team = own_team() AND owner = own_person());
CREATE POLICY removes ON memory FOR DELETE TO told_app USING (team = own_team() AND owner = own_person());
GRANT SELECT, INSERT, UPDATE, DELETE ON memory TO told_app;

-- Nobody changes a colleague's memory. Payloads are erased, operations never removed.
ALTER TABLE operation ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON operation TO told_app USING (team = own_team() AND person = own_person())
  WITH CHECK (team = own_team() AND person = own_person() AND (
    memory = '' OR kind IN ('remember', 'correct') OR NOT EXISTS (
      SELECT FROM memory m WHERE m.team = own_team() AND m.id = operation.memory AND m.owner <> own_person())
    OR EXISTS (
      SELECT FROM memory m WHERE m.team = own_team() AND m.id = operation.memory AND m.owner = own_person())));
GRANT SELECT, INSERT ON operation TO told_app;
GRANT UPDATE (payload) ON operation TO told_app;
ALTER TABLE embedding_model ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON embedding_model FOR SELECT TO told_app USING (true);
GRANT SELECT ON embedding_model TO told_app;

-- PostgreSQL uses an index on words only after row-level security when the operator cannot leak what it
-- compares, and `@@` counts as one that can. So these functions look for words with their owner's rights, and
-- return rows that the viewer may read only.
CREATE FUNCTION word_rows(query tsquery, oldest bigint, most integer) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = told, public, pg_temp AS $$ BEGIN
  RETURN QUERY EXECUTE
    'SELECT m.row FROM memory m WHERE m.team = $1 AND m.reader = ANY($2) AND m.tokens @@ $3 AND m.row >= $4'
    ' ORDER BY m.row DESC LIMIT $5' USING own_team(), readers(), query, oldest, most;
END $$;

-- As BM25 counts: rare terms more, a term that is repeated a little more, long texts less.
CREATE FUNCTION rank_words(
  query tsquery, terms tsquery[], rarities real[], weights real[], newest integer, most integer)
RETURNS TABLE (memory_row bigint, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = told, public, pg_temp AS $$ BEGIN
  RETURN QUERY EXECUTE
    'SELECT h.row, -2.2 / (1.3 + 0.9 * length(h.tokens) / 20.0) * ('
    '  SELECT coalesce(sum(t.rarity * ts_rank($6, h.tokens, t.term)), 0) / 0.6079271'
    '  FROM unnest($4, $5) AS t(term, rarity)) AS points'
    ' FROM (SELECT m.row, m.tokens FROM memory m WHERE m.team = $1 AND m.reader = ANY($2) AND m.tokens @@ $3'
    '   ORDER BY m.row DESC LIMIT $7) h'
    ' ORDER BY points, h.row DESC LIMIT $8'
    USING own_team(), readers(), query, terms, rarities, weights, newest, most;
END $$;
REVOKE ALL ON FUNCTION word_rows, rank_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION word_rows, rank_words TO told_app;

-- For SQL by hand: what the viewer may read, as colleagues' words where they are. Set the viewer first:
-- SELECT set_config('role', 'told_app', true), set_config('told.team', …, true), set_config('told.person', …, true)
CREATE VIEW memories WITH (security_invoker) AS
  SELECT m.team, m.id, m.owner, m.shared, m.text, m.context, m.kind, m.marks, m.label, m.scope, m.status,
    CASE WHEN m.owner = own_person() THEN m.trust ELSE 'team:' || t.name || '/' || p.name END AS trust,
    m.locked AND m.owner = own_person() AS locked, m.importance,
    m.alpha / (m.alpha + m.beta) AS confidence, m.superseded_by,
    to_timestamp(m.created / 1000.0) AS created, to_timestamp(m.updated / 1000.0) AS updated,
    CASE WHEN m.expires > 0 THEN to_timestamp(m.expires / 1000.0) END AS expires,
    m.shown AS times_shown, m.followed AS times_followed, m.repeated AS times_repeated
  FROM memory m JOIN team t USING (team) LEFT JOIN person p ON p.team = m.team AND p.person = m.owner;
CREATE VIEW operations WITH (security_invoker) AS
  SELECT team, person, series, number, to_timestamp(at / 1000.0) AS at, kind, memory, by, payload, hash, previous
  FROM operation;
GRANT SELECT ON memories, operations TO told_app;
COMMENT ON VIEW memories IS 'Memories that the viewer may read: the own ones, and what colleagues share.';
COMMENT ON VIEW operations IS 'The journal of the viewer: every operation that ever changed a memory.';
