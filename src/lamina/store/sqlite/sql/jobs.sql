-- name: next_fence
-- The number of the next lease, higher than every one before.
INSERT INTO lease_counter (id, fence) VALUES (1, 1)
ON CONFLICT (id) DO UPDATE SET fence = fence + 1 RETURNING fence;

-- name: pending_jobs
-- A page of the pending jobs of a stage past an event, in the order of the log; their time may not have come.
SELECT tenant_id, event_id, scope, position, event_seq, attempts, next_attempt_at, last_error FROM job
WHERE stage = ?1 AND state = 'pending' AND event_seq > ?2 ORDER BY event_seq LIMIT ?3;

-- name: pending_of_scope
-- The first pending jobs of a stage in a scope.
SELECT tenant_id, event_id, scope, position, event_seq, attempts, next_attempt_at, last_error FROM job
WHERE tenant_id = ?1 AND scope = ?2 AND stage = ?3 AND state = 'pending' ORDER BY position LIMIT ?4;

-- name: running_jobs
-- Where a stage is at work: the first position of each scope.
SELECT tenant_id, scope, min(position) FROM job WHERE stage = ?1 AND state = 'running' GROUP BY tenant_id, scope;

-- name: first_before
-- The first position of a scope that is not yet past earlier stages: ?3 is a JSON list of them.
SELECT min((SELECT position FROM job WHERE tenant_id = ?1 AND scope = ?2 AND stage = earlier.value AND state <> 'failed'
            ORDER BY position LIMIT 1))
FROM json_each(?3) AS earlier;

-- name: held_by
-- Events of a scope before a position that are not yet past a stage, nor failed; one more than ?5 of them at most.
SELECT event_id FROM job WHERE tenant_id = ?1 AND scope = ?2 AND stage <= ?3 AND position < ?4 AND state <> 'failed'
ORDER BY position LIMIT ?5 + 1;

-- name: free_scopes
-- Scopes behind one, ?5 and ?6, whose first pending job of a stage is due and not held back: ?3 is as above, ?7 the longest wait. The index is skipped
-- through from scope to scope, so that a long backlog behind one that waits costs nothing.
WITH RECURSIVE place (tenant_id, scope) AS (
  SELECT ?5, ?6
  UNION ALL
  SELECT iif(EXISTS (SELECT 1 FROM job WHERE tenant_id = p.tenant_id AND scope > p.scope), p.tenant_id,
             (SELECT min(tenant_id) FROM job WHERE tenant_id > p.tenant_id)),
         coalesce((SELECT min(scope) FROM job WHERE tenant_id = p.tenant_id AND scope > p.scope),
                  (SELECT scope FROM job WHERE tenant_id > p.tenant_id ORDER BY tenant_id, scope LIMIT 1))
  FROM place AS p WHERE p.tenant_id IS NOT NULL
)
SELECT p.tenant_id, p.scope FROM place AS p CROSS JOIN job AS j INDEXED BY job_scope
WHERE (p.tenant_id <> ?5 OR p.scope <> ?6)
  AND j.tenant_id = p.tenant_id AND j.scope = p.scope AND j.stage = ?1 AND j.state = 'pending'
  AND j.next_attempt_at NOT BETWEEN ?2 + 1 AND ?2 + ?7
  AND j.position = (SELECT position FROM job WHERE tenant_id = p.tenant_id AND scope = p.scope
                      AND stage = ?1 AND state = 'pending' ORDER BY position LIMIT 1)
  AND NOT EXISTS (
    SELECT 1 FROM json_each(?3) AS earlier CROSS JOIN job AS h
    WHERE h.tenant_id = p.tenant_id AND h.scope = p.scope AND h.stage = earlier.value AND h.position < j.position
      AND h.state <> 'failed')
  AND NOT EXISTS (
    SELECT 1 FROM job AS r WHERE r.tenant_id = p.tenant_id AND r.scope = p.scope AND r.stage = ?1
      AND r.position < j.position AND r.state = 'running')
LIMIT ?4;

-- name: any_lease_lost
-- Whether a lease of a stage ran out.
SELECT 1 FROM job WHERE stage = ?1 AND state = 'running' AND lease_until NOT BETWEEN ?2 + 1 AND ?2 + 86400000000 LIMIT 1;

