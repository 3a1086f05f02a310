-- name: written_scopes
-- The scopes of a tenant past a path, pruned ones too.
SELECT path FROM scope WHERE tenant_id = ?1 AND path > ?2 ORDER BY path LIMIT ?3;

-- name: events_due
-- Events that say themselves that they are over by ?2, past an instant ?3 and an id ?4, and of which every stage is done.
SELECT e.id, e.scope, e.position, json_extract(e.directives, '$.consolidate_into'),
       e.observed_at + json_extract(e.directives, '$.event_ttl_us')
FROM event AS e INDEXED BY event_expiring
WHERE e.tenant_id = ?1 AND json_extract(e.directives, '$.event_ttl_us') IS NOT NULL AND e.cancelled_after IS NULL
  AND e.observed_at + json_extract(e.directives, '$.event_ttl_us') <= ?2
  AND (e.observed_at + json_extract(e.directives, '$.event_ttl_us'), e.id) > (?3, ?4)
  AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.tenant_id = ?1 AND j.event_id = e.id AND j.state <> 'failed')
ORDER BY e.observed_at + json_extract(e.directives, '$.event_ttl_us'), e.id LIMIT ?5;

-- name: expired_through
-- Up to which position all events of a scope are over: each entry that says so goes on from the one before.
SELECT json_extract(content, '$.through') FROM event INDEXED BY event_expiry
WHERE tenant_id = ?1 AND scope = ?2 AND origin_channel = 'expiry' AND json_extract(content, '$.through') > 0
ORDER BY position DESC LIMIT 1;

-- name: events_past
-- A page of the events of a scope past a position, in the order of the log.
SELECT e.id, e.position, json_extract(e.directives, '$.consolidate_into'), e.recorded_at, e.cancelled_after IS NOT NULL,
       EXISTS (SELECT 1 FROM job AS j WHERE j.tenant_id = ?1 AND j.event_id = e.id AND j.state <> 'failed')
FROM event AS e INDEXED BY event_scope
WHERE e.tenant_id = ?1 AND e.scope = ?2 AND e.position > ?3 ORDER BY e.position LIMIT ?4;

-- name: records_unrenewed
-- Standing records of a layer that nothing bore out after ?4, past ?5 and ?6.
SELECT r.recorded_from, r.id FROM record AS r
WHERE r.tenant_id = ?1 AND r.scope = ?2 AND r.layer = ?3 AND r.recorded_from <= ?4 AND (r.recorded_from, r.id) > (?5, ?6)
  AND r.recorded_to IS NULL AND r.excluded = 0
  AND NOT EXISTS (SELECT 1 FROM support AS s WHERE s.tenant_id = ?1 AND s.record_id = r.id AND s.polarity <> 'against'
                    AND s.recorded_at > ?4)
ORDER BY r.recorded_from, r.id LIMIT ?7;

-- name: expiry_waiting
-- Whether an entry of a scope that says that something is over is still to be derived, or could not be.
SELECT 1 FROM event AS e INDEXED BY event_expiry CROSS JOIN job AS j ON j.tenant_id = ?1 AND j.event_id = e.id
WHERE e.tenant_id = ?1 AND e.scope = ?2 AND e.origin_channel = 'expiry' LIMIT 1;

-- name: expirable
-- Of some events of a scope those that are in recall and of which every stage is done: ?3 is a JSON list.
SELECT e.* FROM event AS e INDEXED BY event_id
WHERE e.tenant_id = ?1 AND e.id IN (SELECT value FROM json_each(?3)) AND e.scope = ?2 AND e.cancelled_after IS NULL
  AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.tenant_id = ?1 AND j.event_id = e.id AND j.state <> 'failed')
ORDER BY e.position;

-- name: mark_expired
-- An event is over: it is out of recall and lists, and what was derived from it is held for as long as nothing else says otherwise.
UPDATE event SET cancelled_after = ?3, bears_out = 1 WHERE tenant_id = ?1 AND id = ?2 AND cancelled_after IS NULL;

-- name: expiry_scopes
-- The scopes with entries that say that something is over, past a position, each with its newest. One step in the index for each scope.
WITH RECURSIVE place (scope) AS (
  SELECT min(e.scope) FROM event AS e INDEXED BY event_expiry WHERE e.tenant_id = ?1 AND e.origin_channel = 'expiry'
  UNION ALL
  SELECT (SELECT min(e.scope) FROM event AS e INDEXED BY event_expiry
          WHERE e.tenant_id = ?1 AND e.origin_channel = 'expiry' AND e.scope > place.scope)
  FROM place WHERE place.scope IS NOT NULL
)
SELECT place.scope, (SELECT max(e.position) FROM event AS e INDEXED BY event_expiry
                     WHERE e.tenant_id = ?1 AND e.scope = place.scope AND e.origin_channel = 'expiry') AS newest
FROM place WHERE place.scope IS NOT NULL AND newest > ?2;

-- name: expiry_entries
-- Entries of a scope that say that something is over, past a position.
SELECT * FROM event INDEXED BY event_expiry
WHERE tenant_id = ?1 AND scope = ?2 AND origin_channel = 'expiry' AND position > ?3 AND redacted_by IS NULL
ORDER BY position LIMIT ?4;
