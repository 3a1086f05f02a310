-- One-shot reminders. `identity` is what an item was created with, in canonical JSON; it never changes.
CREATE TABLE schedule_item (
  tenant_id          TEXT    NOT NULL,
  schedule_id        TEXT    NOT NULL,
  kind               TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  title              TEXT    NOT NULL,
  note               TEXT,
  due_at             INTEGER NOT NULL,
  task_id            TEXT,
  thread_id          TEXT,
  subject_kind       TEXT,
  subject_id         TEXT,
  idempotency_key    TEXT,
  metadata           TEXT    NOT NULL,
  identity           TEXT    NOT NULL,
  identity_hash      TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  created_by         TEXT    NOT NULL,
  updated_at         INTEGER NOT NULL,
  updated_by         TEXT    NOT NULL,
  terminal_at        INTEGER,
  terminal_by        TEXT,
  terminal_reason    TEXT,
  PRIMARY KEY (tenant_id, schedule_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX schedule_item_key ON schedule_item (tenant_id, idempotency_key);
CREATE INDEX schedule_item_due ON schedule_item (tenant_id, due_at, schedule_id);
CREATE INDEX schedule_item_task ON schedule_item (tenant_id, task_id, due_at);
CREATE INDEX schedule_item_thread ON schedule_item (tenant_id, thread_id, due_at);
CREATE INDEX schedule_item_subject ON schedule_item (tenant_id, subject_kind, subject_id, due_at);
