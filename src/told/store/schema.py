"""The schema of `sessions.db`, and how an older one becomes the present one.

The file is derived from the agents' own files and from told's archive, so a version that no migration
leads from is rebuilt instead. A migration is never edited once released.
"""

from __future__ import annotations

from told.store.database import Transaction, rows
from told.store.sealing import LATER, MEANING, TABLES, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

VERSION = 5

# Indexed words of a turn. `project` comes first so that a query can be held to one project inside the index.
_SCHEMA = """
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
"""

# What waits to be learned from: sessions with new turns, projects that got another key; and what users say
# again and again, by a number that stands for its words.
_LEARNING = """
CREATE TABLE fresh(
  stage INTEGER NOT NULL, session_id INTEGER NOT NULL REFERENCES session,
  PRIMARY KEY(stage, session_id)) WITHOUT ROWID;
CREATE TABLE renamed(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE said(
  words INTEGER NOT NULL, session_id INTEGER NOT NULL REFERENCES session, n INTEGER NOT NULL,
  PRIMARY KEY(words, session_id)) WITHOUT ROWID;
"""

# Sessions whose turns lost their text when told came over its cap, with a hash of it: the text can be had
# again from the archive or the agent's file.
_TRIMMED = """
CREATE TABLE trimmed(
  session_id INTEGER PRIMARY KEY REFERENCES session, print TEXT NOT NULL);
"""

# Notes that agents wrote, and told's own: these have a status and the path of their file.
_CHECKPOINTS = """
CREATE TABLE checkpoint(
  session_id INTEGER NOT NULL REFERENCES session, number INTEGER NOT NULL, public TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL, overview TEXT NOT NULL, at INTEGER NOT NULL, work_done TEXT NOT NULL,
  technical_details TEXT NOT NULL, important_files TEXT NOT NULL, next_steps TEXT NOT NULL,
  history TEXT NOT NULL, source_id INTEGER NOT NULL, status TEXT NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY(session_id, number)) WITHOUT ROWID;
CREATE INDEX checkpoint_at ON checkpoint(at);
"""
# Its sum covers every column, so it is begun anew with the table.
_BEFORE_CHECKPOINTS = """
DROP TRIGGER seal_checkpoint_insert;
DROP TRIGGER seal_checkpoint_update;
DROP TRIGGER seal_checkpoint_delete;
DELETE FROM seal WHERE name = 'checkpoint';
DROP INDEX checkpoint_at;
ALTER TABLE checkpoint RENAME TO older_checkpoint;
"""
_AFTER_CHECKPOINTS = """
INSERT INTO checkpoint SELECT session_id, number, public, title, overview, at, work_done, technical_details,
  important_files, next_steps, history, source_id, '', '' FROM older_checkpoint;
DROP TABLE older_checkpoint;
"""

# What turns mean: the vectors of a turn's passages, and for each session the signs of the numbers of some of
# them, which are quick to compare. They go when the text goes that they were made of, whoever changes it, and
# a session with such turns waits to be looked at (stage 2 of `fresh`).
_MEANING = """
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
"""

# From version N to N + 1.
_MIGRATIONS: dict[int, str] = {
    1: _LEARNING
    + "INSERT INTO fresh SELECT stage, id FROM session, (SELECT 0 AS stage UNION SELECT 1) WHERE turns > 0;",
    2: _TRIMMED,
    3: _BEFORE_CHECKPOINTS + _CHECKPOINTS + _AFTER_CHECKPOINTS,
    4: _MEANING + "INSERT INTO fresh SELECT 2, id FROM session;",
}
# Which tables get a sum with which version.
_SEALED = {
    2: tuple(one for one in TABLES if one not in (*LATER, *MEANING)), 3: LATER, 4: ("checkpoint",),
    5: MEANING,
}  # fmt: skip


def version(connection: apsw.Connection) -> int:
    """Return the schema version of an open database; 0 when it is empty."""
    return int(rows(connection, "PRAGMA user_version")[0][0])


def migrate(connection: apsw.Connection) -> bool:
    """Bring a database to the present schema, in one transaction.

    Returns:
        False when no way leads from its version to this one: it has to be rebuilt.
    """
    found = version(connection)
    if found == VERSION:
        return True
    with Transaction(connection):
        found = version(connection)
        if found == 0:
            connection.execute(_SCHEMA + _LEARNING + _TRIMMED + _CHECKPOINTS + _MEANING)
            seal(connection, TABLES)
        while 0 < found < VERSION and found in _MIGRATIONS:
            connection.execute(_MIGRATIONS[found])
            found += 1
            if found in _SEALED:
                seal(connection, _SEALED[found])
        if found not in (0, VERSION):
            return False
        connection.execute(f"PRAGMA user_version={VERSION}")
    return True
