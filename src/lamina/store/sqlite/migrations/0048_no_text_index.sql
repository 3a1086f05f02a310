-- Nothing asks the full-text table: a searched scope's words are held in memory, of the rows that have them as texts.
DROP TABLE text_index;

-- What changed lately is named by the numbers of ids, in a fifth of the room and without looking for the ids at each write. Nobody remembers
-- anything yet who will read these rows.
DROP TRIGGER record_row_put;
DROP TRIGGER record_row_changed;
DROP TRIGGER support_row_put;
DROP TABLE touched;
CREATE TABLE touched (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  identifier INTEGER,
  tenant_id  TEXT,
  id         TEXT
);
CREATE TRIGGER touched_kept AFTER INSERT ON touched BEGIN
  DELETE FROM touched WHERE number <= NEW.number - 2048;
END;
CREATE TRIGGER record_row_put AFTER INSERT ON record_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record);
END;
CREATE TRIGGER record_row_changed AFTER UPDATE ON record_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record);
END;
CREATE TRIGGER support_row_put AFTER INSERT ON support_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record), (NEW.source);
END;
