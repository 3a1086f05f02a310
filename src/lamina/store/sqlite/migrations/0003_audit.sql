-- Audit chains and their peppers.
-- Who asked for what, and what they were told. Rows of a tenant are numbered without gaps, and `hash` covers every
-- other column: `previous` is the hash of the row before. The order of the columns is the one of `AuditDraft`.
CREATE TABLE audit (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  at                 INTEGER NOT NULL,
  actor              TEXT    NOT NULL,
  token_jti          TEXT,
  scope              TEXT,
  endpoint           TEXT    NOT NULL,
  capability         TEXT    NOT NULL,
  decision           TEXT    NOT NULL,
  decided_by_tier    TEXT    NOT NULL,
  method             TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  body_hash          TEXT    NOT NULL,
  headers_hash       TEXT    NOT NULL,
  body_bytes         INTEGER,
  pepper_version     INTEGER NOT NULL,
  response_status    INTEGER NOT NULL,
  event_id           TEXT,
  client_ip          TEXT,
  user_agent         TEXT,
  request_id         TEXT    NOT NULL,
  elapsed_ms         INTEGER NOT NULL,
  gdpr               INTEGER NOT NULL,
  number             INTEGER NOT NULL,
  previous           TEXT    NOT NULL,
  hash               TEXT    NOT NULL
);
CREATE UNIQUE INDEX audit_number ON audit (tenant_id, number);
CREATE UNIQUE INDEX audit_id ON audit (tenant_id, id);
CREATE INDEX audit_actor ON audit (tenant_id, actor, number);

-- Where a chain begins whose older rows were deleted; `row_id` is the row of the deletion.
CREATE TABLE audit_anchor (
  tenant_id          TEXT    NOT NULL,
  number             INTEGER NOT NULL,
  hash               TEXT    NOT NULL,
  kept               TEXT    NOT NULL,
  row_id             TEXT    NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

CREATE TABLE pepper (
  tenant_id          TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  secret             BLOB    NOT NULL,
  created_at         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, version)
) WITHOUT ROWID;
