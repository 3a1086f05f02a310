-- name: derived_by
-- By which versions rows are made, and which before.
SELECT versions, earlier FROM derived_by WHERE id = 1;

-- name: note_derived_by
-- Rows are made by these versions from now on.
INSERT INTO derived_by (id, versions, earlier) VALUES (1, ?1, ?2)
ON CONFLICT DO UPDATE SET versions = ?1, earlier = ?2;

-- name: list_stale_scopes
-- Every scope that has derived rows, with how many events.
INSERT INTO stale_scope (tenant_id, scope, events)
SELECT tenant_id, scope, (SELECT count(*) FROM event AS e WHERE e.tenant_id = s.tenant_id AND e.scope = s.scope)
FROM (SELECT tenant_id, scope FROM text UNION SELECT tenant_id, scope FROM record
      UNION SELECT tenant_id, scope FROM mention) AS s
WHERE true ON CONFLICT DO UPDATE SET events = excluded.events, derived = 0;

-- name: ask_stale_scopes
-- Some scopes are to be derived anew.
INSERT INTO stale_scope (tenant_id, scope, events)
SELECT ?1, value, (SELECT count(*) FROM event AS e WHERE e.tenant_id = ?1 AND e.scope = value) FROM json_each(?2)
WHERE true ON CONFLICT DO UPDATE SET events = excluded.events, derived = 0;

-- name: forget_stale_scopes
-- Nothing is to be derived anew.
DELETE FROM stale_scope;

-- name: stale_totals
-- How much is left.
SELECT count(*), coalesce(sum(events), 0), coalesce(sum(min(derived, events)), 0) FROM stale_scope;

-- name: next_stale_scope
-- The scope that comes next: one that was begun before, else the smallest, so that most people wait least.
SELECT tenant_id, scope FROM stale_scope ORDER BY derived > 0 DESC, events, tenant_id, scope LIMIT 1;

-- name: note_stale_derived
-- How many events of a group were derived aside, noted at its first scope.
UPDATE stale_scope SET derived = ?3 WHERE tenant_id = ?1 AND scope = (
  SELECT min(scope) FROM stale_scope WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)));

-- name: consolidating_scopes
-- From which scopes events of a tenant, past a position, make beliefs in which others.
SELECT DISTINCT scope, json_extract(directives, '$.consolidate_into') FROM event
WHERE tenant_id = ?1 AND position > ?2 AND json_extract(directives, '$.consolidate_into') IS NOT NULL;

-- name: aside_is_of
-- The versions and the scopes that a store aside was made for.
SELECT (SELECT versions FROM derived_by), (SELECT json_group_array(tenant_id || char(31) || scope)
                                           FROM (SELECT tenant_id, scope FROM stale_scope ORDER BY tenant_id, scope));

-- name: fill_events
-- The log of a group, up to the first event that waits for derivation: ?2 is a JSON list of its scopes.
INSERT INTO main.event SELECT * FROM live.event AS e
WHERE e.tenant_id = ?1 AND e.scope IN (SELECT value FROM json_each(?2)) AND e.position < coalesce(
  (SELECT min(position) FROM live.job WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2))
   AND state <> 'failed'), 9223372036854775807)
ORDER BY e.seq;

-- name: fill_definitions
-- What the tenant defined, by which its events are read.
INSERT INTO main.definition SELECT * FROM live.definition WHERE tenant_id = ?1;

-- name: fill_inquiries
-- The answers of models that took effect among these events.
INSERT INTO main.inquiry SELECT * FROM live.inquiry
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND state = 'applied'
  AND applied_after <= (SELECT max(position) FROM main.event);

-- name: fill_outputs
-- What the models answered.
INSERT INTO main.model_output SELECT * FROM live.model_output
WHERE tenant_id = ?1 AND input_hash IN (
  SELECT input_hash FROM main.inquiry WHERE input_hash IS NOT NULL
  UNION SELECT json_extract(content, '$.input_hash') FROM main.event WHERE origin_channel IN ('reading', 'wording'));

-- name: fill_output_sources
-- And of which events.
INSERT INTO main.model_output_source SELECT * FROM live.model_output_source
WHERE tenant_id = ?1 AND input_hash IN (SELECT input_hash FROM main.model_output);

-- name: audit_aside
-- The rows that derivation added there, in the order of their chain.
SELECT * FROM aside.audit AS a
WHERE NOT EXISTS (SELECT 1 FROM main.audit WHERE tenant_id = a.tenant_id AND id = a.id) ORDER BY a.tenant_id, a.number;

