-- name: insert_definition
-- What a name means from an entry of the log on.
INSERT INTO definition (tenant_id, kind, name, body, event_id, position, recorded_from)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: end_definition
-- What stood under a name ends.
UPDATE definition SET recorded_to = ?4
WHERE tenant_id = ?1 AND kind = ?2 AND name = ?3 AND recorded_to IS NULL;

-- name: standing_definitions
-- What stands of a kind.
SELECT tenant_id, kind, name, body, event_id, position, recorded_from, recorded_to FROM definition
WHERE tenant_id = ?1 AND kind = ?2 AND recorded_to IS NULL
ORDER BY name;

-- name: definitions_at
-- What stood of a kind at an instant of the log.
SELECT tenant_id, kind, name, body, event_id, position, recorded_from, recorded_to FROM definition
WHERE tenant_id = ?1 AND kind = ?2 AND recorded_from <= ?3 AND (recorded_to IS NULL OR recorded_to > ?3)
ORDER BY name;

-- name: named_definitions
-- What some names of a kind mean: ?3 is a JSON list of them, ?4 the instant of the log, or null for now.
SELECT tenant_id, kind, name, body, event_id, position, recorded_from, recorded_to FROM definition
WHERE tenant_id = ?1 AND kind = ?2 AND name IN (SELECT value FROM json_each(?3))
  AND CASE WHEN ?4 IS NULL THEN recorded_to IS NULL
      ELSE recorded_from <= ?4 AND (recorded_to IS NULL OR recorded_to > ?4) END
ORDER BY name;

-- name: scopes_with_terms
-- The scopes of a tenant that hold facts by terms of a vocabulary, or have events whose claims are not known yet.
SELECT scope FROM record
WHERE tenant_id = ?1 AND layer = 'facts' AND recorded_to IS NULL AND predicate IN (SELECT value FROM json_each(?3))
  AND iif(layer = 'facts', json_extract(body, '$.binding[0]'), NULL) = ?2
UNION
SELECT j.scope FROM job AS j JOIN event AS e ON e.tenant_id = j.tenant_id AND e.id = j.event_id
WHERE j.tenant_id = ?1 AND j.stage = ?4 AND e.origin_channel <> 'definition'
ORDER BY scope;
