-- name: sittings_of_events
-- The sittings whose window holds one of the events ?2, or which one of them has left; ?2 is a JSON list.
SELECT scope, session, sitting FROM outbox WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2))
UNION
SELECT s.scope, s.session, s.number FROM session AS s CROSS JOIN json_each(s.window_events) AS w
WHERE s.tenant_id = ?1 AND w.value IN (SELECT value FROM json_each(?2));

-- name: outbox_of_events
-- Which of some events, a JSON list, left the window of a sitting.
SELECT id, event_id FROM outbox
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND sitting = ?4 AND event_id IN (SELECT value FROM json_each(?5));

-- name: replace_session
-- A sitting without its erased turns.
UPDATE session SET window_events = ?5, turns = ?6, folded = ?7, summary = ?8, bridge = ?9, worded = ?10, revision = ?11
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND number = ?4;

-- name: delete_session
-- A sitting of which no turn is left.
DELETE FROM session WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND number = ?4;

-- name: delete_sessions_below
-- Sittings at a scope ?2 or between ?3 and ?4, so many at once.
DELETE FROM session WHERE tenant_id = ?1 AND (scope, session, number) IN (
  SELECT scope, session, number FROM session
  WHERE tenant_id = ?1 AND (scope = ?2 OR (scope >= ?3 AND scope < ?4)) LIMIT ?5);

-- name: delete_outbox_below
-- What left the windows of these.
DELETE FROM outbox WHERE tenant_id = ?1 AND id IN (
  SELECT id FROM outbox WHERE tenant_id = ?1 AND (scope = ?2 OR (scope >= ?3 AND scope < ?4)) LIMIT ?5);

-- name: delete_inquiries_below
-- What is asked of models in a scope and below it.
DELETE FROM inquiry WHERE tenant_id = ?1 AND id IN (
  SELECT id FROM inquiry WHERE tenant_id = ?1 AND (scope = ?2 OR (scope >= ?3 AND scope < ?4)) LIMIT ?5);

-- name: delete_document_events_below
-- Which events of a scope and below it told of documents.
DELETE FROM document_event WHERE tenant_id = ?1 AND (path, ended_number, event_id) IN (
  SELECT path, ended_number, event_id FROM document_event
  WHERE tenant_id = ?1 AND (scope = ?2 OR (scope >= ?3 AND scope < ?4)) LIMIT ?5);

-- name: delete_scopes_below
-- A scope and those below it, but for those that somebody registered: these stay until they are deleted themselves.
DELETE FROM scope WHERE tenant_id = ?1 AND path IN (
  SELECT s.path FROM scope AS s
  WHERE s.tenant_id = ?1 AND (s.path = ?2 OR (s.path >= ?3 AND s.path < ?4))
    AND NOT EXISTS (SELECT 1 FROM registration AS r WHERE r.tenant_id = s.tenant_id AND r.path = s.path) LIMIT ?5);

-- name: delete_outbox_of_events
-- What left a window: ?2 is a JSON list of events.
DELETE FROM outbox WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));

-- name: delete_document_events
-- Which events told of documents: ?2 is a JSON list.
DELETE FROM document_event WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));

-- name: delete_definitions_of_events
-- What these entries of the log defined.
DELETE FROM definition WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));

-- name: delete_output_sources
-- Which events went into the answers that are gone with these, ?2 a JSON list. Comes before the answers.
DELETE FROM model_output_source INDEXED BY model_output_source_hash
WHERE tenant_id = ?1 AND input_hash IN (SELECT value FROM json_each(?2));

-- name: outputs_of_events
-- The inputs that these events went into.
SELECT DISTINCT input_hash FROM model_output_source WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));

-- name: delete_outputs
-- Answers of models, by their inputs.
DELETE FROM model_output WHERE tenant_id = ?1 AND input_hash IN (SELECT value FROM json_each(?2));

-- name: entries_of_actors
-- The ids of the log's entries in the channels ?3 that actors made: ?2 and ?3 are JSON lists. All events are looked through.
SELECT id FROM event INDEXED BY event_position
WHERE tenant_id = ?1
  AND (caller IN (SELECT value FROM json_each(?2)) OR observed_actor IN (SELECT value FROM json_each(?2)))
  AND origin_channel IN (SELECT value FROM json_each(?3))
ORDER BY position;

-- name: unname_entry
-- An entry without who made it and why.
UPDATE event SET caller = ?3, observed_actor = ?4, subject = ?5, parties = ?6, content = ?7 WHERE tenant_id = ?1 AND id = ?2;

-- name: keys_after
-- Idempotency keys of a tenant and what they led to, past one of them.
SELECT caller, family, key, event_id, response FROM idempotency
WHERE tenant_id = ?1 AND (caller, family, key) > (?2, ?3, ?4) ORDER BY caller, family, key LIMIT ?5;

-- name: events_of_batch
-- How many events of a batch have rows of lifecycle.
SELECT count(DISTINCT coalesce(l.event_id, l.position))
FROM tenant AS t CROSS JOIN lifecycle_row AS l INDEXED BY lifecycle_job ON l.tenant = t.number
WHERE t.tenant_id = ?1 AND l.job_id = ?2;

-- name: delete_key
-- One key.
DELETE FROM idempotency WHERE tenant_id = ?1 AND caller = ?2 AND family = ?3 AND key = ?4;

-- name: delete_packs
-- What was made for the callers of a tenant.
DELETE FROM pack WHERE tenant_id = ?1 AND kind <> 'cleared';

