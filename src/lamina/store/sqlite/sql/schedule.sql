-- name: insert_schedule_item
-- A new item.
INSERT INTO schedule_item (
  tenant_id, schedule_id, kind, status, title, note, due_at, task_id, thread_id, subject_kind, subject_id,
  idempotency_key, metadata, identity, identity_hash, version, created_at, created_by, updated_at, updated_by,
  terminal_at, terminal_by, terminal_reason
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23);

-- name: find_schedule_item
-- One item.
SELECT * FROM schedule_item WHERE tenant_id = ?1 AND schedule_id = ?2;

-- name: schedule_items_in_place
-- The items that stand under an id or under an idempotency key.
SELECT * FROM schedule_item WHERE tenant_id = ?1 AND schedule_id = ?2
UNION
SELECT * FROM schedule_item WHERE tenant_id = ?1 AND idempotency_key = ?3;

-- name: replace_schedule_item
-- The next version of an item, over the one that was read. What it was created with stays.
UPDATE schedule_item
SET kind = :kind, status = :status, title = :title, note = :note, due_at = :due_at, task_id = :task_id,
  thread_id = :thread_id, subject_kind = :subject_kind, subject_id = :subject_id, metadata = :metadata,
  version = :version, updated_at = :updated_at, updated_by = :updated_by, terminal_at = :terminal_at,
  terminal_by = :terminal_by, terminal_reason = :terminal_reason
WHERE tenant_id = :tenant_id AND schedule_id = :schedule_id AND version = :expected_version
RETURNING version;

-- name: query_schedule
-- A page of items by due time, then id.
SELECT * FROM schedule_item
WHERE tenant_id = :tenant_id
  AND status IN (SELECT value FROM json_each(:statuses))
  AND (:due_after IS NULL OR due_at > :due_after)
  AND (:due_until IS NULL OR due_at <= :due_until)
  AND (:task_id IS NULL OR task_id = :task_id)
  AND (:thread_id IS NULL OR thread_id = :thread_id)
  AND (:subject_id IS NULL OR (subject_kind = :subject_kind AND subject_id = :subject_id))
ORDER BY due_at, schedule_id
LIMIT :limit OFFSET :offset;

-- name: count_schedule
-- How many items a query has on all its pages.
SELECT count(*) FROM schedule_item
WHERE tenant_id = :tenant_id
  AND status IN (SELECT value FROM json_each(:statuses))
  AND (:due_after IS NULL OR due_at > :due_after)
  AND (:due_until IS NULL OR due_at <= :due_until)
  AND (:task_id IS NULL OR task_id = :task_id)
  AND (:thread_id IS NULL OR thread_id = :thread_id)
  AND (:subject_id IS NULL OR (subject_kind = :subject_kind AND subject_id = :subject_id));

-- name: schedule_pending_about
-- Pending items about a subject in a stretch of due times; a thread or a task is also a link of the item.
-- Three searches rather than one with OR: each has an index that ends in the due time,
-- named because the planner would take the tenant's due times for the order alone.
SELECT * FROM schedule_item INDEXED BY schedule_item_subject
WHERE tenant_id = :tenant_id AND subject_kind = :subject_kind AND subject_id = :subject_id AND due_at > :due_after AND due_at <= :due_until
  AND status = 'pending'
UNION
SELECT * FROM schedule_item INDEXED BY schedule_item_task
WHERE tenant_id = :tenant_id AND task_id = :task_id AND due_at > :due_after AND due_at <= :due_until
  AND status = 'pending'
UNION
SELECT * FROM schedule_item INDEXED BY schedule_item_thread
WHERE tenant_id = :tenant_id AND thread_id = :thread_id AND due_at > :due_after AND due_at <= :due_until
  AND status = 'pending'
ORDER BY due_at, schedule_id
LIMIT :limit;
