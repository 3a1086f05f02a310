-- Versions of records by a number each, which a record's share but for the last 24 bits. By record and version their bodies stood in the inner
-- pages of the tree, too, and a body longer than a quarter of a page in pages of its own: of 10^5 events half of the table was empty.
DROP TRIGGER record_put;
PRAGMA legacy_alter_table = ON;
ALTER TABLE record_row RENAME TO record_before;
PRAGMA legacy_alter_table = OFF;
CREATE TABLE record_row (
  row           INTEGER PRIMARY KEY,
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
  seen_at       INTEGER
);
INSERT INTO record_row SELECT record << 24 | version, * FROM record_before ORDER BY record, version;
DROP TABLE record_before;
CREATE UNIQUE INDEX record_version ON record_row (record, version);
CREATE INDEX record_scope ON record_row (shelf, recorded_from);
CREATE INDEX record_subject ON record_row (subject, shelf, recorded_from) WHERE subject IS NOT NULL;
CREATE INDEX record_topic ON record_row (shelf, topic, coalesce(recorded_to, 9223372036854775807)) WHERE topic IS NOT NULL;
CREATE INDEX record_slot ON record_row (shelf, slot, recorded_from) WHERE slot IS NOT NULL;
CREATE INDEX record_object ON record_row (shelf, object_key, recorded_from) WHERE object_key GLOB 'ent_*';
CREATE INDEX record_claim ON record_row (shelf, claim_key) WHERE claim_key IS NOT NULL;
CREATE INDEX record_ended ON record_row (recorded_to) WHERE recorded_to IS NOT NULL;
CREATE INDEX record_unpacked ON record_row (shelf) WHERE typeof(body) = 'text' AND (predicate IS NULL OR stance IS NOT NULL);
CREATE TRIGGER record_row_put AFTER INSERT ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = NEW.record;
END;
CREATE TRIGGER record_row_changed AFTER UPDATE ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = NEW.record;
END;
CREATE TRIGGER record_row_gone AFTER DELETE ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = OLD.record;
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.subject)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number);
END;
CREATE TRIGGER record_put INSTEAD OF INSERT ON record BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.subject
  WHERE NEW.subject IS NOT NULL AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id);
  INSERT INTO shelf (tenant_id, scope, layer) SELECT NEW.tenant_id, NEW.scope, NEW.layer
  WHERE NOT EXISTS (SELECT 1 FROM shelf WHERE tenant_id = NEW.tenant_id AND scope = NEW.scope AND layer = NEW.layer);
  INSERT INTO record_row (
    row, record, version, shelf, position, subject, predicate, object_key, slot, claim_key, session, topic, confidence,
    stance, valid_from, valid_to, recorded_from, recorded_to, superseded_by, closed_by, excluded, body, status,
    salience, horizon, due_at, due_offset, seen_at
  )
  SELECT
    n.number << 24 | NEW.version, n.number, NEW.version, h.number, NEW.position,
    (SELECT number FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id), NEW.predicate,
    NEW.object_key, NEW.slot, NEW.claim_key, NEW.session, NEW.topic, NEW.confidence, NEW.stance, NEW.valid_from,
    NEW.valid_to, NEW.recorded_from, NEW.recorded_to, NEW.superseded_by, NEW.closed_by, coalesce(NEW.excluded, 0), NEW.body,
    NEW.status, NEW.salience, NEW.horizon, NEW.due_at, NEW.due_offset, NEW.seen_at
  FROM identifier AS n, shelf AS h
  WHERE n.id = NEW.id AND n.tenant_id = NEW.tenant_id AND h.tenant_id = NEW.tenant_id AND h.scope = NEW.scope AND h.layer = NEW.layer;
END;
