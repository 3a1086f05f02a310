-- Concepts that became an alias rested on nothing, so that they stayed when what they tell was forgotten: their scopes are derived anew.
INSERT INTO stale_scope (tenant_id, scope, events)
SELECT DISTINCT h.tenant_id, h.scope,
  (SELECT count(*) FROM event AS e WHERE e.tenant_id = h.tenant_id AND e.scope = h.scope)
FROM shelf AS h CROSS JOIN record_row AS r ON r.shelf = h.number
WHERE h.layer = 'understanding' AND r.stance = 'deprecated' AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = r.record)
ON CONFLICT DO NOTHING;
