-- Objects that are entities are named by numbers, and versions of a record are found by the range of their rows, without an index beside it.
-- Weights of edges are integers where ten thousandths say them: in a table without row numbers a real one takes eight bytes, whatever it is.
-- Families of idempotency keys that have a number are named by it.
DROP TRIGGER record_row_changed;
DROP TRIGGER record_row_gone;
DROP TRIGGER support_row_gone;
DROP TRIGGER mention_row_gone;
DROP TRIGGER text_row_gone;
DROP TRIGGER vector_row_gone;
DROP TRIGGER support_row_put;
DROP VIEW record;
DROP VIEW support;
DROP INDEX record_version;
DROP INDEX record_object;
ALTER TABLE record_row ADD COLUMN object INTEGER;
INSERT INTO identifier (tenant_id, id)
SELECT DISTINCT h.tenant_id, r.object_key FROM record_row AS r JOIN shelf AS h ON h.number = r.shelf
WHERE r.object_key GLOB 'ent_*' AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = r.object_key AND tenant_id = h.tenant_id);
UPDATE record_row SET object_key = NULL, object = (
  SELECT o.number FROM shelf AS h JOIN identifier AS o ON o.id = record_row.object_key AND o.tenant_id = h.tenant_id
  WHERE h.number = record_row.shelf)
WHERE object_key GLOB 'ent_*';
UPDATE idempotency SET family = x'15' WHERE family = '/v1/experience';
CREATE INDEX record_object ON record_row (object, shelf, recorded_from) WHERE object IS NOT NULL;
PRAGMA legacy_alter_table = ON;
ALTER TABLE support_row RENAME TO support_before;
PRAGMA legacy_alter_table = OFF;
CREATE TABLE support_row (
  record      INTEGER NOT NULL,
  source      INTEGER NOT NULL,
  relation    INTEGER NOT NULL,
  weight      INTEGER NOT NULL,
  against     INTEGER NOT NULL,
  place       INTEGER NOT NULL,
  actor       TEXT,
  recorded_at INTEGER NOT NULL,
  at          INTEGER,
  part        TEXT,
  accepted_in TEXT,
  PRIMARY KEY (record, source, relation)
) WITHOUT ROWID;
INSERT INTO support_row
SELECT record, source, relation, iif(round(weight * 10000) / 10000 = weight, CAST(round(weight * 10000) AS INTEGER), weight), against, place, actor,
  recorded_at, at, part, accepted_in FROM support_before ORDER BY record, source, relation;
DROP TABLE support_before;
CREATE INDEX support_source ON support_row (source, record);
-- Names in the order of the log: an entity is what it was called first.
PRAGMA legacy_alter_table = ON;
ALTER TABLE mention_row RENAME TO mention_before;
PRAGMA legacy_alter_table = OFF;
CREATE TABLE mention_row (
  entity   INTEGER NOT NULL,
  place    INTEGER NOT NULL,
  event    INTEGER NOT NULL,
  position INTEGER NOT NULL,
  surface  TEXT    NOT NULL,
  type     TEXT,
  PRIMARY KEY (entity, place, position, event, surface)
) WITHOUT ROWID;
INSERT INTO mention_row SELECT entity, place, event, position, surface, type FROM mention_before ORDER BY entity, place, position, event, surface;
DROP TABLE mention_before;
CREATE INDEX mention_event ON mention_row (event);
CREATE VIEW record AS
SELECT
  h.tenant_id AS tenant_id, n.id AS id, r.version AS version, h.layer AS layer, h.scope AS scope,
  r.position AS position, s.id AS subject, r.predicate AS predicate, coalesce(r.object_key, o.id) AS object_key, r.slot AS slot,
  r.claim_key AS claim_key, r.session AS session, r.topic AS topic, r.confidence AS confidence, r.stance AS stance,
  r.valid_from AS valid_from, r.valid_to AS valid_to, r.recorded_from AS recorded_from, r.recorded_to AS recorded_to,
  r.superseded_by AS superseded_by, r.closed_by AS closed_by, r.excluded AS excluded, r.body AS body,
  r.status AS status, r.salience AS salience, r.horizon AS horizon, r.due_at AS due_at, r.due_offset AS due_offset,
  r.seen_at AS seen_at
FROM record_row AS r JOIN shelf AS h ON h.number = r.shelf
JOIN identifier AS n ON n.number = r.record AND n.tenant_id = h.tenant_id AND r.row BETWEEN n.number << 24 AND n.number << 24 | 0xFFFFFF
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = h.tenant_id
LEFT JOIN identifier AS o ON o.number = r.object AND o.tenant_id = h.tenant_id;
CREATE VIEW support AS
SELECT r.tenant_id AS tenant_id, r.id AS record_id, s.id AS source_id, n.name AS relation,
  iif(typeof(e.weight) = 'integer', e.weight / 10000.0, e.weight) AS weight,
  iif(e.against, 'against', 'supports') AS polarity, e.place AS place, e.actor AS actor, e.recorded_at AS recorded_at, e.at AS at,
  e.part AS part, e.accepted_in AS accepted_in
