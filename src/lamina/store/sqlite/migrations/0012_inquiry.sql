-- What a language model is asked of events, one after the other within a scope. No words are kept here: they are the
-- event's and the answer's. A replay keeps these rows, and applies each answer after the event that stands here.
CREATE TABLE inquiry (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id          TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  task               TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  state              TEXT    NOT NULL DEFAULT 'pending',
  attempts           INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER,
  lease_until        INTEGER,
  last_error         TEXT,
  input_hash         TEXT,
  applied_after      INTEGER,
  applied_order      INTEGER,
  applied_at         INTEGER,
  CHECK (state IN ('pending', 'answered', 'applied', 'failed', 'dropped')),
  CHECK ((state = 'applied') = (applied_after IS NOT NULL))
);
CREATE UNIQUE INDEX inquiry_event ON inquiry (tenant_id, event_id, task);
CREATE INDEX inquiry_open ON inquiry (tenant_id, scope, position, id) WHERE state IN ('pending', 'answered');
CREATE INDEX inquiry_answered ON inquiry (id) WHERE state = 'answered';
CREATE INDEX inquiry_applied ON inquiry (tenant_id, scope, applied_after, applied_order) WHERE state = 'applied';
CREATE INDEX inquiry_unsettled ON inquiry (tenant_id, id) WHERE state IN ('pending', 'answered', 'failed');
