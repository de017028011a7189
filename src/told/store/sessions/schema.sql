-- `project` is the first indexed column, so that a query can be restricted to a project.
CREATE TABLE project(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, root TEXT NOT NULL);
CREATE TABLE place(
  path TEXT PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES project) WITHOUT ROWID;

CREATE TABLE source(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, path TEXT NOT NULL UNIQUE, layout TEXT NOT NULL,
  root TEXT NOT NULL, size INTEGER NOT NULL, changed INTEGER NOT NULL, offset INTEGER NOT NULL,
  line INTEGER NOT NULL, state TEXT NOT NULL, print TEXT NOT NULL, gone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX source_recent ON source(changed, path, size) WHERE gone = 0;
CREATE TABLE folder(
  path TEXT PRIMARY KEY, agent TEXT NOT NULL, changed INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE problem(
  source_id INTEGER NOT NULL REFERENCES source, line INTEGER NOT NULL, reason TEXT NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY(source_id, line, reason)) WITHOUT ROWID;

CREATE TABLE session(
  id INTEGER PRIMARY KEY, public TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, native TEXT NOT NULL,
  source_id INTEGER NOT NULL, project_id INTEGER REFERENCES project, cwd TEXT NOT NULL DEFAULT '',
  part TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '', repository TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '', title_by TEXT NOT NULL DEFAULT '', summary TEXT NOT NULL DEFAULT '',
  started INTEGER NOT NULL DEFAULT 0, ended INTEGER NOT NULL DEFAULT 0, parent TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL DEFAULT '', archived INTEGER NOT NULL DEFAULT 0, model TEXT NOT NULL DEFAULT '',
  turns INTEGER NOT NULL DEFAULT 0, next_n INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0, kept INTEGER NOT NULL DEFAULT 0, UNIQUE(agent, native));
CREATE INDEX session_ended ON session(ended) WHERE turns > 0 AND kind = '';
CREATE INDEX session_project ON session(project_id, ended) WHERE turns > 0 AND kind = '';

CREATE TABLE fact(
  session_id INTEGER NOT NULL REFERENCES session, source_id INTEGER NOT NULL, cwd TEXT NOT NULL,
  branch TEXT NOT NULL, repository TEXT NOT NULL, title TEXT NOT NULL, title_by TEXT NOT NULL,
  started INTEGER NOT NULL, last INTEGER NOT NULL, parent TEXT NOT NULL, kind TEXT NOT NULL,
  archived INTEGER NOT NULL, model TEXT NOT NULL, PRIMARY KEY(session_id, source_id)) WITHOUT ROWID;

CREATE TABLE turn(
  id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES session, n INTEGER NOT NULL,
  at INTEGER NOT NULL, key INTEGER, project TEXT NOT NULL, asked TEXT NOT NULL, answered TEXT NOT NULL,
  steps TEXT NOT NULL, near TEXT NOT NULL, extra TEXT NOT NULL);
CREATE UNIQUE INDEX turn_place ON turn(session_id, n);
CREATE INDEX turn_key ON turn(key) WHERE key IS NOT NULL;
CREATE VIRTUAL TABLE turn_words USING fts5(
  project, asked, answered, steps, near, extra, content='turn', content_rowid='id',
  tokenize="porter unicode61 remove_diacritics 2");
INSERT INTO turn_words(turn_words, rank) VALUES('automerge', 8);
INSERT INTO turn_words(turn_words, rank) VALUES('hashsize', 33554432);
CREATE VIRTUAL TABLE turn_vocabulary USING fts5vocab(turn_words, row);
CREATE VIRTUAL TABLE turn_places USING fts5vocab(turn_words, instance);

CREATE TABLE touch(
  session_id INTEGER NOT NULL REFERENCES session, path TEXT NOT NULL, how TEXT NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY(session_id, path)) WITHOUT ROWID;
CREATE INDEX touch_at ON touch(at);
CREATE TABLE ref(
  session_id INTEGER NOT NULL REFERENCES session, kind TEXT NOT NULL, value TEXT NOT NULL,
  source_id INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(session_id, kind, value, source_id)) WITHOUT ROWID;
CREATE TABLE sweep(
  id INTEGER PRIMARY KEY CHECK(id = 1), at INTEGER NOT NULL, remaining INTEGER NOT NULL,
  surroundings TEXT NOT NULL);
INSERT INTO sweep VALUES(1, 0, 0, '');

-- The work queue: sessions with new turns, and projects with a new key.
CREATE TABLE fresh(
  stage INTEGER NOT NULL, session_id INTEGER NOT NULL REFERENCES session,
  PRIMARY KEY(stage, session_id)) WITHOUT ROWID;
CREATE TABLE renamed(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;

-- Sessions whose text was removed to save space, with a hash of it; the archive or the agent's file has it.
CREATE TABLE trimmed(
  session_id INTEGER PRIMARY KEY REFERENCES session, print TEXT NOT NULL);

-- Agents' checkpoints, and told's own, which have a status and a file.
CREATE TABLE checkpoint(
  session_id INTEGER NOT NULL REFERENCES session, number INTEGER NOT NULL, public TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL, overview TEXT NOT NULL, at INTEGER NOT NULL, work_done TEXT NOT NULL,
  technical_details TEXT NOT NULL, important_files TEXT NOT NULL, next_steps TEXT NOT NULL,
  history TEXT NOT NULL, source_id INTEGER NOT NULL, status TEXT NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY(session_id, number)) WITHOUT ROWID;
CREATE INDEX checkpoint_at ON checkpoint(at);

-- The vectors of a turn's passages, and for each session the signs of some of them, which are fast to compare.
-- Triggers delete them when the text changes, and queue the session (stage 2 of `fresh`).
CREATE TABLE model(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE turn_meaning(
  turn_id INTEGER PRIMARY KEY REFERENCES turn, model_id INTEGER NOT NULL REFERENCES model,
  vectors BLOB NOT NULL);
CREATE TABLE sketch(
  session_id INTEGER PRIMARY KEY REFERENCES session, model_id INTEGER NOT NULL REFERENCES model,
  turns BLOB NOT NULL, signs BLOB NOT NULL);
CREATE TRIGGER meaning_of_new AFTER INSERT ON turn BEGIN
  INSERT OR IGNORE INTO fresh VALUES(2, new.session_id); END;
CREATE TRIGGER meaning_of_changed AFTER UPDATE OF asked, answered ON turn
  WHEN old.asked != new.asked OR old.answered != new.answered BEGIN
  DELETE FROM turn_meaning WHERE turn_id = old.id;
  DELETE FROM sketch WHERE session_id = old.session_id;
  INSERT OR IGNORE INTO fresh VALUES(2, new.session_id); END;
CREATE TRIGGER meaning_of_gone AFTER DELETE ON turn BEGIN
  DELETE FROM turn_meaning WHERE turn_id = old.id;
  DELETE FROM sketch WHERE session_id = old.session_id;
  INSERT OR IGNORE INTO fresh VALUES(2, old.session_id); END;
CREATE TRIGGER meaning_of_none AFTER DELETE ON session BEGIN
  DELETE FROM fresh WHERE stage = 2 AND session_id = old.id; END;