FROM support_row AS e JOIN identifier AS r ON r.number = e.record
JOIN identifier AS s ON s.number = e.source AND s.tenant_id = r.tenant_id
LEFT JOIN relation AS n ON n.number = e.relation;
CREATE TRIGGER record_put INSTEAD OF INSERT ON record BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.subject
  WHERE NEW.subject IS NOT NULL AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.object_key
  WHERE NEW.object_key GLOB 'ent_*' AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.object_key AND tenant_id = NEW.tenant_id);
  INSERT INTO shelf (tenant_id, scope, layer) SELECT NEW.tenant_id, NEW.scope, NEW.layer
  WHERE NOT EXISTS (SELECT 1 FROM shelf WHERE tenant_id = NEW.tenant_id AND scope = NEW.scope AND layer = NEW.layer);
  INSERT INTO record_row (
    row, record, version, shelf, position, subject, predicate, object_key, slot, claim_key, session, topic, confidence,
    stance, valid_from, valid_to, recorded_from, recorded_to, superseded_by, closed_by, excluded, body, status,
    salience, horizon, due_at, due_offset, seen_at, object
  )
  SELECT
    n.number << 24 | NEW.version, n.number, NEW.version, h.number, NEW.position,
    (SELECT number FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id), NEW.predicate,
    iif(NEW.object_key GLOB 'ent_*', NULL, NEW.object_key), NEW.slot, NEW.claim_key, NEW.session, NEW.topic, NEW.confidence, NEW.stance, NEW.valid_from,
    NEW.valid_to, NEW.recorded_from, NEW.recorded_to, NEW.superseded_by, NEW.closed_by, coalesce(NEW.excluded, 0), NEW.body,
    NEW.status, NEW.salience, NEW.horizon, NEW.due_at, NEW.due_offset, NEW.seen_at,
    (SELECT number FROM identifier WHERE id = NEW.object_key AND tenant_id = NEW.tenant_id AND NEW.object_key GLOB 'ent_*')
  FROM identifier AS n, shelf AS h
  WHERE n.id = NEW.id AND n.tenant_id = NEW.tenant_id AND h.tenant_id = NEW.tenant_id AND h.scope = NEW.scope AND h.layer = NEW.layer;
END;
CREATE TRIGGER record_taken INSTEAD OF DELETE ON record BEGIN
  DELETE FROM record_row
  WHERE row = (SELECT number FROM identifier WHERE id = OLD.id AND tenant_id = OLD.tenant_id) << 24 | OLD.version;
END;
CREATE TRIGGER support_put INSTEAD OF INSERT ON support BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.source_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.source_id AND tenant_id = NEW.tenant_id);
  INSERT INTO relation (name) SELECT NEW.relation WHERE NOT EXISTS (SELECT 1 FROM relation WHERE name = NEW.relation);
  INSERT INTO support_row (record, source, relation, weight, against, place, actor, recorded_at, at, part, accepted_in)
  SELECT r.number, s.number, n.number,
    iif(round(NEW.weight * 10000) / 10000 = NEW.weight, CAST(round(NEW.weight * 10000) AS INTEGER), NEW.weight),
    NEW.polarity = 'against', NEW.place, NEW.actor, NEW.recorded_at, NEW.at, NEW.part,
    NEW.accepted_in
  FROM identifier AS r, identifier AS s, relation AS n
  WHERE r.id = NEW.record_id AND r.tenant_id = NEW.tenant_id AND s.id = NEW.source_id AND s.tenant_id = NEW.tenant_id
    AND n.name = NEW.relation;
END;
CREATE TRIGGER support_taken INSTEAD OF DELETE ON support BEGIN
  DELETE FROM support_row
  WHERE record = (SELECT number FROM identifier WHERE id = OLD.record_id AND tenant_id = OLD.tenant_id)
    AND source = (SELECT number FROM identifier WHERE id = OLD.source_id AND tenant_id = OLD.tenant_id)
    AND relation = (SELECT number FROM relation WHERE name = OLD.relation);
END;
CREATE TRIGGER record_row_changed AFTER UPDATE ON record_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record);
END;
CREATE TRIGGER support_row_put AFTER INSERT ON support_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record), (NEW.source);
END;
CREATE TRIGGER record_row_gone AFTER DELETE ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = OLD.record;
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.subject, OLD.object)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER support_row_gone AFTER DELETE ON support_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number IN (OLD.record, OLD.source);
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.source)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER mention_row_gone AFTER DELETE ON mention_row BEGIN
  DELETE FROM identifier WHERE number IN (OLD.entity, OLD.event)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER text_row_gone AFTER DELETE ON text_row BEGIN
  DELETE FROM identifier WHERE number = OLD.record
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER vector_row_gone AFTER DELETE ON vector_row BEGIN
  DELETE FROM token_piece WHERE number BETWEEN OLD.id * 256 AND OLD.id * 256 + 255;
  DELETE FROM identifier WHERE number = OLD.record
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
