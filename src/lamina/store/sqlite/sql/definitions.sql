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
