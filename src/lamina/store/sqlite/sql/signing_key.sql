-- name: insert_signing_key
-- A key, with its secret sealed.
INSERT INTO signing_key (tenant_id, key_id, algorithm, created_at, activated_at, verifies_until, sealed)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: find_signing_key
-- A key by its id.
SELECT * FROM signing_key WHERE tenant_id = ?1 AND key_id = ?2;

-- name: signing_keys
-- A tenant's keys, newest first.
SELECT * FROM signing_key WHERE tenant_id = ?1 ORDER BY created_at DESC, key_id;

-- name: sealed_keys
-- Every key that still has a secret, of every tenant.
SELECT * FROM signing_key WHERE sealed <> x'' ORDER BY tenant_id, key_id;

-- name: end_active_key
-- The key that was active signs no more, and verifies until an instant.
UPDATE signing_key SET verifies_until = ?2 WHERE tenant_id = ?1 AND activated_at IS NOT NULL AND verifies_until IS NULL;

-- name: activate_signing_key
-- A staged key becomes the one to sign with.
UPDATE signing_key SET activated_at = ?3 WHERE tenant_id = ?1 AND key_id = ?2 AND activated_at IS NULL;

-- name: empty_signing_keys
-- Forget the secrets of keys that verify nothing any more.
UPDATE signing_key SET sealed = x'' WHERE tenant_id = ?1 AND verifies_until <= ?2 AND sealed <> x'';
