-- name: last_lifecycle
-- The newest row of a tenant: its sequence and arrival.
SELECT sequence, arrived_at FROM lifecycle WHERE tenant_id = ?1 ORDER BY sequence DESC LIMIT 1;

-- name: last_number
-- How far an event's own count has come.
SELECT coalesce(max(number), 0) FROM lifecycle WHERE tenant_id = ?1 AND event_id = ?2;

-- name: insert_lifecycle
-- Something happened.
INSERT INTO lifecycle (tenant_id, sequence, id, name, scope, event_id, job_id, number, arrived_at, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: find_lifecycle
-- One row by id.
SELECT * FROM lifecycle WHERE tenant_id = ?1 AND id = ?2;

-- name: query_lifecycle
-- Rows past a sequence, in order of arrival.
SELECT * FROM lifecycle INDEXED BY lifecycle_tenant
WHERE tenant_id = :tenant_id AND sequence > :after
  AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR scope = :within OR (scope >= :within_from AND scope < :within_to))
  AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR arrived_at >= :arrived_from)
ORDER BY sequence LIMIT :limit;

-- name: query_lifecycle_of_job
-- One job's rows, in order of arrival.
SELECT * FROM lifecycle INDEXED BY lifecycle_job
WHERE tenant_id = :tenant_id AND job_id = :job_id AND sequence > :after
  AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR scope = :within OR (scope >= :within_from AND scope < :within_to))
  AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR arrived_at >= :arrived_from)
ORDER BY sequence LIMIT :limit;

-- name: query_lifecycle_of_event
-- One event's rows, in order.
SELECT * FROM lifecycle INDEXED BY lifecycle_event
WHERE tenant_id = :tenant_id AND event_id = :event_id AND sequence > :after
  AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR scope = :within OR (scope >= :within_from AND scope < :within_to))
  AND (:job_id IS NULL OR job_id = :job_id)
  AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR arrived_at >= :arrived_from)
ORDER BY number LIMIT :limit;

-- name: newest_change
-- The number of the newest row of any tenant; rows are numbered as they are committed, and none is ever deleted.
SELECT max(rowid) FROM lifecycle;

-- name: tenants_changed
-- The tenants of the rows past a number, up to another.
SELECT DISTINCT tenant_id FROM lifecycle WHERE rowid > ?1 AND rowid <= ?2;
