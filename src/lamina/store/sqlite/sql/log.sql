-- name: last_event
-- The newest position of a tenant and when it was recorded, also where that event is gone.
SELECT position, recorded_at FROM (
  SELECT position, recorded_at FROM event WHERE tenant_id = ?1 ORDER BY position DESC LIMIT 1)
UNION ALL SELECT position, recorded_at FROM log_end WHERE tenant_id = ?1
ORDER BY position DESC LIMIT 1;

-- name: insert_event
-- One entry of the log; returns nothing, its seq is the table's next.
INSERT INTO event (seq, tenant_id, position, id, scope, caller, observed_actor, subject, parties, session, modality,
                   content, context, directives, origin_channel, origin_trust, batch_id, observed_at, recorded_at,
                   observed_offset)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20);

-- name: last_seq
-- The newest row of the log over all tenants, also where it is gone.
SELECT max(coalesce((SELECT max(seq) FROM event), 0), coalesce((SELECT max(seq) FROM log_end), 0));

-- name: insert_job
-- The first stage of a new event, due at once.
INSERT INTO job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', 0);

-- name: insert_scope
-- A scope that is written to for the first time registers itself; one that was pruned is back.
INSERT INTO scope (tenant_id, path, auto_provisioned, created_by, created_at) VALUES (?1, ?2, 1, ?3, ?4)
ON CONFLICT (tenant_id, path) DO UPDATE SET pruned = 0 WHERE pruned = 1;

-- name: find_scope
-- One scope by its path.
SELECT tenant_id, path, auto_provisioned, created_by, created_at, pruned FROM scope WHERE tenant_id = ?1 AND path = ?2;

-- name: scopes_below
-- Scopes at or under a path that were not pruned: ?3 is the path with '/', ?4 the same with '0', the character after '/'.
SELECT path FROM scope
WHERE tenant_id = ?1 AND (path = ?2 OR (path >= ?3 AND path < ?4)) AND pruned = 0 ORDER BY path LIMIT ?5;

-- name: scopes_below_at
-- The same of those that were made by ?6, or had an event by then.
SELECT s.path FROM scope AS s
WHERE s.tenant_id = ?1 AND (s.path = ?2 OR (s.path >= ?3 AND s.path < ?4)) AND s.pruned = 0
  AND min(s.created_at, coalesce((
    SELECT e.recorded_at FROM event AS e INDEXED BY event_scope
    WHERE e.tenant_id = ?1 AND e.scope = s.path ORDER BY e.position LIMIT 1), s.created_at)) <= ?6
ORDER BY s.path LIMIT ?5;

-- name: find_idempotency
-- What a key was used for.
SELECT body_hash, event_id, response, created_at FROM idempotency
WHERE tenant_id = ?1 AND caller = ?2 AND family = ?3 AND key = ?4;

-- name: find_idempotency_keys
-- What several keys were used for since ?5: ?4 is a JSON list. The keys lead, one step in the index for each.
SELECT i.key, i.body_hash, i.event_id, i.response, i.created_at
FROM json_each(?4) AS wanted CROSS JOIN idempotency AS i
WHERE i.tenant_id = ?1 AND i.caller = ?2 AND i.family = ?3 AND i.key = wanted.value AND i.created_at > ?5;

-- name: put_idempotency
-- Remember a key; one that has expired is used anew.
INSERT INTO idempotency (tenant_id, caller, family, key, body_hash, event_id, response, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (tenant_id, caller, family, key) DO UPDATE
SET body_hash = excluded.body_hash, event_id = excluded.event_id, response = excluded.response,
    created_at = excluded.created_at;

-- name: old_keys
-- A page of the keys used before an instant, past one: nobody who writes waits while all are looked through.
SELECT tenant_id, caller, family, key FROM idempotency
WHERE (tenant_id, caller, family, key) > (?3, ?4, ?5, ?6) AND created_at < ?1
ORDER BY tenant_id, caller, family, key LIMIT ?2;

-- name: forget_key
-- Forget a key that was used before an instant and not since.
DELETE FROM idempotency WHERE tenant_id = ?1 AND caller = ?2 AND family = ?3 AND key = ?4 AND created_at < ?5;

-- name: find_event
-- One event.
SELECT * FROM event WHERE tenant_id = ?1 AND id = ?2;

-- name: events_by_id
-- Events by id: ?2 is a JSON list.
SELECT * FROM event WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2));

