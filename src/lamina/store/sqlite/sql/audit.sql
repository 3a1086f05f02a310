-- name: last_audit
-- The number and hash of a tenant's newest audit row; the hash as bytes, that of a damaged file need not be text.
SELECT number, CAST(hash AS BLOB) FROM audit WHERE tenant_id = ?1 ORDER BY number DESC LIMIT 1;

-- name: insert_audit
-- A row of a chain; its VALUES are repeated for several. Columns in the order of AuditDraft, then number, previous, hash and detail.
INSERT INTO audit (tenant_id, id, at, actor, token_jti, scope, endpoint, capability, decision, decided_by_tier, method,
                   path, body_hash, headers_hash, body_bytes, pepper_version, response_status, event_id, client_ip,
                   user_agent, request_id, elapsed_ms, gdpr, number, previous, hash, detail)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: find_audit
-- One row by its id: as a text, which earlier releases wrote, and as it is stored. Here and below the last column is the hash of the row
-- before, or that of the anchor in its place: rows do not say it themselves.
SELECT a.*, CAST(coalesce(
  (SELECT b.hash FROM audit AS b WHERE b.tenant_id = a.tenant_id AND b.number = a.number - 1),
  (SELECT n.hash FROM audit_anchor AS n WHERE n.tenant_id = a.tenant_id AND n.number = a.number - 1)) AS BLOB) AS before
FROM audit AS a
WHERE tenant_id = ?1 AND id IN (?2, ?3);

-- name: query_audit
-- A page of rows, newest first: those of a scope lie at it, or between it with '/' and it with '0'.
SELECT a.*, CAST(coalesce(
  (SELECT b.hash FROM audit AS b WHERE b.tenant_id = a.tenant_id AND b.number = a.number - 1),
  (SELECT n.hash FROM audit_anchor AS n WHERE n.tenant_id = a.tenant_id AND n.number = a.number - 1)) AS BLOB) AS before
FROM audit AS a
WHERE tenant_id = :tenant_id AND (:before IS NULL OR number < :before)
  AND (:within IS NULL OR scope = :within OR (scope >= :within_from AND scope < :within_to))
  AND (:capability IS NULL OR capability IN (:capability, :capability_stored))
  AND (:decision IS NULL OR decision IN (:decision, :decision_stored))
  AND (:endpoint IS NULL OR endpoint IN (:endpoint, :endpoint_stored))
  AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
ORDER BY number DESC LIMIT :limit;

-- name: query_audit_of_actor
-- A page of one actor's rows, newest first.
SELECT a.*, CAST(coalesce(
  (SELECT b.hash FROM audit AS b WHERE b.tenant_id = a.tenant_id AND b.number = a.number - 1),
  (SELECT n.hash FROM audit_anchor AS n WHERE n.tenant_id = a.tenant_id AND n.number = a.number - 1)) AS BLOB) AS before
FROM audit AS a INDEXED BY audit_actor
WHERE tenant_id = :tenant_id AND actor = :actor AND (:before IS NULL OR number < :before)
  AND (:within IS NULL OR scope = :within OR (scope >= :within_from AND scope < :within_to))
  AND (:capability IS NULL OR capability IN (:capability, :capability_stored))
  AND (:decision IS NULL OR decision IN (:decision, :decision_stored))
  AND (:endpoint IS NULL OR endpoint IN (:endpoint, :endpoint_stored))
  AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
ORDER BY number DESC LIMIT :limit;

-- name: walk_audit
-- A chain past a number.
SELECT a.*, CAST(coalesce(
  (SELECT b.hash FROM audit AS b WHERE b.tenant_id = a.tenant_id AND b.number = a.number - 1),
  (SELECT n.hash FROM audit_anchor AS n WHERE n.tenant_id = a.tenant_id AND n.number = a.number - 1)) AS BLOB) AS before
FROM audit AS a
WHERE tenant_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3;

-- name: audit_tenants
-- Every tenant that has audit rows, as bytes: those of a damaged file need not be text.
SELECT CAST(tenant_id AS BLOB) FROM (SELECT DISTINCT tenant_id FROM audit ORDER BY tenant_id);

-- name: find_anchor
-- Where a tenant's chain begins.
SELECT tenant_id, number, hash, kept, row_id FROM audit_anchor WHERE tenant_id = ?1;

-- name: put_anchor
-- A chain begins later than before.
INSERT INTO audit_anchor (tenant_id, number, hash, kept, row_id) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant_id) DO UPDATE
SET number = excluded.number, hash = excluded.hash, kept = excluded.kept, row_id = excluded.row_id;

-- name: delete_audit
-- Rows past their retention; those marked gdpr are never deleted.
DELETE FROM audit WHERE tenant_id = ?1 AND number <= ?2 AND gdpr = 0;

-- name: last_pepper
-- A tenant's newest pepper.
SELECT tenant_id, version, secret, created_at FROM pepper WHERE tenant_id = ?1 ORDER BY version DESC LIMIT 1;

-- name: find_pepper
-- One pepper.
SELECT tenant_id, version, secret, created_at FROM pepper WHERE tenant_id = ?1 AND version = ?2;

-- name: insert_pepper
-- A new pepper, unless somebody was faster.
INSERT INTO pepper (tenant_id, version, secret, created_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: prune_peppers
-- Forget peppers whose successor is older than an instant and that no row needs.
DELETE FROM pepper AS old
WHERE old.tenant_id = ?1
  AND EXISTS (SELECT 1 FROM pepper AS p
              WHERE p.tenant_id = ?1 AND p.version = old.version + 1 AND p.created_at < ?2)
  AND NOT EXISTS (SELECT 1 FROM audit AS a WHERE a.tenant_id = ?1 AND a.pepper_version = old.version);
