-- Tokens that were revoked before they expired. An empty issuer stands for every issuer of the tenant.
CREATE TABLE revocation (
  tenant_id          TEXT    NOT NULL,
  issuer             TEXT    NOT NULL,
  jti                TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  expires_at         INTEGER NOT NULL,
  reason             TEXT,
  revoked_by         TEXT    NOT NULL,
  revoked_at         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, jti, issuer)
) WITHOUT ROWID;
CREATE INDEX revocation_expiry ON revocation (expires_at);
