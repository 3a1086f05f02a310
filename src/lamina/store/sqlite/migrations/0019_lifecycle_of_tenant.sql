-- Lifecycle rows are counted per tenant. Rows keep their numbers, which rise within each tenant, so that whatever was read up
-- to one of them goes on from there; the next row of a tenant is one higher than its last.
ALTER TABLE lifecycle RENAME TO lifecycle_before;
CREATE TABLE lifecycle (
  tenant_id          TEXT    NOT NULL,
  sequence           INTEGER NOT NULL,
  id                 TEXT    NOT NULL,
  name               TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  event_id           TEXT,
  job_id             TEXT,
  number             INTEGER NOT NULL,
  arrived_at         INTEGER NOT NULL,
  payload            TEXT    NOT NULL
);
INSERT INTO lifecycle (tenant_id, sequence, id, name, scope, event_id, job_id, number, arrived_at, payload)
SELECT tenant_id, sequence, id, name, scope, event_id, job_id, number, arrived_at, payload FROM lifecycle_before ORDER BY sequence;
DROP TABLE lifecycle_before;
CREATE UNIQUE INDEX lifecycle_tenant ON lifecycle (tenant_id, sequence);
CREATE UNIQUE INDEX lifecycle_id ON lifecycle (tenant_id, id);
CREATE INDEX lifecycle_event ON lifecycle (tenant_id, event_id, number) WHERE event_id IS NOT NULL;
CREATE INDEX lifecycle_job ON lifecycle (tenant_id, job_id, sequence) WHERE job_id IS NOT NULL;