-- name: events_newest_first
-- A page of events inside scopes, newest position first: a page of each scope by its index, then the first of them.
SELECT e.* FROM (SELECT DISTINCT value FROM json_each(:scopes)) AS wanted CROSS JOIN event AS e NOT INDEXED
WHERE e.tenant_id = :tenant_id AND e.seq IN (
  SELECT seq FROM event INDEXED BY event_scope
  WHERE tenant_id = :tenant_id AND scope = wanted.value
    AND (:after IS NULL OR position < :after)
    AND (:observed_from IS NULL OR observed_at >= :observed_from) AND (:observed_to IS NULL OR observed_at < :observed_to)
    AND (:recorded_from IS NULL OR recorded_at >= :recorded_from) AND (:recorded_to IS NULL OR recorded_at < :recorded_to)
    AND (:observed_actor IS NULL OR observed_actor = :observed_actor)
    AND (:modality IS NULL OR modality IN (:modality, :modality_stored))
    AND (:with_excluded OR cancelled_after IS NULL)
  ORDER BY position DESC LIMIT :limit)
ORDER BY e.position DESC LIMIT :limit;

-- name: events_oldest_first
-- A page of events inside scopes, oldest position first: a page of each scope by its index, then the first of them.
SELECT e.* FROM (SELECT DISTINCT value FROM json_each(:scopes)) AS wanted CROSS JOIN event AS e NOT INDEXED
WHERE e.tenant_id = :tenant_id AND e.seq IN (
  SELECT seq FROM event INDEXED BY event_scope
  WHERE tenant_id = :tenant_id AND scope = wanted.value
    AND (:after IS NULL OR position > :after)
    AND (:observed_from IS NULL OR observed_at >= :observed_from) AND (:observed_to IS NULL OR observed_at < :observed_to)
    AND (:recorded_from IS NULL OR recorded_at >= :recorded_from) AND (:recorded_to IS NULL OR recorded_at < :recorded_to)
    AND (:observed_actor IS NULL OR observed_actor = :observed_actor)
    AND (:modality IS NULL OR modality IN (:modality, :modality_stored))
    AND (:with_excluded OR cancelled_after IS NULL)
  ORDER BY position LIMIT :limit)
ORDER BY e.position LIMIT :limit;

-- name: events_of_session_newest_first
-- A page of a session's events inside scopes, newest position first: a page of each scope by its index, then the first of them.
SELECT e.* FROM (SELECT DISTINCT value FROM json_each(:scopes)) AS wanted CROSS JOIN event AS e NOT INDEXED
WHERE e.tenant_id = :tenant_id AND e.seq IN (
  SELECT seq FROM event INDEXED BY event_session
  WHERE tenant_id = :tenant_id AND scope = wanted.value AND session = :session
    AND (:after IS NULL OR position < :after)
    AND (:observed_from IS NULL OR observed_at >= :observed_from) AND (:observed_to IS NULL OR observed_at < :observed_to)
    AND (:recorded_from IS NULL OR recorded_at >= :recorded_from) AND (:recorded_to IS NULL OR recorded_at < :recorded_to)
    AND (:observed_actor IS NULL OR observed_actor = :observed_actor)
    AND (:modality IS NULL OR modality IN (:modality, :modality_stored))
    AND (:with_excluded OR cancelled_after IS NULL)
  ORDER BY position DESC LIMIT :limit)
ORDER BY e.position DESC LIMIT :limit;

-- name: events_of_session_oldest_first
-- A page of a session's events inside scopes, oldest position first: a page of each scope by its index, then the first of them.
SELECT e.* FROM (SELECT DISTINCT value FROM json_each(:scopes)) AS wanted CROSS JOIN event AS e NOT INDEXED
WHERE e.tenant_id = :tenant_id AND e.seq IN (
  SELECT seq FROM event INDEXED BY event_session
  WHERE tenant_id = :tenant_id AND scope = wanted.value AND session = :session
    AND (:after IS NULL OR position > :after)
    AND (:observed_from IS NULL OR observed_at >= :observed_from) AND (:observed_to IS NULL OR observed_at < :observed_to)
    AND (:recorded_from IS NULL OR recorded_at >= :recorded_from) AND (:recorded_to IS NULL OR recorded_at < :recorded_to)
    AND (:observed_actor IS NULL OR observed_actor = :observed_actor)
    AND (:modality IS NULL OR modality IN (:modality, :modality_stored))
    AND (:with_excluded OR cancelled_after IS NULL)
  ORDER BY position LIMIT :limit)
ORDER BY e.position LIMIT :limit;

-- name: events_before_in_session
-- The events of a session just before a position, newest first.
SELECT * FROM event
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND position < ?4 ORDER BY position DESC LIMIT ?5;

-- name: events_before_in_scope
-- The events without a session just before a position, newest first.
SELECT * FROM event INDEXED BY event_alone
WHERE tenant_id = ?1 AND scope = ?2 AND session IS NULL AND position < ?3 ORDER BY position DESC LIMIT ?4;