-- name: changed_below
-- Whether a group's log changed below what was derived aside, an answer was forgotten, what had been kept without its words is there no
-- more or otherwise, or something of it is at work: ?3 is the newest position there.
SELECT 1 WHERE EXISTS (
    SELECT 1 FROM main.job WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2))
      AND (state = 'running' OR (state = 'pending' AND position <= ?3)))
  OR EXISTS (
    SELECT 1 FROM aside.event AS a JOIN main.event AS e ON e.seq = a.seq
    WHERE e.cancelled_after IS NOT a.cancelled_after OR e.redacted_by IS NOT a.redacted_by)
  OR (SELECT count(*) FROM main.event
      WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND position <= ?3)
     <> (SELECT count(*) FROM aside.event)
  OR (SELECT count(*) FROM main.inquiry
      WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND state = 'applied' AND applied_after <= ?3)
     <> (SELECT count(*) FROM aside.inquiry)
  OR EXISTS (
    SELECT 1 FROM aside.model_output AS a
    WHERE NOT EXISTS (SELECT 1 FROM main.model_output AS o WHERE o.tenant_id = ?1 AND o.input_hash = a.input_hash))
  OR EXISTS (SELECT * FROM aside.frozen_record EXCEPT SELECT * FROM main.frozen_record WHERE tenant_id = ?1)
  OR EXISTS (SELECT * FROM aside.frozen_support EXCEPT SELECT * FROM main.frozen_support WHERE tenant_id = ?1)
  OR EXISTS (SELECT * FROM aside.frozen_mention EXCEPT SELECT * FROM main.frozen_mention WHERE tenant_id = ?1);

-- name: newest_aside
-- The newest position of the log aside, 0 where it is empty.
SELECT coalesce(max(position), 0) FROM aside.event;

-- name: made_scratch
-- What the rows of a group rest on and name, kept while they change.
CREATE TEMP TABLE swapped (id TEXT PRIMARY KEY) WITHOUT ROWID;

-- name: dropped_scratch
-- The transaction is over.
DROP TABLE IF EXISTS temp.swapped;

-- name: note_swapped_records
-- The records and events of a group: supports have no scope of their own.
INSERT OR IGNORE INTO temp.swapped
SELECT id FROM main.record WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2))
UNION SELECT id FROM main.event WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: note_swapped_entities
-- The entities that a group names, by its old rows and by its new ones.
INSERT OR IGNORE INTO temp.swapped
SELECT entity_id FROM main.mention WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2))
UNION SELECT id FROM aside.entity;

-- name: swap_entities
-- Entities that are new.
INSERT INTO main.entity SELECT * FROM aside.entity WHERE true ON CONFLICT DO NOTHING;

-- name: drop_unnamed
-- An entity that nobody names any more is none.
DELETE FROM main.entity WHERE tenant_id = ?1 AND id IN (SELECT id FROM temp.swapped)
  AND NOT EXISTS (SELECT 1 FROM main.mention AS m WHERE m.tenant_id = ?1 AND m.entity_id = main.entity.id);

-- name: retype_entities
-- An entity is of the type that it was named with first.
UPDATE main.entity SET type = coalesce((
  SELECT m.type FROM main.mention AS m WHERE m.tenant_id = ?1 AND m.entity_id = main.entity.id
  ORDER BY m.position, m.event_id LIMIT 1), type)
WHERE tenant_id = ?1 AND id IN (SELECT id FROM temp.swapped);

-- name: gone_texts
-- Rows of search that are there no more.
SELECT id FROM main.text AS t WHERE t.tenant_id = ?1 AND t.scope IN (SELECT value FROM json_each(?2))
  AND NOT EXISTS (SELECT 1 FROM aside.text AS a WHERE a.tenant_id = ?1 AND a.record_id = t.record_id);

-- name: drop_vectors
-- Vectors that another model made; all stay where it is not known which one does.
DELETE FROM main.vector WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND model <> ?3;

-- name: want_vectors
-- A row wants vectors where it is to have some and has none.
UPDATE main.text SET wants_vector = coalesce((
    SELECT a.wants_vector FROM aside.text AS a WHERE a.tenant_id = ?1 AND a.record_id = main.text.record_id), 0)
  AND NOT EXISTS (SELECT 1 FROM main.vector AS v WHERE v.tenant_id = ?1 AND v.record_id = main.text.record_id)
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: lifecycle_of_failed
-- What happened aside to events that had failed for good here: it is told now.
SELECT l.tenant_id, l.name, l.scope, j.event_id, l.job_id, l.payload
FROM main.job AS j CROSS JOIN aside.lifecycle AS l ON l.tenant_id = j.tenant_id AND l.position = j.position
WHERE j.tenant_id = ?1 AND j.state = 'failed' AND j.scope IN (SELECT value FROM json_each(?2)) AND j.position <= ?3
  AND l.name NOT IN (SELECT name FROM main.lifecycle AS m WHERE m.tenant_id = ?1 AND m.position = j.position
                     UNION ALL SELECT name FROM main.lifecycle AS m WHERE m.tenant_id = ?1 AND m.event_id = j.event_id)
ORDER BY l.sequence;

-- name: drop_group_jobs
-- What waits of a group is queued anew.
DELETE FROM main.job WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: swap_failed_jobs
-- What failed for good aside stays visible as failed.
INSERT INTO main.job SELECT * FROM aside.job WHERE state = 'failed';

-- name: requeue_newer
-- Events past those that were derived aside are derived on top of them.
INSERT INTO main.job (tenant_id, event_id, stage, scope, position, event_seq, state, next_attempt_at)
SELECT tenant_id, id, 1, scope, position, seq, 'pending', 0 FROM main.event
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND position > ?3
  AND redacted_by IS NULL AND (cancelled_after IS NULL OR cancelled_after <> 'captured');

-- name: group_is_current
-- A group is derived by today's versions.
DELETE FROM main.stale_scope WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));
