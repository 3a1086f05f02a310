-- What holds a scope back is found by one step into an index, however long the scope's backlog is.
DROP INDEX job_scope;
CREATE INDEX job_scope ON job (tenant_id, scope, stage, position);
