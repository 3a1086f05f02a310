-- name: access_version
-- How often members or policies changed, or a token was taken back.
SELECT version FROM access_version;

-- name: note_access_change
-- Members or policies changed, or a token was taken back: every decision that was kept is void.
UPDATE access_version SET version = version + 1;

-- name: scope_states
-- Scopes by path, with their registration where they have one.
SELECT s.tenant_id, s.path, s.created_by, s.created_at, r.registered_at, r.policies
FROM scope AS s LEFT JOIN registration AS r ON r.tenant_id = s.tenant_id AND r.path = s.path
WHERE s.tenant_id = ?1 AND s.path IN (SELECT value FROM json_each(?2));

-- name: scopes_listed
-- Scopes under a prefix that were not pruned, by path: :prefix_end is the prefix with its last character raised, or null.
SELECT s.tenant_id, s.path, s.created_by, s.created_at, r.registered_at, r.policies
FROM scope AS s LEFT JOIN registration AS r ON r.tenant_id = s.tenant_id AND r.path = s.path
WHERE s.tenant_id = :tenant_id AND s.path >= :prefix AND (:prefix_end IS NULL OR s.path < :prefix_end)
  AND s.pruned = 0
  AND s.path > :after AND (:auto_provisioned IS NULL OR s.auto_provisioned = :auto_provisioned)
ORDER BY s.path LIMIT :limit OFFSET :skip;

-- name: members_of
-- The members of scopes.
SELECT path, actor, role FROM member WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2))
ORDER BY path, actor;

-- name: owned_below
-- One scope strictly below a path that an actor owns or may write to: ?3 and ?4 bound the paths below.
SELECT 1 FROM scope WHERE tenant_id = ?1 AND created_by = ?2 AND path >= ?3 AND path < ?4 AND auto_provisioned = 1
UNION ALL
SELECT 1 FROM member WHERE tenant_id = ?1 AND actor = ?2 AND path >= ?3 AND path < ?4 AND role <> 'reader'
LIMIT 1;

-- name: others_below
-- One scope strictly below a path that an actor does not own. With ?5, the segments that name the actor as a person, what lies
-- in a person's memory is of whom its outermost user segment names.
SELECT 1 FROM (SELECT *, substr('/' || path, instr('/' || path, '/user:') + 1) || '/' AS person FROM scope) AS s
WHERE s.tenant_id = ?1 AND s.path >= ?3 AND s.path < ?4
  AND CASE WHEN s.auto_provisioned AND ?5 IS NOT NULL AND s.person GLOB 'user:*'
      THEN substr(s.person, 1, instr(s.person, '/') - 1) NOT IN (SELECT value FROM json_each(?5))
      WHEN s.auto_provisioned THEN s.created_by <> ?2
      ELSE NOT EXISTS (SELECT 1 FROM member AS m
                       WHERE m.tenant_id = ?1 AND m.path = s.path AND m.actor = ?2 AND m.role = 'owner') END
LIMIT 1;

-- name: registered
-- Whether a scope is registered.
SELECT 1 FROM registration WHERE tenant_id = ?1 AND path = ?2;

-- name: put_scope
-- A scope that is registered, whether it was written to before or not: who made it stays who made it.
INSERT INTO scope (tenant_id, path, auto_provisioned, created_by, created_at) VALUES (?1, ?2, 0, ?3, ?4)
ON CONFLICT (tenant_id, path) DO UPDATE SET auto_provisioned = 0, pruned = 0;

-- name: put_registration
-- What was registered of a scope.
INSERT INTO registration (tenant_id, path, policies, registered_at) VALUES (?1, ?2, ?3, ?4);

-- name: put_member
-- One member of a registered scope.
INSERT INTO member (tenant_id, path, actor, role) VALUES (?1, ?2, ?3, ?4);

-- name: drop_members
-- Every member of a scope.
DELETE FROM member WHERE tenant_id = ?1 AND path = ?2;

-- name: drop_registration
-- A scope's registration.
DELETE FROM registration WHERE tenant_id = ?1 AND path = ?2;

-- name: drop_scope_policy
-- A scope's policy document.
DELETE FROM policy WHERE tenant_id = ?1 AND tier = 'scope' AND target = ?2;

-- name: leave_scope
-- A scope that was registered is one that registered itself again.
UPDATE scope SET auto_provisioned = 1 WHERE tenant_id = ?1 AND path = ?2;

-- name: drop_empty_scope
-- A scope in which nothing was ever written.
DELETE FROM scope WHERE tenant_id = ?1 AND path = ?2
  AND NOT EXISTS (SELECT 1 FROM event WHERE tenant_id = ?1 AND scope = ?2);

-- name: policies_of
-- Policy documents of one tier.
SELECT tenant_id, tier, target, document, set_by, set_at FROM policy
WHERE tenant_id = ?1 AND tier = ?2 AND target IN (SELECT value FROM json_each(?3));

-- name: put_policy
-- A policy document, in place of the one before.
INSERT INTO policy (tenant_id, tier, target, document, set_by, set_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (tenant_id, tier, target)
DO UPDATE SET document = excluded.document, set_by = excluded.set_by, set_at = excluded.set_at;

-- name: idle_scopes
-- Scopes that registered themselves and stand, without a policy document and without a write since an instant.
SELECT path, last_write_at FROM (
  SELECT s.path, coalesce((SELECT e.recorded_at FROM event AS e WHERE e.tenant_id = ?1 AND e.scope = s.path
                           ORDER BY e.position DESC LIMIT 1), s.created_at) AS last_write_at
  FROM scope AS s
  WHERE s.tenant_id = ?1 AND s.auto_provisioned = 1 AND s.pruned = 0
    AND NOT EXISTS (SELECT 1 FROM policy AS p WHERE p.tenant_id = ?1 AND p.tier = 'scope' AND p.target = s.path))
WHERE last_write_at < ?2 ORDER BY path;

-- name: scope_counts
-- How many events and facts a scope holds.
SELECT (SELECT count(*) FROM event WHERE tenant_id = ?1 AND scope = ?2),
       (SELECT count(DISTINCT id) FROM record WHERE tenant_id = ?1 AND scope = ?2 AND layer = 'facts');

-- name: prune_scope
-- A scope is left out of lists and descents until it is written to; what it holds stays, and stays its creator's.
UPDATE scope SET pruned = 1 WHERE tenant_id = ?1 AND path = ?2;