-- name: lost_leases
-- Leases of a stage that had run out by ?2: an attempt that failed. ?5 is the wait after the second, doubled from then on.
UPDATE job SET state = 'pending', attempts = min(attempts + 1, ?3), last_error = ?4,
               next_attempt_at = iif(attempts = 0, next_attempt_at, ?2 + (?5 << (attempts - 1))),
               lease_until = NULL, lease_owner = NULL, fence = 0
WHERE stage = ?1 AND state = 'running' AND lease_until NOT BETWEEN ?2 + 1 AND ?2 + 86400000000;

-- name: leases_left
-- The leases of those who are gone, or of the one owner ?3, have run out by ?1. ?2 is a JSON list of the stages.
UPDATE job SET lease_until = ?1
WHERE stage IN (SELECT value FROM json_each(?2)) AND state = 'running' AND lease_until > ?1
  AND (?3 IS NULL OR lease_owner = ?3);

-- name: retry_failed
-- What failed for good is due again. ?1 is a JSON list of the stages.
UPDATE job SET state = 'pending', attempts = 0, next_attempt_at = 0, last_error = NULL
WHERE stage IN (SELECT value FROM json_each(?1)) AND state = 'failed';

-- name: lease_job
-- Take a job.
UPDATE job SET state = 'running', lease_until = ?4, lease_owner = ?5, fence = ?6
WHERE tenant_id = ?1 AND event_id = ?2 AND stage = ?3;

-- name: end_job
-- A stage is done by who leased it under the fence ?4.
DELETE FROM job WHERE tenant_id = ?1 AND event_id = ?2 AND stage = ?3 AND state <> 'failed' AND fence = ?4;

-- name: next_job
-- Queue the stage after the one that ended, ?4, unless the event was cancelled there: a replay stops where it did.
INSERT INTO job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at)
SELECT tenant_id, id, ?3, scope, position, seq, 'pending', 0 FROM event
WHERE tenant_id = ?1 AND id = ?2 AND cancelled_after IS NOT ?4
ON CONFLICT DO NOTHING;

-- name: fail_job
-- Note a failure under the fence ?7: due again, or failed for good when ?4 is null.
UPDATE job SET state = iif(?4 IS NULL, 'failed', 'pending'), attempts = min(attempts + 1, ?6), next_attempt_at = ?4,
               lease_until = NULL, lease_owner = NULL, fence = 0, last_error = ?5
WHERE tenant_id = ?1 AND event_id = ?2 AND stage = ?3 AND state = 'running' AND fence = ?7;

-- name: jobs_of_event
-- What is left to do for an event, and what failed.
SELECT stage, state, attempts, next_attempt_at, last_error FROM job
WHERE tenant_id = ?1 AND event_id = ?2 ORDER BY stage;

-- name: drop_jobs
-- Forget what is queued for an event.
DELETE FROM job WHERE tenant_id = ?1 AND event_id = ?2;

-- name: backlog
-- How many jobs stand in each state: each stage and state by its index, which grouping by the state alone would sort. ?1 is a
-- JSON list of the stages.
SELECT value, (SELECT count(*) FROM job WHERE stage IN (SELECT value FROM json_each(?1)) AND state = json_each.value)
FROM json_each('["pending", "running", "failed"]');

-- name: release_jobs
-- Make an owner's leased jobs due again: ?2 is a JSON list of the stages.
UPDATE job SET state = 'pending', lease_until = NULL, lease_owner = NULL, fence = 0
WHERE stage IN (SELECT value FROM json_each(?2)) AND state = 'running' AND lease_owner = ?1;

-- name: requeue_all
-- Queue every event from its first stage, but for those cancelled before it and those without their words.
INSERT INTO job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at)
SELECT tenant_id, id, 1, scope, position, seq, 'pending', 0 FROM event
WHERE redacted_by IS NULL AND (cancelled_after IS NULL OR cancelled_after <> 'captured');

-- name: oldest_pending
-- When the oldest event that waits for derivation was recorded: the first of each stage and state by its index. ?1 is a
-- JSON list of the stages.
SELECT min(recorded_at) FROM event WHERE seq = (
  SELECT min((SELECT event_seq FROM job WHERE stage = s.value AND state = w.value ORDER BY event_seq LIMIT 1))
  FROM json_each(?1) AS s CROSS JOIN json_each('["pending", "running"]') AS w);

-- name: backlog_of_tenant
-- How many events of a tenant wait for derivation, up to a position, and the newest position among them.
SELECT count(*), coalesce(max(position), 0) FROM job
WHERE tenant_id = ?1 AND state <> 'failed' AND (?2 IS NULL OR position <= ?2);
