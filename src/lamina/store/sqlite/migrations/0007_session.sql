-- Sessions of the Synapse contract: a view over the log. No text of a turn is kept here.
CREATE TABLE session (
  tenant_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  session            TEXT    NOT NULL,
  number             INTEGER NOT NULL,
  window_events      TEXT    NOT NULL,
  turns              INTEGER NOT NULL,
  folded             INTEGER NOT NULL,
  summary            TEXT    NOT NULL,
  bridge             TEXT,
  opened_at          INTEGER NOT NULL,
  touched_at         INTEGER NOT NULL,
  last_turn_at       INTEGER NOT NULL,
  last_position      INTEGER NOT NULL,
  closed_at          INTEGER,
  PRIMARY KEY (tenant_id, scope, session, number),
  CHECK (json_array_length(window_events) <= 12),
  CHECK (folded <= turns)
) WITHOUT ROWID;
CREATE INDEX session_newest ON session (tenant_id, scope, last_position);
CREATE INDEX session_open ON session (touched_at) WHERE closed_at IS NULL;

CREATE TABLE outbox (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  session            TEXT    NOT NULL,
  sitting            INTEGER NOT NULL,
  event_id           TEXT    NOT NULL,
  state              TEXT    NOT NULL DEFAULT 'pending',
  attempts           INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER,
  lease_until        INTEGER,
  last_error         TEXT,
  folded_at          INTEGER,
  sent_at            INTEGER,
  created_at         INTEGER NOT NULL,
  CHECK (state IN ('pending', 'sent', 'failed')),
  CHECK (state <> 'pending' OR attempts = 0 OR next_attempt_at IS NOT NULL)
);
CREATE UNIQUE INDEX outbox_event ON outbox (tenant_id, event_id);
CREATE INDEX outbox_pending ON outbox (tenant_id, scope, session, id) WHERE state = 'pending';
CREATE INDEX outbox_left ON outbox (tenant_id, id) WHERE state <> 'sent';
