-- name: last_lifecycle
-- The newest row of a tenant: its sequence and arrival.
SELECT sequence, arrived_at FROM lifecycle_row
WHERE tenant = (SELECT number FROM tenant WHERE tenant_id = ?1) ORDER BY sequence DESC LIMIT 1;

-- name: event_place
-- The position of an event, null where it is not there.
SELECT (SELECT position FROM event WHERE tenant_id = ?1 AND id = ?2);

-- name: last_number
-- How far the own count of an event, ?2, at a position, ?3, has come.
SELECT max(coalesce((SELECT max(l.number) FROM tenant AS t CROSS JOIN lifecycle_row AS l ON l.tenant = t.number AND l.position = ?3
                     WHERE t.tenant_id = ?1), 0),
           coalesce((SELECT max(l.number) FROM tenant AS t
                     CROSS JOIN lifecycle_row AS l INDEXED BY lifecycle_event ON l.tenant = t.number AND l.event_id = ?2
                     WHERE t.tenant_id = ?1), 0));

-- name: lifecycle_numbers
-- The numbers of a tenant, of a name of what happens and of a scope.
SELECT t.number, h.number, p.number FROM tenant AS t CROSS JOIN happening AS h ON h.name = ?2
CROSS JOIN place AS p ON p.scope = ?3 AND p.tenant_id = t.tenant_id WHERE t.tenant_id = ?1;

-- name: number_tenant
-- A tenant has a number.
INSERT INTO tenant (tenant_id) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM tenant WHERE tenant_id = ?1);

-- name: number_happening
-- A name of what happens has a number.
INSERT INTO happening (name) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM happening WHERE name = ?1);

-- name: number_place
-- A scope has a number.
INSERT INTO place (tenant_id, scope) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = ?2 AND tenant_id = ?1);

-- name: insert_lifecycle
-- Something happened. Its id is a function of its place.
INSERT INTO lifecycle_row (tenant, happening, place, sequence, id, event_id, job_id, number, arrived_at, payload, position)
VALUES (?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8, ?9, ?10);

-- name: find_lifecycle
-- The row that arrived at ?2. Arrivals rise with the numbers: the place is halved by the first row behind its middle.
WITH RECURSIVE source (tenant, low, high) AS (
  SELECT t.number, 0, (SELECT max(sequence) FROM lifecycle_row WHERE tenant = t.number) FROM tenant AS t WHERE t.tenant_id = ?1
  UNION ALL
  SELECT s.tenant, iif(next.arrived_at > ?2, s.low, (s.low + s.high) / 2),
         iif(next.arrived_at > ?2, (s.low + s.high) / 2, s.high)
  FROM source AS s CROSS JOIN lifecycle_row AS next INDEXED BY lifecycle_tenant ON next.tenant = s.tenant
    AND next.sequence = (SELECT sequence FROM lifecycle_row WHERE tenant = s.tenant AND sequence > (s.low + s.high) / 2
                         ORDER BY sequence LIMIT 1)
  WHERE s.high - s.low > 1
)
SELECT p.tenant_id, l.sequence, l.id, h.name, p.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = ?1 AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM source AS s CROSS JOIN lifecycle_row AS l ON l.tenant = s.tenant AND l.sequence = s.high
CROSS JOIN happening AS h ON h.number = l.happening CROSS JOIN place AS p ON p.number = l.place AND p.tenant_id = ?1
WHERE s.high - s.low <= 1 AND l.arrived_at = ?2;

-- name: query_lifecycle
-- Rows past a sequence, in order of arrival.
SELECT t.tenant_id, l.sequence, l.id, h.name, p.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = t.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM tenant AS t CROSS JOIN lifecycle_row AS l INDEXED BY lifecycle_tenant ON l.tenant = t.number
CROSS JOIN happening AS h ON h.number = l.happening CROSS JOIN place AS p ON p.number = l.place AND p.tenant_id = t.tenant_id
WHERE t.tenant_id = :tenant_id AND l.sequence > :after
  AND (:scopes IS NULL OR p.scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR p.scope = :within OR (p.scope >= :within_from AND p.scope < :within_to))
  AND (:names IS NULL OR h.name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR l.arrived_at >= :arrived_from)
ORDER BY l.sequence LIMIT :limit;

-- name: query_lifecycle_of_job
-- One job's rows, in order of arrival.
SELECT t.tenant_id, l.sequence, l.id, h.name, p.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = t.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM tenant AS t CROSS JOIN lifecycle_row AS l INDEXED BY lifecycle_job ON l.tenant = t.number
CROSS JOIN happening AS h ON h.number = l.happening CROSS JOIN place AS p ON p.number = l.place AND p.tenant_id = t.tenant_id
WHERE t.tenant_id = :tenant_id AND l.job_id = :job_id AND l.sequence > :after
  AND (:scopes IS NULL OR p.scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR p.scope = :within OR (p.scope >= :within_from AND p.scope < :within_to))
  AND (:names IS NULL OR h.name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR l.arrived_at >= :arrived_from)
ORDER BY l.sequence LIMIT :limit;

-- name: query_lifecycle_of_event
-- One event's rows, in order: by its position, and by its id those that earlier releases wrote.
SELECT t.tenant_id, l.sequence, l.id, h.name, p.scope,
       coalesce(l.event_id, (SELECT e.id FROM event AS e WHERE e.tenant_id = t.tenant_id AND e.position = l.position)),
       l.job_id, l.number, l.arrived_at, l.payload
FROM tenant AS t CROSS JOIN (
  SELECT o.tenant, o.sequence FROM tenant AS n CROSS JOIN lifecycle_row AS o INDEXED BY lifecycle_event
  ON o.tenant = n.number AND o.event_id = :event_id WHERE n.tenant_id = :tenant_id
  UNION ALL
  SELECT o.tenant, o.sequence FROM tenant AS n CROSS JOIN lifecycle_row AS o INDEXED BY lifecycle_position
  ON o.tenant = n.number AND o.position = (SELECT position FROM event WHERE tenant_id = :tenant_id AND id = :event_id)
  WHERE n.tenant_id = :tenant_id) AS own
CROSS JOIN lifecycle_row AS l INDEXED BY lifecycle_tenant ON l.tenant = t.number AND l.sequence = own.sequence
CROSS JOIN happening AS h ON h.number = l.happening CROSS JOIN place AS p ON p.number = l.place AND p.tenant_id = t.tenant_id
WHERE t.tenant_id = :tenant_id AND l.sequence > :after
  AND (:scopes IS NULL OR p.scope IN (SELECT value FROM json_each(:scopes)))
  AND (:within IS NULL OR p.scope = :within OR (p.scope >= :within_from AND p.scope < :within_to))
  AND (:job_id IS NULL OR l.job_id = :job_id)
  AND (:names IS NULL OR h.name IN (SELECT value FROM json_each(:names)))
  AND (:arrived_from IS NULL OR l.arrived_at >= :arrived_from)
ORDER BY l.number LIMIT :limit;

-- name: newest_change
-- The number of the newest row of any tenant; rows are numbered as they are committed, and the newest is never deleted.
SELECT max(row) FROM lifecycle_row;

-- name: tenants_changed
-- The tenants of the rows past a number, up to another.
SELECT tenant_id FROM tenant WHERE number IN (SELECT tenant FROM lifecycle_row WHERE row > ?1 AND row <= ?2);
