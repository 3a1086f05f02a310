-- Rows of search name their records, scopes and models by numbers. Their own numbers are those of before, and none is given twice.
INSERT OR IGNORE INTO identifier (tenant_id, id)
SELECT tenant_id, record_id FROM text_row UNION SELECT tenant_id, record_id FROM vector_row;
INSERT OR IGNORE INTO place (tenant_id, scope)
SELECT tenant_id, scope FROM text_row UNION SELECT tenant_id, scope FROM vector_row;
CREATE TABLE embedder (
  number INTEGER PRIMARY KEY,
  name   TEXT    NOT NULL
);
INSERT INTO embedder (name) SELECT DISTINCT model FROM vector_row;

DROP INDEX text_row_record;
DROP INDEX text_row_scope;
DROP INDEX text_row_unembedded;
ALTER TABLE text_row RENAME TO text_row_before;
CREATE TABLE text_row (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  record         INTEGER NOT NULL,
  layer          TEXT    NOT NULL,
  place          INTEGER NOT NULL,
  recorded_at    INTEGER NOT NULL,
  observed_at    INTEGER NOT NULL,
  session        TEXT,
  speaker        TEXT,
  role           TEXT,
  characters     INTEGER NOT NULL,
  question_share REAL    NOT NULL,
  self_share     REAL    NOT NULL,
  terms          TEXT    NOT NULL,
  keys           TEXT    NOT NULL,
  wants_vector   INTEGER NOT NULL DEFAULT 0,
  excluded       INTEGER NOT NULL DEFAULT 0,
  quarantined    TEXT    NOT NULL DEFAULT '',
  days           TEXT    NOT NULL DEFAULT ''
);
INSERT INTO text_row
SELECT
  t.id, n.number, t.layer, p.number, t.recorded_at, t.observed_at, t.session, t.speaker, t.role, t.characters,
  t.question_share, t.self_share, t.terms, t.keys, t.wants_vector, t.excluded, t.quarantined, t.days
FROM text_row_before AS t CROSS JOIN identifier AS n ON n.id = t.record_id AND n.tenant_id = t.tenant_id
CROSS JOIN place AS p ON p.scope = t.scope AND p.tenant_id = t.tenant_id;
DELETE FROM sqlite_sequence WHERE name = 'text_row';
INSERT INTO sqlite_sequence (name, seq) SELECT 'text_row', seq FROM sqlite_sequence WHERE name = 'text_row_before';
DROP TABLE text_row_before;
CREATE UNIQUE INDEX text_row_record ON text_row (record);
CREATE INDEX text_row_place ON text_row (place);
CREATE INDEX text_row_unembedded ON text_row (id) WHERE wants_vector = 1;

DROP INDEX vector_row_record;
DROP INDEX vector_row_scope;
DROP TRIGGER vector_row_gone;
ALTER TABLE vector_row RENAME TO vector_row_before;
CREATE TABLE vector_row (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  record INTEGER NOT NULL,
  place  INTEGER NOT NULL,
  model  INTEGER NOT NULL,
  pooled BLOB    NOT NULL,
  tokens BLOB    NOT NULL
);
INSERT INTO vector_row
SELECT v.id, n.number, p.number, m.number, v.pooled, v.tokens
FROM vector_row_before AS v CROSS JOIN identifier AS n ON n.id = v.record_id AND n.tenant_id = v.tenant_id
CROSS JOIN place AS p ON p.scope = v.scope AND p.tenant_id = v.tenant_id CROSS JOIN embedder AS m ON m.name = v.model;
DELETE FROM sqlite_sequence WHERE name = 'vector_row';
INSERT INTO sqlite_sequence (name, seq) SELECT 'vector_row', seq FROM sqlite_sequence WHERE name = 'vector_row_before';
DROP TABLE vector_row_before;
CREATE UNIQUE INDEX vector_row_record ON vector_row (record, model);
CREATE INDEX vector_row_place ON vector_row (place, model);

CREATE VIEW text AS
SELECT
  t.id AS id, p.tenant_id AS tenant_id, n.id AS record_id, t.layer AS layer, p.scope AS scope,
  t.recorded_at AS recorded_at, t.observed_at AS observed_at, t.session AS session, t.speaker AS speaker,
  t.role AS role, t.characters AS characters, t.question_share AS question_share, t.self_share AS self_share,
  t.terms AS terms, t.keys AS keys, t.wants_vector AS wants_vector, t.excluded AS excluded,
  t.quarantined AS quarantined, t.days AS days
