-- name: put_pack
-- Keep a pack, unless the tenant's were cleared since it was begun; a newer one takes the place of the caller's older one.
INSERT INTO pack (tenant_id, kind, caller, id, body_hash, made_at, content)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
WHERE NOT EXISTS (SELECT 1 FROM pack WHERE tenant_id = ?1 AND kind = 'cleared' AND made_at > ?6)
ON CONFLICT (tenant_id, kind, caller, id) DO UPDATE
SET body_hash = excluded.body_hash, made_at = excluded.made_at, content = excluded.content;

-- name: cleared_since
-- Whether a tenant's packs were cleared after an instant.
SELECT 1 FROM pack WHERE tenant_id = ?1 AND kind = 'cleared' AND made_at > ?2;

-- name: find_pack
-- A caller's pack.
SELECT body_hash, made_at, content FROM pack WHERE tenant_id = ?1 AND kind = ?2 AND caller = ?3 AND id = ?4;

-- name: empty_packs
-- Let go of the content that was made before an instant.
UPDATE pack SET content = x'' WHERE made_at < ?1 AND content <> x'';

-- name: trim_packs
-- Let go of a tenant's oldest packs, past the newest ?2.
DELETE FROM pack WHERE tenant_id = ?1 AND kind <> 'cleared' AND made_at < (
  SELECT made_at FROM pack WHERE tenant_id = ?1 ORDER BY made_at DESC LIMIT 1 OFFSET ?2 - 1);

-- name: clear_packs
-- Let go of every tenant's packs, of a copy that is kept for longer than a minute.
DELETE FROM pack;

-- name: prune_packs
-- Let go of the packs that were made before an instant.
DELETE FROM pack WHERE made_at < ?1;
