-- name: abandon_job_runs
-- The runs of a tenant whose lease is over at an instant hold nothing any more, nor do those that began further ahead than it is long.
UPDATE job_run SET status = 'abandoned', finished_at = iif(lease_until <= ?2, lease_until, started_at)
WHERE tenant_id = ?1 AND status = 'running' AND (lease_until <= ?2 OR started_at - ?2 > lease_until - started_at);

-- name: running_job
-- The run that holds a job.
SELECT * FROM job_run WHERE tenant_id = ?1 AND job_id = ?2 AND status = 'running';

-- name: insert_job_run
-- A run.
INSERT INTO job_run (tenant_id, run_id, job_id, status, started_at, finished_at, lease_until, dry_run, force, client_ip, initiator, error, result_keys)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- name: forget_job_runs
-- Only the newest runs of a tenant stay, and those that go on.
DELETE FROM job_run WHERE tenant_id = ?1 AND status <> 'running' AND run_id IN (
  SELECT run_id FROM job_run WHERE tenant_id = ?1 ORDER BY started_at DESC, run_id DESC LIMIT -1 OFFSET ?2
);

-- name: end_job_run
-- How a run ended that went on until now.
UPDATE job_run SET status = ?3, finished_at = ?4, error = ?5, result_keys = ?6
WHERE tenant_id = ?1 AND run_id = ?2 AND status = 'running';

-- name: job_runs
-- A tenant's runs, newest first.
SELECT * FROM job_run WHERE tenant_id = ?1 ORDER BY started_at DESC, run_id DESC LIMIT ?2;

-- name: newest_job_runs
-- A tenant's runs but for rehearsals, oldest first.
SELECT * FROM job_run WHERE tenant_id = ?1 AND NOT dry_run ORDER BY started_at, run_id;
