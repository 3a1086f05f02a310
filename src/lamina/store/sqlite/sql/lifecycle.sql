-- name: last_lifecycle
-- The newest row of a tenant: its sequence and arrival.
SELECT sequence, arrived_at FROM lifecycle WHERE tenant_id = ?1 ORDER BY sequence DESC LIMIT 1;

-- name: event_place
-- The position of an event, null where it is not there.
SELECT (SELECT position FROM event WHERE tenant_id = ?1 AND id = ?2);

-- name: last_number
-- How far the own count of an event, ?2, at a position, ?3, has come.
SELECT max(coalesce((SELECT max(number) FROM lifecycle WHERE tenant_id = ?1 AND position = ?3), 0),
           coalesce((SELECT max(number) FROM lifecycle INDEXED BY lifecycle_event WHERE tenant_id = ?1 AND event_id = ?2), 0));

-- name: insert_lifecycle
-- Something happened.
INSERT INTO lifecycle (tenant_id, sequence, id, name, scope, event_id, job_id, number, arrived_at, payload, position)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- name: find_lifecycle
-- The row that arrived at ?2. Arrivals rise with the numbers: the place is halved by the first row behind its middle.
WITH RECURSIVE source (low, high) AS (
  SELECT 0, (SELECT max(sequence) FROM lifecycle WHERE tenant_id = ?1)
  UNION ALL
  SELECT iif(next.arrived_at > ?2, s.low, (s.low + s.high) / 2), iif(next.arrived_at > ?2, (s.low + s.high) / 2, s.high)
  FROM source AS s CROSS JOIN lifecycle AS next INDEXED BY lifecycle_tenant ON next.tenant_id = ?1
    AND next.sequence = (SELECT sequence FROM lifecycle WHERE tenant_id = ?1 AND sequence > (s.low + s.high) / 2
                         ORDER BY sequence LIMIT 1)
  WHERE s.high - s.low > 1
)
SELECT l.tenant_id, l.sequence, l.id, l.name, l.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = l.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM source AS s CROSS JOIN lifecycle AS l ON l.tenant_id = ?1 AND l.sequence = s.high
WHERE s.high - s.low <= 1 AND l.arrived_at = ?2;

-- name: query_lifecycle
-- Rows past a sequence, in order of arrival.
SELECT l.tenant_id, l.sequence, l.id, l.name, l.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = l.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM lifecycle AS l INDEXED BY lifecycle_tenant
WHERE l.tenant_id = :tenant_id AND l.sequence > :after
  AND (:scopes IS NULL OR l.scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR l.scope = :within OR (l.scope >= :within_from AND l.scope < :within_to))
  AND (:names IS NULL OR l.name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR l.arrived_at >= :arrived_from)
ORDER BY l.sequence LIMIT :limit;

-- name: query_lifecycle_of_job
-- One job's rows, in order of arrival.
SELECT l.tenant_id, l.sequence, l.id, l.name, l.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = l.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM lifecycle AS l INDEXED BY lifecycle_job
WHERE l.tenant_id = :tenant_id AND l.job_id = :job_id AND l.sequence > :after
  AND (:scopes IS NULL OR l.scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR l.scope = :within OR (l.scope >= :within_from AND l.scope < :within_to))
  AND (:names IS NULL OR l.name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR l.arrived_at >= :arrived_from)
ORDER BY l.sequence LIMIT :limit;

-- name: query_lifecycle_of_event
-- One event's rows, in order: by its position, and by its id those that earlier releases wrote.
SELECT l.tenant_id, l.sequence, l.id, l.name, l.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = l.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM (
  SELECT sequence FROM lifecycle INDEXED BY lifecycle_event WHERE tenant_id = :tenant_id AND event_id = :event_id
  UNION ALL
  SELECT sequence FROM lifecycle INDEXED BY lifecycle_position
  WHERE tenant_id = :tenant_id AND position = (SELECT position FROM event WHERE tenant_id = :tenant_id AND id = :event_id)) AS own
CROSS JOIN lifecycle AS l INDEXED BY lifecycle_tenant ON l.tenant_id = :tenant_id AND l.sequence = own.sequence
WHERE l.sequence > :after
  AND (:scopes IS NULL OR l.scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR l.scope = :within OR (l.scope >= :within_from AND l.scope < :within_to))
  AND (:job_id IS NULL OR l.job_id = :job_id)
  AND (:names IS NULL OR l.name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR l.arrived_at >= :arrived_from)
ORDER BY l.number LIMIT :limit;

-- name: newest_change
-- The number of the newest row of any tenant; rows are numbered as they are committed, and none is ever deleted.
SELECT max(rowid) FROM lifecycle;

-- name: tenants_changed
-- The tenants of the rows past a number, up to another.
SELECT DISTINCT tenant_id FROM lifecycle WHERE rowid > ?1 AND rowid <= ?2;
