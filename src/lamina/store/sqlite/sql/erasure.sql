-- name: events_within
-- The events of a scope and of those below it, whose paths lie between ?3 and ?4.
SELECT id, scope, position FROM event INDEXED BY event_scope WHERE tenant_id = ?1 AND scope = ?2
UNION ALL
SELECT id, scope, position FROM event INDEXED BY event_scope WHERE tenant_id = ?1 AND scope > ?3 AND scope < ?4
ORDER BY position;

-- name: events_authored
-- The events that actors sent or speak in, without those of the channels in ?3: ?2 and ?3 are JSON lists.
SELECT id, scope, position FROM event INDEXED BY event_position
WHERE tenant_id = ?1
  AND (caller IN (SELECT value FROM json_each(?2)) OR observed_actor IN (SELECT value FROM json_each(?2)))
  AND origin_channel NOT IN (SELECT value FROM json_each(?3))
ORDER BY position;

-- name: citations_above
-- Every edge of every record that rests on sources, through any number of records: ?2 is a JSON list. Joins are crossed to keep their order.
WITH RECURSIVE dependant (id) AS (
  SELECT s.record_id FROM json_each(?2) AS wanted CROSS JOIN support AS s
  WHERE s.tenant_id = ?1 AND s.source_id = wanted.value
  UNION
  SELECT s.record_id FROM dependant AS d CROSS JOIN support AS s
  WHERE s.tenant_id = ?1 AND s.source_id = d.id
)
SELECT s.record_id, (SELECT r.scope FROM record AS r WHERE r.tenant_id = ?1 AND r.id = s.record_id LIMIT 1),
       s.source_id, s.polarity
FROM dependant AS d CROSS JOIN support AS s
WHERE s.tenant_id = ?1 AND s.record_id = d.id
ORDER BY s.record_id, s.source_id, s.polarity;

-- name: records_of_place
-- The records of a scope and of those below it, whose paths lie between ?3 and ?4.
SELECT layer, id, scope FROM record WHERE tenant_id = ?1 AND scope = ?2
UNION
SELECT layer, id, scope FROM record WHERE tenant_id = ?1 AND scope > ?3 AND scope < ?4
ORDER BY layer, id;

-- name: put_erasure_preview
-- A plan that is shown.
INSERT INTO erasure_preview (tenant_id, id, scope, made_by, made_at, expires_at, figures)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: find_erasure_preview
-- A plan that was shown.
SELECT scope, made_by, made_at, expires_at, figures FROM erasure_preview WHERE tenant_id = ?1 AND id = ?2;

-- name: expired_manifests
-- Plans that expired by an instant and still have lines.
SELECT p.tenant_id, p.id FROM erasure_preview AS p WHERE p.expires_at <= ?1
  AND EXISTS (SELECT 1 FROM erasure_line WHERE tenant_id = p.tenant_id AND plan_id = p.id);

-- name: drop_some_lines
-- Some lines of a manifest: at most ?3.
DELETE FROM erasure_line WHERE tenant_id = ?1 AND plan_id = ?2 AND (kind, id, scope, record_id) IN (
  SELECT kind, id, scope, record_id FROM erasure_line WHERE tenant_id = ?1 AND plan_id = ?2 LIMIT ?3);

-- name: old_previews
-- Plans that expired before an instant.
SELECT tenant_id, id FROM erasure_preview WHERE expires_at < ?1;

-- name: drop_preview
-- A plan that is not remembered any more.
DELETE FROM erasure_preview WHERE tenant_id = ?1 AND id = ?2;

-- name: drop_erasure_lines
-- The manifest of a plan.
DELETE FROM erasure_line WHERE tenant_id = ?1 AND plan_id = ?2;