-- name: walk_events
-- A tenant's log past a position.
SELECT * FROM event WHERE tenant_id = ?1 AND position > ?2 ORDER BY position LIMIT ?3;

-- name: feedback_events
-- A tenant's newest feedback, without what was cancelled.
SELECT * FROM event INDEXED BY event_feedback
WHERE tenant_id = ?1 AND modality = 'feedback' AND cancelled_after IS NULL ORDER BY position DESC LIMIT ?2;

-- name: tenants
-- Every tenant that has events.
SELECT DISTINCT tenant_id FROM event ORDER BY tenant_id;

-- name: last_recorded
-- When the newest event of scopes was recorded: the last of each scope by its index. ?2 is a JSON list.
SELECT max((
  SELECT recorded_at FROM event INDEXED BY event_scope
  WHERE tenant_id = ?1 AND scope = wanted.value ORDER BY position DESC LIMIT 1))
FROM json_each(?2) AS wanted;

-- name: told_last
-- The scopes of the newest ?1 events of all tenants, each once, that of the newest first.
SELECT tenant_id, scope FROM (SELECT seq, tenant_id, scope FROM event ORDER BY seq DESC LIMIT ?1)
GROUP BY tenant_id, scope ORDER BY max(seq) DESC;

-- name: count_events
-- How many events scopes hold, or held at ?3.
SELECT count(*) FROM event
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND cancelled_after IS NULL
  AND (?3 IS NULL OR recorded_at <= ?3);

-- name: put_zone_offset
-- By which clock an event was read that was sent without an offset; the first word stays.
UPDATE event SET zone_offset = ?3
WHERE tenant_id = ?1 AND id = ?2 AND observed_offset IS NULL AND zone_offset IS NULL;

-- name: mark_cancelled
-- Exclude an event from recall and lists, noting how far derivation had come.
UPDATE event SET cancelled_after = ?3 WHERE tenant_id = ?1 AND id = ?2 AND cancelled_after IS NULL;

-- name: first_recorded
-- When the first event that a tenant still has was recorded.
SELECT recorded_at FROM event WHERE tenant_id = ?1 ORDER BY position LIMIT 1;

-- name: any_worded
-- Whether one of some events has its words.
SELECT 1 FROM event WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND redacted_by IS NULL LIMIT 1;

-- name: newest_recorded
-- When the newest event of any tenant was recorded: the last of each by its index, which is skipped through.
WITH RECURSIVE known (tenant_id) AS (
  SELECT min(tenant_id) FROM event
  UNION ALL
  SELECT (SELECT min(tenant_id) FROM event WHERE tenant_id > k.tenant_id) FROM known AS k WHERE k.tenant_id IS NOT NULL
)
SELECT max((SELECT recorded_at FROM event WHERE tenant_id = k.tenant_id ORDER BY position DESC LIMIT 1)) FROM known AS k;

-- name: any_sent
-- Whether any event of any tenant is consolidated into another scope.
SELECT 1 FROM event INDEXED BY event_sent WHERE json_extract(directives, '$.consolidate_into') IS NOT NULL LIMIT 1;

-- name: senders_into
-- The scopes with events that are consolidated into ?2; the index is skipped through from scope to scope.
WITH RECURSIVE source (scope) AS (
  SELECT min(scope) FROM event INDEXED BY event_sent
  WHERE tenant_id = ?1 AND json_extract(directives, '$.consolidate_into') = ?2
  UNION ALL
  SELECT (SELECT min(e.scope) FROM event AS e INDEXED BY event_sent
          WHERE e.tenant_id = ?1 AND json_extract(e.directives, '$.consolidate_into') = ?2 AND e.scope > s.scope)
  FROM source AS s WHERE s.scope IS NOT NULL
)
SELECT scope FROM source WHERE scope IS NOT NULL AND scope <> ?2;

-- name: believed_in
-- The scopes whose beliefs an event may change: its own, the one that it is consolidated into, and that of the event which it cancels.
SELECT e.scope, json_extract(e.directives, '$.consolidate_into'), json_extract(c.directives, '$.consolidate_into')
FROM event AS e LEFT JOIN event AS c ON c.tenant_id = e.tenant_id
  AND c.id = CASE e.origin_channel WHEN 'cancellation' THEN json_extract(e.content, '$.event_id') END
WHERE e.tenant_id = ?1 AND e.id = ?2;

-- name: count_zeroed_events
-- How many events end in zeros, which nobody may write: the last page of their words was lost, and no structure of the file leads to it.
SELECT count(*) FROM event WHERE substr(CAST(content AS BLOB), -16) = zeroblob(16);
