-- Which scopes send beliefs into which others: asked for each event that is consolidated.
CREATE INDEX event_sent ON event (tenant_id, json_extract(directives, '$.consolidate_into'), scope, position)
  WHERE json_extract(directives, '$.consolidate_into') IS NOT NULL;
