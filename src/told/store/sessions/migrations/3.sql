-- The checksum covers every column, so it starts over with the new table.
DROP TRIGGER seal_checkpoint_insert;
DROP TRIGGER seal_checkpoint_update;
DROP TRIGGER seal_checkpoint_delete;
DELETE FROM seal WHERE name = 'checkpoint';
DROP INDEX checkpoint_at;
ALTER TABLE checkpoint RENAME TO older_checkpoint;
CREATE TABLE checkpoint(
  session_id INTEGER NOT NULL REFERENCES session, number INTEGER NOT NULL, public TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL, overview TEXT NOT NULL, at INTEGER NOT NULL, work_done TEXT NOT NULL,
  technical_details TEXT NOT NULL, important_files TEXT NOT NULL, next_steps TEXT NOT NULL,
  history TEXT NOT NULL, source_id INTEGER NOT NULL, status TEXT NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY(session_id, number)) WITHOUT ROWID;
CREATE INDEX checkpoint_at ON checkpoint(at);
INSERT INTO checkpoint SELECT session_id, number, public, title, overview, at, work_done, technical_details,
  important_files, next_steps, history, source_id, '', '' FROM older_checkpoint;
DROP TABLE older_checkpoint;
