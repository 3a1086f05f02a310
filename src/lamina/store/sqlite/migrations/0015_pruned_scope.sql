-- A pruned scope keeps its row, and so its creator: its memory is there, and nobody else may take it over.
ALTER TABLE scope ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
-- Those that were pruned before are their first writer's again.
INSERT INTO scope (tenant_id, path, auto_provisioned, created_by, created_at, pruned)
SELECT first.tenant_id, first.scope, 1, event.caller, event.recorded_at, 1
FROM (SELECT tenant_id, scope, min(position) AS position FROM event GROUP BY tenant_id, scope) AS first
JOIN event ON event.tenant_id = first.tenant_id AND event.position = first.position
WHERE NOT EXISTS (SELECT 1 FROM scope AS s WHERE s.tenant_id = first.tenant_id AND s.path = first.scope);
