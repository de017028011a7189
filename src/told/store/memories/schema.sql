-- `scope_word` is the first indexed column, so that a query can be restricted to scopes.
-- `word_of` repeats the index's words of active memories: the newest rows of a word in a scope are adjacent.
-- `memory_idle` covers what may be archived, so that archived memories cost nothing in that search.
-- `meaning_of` has the vectors of active memories; `meaning_signs` their signs, a thousand in a row.
-- `trigger_of` only lists active memories.
CREATE TABLE memory(
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, machine TEXT NOT NULL, number INTEGER NOT NULL,
  scope_word TEXT NOT NULL, text TEXT NOT NULL, words TEXT NOT NULL, extra TEXT NOT NULL,
  kind TEXT NOT NULL, marks TEXT NOT NULL, context TEXT NOT NULL, label TEXT NOT NULL, scope TEXT NOT NULL, status TEXT NOT NULL,
  locked INTEGER NOT NULL, trust TEXT NOT NULL, importance REAL NOT NULL, alpha REAL NOT NULL,
  beta REAL NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, expires INTEGER NOT NULL,
  superseded_by TEXT NOT NULL, shown INTEGER NOT NULL, shown_last INTEGER NOT NULL,
  followed INTEGER NOT NULL, repeated INTEGER NOT NULL, confirmed INTEGER NOT NULL, worded_by TEXT NOT NULL,
  was TEXT NOT NULL,
  detail TEXT NOT NULL, last_at INTEGER NOT NULL, last_machine TEXT NOT NULL, last_number INTEGER NOT NULL,
  hash BLOB NOT NULL);
CREATE INDEX memory_locked ON memory(scope, row) WHERE locked = 1 AND status = 'active';
CREATE INDEX memory_scope ON memory(scope, row) WHERE status = 'active';
CREATE INDEX memory_kind ON memory(scope, kind, row) WHERE status = 'active';
CREATE INDEX memory_ended ON memory(status, row) WHERE status != 'active';
CREATE INDEX memory_superseded ON memory(superseded_by) WHERE superseded_by != '';
CREATE INDEX memory_idle ON memory(last_at)
  WHERE locked = 0 AND confirmed = 0 AND status NOT IN ('archived', 'forgotten', 'candidate', 'dismissed');
CREATE INDEX memory_marked ON memory(scope, row) WHERE status = 'active' AND marks != '';
CREATE VIRTUAL TABLE memory_words USING fts5(
  scope_word, text, words, extra, content='memory', content_rowid='row',
  tokenize="porter unicode61 remove_diacritics 2");
INSERT INTO memory_words(memory_words, rank) VALUES('automerge', 8);
INSERT INTO memory_words(memory_words, rank) VALUES('secure-delete', 1);
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab(memory_words, row);

CREATE TABLE trigger_of(
  kind TEXT NOT NULL, value TEXT NOT NULL, scope TEXT NOT NULL, row INTEGER NOT NULL,
  PRIMARY KEY(kind, value, scope, row)) WITHOUT ROWID;
CREATE TABLE word_of(
  word TEXT NOT NULL, scope TEXT NOT NULL, row INTEGER NOT NULL,
  PRIMARY KEY(word, scope, row)) WITHOUT ROWID;
CREATE TABLE meaning_of(
  row INTEGER PRIMARY KEY, scope TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL,
  hash BLOB NOT NULL);
CREATE TABLE meaning_signs(
  scope TEXT NOT NULL, model TEXT NOT NULL, first INTEGER NOT NULL, rows BLOB NOT NULL, signs BLOB NOT NULL,
  PRIMARY KEY(scope, model, first));
CREATE TABLE evidence_of(
  session TEXT NOT NULL, agent TEXT NOT NULL, turn INTEGER NOT NULL, row INTEGER NOT NULL,
  PRIMARY KEY(session, agent, turn, row)) WITHOUT ROWID;
CREATE TABLE edge(
  source TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL,
  PRIMARY KEY(source, kind, target)) WITHOUT ROWID;
CREATE INDEX edge_target ON edge(target, kind, source);
CREATE TABLE shown(
  session TEXT NOT NULL, memory_id TEXT NOT NULL, at INTEGER NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY(session, memory_id)) WITHOUT ROWID;
CREATE INDEX shown_memory ON shown(memory_id, session);

CREATE TABLE position(
  machine TEXT NOT NULL, segment TEXT NOT NULL, size INTEGER NOT NULL, number INTEGER NOT NULL,
  mark TEXT NOT NULL, erased TEXT NOT NULL, PRIMARY KEY(machine, segment)) WITHOUT ROWID;
CREATE TABLE noted(
  topic TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, at INTEGER NOT NULL, machine TEXT NOT NULL,
  number INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY(topic, name)) WITHOUT ROWID;
CREATE TABLE stale(memory_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE orphan(memory_id TEXT PRIMARY KEY) WITHOUT ROWID;
