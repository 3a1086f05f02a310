-- Records are numbers, too, and so is what they are about; tenant, scope and layer are one, their shelf. Whoever reads or writes the
-- view sees the rows as they were.
CREATE TABLE shelf (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL,
  scope     TEXT    NOT NULL,
  layer     TEXT    NOT NULL
);
INSERT INTO shelf (tenant_id, scope, layer) SELECT DISTINCT tenant_id, scope, layer FROM record;
CREATE UNIQUE INDEX shelf_place ON shelf (scope, layer, tenant_id);

INSERT OR IGNORE INTO identifier (tenant_id, id) SELECT tenant_id, id FROM record UNION SELECT tenant_id, subject FROM record WHERE subject IS NOT NULL;

CREATE TABLE record_row (
  record        INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  shelf         INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  subject       INTEGER,
  predicate     TEXT,
  object_key    TEXT,
  slot          TEXT,
  claim_key     TEXT,
  session       TEXT,
  topic         TEXT,
  confidence    REAL    NOT NULL,
  stance        TEXT,
  valid_from    INTEGER NOT NULL,
  valid_to      INTEGER,
  recorded_from INTEGER NOT NULL,
  recorded_to   INTEGER,
  superseded_by TEXT,
  closed_by     TEXT,
  excluded      INTEGER NOT NULL DEFAULT 0,
  body          TEXT    NOT NULL,
  status        TEXT,
  salience      INTEGER,
  horizon       TEXT,
  due_at        INTEGER,
  due_offset    INTEGER,
  seen_at       INTEGER,
  PRIMARY KEY (record, version)
) WITHOUT ROWID;
INSERT INTO record_row
SELECT
  n.number, r.version, h.number, r.position, s.number, r.predicate, r.object_key, r.slot, r.claim_key, r.session,
  r.topic, r.confidence, r.stance, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to, r.superseded_by,
  r.closed_by, r.excluded, r.body, r.status, r.salience, r.horizon, r.due_at, r.due_offset, r.seen_at
FROM record AS r CROSS JOIN shelf AS h ON h.tenant_id = r.tenant_id AND h.scope = r.scope AND h.layer = r.layer
CROSS JOIN identifier AS n ON n.id = r.id AND n.tenant_id = r.tenant_id
LEFT JOIN identifier AS s ON s.id = r.subject AND s.tenant_id = r.tenant_id
ORDER BY n.number, r.version;
DROP TABLE record;
CREATE INDEX record_scope ON record_row (shelf, recorded_from);
CREATE INDEX record_subject ON record_row (subject, shelf, recorded_from) WHERE subject IS NOT NULL;
CREATE INDEX record_topic ON record_row (shelf, topic, coalesce(recorded_to, 9223372036854775807)) WHERE topic IS NOT NULL;
CREATE INDEX record_slot ON record_row (shelf, slot, recorded_from) WHERE slot IS NOT NULL;
CREATE INDEX record_object ON record_row (shelf, object_key, recorded_from) WHERE object_key GLOB 'ent_*';
CREATE INDEX record_claim ON record_row (shelf, claim_key) WHERE claim_key IS NOT NULL;
CREATE INDEX record_ended ON record_row (recorded_to) WHERE recorded_to IS NOT NULL;
-- Those that an earlier release wrote, until they are packed: no facts, which alone have a predicate and no stance.
CREATE INDEX record_unpacked ON record_row (shelf) WHERE typeof(body) = 'text' AND (predicate IS NULL OR stance IS NOT NULL);

CREATE VIEW record AS
SELECT
  h.tenant_id AS tenant_id, n.id AS id, r.version AS version, h.layer AS layer, h.scope AS scope,
  r.position AS position, s.id AS subject, r.predicate AS predicate, r.object_key AS object_key, r.slot AS slot,
  r.claim_key AS claim_key, r.session AS session, r.topic AS topic, r.confidence AS confidence, r.stance AS stance,
  r.valid_from AS valid_from, r.valid_to AS valid_to, r.recorded_from AS recorded_from, r.recorded_to AS recorded_to,
  r.superseded_by AS superseded_by, r.closed_by AS closed_by, r.excluded AS excluded, r.body AS body,
  r.status AS status, r.salience AS salience, r.horizon AS horizon, r.due_at AS due_at, r.due_offset AS due_offset,
  r.seen_at AS seen_at
FROM record_row AS r JOIN shelf AS h ON h.number = r.shelf
JOIN identifier AS n ON n.number = r.record AND n.tenant_id = h.tenant_id
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = h.tenant_id;

CREATE TRIGGER record_put INSTEAD OF INSERT ON record BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.subject
  WHERE NEW.subject IS NOT NULL AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id);
  INSERT INTO shelf (tenant_id, scope, layer) SELECT NEW.tenant_id, NEW.scope, NEW.layer
  WHERE NOT EXISTS (SELECT 1 FROM shelf WHERE tenant_id = NEW.tenant_id AND scope = NEW.scope AND layer = NEW.layer);
  INSERT INTO record_row (
    record, version, shelf, position, subject, predicate, object_key, slot, claim_key, session, topic, confidence,
    stance, valid_from, valid_to, recorded_from, recorded_to, superseded_by, closed_by, excluded, body, status,
    salience, horizon, due_at, due_offset, seen_at
  )
  SELECT
    n.number, NEW.version, h.number, NEW.position,
    (SELECT number FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id), NEW.predicate,
    NEW.object_key, NEW.slot, NEW.claim_key, NEW.session, NEW.topic, NEW.confidence, NEW.stance, NEW.valid_from,
    NEW.valid_to, NEW.recorded_from, NEW.recorded_to, NEW.superseded_by, NEW.closed_by, coalesce(NEW.excluded, 0), NEW.body,
    NEW.status, NEW.salience, NEW.horizon, NEW.due_at, NEW.due_offset, NEW.seen_at
  FROM identifier AS n, shelf AS h
  WHERE n.id = NEW.id AND n.tenant_id = NEW.tenant_id AND h.tenant_id = NEW.tenant_id AND h.scope = NEW.scope AND h.layer = NEW.layer;
END;
CREATE TRIGGER record_taken INSTEAD OF DELETE ON record BEGIN
  DELETE FROM record_row
  WHERE record = (SELECT number FROM identifier WHERE id = OLD.id AND tenant_id = OLD.tenant_id) AND version = OLD.version;
END;

CREATE TRIGGER record_row_put AFTER INSERT ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = NEW.record;
END;
CREATE TRIGGER record_row_changed AFTER UPDATE ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = NEW.record;
END;
DROP TRIGGER support_row_gone;
DROP TRIGGER mention_row_gone;
-- A number goes with the last row that has it.
CREATE TRIGGER record_row_gone AFTER DELETE ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = OLD.record;
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.subject)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number);
END;
CREATE TRIGGER support_row_gone AFTER DELETE ON support_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number IN (OLD.record, OLD.source);
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.source)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number);
END;
CREATE TRIGGER mention_row_gone AFTER DELETE ON mention_row BEGIN
  DELETE FROM identifier WHERE number IN (OLD.entity, OLD.event)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number);
END;
