-- Which events tell of the document at a path, and since when one does so no more: from the commit `ended_number`, which
-- replaced or removed what it told of; 0 while it does.
CREATE TABLE document_event (
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  ended_number       INTEGER NOT NULL DEFAULT 0,
  event_id           TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  ended_at           INTEGER,
  PRIMARY KEY (tenant_id, path, ended_number, event_id),
  CHECK ((ended_number = 0) = (ended_at IS NULL))
) WITHOUT ROWID;
CREATE INDEX document_event_end ON document_event (tenant_id, scope, ended_number) WHERE ended_number > 0;

-- Events from before: each ended with the first write that put or removed its document after it.
INSERT INTO document_event (tenant_id, path, ended_number, event_id, scope, ended_at)
SELECT e.tenant_id, e.content ->> '$.path', coalesce(v.number, 0), e.id, e.scope, v.recorded_at
FROM event AS e LEFT JOIN document_version AS v
  ON v.id = (SELECT w.id FROM document_version AS w
             WHERE w.tenant_id = e.tenant_id AND w.path = e.content ->> '$.path' AND w.kind <> 'append'
               AND w.recorded_at > e.recorded_at
             ORDER BY w.version LIMIT 1)
WHERE e.origin_channel = 'documents' AND e.content ->> '$.path' IS NOT NULL;
