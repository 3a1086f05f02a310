-- name: anything_due
-- Whether a claim of a stage could find something: a pending job, or a lease that ran out.
SELECT 1 WHERE EXISTS (SELECT 1 FROM job WHERE stage = ?1 AND state = 'pending' AND next_attempt_at <= ?2)
            OR EXISTS (SELECT 1 FROM job WHERE stage = ?1 AND state = 'running' AND lease_until <= ?2);

-- name: due_jobs
-- Jobs of a stage whose time has come, in the order of the log; their scope may still hold them back.
SELECT tenant_id, event_id, scope, position, attempts, last_error FROM job
WHERE stage = ?1 AND state = 'pending' AND next_attempt_at <= ?2
ORDER BY event_seq;

-- name: lost_leases
-- Leases of a stage that had run out by ?2: an attempt that failed. ?5 is the wait after the second, doubled from then on.
UPDATE job SET state = 'pending', attempts = min(attempts + 1, ?3), last_error = ?4,
               next_attempt_at = iif(attempts = 0, next_attempt_at, ?2 + (?5 << (attempts - 1))),
               lease_until = NULL, lease_owner = NULL
WHERE state = 'running' AND stage = ?1 AND lease_until <= ?2;

-- name: leases_left
-- The leases of those who are gone have run out by ?1.
UPDATE job SET lease_until = ?1 WHERE state = 'running' AND lease_until > ?1;

-- name: retry_failed
-- What failed for good is due again.
UPDATE job SET state = 'pending', attempts = 0, next_attempt_at = 0, last_error = NULL WHERE state = 'failed';

-- name: first_blocker
-- The first position of a scope between ?5 and ?6 at which an event is not yet past a stage and cannot be claimed now.
SELECT position FROM job
WHERE tenant_id = ?1 AND scope = ?2 AND position > ?5 AND position < ?6 AND state <> 'failed'
  AND (stage < ?3 OR (stage = ?3 AND (state = 'running' OR next_attempt_at > ?4)))
ORDER BY position LIMIT 1;

-- name: lease_job
-- Take a job.
UPDATE job SET state = 'running', lease_until = ?4, lease_owner = ?5
WHERE tenant_id = ?1 AND event_id = ?2 AND stage = ?3;

-- name: end_job
-- A stage is done.
DELETE FROM job WHERE tenant_id = ?1 AND event_id = ?2 AND stage = ?3 AND state <> 'failed';

-- name: next_job
-- Queue the stage after the one that ended, ?4, unless the event was cancelled there: a replay stops where it did.
INSERT INTO job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at)
SELECT tenant_id, id, ?3, scope, position, seq, 'pending', 0 FROM event
WHERE tenant_id = ?1 AND id = ?2 AND cancelled_after IS NOT ?4
ON CONFLICT DO NOTHING;

-- name: fail_job
-- Note a failure: due again, or failed for good when ?4 is null.
UPDATE job SET state = iif(?4 IS NULL, 'failed', 'pending'), attempts = min(attempts + 1, ?6), next_attempt_at = ?4,
               lease_until = NULL, lease_owner = NULL, last_error = ?5
WHERE tenant_id = ?1 AND event_id = ?2 AND stage = ?3;

-- name: jobs_of_event
-- What is left to do for an event, and what failed.
SELECT stage, state, attempts, next_attempt_at, last_error FROM job
WHERE tenant_id = ?1 AND event_id = ?2 ORDER BY stage;

-- name: drop_jobs
-- Forget what is queued for an event.
DELETE FROM job WHERE tenant_id = ?1 AND event_id = ?2;

-- name: backlog
-- How many jobs stand in each state.
SELECT state, count(*) FROM job GROUP BY state;

-- name: release_jobs
-- Make an owner's leased jobs due again.
UPDATE job SET state = 'pending', lease_until = NULL, lease_owner = NULL
WHERE state = 'running' AND lease_owner = ?1;

-- name: requeue_all
-- Queue every event from its first stage, but for those cancelled before it.
INSERT INTO job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at)
SELECT tenant_id, id, 1, scope, position, seq, 'pending', 0 FROM event
WHERE cancelled_after IS NULL OR cancelled_after <> 'captured';

-- name: oldest_pending
-- When the oldest event that waits for derivation was recorded.
SELECT min(recorded_at) FROM event WHERE seq = (SELECT min(event_seq) FROM job WHERE state <> 'failed');

-- name: backlog_of_tenant
-- How many events of a tenant wait for derivation, up to a position, and the newest position among them.
SELECT count(*), coalesce(max(position), 0) FROM job
WHERE tenant_id = ?1 AND state <> 'failed' AND (?2 IS NULL OR position <= ?2);
