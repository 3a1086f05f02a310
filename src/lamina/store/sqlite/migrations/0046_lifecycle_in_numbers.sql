-- Rows of the lifecycle name tenant, scope and what happened by numbers: five come with each event, and said the three words anew. Their
-- own numbers are those of before. Statements that put rows or look for them name the table, others the view.
DROP INDEX lifecycle_tenant;
DROP INDEX lifecycle_event;
DROP INDEX lifecycle_position;
DROP INDEX lifecycle_job;
CREATE TABLE tenant (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL
);
INSERT INTO tenant (tenant_id) SELECT DISTINCT tenant_id FROM lifecycle;
CREATE UNIQUE INDEX tenant_id ON tenant (tenant_id);
CREATE TABLE happening (
  number INTEGER PRIMARY KEY,
  name   TEXT    NOT NULL
);
INSERT INTO happening (name) SELECT DISTINCT name FROM lifecycle;
CREATE UNIQUE INDEX happening_name ON happening (name);
INSERT OR IGNORE INTO place (tenant_id, scope) SELECT DISTINCT tenant_id, scope FROM lifecycle;

CREATE TABLE lifecycle_row (
  row        INTEGER PRIMARY KEY,
  tenant     INTEGER NOT NULL,
  sequence   INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  happening  INTEGER NOT NULL,
  place      INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  arrived_at INTEGER NOT NULL,
  payload    TEXT    NOT NULL,
  position   INTEGER,
  event_id   TEXT,
  job_id     TEXT
);
INSERT INTO lifecycle_row (row, tenant, sequence, id, happening, place, number, arrived_at, payload, position, event_id, job_id)
SELECT l.rowid, t.number, l.sequence, l.id, h.number, p.number, l.number, l.arrived_at, l.payload, l.position, l.event_id, l.job_id
FROM lifecycle AS l CROSS JOIN tenant AS t ON t.tenant_id = l.tenant_id CROSS JOIN happening AS h ON h.name = l.name
CROSS JOIN place AS p ON p.scope = l.scope AND p.tenant_id = l.tenant_id
ORDER BY l.rowid;
DROP TABLE lifecycle;
CREATE UNIQUE INDEX lifecycle_tenant ON lifecycle_row (tenant, sequence);
CREATE INDEX lifecycle_event ON lifecycle_row (tenant, event_id, number) WHERE event_id IS NOT NULL;
CREATE INDEX lifecycle_position ON lifecycle_row (tenant, position, number) WHERE position IS NOT NULL;
CREATE INDEX lifecycle_job ON lifecycle_row (tenant, job_id, sequence) WHERE job_id IS NOT NULL;

CREATE VIEW lifecycle AS
SELECT
  t.tenant_id AS tenant_id, l.sequence AS sequence, l.id AS id, h.name AS name, p.scope AS scope, l.event_id AS event_id,
  l.job_id AS job_id, l.number AS number, l.arrived_at AS arrived_at, l.payload AS payload, l.position AS position
FROM lifecycle_row AS l JOIN tenant AS t ON t.number = l.tenant JOIN happening AS h ON h.number = l.happening
JOIN place AS p ON p.number = l.place AND p.tenant_id = t.tenant_id;
