-- name: insert_relay_token
-- A token, by the hash of its text.
INSERT INTO relay_token (tenant_id, id, sha256, peer_id, rights, read_namespaces, write_namespaces, issued_at, expires_at,
                         revoked_at, revoked_reason, trust, description, rotated_at, rotated_to, rotated_from)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16);

-- name: find_relay_token
-- The token of a hash, which says of which tenant it is.
SELECT * FROM relay_token WHERE sha256 = ?1;

-- name: relay_tokens
-- A tenant's tokens, newest first.
SELECT * FROM relay_token WHERE tenant_id = ?1 ORDER BY issued_at DESC, id;

-- name: revoke_relay_token
-- Take a token back.
UPDATE relay_token SET revoked_at = ?3, revoked_reason = ?4
WHERE tenant_id = ?1 AND id = ?2 AND revoked_at IS NULL;

-- name: rotate_relay_token
-- Take a token back, and note which took its place.
UPDATE relay_token SET revoked_at = ?3, revoked_reason = ?4, rotated_at = ?3, rotated_to = ?5
WHERE tenant_id = ?1 AND id = ?2 AND revoked_at IS NULL;
