-- Edges and mentions name records, events and entities by small numbers: their ids are texts of some forty characters, and stood in
-- each row and again in each index. Whoever reads or writes the views sees the ids.
CREATE TABLE identifier (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL,
  id        TEXT    NOT NULL
);
INSERT INTO identifier (tenant_id, id)
SELECT tenant_id, record_id FROM support UNION SELECT tenant_id, source_id FROM support
UNION SELECT tenant_id, entity_id FROM mention UNION SELECT tenant_id, event_id FROM mention;
CREATE UNIQUE INDEX identifier_id ON identifier (id, tenant_id);

CREATE TABLE place (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL,
  scope     TEXT    NOT NULL
);
INSERT INTO place (tenant_id, scope) SELECT DISTINCT tenant_id, scope FROM mention;
CREATE UNIQUE INDEX place_scope ON place (scope, tenant_id);

CREATE TABLE relation (
  number INTEGER PRIMARY KEY,
  name   TEXT    NOT NULL
);
INSERT INTO relation (name) SELECT DISTINCT relation FROM support ORDER BY relation;

CREATE TABLE support_row (
  record      INTEGER NOT NULL,
  source      INTEGER NOT NULL,
  relation    INTEGER NOT NULL,
  weight      REAL    NOT NULL,
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
SELECT r.number, s.number, n.number, e.weight, e.polarity = 'against', e.place, e.actor, e.recorded_at, e.at, e.part, e.accepted_in
FROM support AS e CROSS JOIN identifier AS r ON r.id = e.record_id AND r.tenant_id = e.tenant_id
CROSS JOIN identifier AS s ON s.id = e.source_id AND s.tenant_id = e.tenant_id
CROSS JOIN relation AS n ON n.name = e.relation
ORDER BY r.number, s.number, n.number;
DROP TABLE support;
CREATE INDEX support_source ON support_row (source, record);

CREATE TABLE mention_row (
  entity   INTEGER NOT NULL,
  place    INTEGER NOT NULL,
  event    INTEGER NOT NULL,
  position INTEGER NOT NULL,
  surface  TEXT    NOT NULL,
  type     TEXT,
  PRIMARY KEY (entity, place, event, surface)
) WITHOUT ROWID;
INSERT INTO mention_row
SELECT n.number, p.number, e.number, m.position, m.surface, m.type
FROM mention AS m CROSS JOIN identifier AS n ON n.id = m.entity_id AND n.tenant_id = m.tenant_id
CROSS JOIN place AS p ON p.scope = m.scope AND p.tenant_id = m.tenant_id
CROSS JOIN identifier AS e ON e.id = m.event_id AND e.tenant_id = m.tenant_id
ORDER BY n.number, p.number, e.number;
DROP TABLE mention;
CREATE INDEX mention_event ON mention_row (event);

CREATE VIEW support AS
SELECT r.tenant_id AS tenant_id, r.id AS record_id, s.id AS source_id, n.name AS relation, e.weight AS weight,
  iif(e.against, 'against', 'supports') AS polarity, e.place AS place, e.actor AS actor, e.recorded_at AS recorded_at, e.at AS at,
  e.part AS part, e.accepted_in AS accepted_in
FROM support_row AS e JOIN identifier AS r ON r.number = e.record
JOIN identifier AS s ON s.number = e.source AND s.tenant_id = r.tenant_id
LEFT JOIN relation AS n ON n.number = e.relation;

CREATE VIEW mention AS
SELECT p.tenant_id AS tenant_id, n.id AS entity_id, p.scope AS scope, e.id AS event_id, m.position AS position, m.surface AS surface,
  m.type AS type
FROM mention_row AS m JOIN place AS p ON p.number = m.place
JOIN identifier AS n ON n.number = m.entity AND n.tenant_id = p.tenant_id
JOIN identifier AS e ON e.number = m.event AND e.tenant_id = p.tenant_id;

-- What a conflict does is said by the statement, also to what its triggers write.
CREATE TRIGGER support_put INSTEAD OF INSERT ON support BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.source_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.source_id AND tenant_id = NEW.tenant_id);
  INSERT INTO relation (name) SELECT NEW.relation WHERE NOT EXISTS (SELECT 1 FROM relation WHERE name = NEW.relation);
  INSERT INTO support_row (record, source, relation, weight, against, place, actor, recorded_at, at, part, accepted_in)
  SELECT r.number, s.number, n.number, NEW.weight, NEW.polarity = 'against', NEW.place, NEW.actor, NEW.recorded_at, NEW.at, NEW.part,
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
CREATE TRIGGER mention_put INSTEAD OF INSERT ON mention BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.entity_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.entity_id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.event_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.event_id AND tenant_id = NEW.tenant_id);
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  INSERT INTO mention_row (entity, place, event, position, surface, type)
  SELECT n.number, p.number, e.number, NEW.position, NEW.surface, NEW.type
  FROM identifier AS n, place AS p, identifier AS e
  WHERE n.id = NEW.entity_id AND n.tenant_id = NEW.tenant_id AND p.scope = NEW.scope AND p.tenant_id = NEW.tenant_id
    AND e.id = NEW.event_id AND e.tenant_id = NEW.tenant_id;
END;
CREATE TRIGGER mention_taken INSTEAD OF DELETE ON mention BEGIN
  DELETE FROM mention_row
  WHERE entity = (SELECT number FROM identifier WHERE id = OLD.entity_id AND tenant_id = OLD.tenant_id)
    AND place = (SELECT number FROM place WHERE scope = OLD.scope AND tenant_id = OLD.tenant_id)
    AND event = (SELECT number FROM identifier WHERE id = OLD.event_id AND tenant_id = OLD.tenant_id)
    AND surface = OLD.surface;
END;

CREATE TRIGGER support_row_put AFTER INSERT ON support_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number IN (NEW.record, NEW.source);
END;
-- A number goes with the last row that has it.
CREATE TRIGGER support_row_gone AFTER DELETE ON support_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number IN (OLD.record, OLD.source);
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.source)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number);
END;
CREATE TRIGGER mention_row_gone AFTER DELETE ON mention_row BEGIN
  DELETE FROM identifier WHERE number IN (OLD.entity, OLD.event)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number);
END;
