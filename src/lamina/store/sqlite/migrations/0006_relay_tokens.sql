-- Opaque tokens of Relay peers, by the SHA-256 of their text. Lists are JSON; an empty one grants nothing.
CREATE TABLE relay_token (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  sha256             TEXT    NOT NULL,
  peer_id            TEXT    NOT NULL,
  rights             TEXT    NOT NULL,
  read_namespaces    TEXT    NOT NULL,
  write_namespaces   TEXT    NOT NULL,
  issued_at          INTEGER NOT NULL,
  expires_at         INTEGER,
  revoked_at         INTEGER,
  revoked_reason     TEXT,
  trust              TEXT    NOT NULL,
  description        TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX relay_token_sha256 ON relay_token (sha256);