FROM text_row AS t JOIN place AS p ON p.number = t.place
JOIN identifier AS n ON n.number = t.record AND n.tenant_id = p.tenant_id;

CREATE VIEW vector AS
SELECT v.id AS id, p.tenant_id AS tenant_id, n.id AS record_id, p.scope AS scope, m.name AS model, v.pooled AS pooled, v.tokens AS tokens
FROM vector_row AS v JOIN place AS p ON p.number = v.place
JOIN identifier AS n ON n.number = v.record AND n.tenant_id = p.tenant_id
JOIN embedder AS m ON m.number = v.model;

CREATE TRIGGER text_put INSTEAD OF INSERT ON text BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  INSERT INTO text_row (
    record, layer, place, recorded_at, observed_at, session, speaker, role, characters, question_share, self_share,
    terms, keys, wants_vector, excluded, quarantined, days
  )
  SELECT
    n.number, NEW.layer, p.number, NEW.recorded_at, NEW.observed_at, NEW.session, NEW.speaker, NEW.role,
    NEW.characters, NEW.question_share, NEW.self_share, NEW.terms, NEW.keys, coalesce(NEW.wants_vector, 0),
    coalesce(NEW.excluded, 0), coalesce(NEW.quarantined, ''), coalesce(NEW.days, '')
  FROM identifier AS n, place AS p
  WHERE n.id = NEW.record_id AND n.tenant_id = NEW.tenant_id AND p.scope = NEW.scope AND p.tenant_id = NEW.tenant_id;
END;
CREATE TRIGGER text_changed INSTEAD OF UPDATE ON text BEGIN
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  UPDATE text_row SET
    layer = NEW.layer, place = (SELECT number FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id),
    recorded_at = NEW.recorded_at, observed_at = NEW.observed_at, session = NEW.session, speaker = NEW.speaker,
    role = NEW.role, characters = NEW.characters, question_share = NEW.question_share, self_share = NEW.self_share,
    terms = NEW.terms, keys = NEW.keys, wants_vector = NEW.wants_vector, excluded = NEW.excluded,
    quarantined = NEW.quarantined, days = NEW.days
  WHERE id = OLD.id;
END;
CREATE TRIGGER vector_put INSTEAD OF INSERT ON vector BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  INSERT INTO embedder (name) SELECT NEW.model WHERE NOT EXISTS (SELECT 1 FROM embedder WHERE name = NEW.model);
  INSERT INTO vector_row (record, place, model, pooled, tokens)
  SELECT n.number, p.number, m.number, NEW.pooled, NEW.tokens FROM identifier AS n, place AS p, embedder AS m
  WHERE n.id = NEW.record_id AND n.tenant_id = NEW.tenant_id AND p.scope = NEW.scope AND p.tenant_id = NEW.tenant_id
    AND m.name = NEW.model;
END;
CREATE TRIGGER vector_taken INSTEAD OF DELETE ON vector BEGIN
  DELETE FROM vector_row WHERE id = OLD.id;
END;

DROP TRIGGER record_row_gone;
DROP TRIGGER support_row_gone;
DROP TRIGGER mention_row_gone;
-- A number goes with the last row that has it. Where another is most likely left is looked first.
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
CREATE TRIGGER support_row_gone AFTER DELETE ON support_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number IN (OLD.record, OLD.source);
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.source)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number);
END;
CREATE TRIGGER mention_row_gone AFTER DELETE ON mention_row BEGIN
  DELETE FROM identifier WHERE number IN (OLD.entity, OLD.event)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number);
END;
CREATE TRIGGER text_row_gone AFTER DELETE ON text_row BEGIN
  DELETE FROM identifier WHERE number = OLD.record
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number);
END;
CREATE TRIGGER vector_row_gone AFTER DELETE ON vector_row BEGIN
  DELETE FROM token_piece WHERE number BETWEEN OLD.id * 256 AND OLD.id * 256 + 255;
  DELETE FROM identifier WHERE number = OLD.record
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number);
END;