-- name: put_erasure_line
-- A line of a manifest.
INSERT INTO erasure_line (tenant_id, plan_id, kind, id, scope, record_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO NOTHING;

-- name: erasure_lines
-- Lines of a manifest past one of them.
SELECT kind, id, scope, record_id FROM erasure_line
WHERE tenant_id = ?1 AND plan_id = ?2 AND (kind, id, scope, record_id) > (?3, ?4, ?5, ?6)
ORDER BY kind, id, scope, record_id LIMIT ?7;

-- name: erasure_line_ids
-- The ids of the lines of a kind.
SELECT DISTINCT id FROM erasure_line WHERE tenant_id = ?1 AND plan_id = ?2 AND kind = ?3 ORDER BY id;

-- name: put_erasure
-- A new erasure.
INSERT INTO erasure (tenant_id, id, scope, status, state) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: find_erasure
-- One erasure.
SELECT tenant_id, id, scope, status, cancelling, next_attempt_at, lease_until, lease_owner, fence, state
FROM erasure WHERE tenant_id = ?1 AND id = ?2;

-- name: erasures_listed
-- Erasures of a tenant, newest first.
SELECT tenant_id, id, scope, status, cancelling, next_attempt_at, lease_until, lease_owner, fence, state
FROM erasure WHERE tenant_id = ?1 AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3;

-- name: erasures_running
-- The erasures of a tenant that run.
SELECT tenant_id, id, scope, status, cancelling, next_attempt_at, lease_until, lease_owner, fence, state
FROM erasure INDEXED BY erasure_running WHERE tenant_id = ?1 AND status = 'running' ORDER BY id;

-- name: due_erasure
-- The oldest erasure of any tenant that somebody may work on; ?2 is the longest wait after a failure.
SELECT tenant_id, id, scope, status, cancelling, next_attempt_at, lease_until, lease_owner, fence, state
FROM erasure INDEXED BY erasure_running
WHERE status = 'running' AND next_attempt_at NOT BETWEEN ?1 + 1 AND ?1 + ?2 AND coalesce(lease_until, 0) NOT BETWEEN ?1 + 1 AND ?1 + 86400000000 ORDER BY id LIMIT 1;

-- name: lease_erasure
-- Take an erasure, unless somebody else has by now.
UPDATE erasure SET lease_until = ?3, lease_owner = ?4, fence = ?5
WHERE tenant_id = ?1 AND id = ?2 AND status = 'running' AND coalesce(lease_until, 0) NOT BETWEEN ?6 + 1 AND ?6 + 86400000000;

-- name: keep_erasure
-- How far an erasure is, by who holds it under the fence ?3.
UPDATE erasure SET status = ?4, next_attempt_at = ?5, lease_until = ?6, lease_owner = ?7, state = ?8
WHERE tenant_id = ?1 AND id = ?2 AND fence = ?3 AND status = 'running';

-- name: cancel_erasure
-- An erasure is to stop at its next boundary.
UPDATE erasure SET cancelling = 1, next_attempt_at = 0 WHERE tenant_id = ?1 AND id = ?2 AND status = 'running';

-- name: erasure_leases_left
-- End the leases of dead workers.
UPDATE erasure INDEXED BY erasure_running SET lease_until = NULL, lease_owner = NULL
WHERE status = 'running' AND lease_until IS NOT NULL;

-- name: newest_completed
-- The erasures of every tenant that were completed last, as far as their pace is asked.
SELECT tenant_id, id, scope, status, cancelling, next_attempt_at, lease_until, lease_owner, fence, state
FROM erasure INDEXED BY erasure_completed WHERE status = 'completed' ORDER BY id DESC LIMIT ?1;

-- name: drop_lines_of_scope
-- The manifests of the plans of a scope.
DELETE FROM erasure_line WHERE tenant_id = ?1
  AND plan_id IN (SELECT id FROM erasure_preview WHERE tenant_id = ?1 AND scope = ?2);

-- name: drop_previews_of_scope
-- The plans of a scope.
DELETE FROM erasure_preview WHERE tenant_id = ?1 AND scope = ?2;

-- name: drop_lines_of_kind
-- What a manifest says of one kind.
DELETE FROM erasure_line WHERE tenant_id = ?1 AND plan_id = ?2 AND kind = ?3;

-- name: count_tombstones
-- How many marks an erasure left, by layer.
SELECT layer, count(*) FROM tombstone WHERE tenant_id = ?1 AND erasure_id = ?2 GROUP BY layer ORDER BY layer;

-- name: records_naming
-- The claims that hold now and are about some entities or name them, in the scopes where these are named: ?2 is a JSON list.
WITH named AS (
  SELECT DISTINCT m.scope, m.entity_id FROM json_each(?2) AS e CROSS JOIN mention AS m
  WHERE m.tenant_id = ?1 AND m.entity_id = e.value)
SELECT n.id AS id, h.scope AS scope FROM named CROSS JOIN shelf AS h CROSS JOIN identifier AS s
CROSS JOIN record_row AS r INDEXED BY record_subject CROSS JOIN identifier AS n
WHERE h.tenant_id = ?1 AND h.scope = named.scope AND h.layer IN ('facts', 'beliefs') AND s.tenant_id = ?1 AND s.id = named.entity_id
  AND r.subject = s.number AND r.shelf = h.number AND r.recorded_to IS NULL AND r.excluded = 0 AND n.number = r.record AND n.tenant_id = ?1
UNION
SELECT n.id, h.scope FROM named CROSS JOIN shelf AS h CROSS JOIN identifier AS o
CROSS JOIN record_row AS r INDEXED BY record_object CROSS JOIN identifier AS n
WHERE h.tenant_id = ?1 AND h.scope = named.scope AND h.layer IN ('facts', 'beliefs') AND o.tenant_id = ?1 AND o.id = named.entity_id
  AND r.object = o.number AND r.shelf = h.number AND r.recorded_to IS NULL AND r.excluded = 0 AND n.number = r.record AND n.tenant_id = ?1
ORDER BY 1, 2;
