-- name: insert_revocation
-- A token that holds no more. One that was revoked already stays as it was, for as long as either asks.
INSERT INTO revocation (tenant_id, issuer, jti, id, expires_at, reason, revoked_by, revoked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT DO UPDATE SET expires_at = max(expires_at, excluded.expires_at);

-- name: find_revocation
-- Whether a token is revoked, by its issuer or for all of them.
SELECT 1 FROM revocation WHERE tenant_id = ?1 AND jti = ?2 AND issuer IN ('', ?3);

-- name: count_revocations
-- How many tokens of a tenant are revoked.
SELECT count(*) FROM revocation WHERE tenant_id = ?1;

-- name: prune_revocations
-- Forget tokens that expired before an instant.
DELETE FROM revocation WHERE expires_at < ?1;
