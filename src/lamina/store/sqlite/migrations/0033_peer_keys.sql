-- What a token was rotated to and from.
ALTER TABLE relay_token ADD COLUMN rotated_at INTEGER;
ALTER TABLE relay_token ADD COLUMN rotated_to TEXT;
ALTER TABLE relay_token ADD COLUMN rotated_from TEXT;

-- Keys that peers sign messages with. `sealed` can be opened with the key file alone, which lies beside no backup; it is empty once
-- the key verifies nothing any more.
CREATE TABLE signing_key (
  tenant_id          TEXT    NOT NULL,
  key_id             TEXT    NOT NULL,
  algorithm          TEXT    NOT NULL,
  created_at         INTEGER NOT NULL,
  activated_at       INTEGER,
  verifies_until     INTEGER,
  sealed             BLOB    NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signing_key_active ON signing_key (tenant_id) WHERE activated_at IS NOT NULL AND verifies_until IS NULL;
