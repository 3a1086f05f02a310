-- What an entity is, as the event that names it tells: others may not read it out of a tenant's one row. What is known
-- already is kept where one scope alone names the entity; where several do, nobody can say any more whose it was.
ALTER TABLE mention ADD COLUMN type TEXT;

UPDATE mention
SET type = (SELECT e.type FROM entity AS e WHERE e.tenant_id = mention.tenant_id AND e.id = mention.entity_id)
WHERE NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.tenant_id = mention.tenant_id
                  AND m.entity_id = mention.entity_id AND m.scope < mention.scope)
  AND NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.tenant_id = mention.tenant_id
                  AND m.entity_id = mention.entity_id AND m.scope > mention.scope);
