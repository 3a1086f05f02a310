-- Runs of operators' jobs. One that is `running` is the lock of its job until `lease_until`.
CREATE TABLE job_run (
  tenant_id          TEXT    NOT NULL,
  run_id             TEXT    NOT NULL,
  job_id             TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  started_at         INTEGER NOT NULL,
  finished_at        INTEGER,
  lease_until        INTEGER,
  dry_run            INTEGER NOT NULL,
  force              INTEGER NOT NULL,
  client_ip          TEXT,
  initiator          TEXT    NOT NULL,
  error              TEXT,
  result_keys        TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX job_run_running ON job_run (tenant_id, job_id) WHERE status = 'running';
CREATE INDEX job_run_started ON job_run (tenant_id, started_at);
