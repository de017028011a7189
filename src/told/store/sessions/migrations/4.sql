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
INSERT INTO fresh SELECT 2, id FROM session;
