-- Plans of erasures that were shown, for a day; figures alone.
CREATE TABLE erasure_preview (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  made_by            TEXT    NOT NULL,
  made_at            INTEGER NOT NULL,
  expires_at         INTEGER NOT NULL,
  figures            TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- Manifests, line by line, of previews and of erasures: ids alone.
CREATE TABLE erasure_line (
  tenant_id          TEXT    NOT NULL,
  plan_id            TEXT    NOT NULL,
  kind               TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, plan_id, kind, id, scope, record_id)
) WITHOUT ROWID;

-- Erasures as jobs. `state` is JSON: what is not searched. While one runs, what its place names is hidden.
CREATE TABLE erasure (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  cancelling         INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER NOT NULL DEFAULT 0,
  lease_until        INTEGER,
  lease_owner        TEXT,
  fence              INTEGER NOT NULL DEFAULT 0,
  state              TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK (status IN ('running', 'completed', 'cancelled', 'failed'))
) WITHOUT ROWID;
CREATE INDEX erasure_running ON erasure (tenant_id, id) WHERE status = 'running';
CREATE INDEX erasure_completed ON erasure (id) WHERE status = 'completed';

-- What had rested on an event that lost its words, and was deleted with them: its id alone, for the event's back-pointers.
CREATE TABLE redacted_derivation (
  tenant_id          TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, event_id, record_id)
) WITHOUT ROWID;

-- How often something was erased whose words may still be in the file, how often of these it was cleared since, and how often pages were.
CREATE TABLE scrubbing (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  asked              INTEGER NOT NULL,
  done               INTEGER NOT NULL,
  pages              INTEGER NOT NULL DEFAULT 0
);
