-- name: insert_inquiry
-- What a stage wants asked of its event; it is asked once.
INSERT INTO inquiry (tenant_id, event_id, task, scope, position, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO NOTHING;

-- name: ask_again
-- Somebody wants an event asked about once more, or for the first time.
INSERT INTO inquiry (tenant_id, event_id, task, scope, position, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (tenant_id, event_id, task) DO UPDATE SET
  state = 'pending', created_at = excluded.created_at, attempts = 0, next_attempt_at = NULL, lease_until = NULL, lease_owner = NULL,
  fence = 0, last_error = NULL, input_hash = NULL, applied_after = NULL, applied_order = NULL, applied_at = NULL;

-- name: inquiry_heads
-- The oldest open inquiry of each scope, where it is due: it holds back all behind it. Tenants take turns, those
-- behind ?3 first; what was put off stands behind what came meanwhile. The index is skipped through from scope to scope, so that a long queue behind a model that is down costs nothing.
WITH RECURSIVE head (id) AS (
  SELECT * FROM (SELECT id FROM inquiry INDEXED BY inquiry_open
                 WHERE state IN ('pending', 'answered') ORDER BY tenant_id, scope, position, id LIMIT 1)
  UNION ALL
  SELECT coalesce(
    (SELECT n.id FROM inquiry AS n INDEXED BY inquiry_open WHERE n.state IN ('pending', 'answered')
       AND n.tenant_id = o.tenant_id AND n.scope > o.scope ORDER BY n.scope, n.position, n.id LIMIT 1),
    (SELECT n.id FROM inquiry AS n INDEXED BY inquiry_open WHERE n.state IN ('pending', 'answered')
       AND n.tenant_id > o.tenant_id ORDER BY n.tenant_id, n.scope, n.position, n.id LIMIT 1))
  FROM head CROSS JOIN inquiry AS o ON o.id = head.id
)
SELECT o.* FROM head CROSS JOIN inquiry AS o ON o.id = head.id
WHERE o.state = 'pending' AND coalesce(o.next_attempt_at, 0) NOT BETWEEN ?1 + 1 AND ?1 + 86400000000 AND coalesce(o.lease_until, 0) NOT BETWEEN ?1 + 1 AND ?1 + 86400000000
ORDER BY row_number() OVER (PARTITION BY o.tenant_id ORDER BY coalesce(o.next_attempt_at, o.created_at), o.id), o.tenant_id <= ?3,
         o.tenant_id LIMIT ?2;

-- name: lease_inquiry
-- Take an inquiry, unless somebody else has by now.
UPDATE inquiry SET lease_until = ?2, lease_owner = ?4, fence = ?5
WHERE id = ?1 AND state = 'pending' AND coalesce(lease_until, 0) NOT BETWEEN ?3 + 1 AND ?3 + 86400000000 AND coalesce(next_attempt_at, 0) NOT BETWEEN ?3 + 1 AND ?3 + 86400000000;

-- name: inquiries_behind
-- The open inquiries of a scope behind one, in order.
SELECT * FROM inquiry INDEXED BY inquiry_open
WHERE tenant_id = ?1 AND scope = ?2 AND state IN ('pending', 'answered') AND (position, id) > (?3, ?4)
ORDER BY position, id LIMIT ?5;

-- name: lease_behind
-- Take an inquiry under the lease of the one before it, ?3, which has the fence ?4, unless somebody else has it by now.
UPDATE inquiry SET (lease_until, lease_owner, fence) = (SELECT h.lease_until, h.lease_owner, h.fence FROM inquiry AS h WHERE h.id = ?3)
WHERE id = ?1 AND state = 'pending' AND coalesce(lease_until, 0) NOT BETWEEN ?2 + 1 AND ?2 + 86400000000 AND coalesce(next_attempt_at, 0) NOT BETWEEN ?2 + 1 AND ?2 + 86400000000
  AND EXISTS (SELECT 1 FROM inquiry AS h WHERE h.id = ?3 AND h.state = 'pending' AND h.fence = ?4);

-- name: answer_inquiry
-- A pending inquiry, leased under the fence ?3, has the answer of an input.
UPDATE inquiry SET state = 'answered', input_hash = ?2, attempts = attempts + 1, next_attempt_at = NULL,
                   lease_until = NULL, lease_owner = NULL, fence = 0, last_error = NULL
WHERE id = ?1 AND state = 'pending' AND fence = ?3;

-- name: put_off_inquiry
-- A failed attempt under the fence ?4: due again at ?3, or failed for good when it is null.
UPDATE inquiry SET attempts = attempts + 1, last_error = ?2, next_attempt_at = ?3, lease_until = NULL,
                   lease_owner = NULL, fence = 0, state = iif(?3 IS NULL, 'failed', state)
WHERE id = ?1 AND state IN ('pending', 'answered') AND fence = ?4;

-- name: defer_inquiry
-- Nobody could be asked: due again at ?3, without an attempt, for who holds the fence ?4.
UPDATE inquiry SET last_error = ?2, next_attempt_at = ?3, lease_until = NULL, lease_owner = NULL, fence = 0
WHERE id = ?1 AND state = 'pending' AND fence = ?4;

-- name: end_inquiry
-- What was asked under the fence ?3 has taken effect, and is asked no more.
DELETE FROM inquiry WHERE tenant_id = ?1 AND id = ?2 AND state = 'pending' AND fence = ?3;

-- name: summaries_waiting
-- How many turns wait for a model's words, task ?1, and since when the first does.
SELECT count(*), min(created_at) FROM inquiry INDEXED BY inquiry_open WHERE state IN ('pending', 'answered') AND task = ?1;

-- name: forget_task
-- Delete what is asked about any of these events, ?3, as one task.
DELETE FROM inquiry WHERE tenant_id = ?1 AND task = ?2 AND event_id IN (SELECT value FROM json_each(?3));

-- name: drop_inquiry
-- Nobody needs an answer any more.
UPDATE inquiry SET state = 'dropped', next_attempt_at = NULL, lease_until = NULL, lease_owner = NULL, fence = 0
WHERE id = ?1 AND state IN ('pending', 'answered') AND fence = ?2;

-- name: answered_inquiries
-- Those whose answers wait to take effect.
SELECT * FROM inquiry INDEXED BY inquiry_answered WHERE state = 'answered' ORDER BY id LIMIT ?1;

-- name: extraction_left
-- Whether something of a scope is still to be extracted.
SELECT 1 FROM job INDEXED BY job_scope
WHERE tenant_id = ?1 AND scope = ?2 AND stage = 1 AND state <> 'failed' LIMIT 1;

-- name: newest_extracted
-- The newest event of a scope that was extracted: a replay extracts it too.
SELECT e.* FROM event AS e
WHERE e.tenant_id = ?1 AND e.scope = ?2 AND e.cancelled_after IS NOT 'captured'
  AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.tenant_id = e.tenant_id AND j.event_id = e.id AND j.stage = 1)
ORDER BY e.position DESC LIMIT 1;

-- name: apply_inquiry
-- An answer took effect at ?5, after the event at position ?4 and whatever else took effect there.
UPDATE inquiry SET state = 'applied', applied_after = ?4, applied_at = ?5, last_error = NULL, applied_order = (
  SELECT count(*) FROM inquiry AS i INDEXED BY inquiry_applied
  WHERE i.tenant_id = ?2 AND i.scope = ?3 AND i.state = 'applied' AND i.applied_after = ?4)
WHERE id = ?1 AND tenant_id = ?2 AND state = 'answered';

-- name: is_answered
-- Whether an answer waits to take effect.
SELECT 1 FROM inquiry WHERE tenant_id = ?1 AND id = ?2 AND state = 'answered';

-- name: inquiries_applied_after
-- Those that took effect between the event at position ?3 and the next of its scope that is derived.
SELECT * FROM inquiry INDEXED BY inquiry_applied
WHERE tenant_id = ?1 AND scope = ?2 AND state = 'applied' AND applied_after >= ?3
  AND applied_after < coalesce(
    (SELECT position FROM event WHERE tenant_id = ?1 AND scope = ?2 AND position > ?3
       AND cancelled_after IS NOT 'captured' ORDER BY position LIMIT 1), 9223372036854775807)
ORDER BY applied_after, applied_order;

-- name: release_inquiries
-- Give leases back: ?1 is a JSON list of ids and fences.
UPDATE inquiry SET lease_until = NULL, lease_owner = NULL, fence = 0
FROM json_each(?1) AS held
WHERE inquiry.id = held.value ->> 0 AND fence = held.value ->> 1;

-- name: inquiry_leases_left
-- The leases of those who are gone end.
UPDATE inquiry SET lease_until = NULL, lease_owner = NULL, fence = 0
WHERE state IN ('pending', 'answered') AND lease_until IS NOT NULL;

-- name: revive_inquiries
-- Inquiries of a tenant that failed for good are due again, at or under a scope; answered ones keep their answer.
UPDATE inquiry SET state = iif(input_hash IS NULL, 'pending', 'answered'), attempts = 0, next_attempt_at = NULL
WHERE tenant_id = ?1 AND state = 'failed' AND (scope = ?2 OR (scope >= ?3 AND scope < ?4));

-- name: inquiries_unsettled
-- Open or failed ones, newest first, at or under a scope where one is given.
SELECT * FROM inquiry INDEXED BY inquiry_unsettled
WHERE tenant_id = ?1 AND state IN ('pending', 'answered', 'failed')
  AND (?2 IS NULL OR scope = ?2 OR (scope >= ?3 AND scope < ?4))
ORDER BY id DESC LIMIT ?5;

-- name: count_inquiries
-- How many stand in each state, of a tenant or of all.
SELECT state, count(*) FROM inquiry WHERE ?1 IS NULL OR tenant_id = ?1 GROUP BY state;

-- name: count_failed_inquiries
-- How many failed for good.
SELECT count(*) FROM inquiry INDEXED BY inquiry_unsettled
WHERE state IN ('pending', 'answered', 'failed') AND state = 'failed';

-- name: forget_inquiries
-- Delete the inquiries about any of these events: ?2 is a JSON list.
DELETE FROM inquiry WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));
