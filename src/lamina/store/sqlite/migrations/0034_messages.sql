-- Messages between peers, in the order in which they landed. They are never changed. `record` is the message as JSON, `path` where
-- its document stands. AUTOINCREMENT: readers go on from a number, so none is given twice, whatever is erased.
CREATE TABLE message (
  number             INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  thread_id          TEXT    NOT NULL,
  sender             TEXT    NOT NULL,
  recipient          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  idempotency_key    TEXT,
  body_hash          TEXT    NOT NULL,
  sent_at            INTEGER NOT NULL,
  record             TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_id ON message (tenant_id, id);
CREATE INDEX message_inbox ON message (tenant_id, recipient, number);
CREATE INDEX message_thread ON message (tenant_id, thread_id, number);
CREATE INDEX message_path ON message (tenant_id, path);
CREATE UNIQUE INDEX message_key ON message (tenant_id, sender, recipient, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- How far the delivery of a message is, of those that somebody follows. `version` rises with each change.
CREATE TABLE delivery (
  tenant_id          TEXT    NOT NULL,
  message_id         TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  requires_ack       INTEGER NOT NULL,
  ack_timeout_s      INTEGER NOT NULL,
  max_retries        INTEGER NOT NULL,
  retry_count        INTEGER NOT NULL,
  ack_deadline       INTEGER,
  updated_at         INTEGER NOT NULL,
  replayed_to        TEXT,
  version            INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, message_id),
  CHECK (status IN ('pending_ack', 'delivered', 'acked', 'dead_letter', 'replayed'))
) STRICT, WITHOUT ROWID;

-- What recipients answered. Never changed.
CREATE TABLE message_ack (
  number             INTEGER PRIMARY KEY,
  tenant_id          TEXT    NOT NULL,
  message_id         TEXT    NOT NULL,
  ack_id             TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  record             TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_ack_id ON message_ack (tenant_id, message_id, ack_id);
CREATE INDEX message_ack_path ON message_ack (tenant_id, path);

-- Nonces of signed envelopes that were used, as hashes. Those without an end stay.
CREATE TABLE message_nonce (
  tenant_id          TEXT    NOT NULL,
  hash               TEXT    NOT NULL,
  seen_at            INTEGER NOT NULL,
  expires_at         INTEGER,
  PRIMARY KEY (tenant_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_nonce_end ON message_nonce (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