-- name: mark_packs
-- Leave the time at which a tenant's packs were cleared, for those that are under way.
INSERT INTO pack (tenant_id, kind, caller, id, body_hash, made_at, content) VALUES (?1, 'cleared', '', '', '', ?2, x'')
ON CONFLICT (tenant_id, kind, caller, id) DO UPDATE SET made_at = max(made_at, excluded.made_at);

-- name: path_authors
-- Every path at which a document stood, with an author of a commit that touched it.
SELECT DISTINCT v.path, c.author FROM document_version AS v CROSS JOIN document_commit AS c
WHERE v.tenant_id = ?1 AND c.tenant_id = ?1 AND c.number = v.number ORDER BY v.path;

-- name: events_of_paths
-- The events that tell or told of documents at paths, a JSON list.
SELECT DISTINCT event_id FROM document_event WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2)) ORDER BY event_id;

-- name: schedule_of_actors
-- Reminders that one of some actors, a JSON list, had to do with, and whether all who had are among them.
SELECT schedule_id,
       created_by IN (SELECT value FROM json_each(?2)) AND updated_by IN (SELECT value FROM json_each(?2))
         AND coalesce(terminal_by, created_by) IN (SELECT value FROM json_each(?2))
FROM schedule_item
WHERE tenant_id = ?1 AND (created_by IN (SELECT value FROM json_each(?2)) OR updated_by IN (SELECT value FROM json_each(?2))
                          OR terminal_by IN (SELECT value FROM json_each(?2)))
ORDER BY schedule_id;

-- name: delete_schedule_items
-- Reminders, by a JSON list of ids.
DELETE FROM schedule_item WHERE tenant_id = ?1 AND schedule_id IN (SELECT value FROM json_each(?2));

-- name: commits_of_paths
-- The commits that changed something at paths, a JSON list.
SELECT DISTINCT number FROM document_version WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2)) ORDER BY number;

-- name: commit_of_version
-- The commit that made a version.
SELECT number FROM document_version WHERE tenant_id = ?1 AND path = ?2 AND version = ?3;

-- name: scopes_of_paths
-- The scopes whose events tell or told of documents at paths, a JSON list.
SELECT DISTINCT scope FROM document_event WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2)) ORDER BY scope;

-- name: delete_versions
-- Every version of the documents at paths, a JSON list.
DELETE FROM document_version WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2));

-- name: delete_documents
-- What stands at paths, a JSON list.
DELETE FROM document WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2));

-- name: delete_events_of_paths
-- What told of the documents at paths, a JSON list.
DELETE FROM document_event WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2));

-- name: strip_commits
-- Commits, a JSON list, lose their words, and those that changed nothing else their author.
UPDATE document_commit AS c
SET message = ?3,
    author = iif(EXISTS (SELECT 1 FROM document_version AS v WHERE v.tenant_id = c.tenant_id AND v.number = c.number), author, ?3)
WHERE c.tenant_id = ?1 AND c.number IN (SELECT value FROM json_each(?2));

-- name: unname_commits
-- The hashes of commits from a number on are not known any more.
UPDATE document_commit SET sha = NULL WHERE tenant_id = ?1 AND number >= ?2;

-- name: note_rewriting
-- A tenant's repository is to be written anew.
INSERT INTO rewriting (tenant_id, rewrites, due) VALUES (?1, 1, 1)
ON CONFLICT DO UPDATE SET rewrites = rewrites + 1, due = 1;

-- name: rewriting_of
-- How often a tenant's history was written anew, and whether it is to be.
SELECT rewrites, due FROM rewriting WHERE tenant_id = ?1;

-- name: rewritings_due
-- The tenants whose repositories are to be written anew.
SELECT tenant_id, rewrites FROM rewriting WHERE due = 1;

-- name: end_rewriting
-- The repository is written anew as often as that.
UPDATE rewriting SET due = 0 WHERE tenant_id = ?1 AND rewrites = ?2;

-- name: tombstones_of_erasure
-- What an erasure left in the place of what it took.
SELECT tenant_id, id, layer, scope, cascade, erasure_id, audit_id, erased_at FROM tombstone
WHERE tenant_id = ?1 AND erasure_id = ?2 ORDER BY id;

-- name: redacted_by_erasure
-- The events that an erasure took the words of.
SELECT id, content FROM event INDEXED BY event_redacted
WHERE tenant_id = ?1 AND redacted_by IS NOT NULL AND redacted_by = ?2 ORDER BY position;

-- name: bodies_of_tenant
-- The bodies of a tenant's records, the newest version of each first, and of records that lead to no tenant.
SELECT r.row, r.body FROM record_row AS r
WHERE NOT EXISTS (SELECT 1 FROM shelf AS h WHERE h.number = r.shelf AND NOT h.tenant_id = ?1)
ORDER BY r.row DESC;

-- name: frozen_bodies_of_tenant
-- The bodies of a tenant's records that stay as they are. None of them is folded.
SELECT version, body FROM frozen_record WHERE tenant_id = ?1;

-- name: lifecycle_of_none
-- How many rows of a tenant's lifecycle are of an event that is not there.
SELECT count(*) FROM tenant AS t CROSS JOIN lifecycle_row AS l INDEXED BY lifecycle_position ON l.tenant = t.number
WHERE t.tenant_id = ?1 AND l.position IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.tenant_id = ?1 AND e.position = l.position);

-- name: pieces_of_none
-- How many pieces of token vectors are of no row, whosever they were.
SELECT count(*) FROM token_piece AS p
WHERE ?1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vector_row AS v WHERE v.id = p.number >> 8);
