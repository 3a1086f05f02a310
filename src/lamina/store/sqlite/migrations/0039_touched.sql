-- The ids of the records and sources whose versions or edges changed lately, so that a process knows what of its memory is old. Rows go
-- as new ones come; an erasure takes all of them.
CREATE TABLE touched (
  number    INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT    NOT NULL,
  id        TEXT    NOT NULL
);
CREATE TRIGGER touched_kept AFTER INSERT ON touched BEGIN
  DELETE FROM touched WHERE number <= NEW.number - 2048;
END;
CREATE TRIGGER record_put AFTER INSERT ON record BEGIN
  INSERT INTO touched (tenant_id, id) VALUES (NEW.tenant_id, NEW.id);
END;
CREATE TRIGGER record_changed AFTER UPDATE ON record BEGIN
  INSERT INTO touched (tenant_id, id) VALUES (NEW.tenant_id, NEW.id);
END;
CREATE TRIGGER record_gone AFTER DELETE ON record BEGIN
  INSERT INTO touched (tenant_id, id) VALUES (OLD.tenant_id, OLD.id);
END;
CREATE TRIGGER support_put AFTER INSERT ON support BEGIN
  INSERT INTO touched (tenant_id, id) VALUES (NEW.tenant_id, NEW.record_id), (NEW.tenant_id, NEW.source_id);
END;
CREATE TRIGGER support_changed AFTER UPDATE ON support BEGIN
  INSERT INTO touched (tenant_id, id) VALUES (NEW.tenant_id, NEW.record_id), (NEW.tenant_id, NEW.source_id);
END;
CREATE TRIGGER support_gone AFTER DELETE ON support BEGIN
  INSERT INTO touched (tenant_id, id) VALUES (OLD.tenant_id, OLD.record_id), (OLD.tenant_id, OLD.source_id);
END;
