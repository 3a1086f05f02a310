-- name: note_log_end
-- Where a tenant's log ends, before events of it go.
INSERT INTO log_end (tenant_id, position, recorded_at, seq)
SELECT tenant_id, position, recorded_at, (SELECT max(seq) FROM event) FROM event
WHERE tenant_id = ?1 ORDER BY position DESC LIMIT 1
ON CONFLICT (tenant_id) DO UPDATE SET position = max(position, excluded.position),
  recorded_at = max(recorded_at, excluded.recorded_at), seq = max(seq, excluded.seq);

-- name: delete_event
-- An event goes.
DELETE FROM event WHERE tenant_id = ?1 AND id = ?2;

-- name: redact_event
-- An event loses its words: ?3 and on are the columns that change.
UPDATE event SET caller = ?3, observed_actor = ?4, subject = ?5, parties = ?6, session = NULL, content = ?7, context = NULL,
  directives = ?8, batch_id = NULL, cancelled_after = ?9, redacted_by = ?10, bears_out = ?11
WHERE tenant_id = ?1 AND id = ?2;

-- name: drop_lifecycle_of_events
-- What happened to events that go: ?2 is a JSON list.
DELETE FROM lifecycle_row INDEXED BY lifecycle_position
WHERE tenant = (SELECT number FROM tenant WHERE tenant_id = ?1) AND position IS NOT NULL
  AND position IN (SELECT e.position FROM event AS e WHERE e.tenant_id = ?1 AND e.id IN (SELECT value FROM json_each(?2)));

-- name: drop_lifecycle_by_id
-- The same of rows of earlier releases, which name the event by its id.
DELETE FROM lifecycle_row INDEXED BY lifecycle_event
WHERE tenant = (SELECT number FROM tenant WHERE tenant_id = ?1) AND event_id IS NOT NULL AND event_id IN (SELECT value FROM json_each(?2));

-- name: drop_jobs_of_events
-- What was still to be derived of them.
DELETE FROM job WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));

-- name: drop_texts
-- The rows of search of some ids, a JSON list.
DELETE FROM text_row WHERE record IN (
  SELECT n.number FROM json_each(?2) AS wanted CROSS JOIN identifier AS n WHERE n.id = wanted.value AND n.tenant_id = ?1);

-- name: drop_vectors_of
-- The vectors of some ids.
DELETE FROM vector_row WHERE record IN (
  SELECT n.number FROM json_each(?2) AS wanted CROSS JOIN identifier AS n WHERE n.id = wanted.value AND n.tenant_id = ?1);

-- name: drop_records
-- Every version of some records.
DELETE FROM record_row WHERE row IN (
  SELECT r.row FROM json_each(?2) AS wanted CROSS JOIN identifier AS n
  CROSS JOIN record_row AS r ON r.row BETWEEN n.number << 24 AND n.number << 24 | 0xFFFFFF
  WHERE n.id = wanted.value AND n.tenant_id = ?1);

-- name: drop_supports_of
-- What some records or events rested on.
DELETE FROM support_row WHERE record IN (
  SELECT n.number FROM json_each(?2) AS wanted CROSS JOIN identifier AS n WHERE n.id = wanted.value AND n.tenant_id = ?1);

-- name: drop_support
-- One support.
DELETE FROM support_row WHERE (record, source, relation) IN (
  SELECT r.number, s.number, n.number FROM identifier AS r CROSS JOIN identifier AS s CROSS JOIN relation AS n
  WHERE r.id = ?2 AND r.tenant_id = ?1 AND s.id = ?3 AND s.tenant_id = ?1 AND n.name = ?4);

-- name: forget_touched
-- What changed lately: whoever remembers anything begins anew.
DELETE FROM touched;

-- name: put_record
-- A version as it is from here on.
INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
                                      ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29);

-- name: put_support
-- A support as it is from here on.
INSERT OR REPLACE INTO support (tenant_id, record_id, source_id, relation, weight, polarity, place, actor, recorded_at, at, part, accepted_in)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: drop_mention
-- A name that an event used.
DELETE FROM mention_row WHERE surface = ?5 AND (entity, place, event) IN (
  SELECT n.number, p.number, e.number FROM identifier AS n CROSS JOIN place AS p CROSS JOIN identifier AS e
  WHERE n.id = ?2 AND n.tenant_id = ?1 AND p.scope = ?3 AND p.tenant_id = ?1 AND e.id = ?4 AND e.tenant_id = ?1);

-- name: drop_entity_unnamed
-- An entity that nobody names any more is none.
DELETE FROM entity WHERE tenant_id = ?1 AND id = ?2
  AND NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.tenant_id = ?1 AND m.entity_id = ?2);

-- name: put_frozen
-- A record that no derivation changes up to an instant.
INSERT INTO frozen (tenant_id, record_id, scope, until) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (tenant_id, record_id) DO UPDATE SET until = max(until, excluded.until);

-- name: put_frozen_record
-- A version of it.
INSERT OR REPLACE INTO frozen_record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                                             ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29);

-- name: put_frozen_support
-- What it rests on.
INSERT OR REPLACE INTO frozen_support VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: put_frozen_text
-- How search finds it.
INSERT OR REPLACE INTO frozen_text VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: put_frozen_mention
-- A name that it has.
INSERT OR REPLACE INTO frozen_mention
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, normalised_name FROM entity WHERE tenant_id = ?1 AND id = ?2;

-- name: any_frozen
-- Whether any of some records is frozen, a JSON list: without it none of what is kept of one is there.
SELECT 1 FROM frozen WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2)) LIMIT 1;

-- name: thaw
-- Records that are frozen no more, since they go: ?2 is a JSON list.
DELETE FROM frozen WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2));

-- name: thaw_records
-- Their versions.
DELETE FROM frozen_record WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2));

-- name: thaw_supports
-- What they rested on.
DELETE FROM frozen_support WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2));

-- name: thaw_texts
-- How search found them.
DELETE FROM frozen_text WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2));

-- name: thaw_mention
-- A name that none of them has any more.
DELETE FROM frozen_mention WHERE tenant_id = ?1 AND entity_id = ?2 AND scope = ?3 AND event_id = ?4 AND surface = ?5;

-- name: thaw_support
-- One support.
DELETE FROM frozen_support WHERE tenant_id = ?1 AND record_id = ?2 AND source_id = ?3 AND relation = ?4;

-- name: put_tombstone
-- What is no more; where it went before and came back, the last word counts.
INSERT INTO tombstone (tenant_id, id, layer, scope, cascade, erasure_id, audit_id, erased_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (tenant_id, id) DO UPDATE SET cascade = excluded.cascade, erasure_id = excluded.erasure_id,
  audit_id = excluded.audit_id, erased_at = excluded.erased_at;

-- name: find_tombstone
-- What stands in the place of an id.
SELECT tenant_id, id, layer, scope, cascade, erasure_id, audit_id, erased_at FROM tombstone
WHERE tenant_id = ?1 AND id = ?2
  AND NOT EXISTS (SELECT 1 FROM record WHERE tenant_id = ?1 AND id = ?2);

-- name: drop_derivable_tombstones
-- A replay brings back what only derived rows lost.
DELETE FROM tombstone WHERE cascade = 'derived_only';

-- name: make_stale
-- A scope is derived anew. Its events are counted once: each step of an erasure says so again.
INSERT INTO stale_scope (tenant_id, scope, events)
SELECT ?1, ?2, coalesce((SELECT s.events FROM stale_scope AS s WHERE s.tenant_id = ?1 AND s.scope = ?2),
                        (SELECT count(*) FROM event AS e WHERE e.tenant_id = ?1 AND e.scope = ?2))
WHERE EXISTS (SELECT 1 FROM event WHERE tenant_id = ?1 AND scope = ?2)
ON CONFLICT DO UPDATE SET derived = 0;

-- name: has_frozen
-- Whether anything is kept without the words that it rests on, or any event without its words.
SELECT 1 WHERE EXISTS (SELECT 1 FROM frozen WHERE tenant_id = ?1)
  OR EXISTS (SELECT 1 FROM event INDEXED BY event_redacted WHERE tenant_id = ?1 AND redacted_by IS NOT NULL);

-- name: frozen_until
-- Which of some records are frozen, up to when: ?2 is a JSON list.
SELECT record_id, until FROM frozen WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2));

-- name: frozen_begun
-- Versions of frozen records that began at an instant.
SELECT * FROM frozen_record WHERE tenant_id = ?1 AND recorded_from = ?2 ORDER BY id, version;

-- name: frozen_ended
-- And those that ended.
SELECT tenant_id, id, version, recorded_to, closed_by FROM frozen_record
WHERE tenant_id = ?1 AND recorded_to = ?2 ORDER BY id, version;

-- name: frozen_supported
-- And what they came to rest on.
SELECT * FROM frozen_support WHERE tenant_id = ?1 AND recorded_at = ?2 ORDER BY record_id, source_id, relation;

-- name: waiting_in
-- When the oldest event of scopes was recorded that waits for a stage: ?2 and ?3 are JSON lists. Of each scope and stage one row is read.
SELECT min(e.recorded_at) FROM json_each(?2) AS wanted CROSS JOIN json_each(?3) AS stage CROSS JOIN event AS e INDEXED BY event_position
WHERE e.tenant_id = ?1
  AND e.position = (SELECT j.position FROM job AS j INDEXED BY job_scope
                    WHERE j.tenant_id = ?1 AND j.scope = wanted.value AND j.stage = stage.value AND j.state <> 'failed'
                    ORDER BY j.position LIMIT 1);

-- name: changed_at
-- The records of which a version ended at instants, ?2, or a claim of scopes, ?3, began; both are JSON lists.
SELECT id FROM record
WHERE tenant_id = ?1 AND recorded_to IN (SELECT value FROM json_each(?2)) AND recorded_to IS NOT NULL
UNION
SELECT id FROM record
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?3)) AND layer IN ('facts', 'beliefs')
  AND recorded_from IN (SELECT value FROM json_each(?2));

-- name: records_within
-- The records of scopes: ?2 is a JSON list.
SELECT DISTINCT id FROM record
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) LIMIT ?3;

-- name: events_sent_into
-- The events that are consolidated into scopes from outside: ?2 is a JSON list.
SELECT * FROM event INDEXED BY event_sent
WHERE tenant_id = ?1 AND json_extract(directives, '$.consolidate_into') IN (SELECT value FROM json_each(?2))
  AND scope NOT IN (SELECT value FROM json_each(?2)) AND json_extract(directives, '$.consolidate_into') IS NOT NULL;

-- name: put_directives
-- What is wanted of an event from here on.
UPDATE event SET directives = ?3 WHERE tenant_id = ?1 AND id = ?2;

-- name: claims_of
-- The facts and beliefs of a scope by subject and predicate: ?3 is a JSON list of these.
SELECT n.id FROM json_each(?3) AS wanted CROSS JOIN shelf AS h CROSS JOIN identifier AS s
CROSS JOIN record_row AS r INDEXED BY record_subject CROSS JOIN identifier AS n
WHERE h.tenant_id = ?1 AND h.scope = ?2 AND h.layer IN ('facts', 'beliefs') AND s.tenant_id = ?1 AND s.id = wanted.value ->> 0
  AND r.subject = s.number AND r.shelf = h.number AND r.predicate = wanted.value ->> 1 AND n.number = r.record AND n.tenant_id = ?1;

-- name: frozen_matters
-- Which subjects and predicates of a scope have frozen claims, and up to when: ?3 is a JSON list of these.
SELECT f.subject, f.predicate, max(h.until) FROM json_each(?3) AS wanted
CROSS JOIN frozen_record AS f INDEXED BY frozen_record_matter
CROSS JOIN frozen AS h
WHERE f.tenant_id = ?1 AND f.scope = ?2 AND f.subject = wanted.value ->> 0 AND f.predicate = wanted.value ->> 1
  AND h.tenant_id = ?1 AND h.record_id = f.id
GROUP BY f.subject, f.predicate;

-- name: mentions_of_events
-- The names in events: ?2 is a JSON list.
SELECT tenant_id, entity_id, scope, event_id, position, surface, type FROM mention
WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2)) ORDER BY event_id, entity_id, surface;

-- name: versions_of_records
-- Every version of some records: ?2 is a JSON list.
SELECT * FROM record WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2)) ORDER BY id, version;

-- name: last_changes
-- When records were changed last: a version of theirs began or ended, or something bore them out. ?2 is a JSON list.
SELECT id, max(scope), max(max(coalesce(recorded_to, recorded_from)),
  coalesce((SELECT max(s.recorded_at) FROM support AS s WHERE s.tenant_id = ?1 AND s.record_id = record.id), 0))
FROM record WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2)) GROUP BY id;

-- name: texts_of_records
-- Their rows of search.
SELECT id, tenant_id, record_id, layer, scope, recorded_at, observed_at, session, speaker, role, characters,
       question_share, self_share, terms, keys, wants_vector, quarantined, days
FROM text WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2)) ORDER BY record_id;

-- name: made_replayed
-- The instants of the events that a replay derives: nothing of what they made is there before they are.
CREATE TEMP TABLE replayed (tenant_id TEXT, recorded_at INTEGER, PRIMARY KEY (tenant_id, recorded_at)) WITHOUT ROWID;

-- name: note_replayed
-- Of every tenant, where all is derived again.
INSERT INTO temp.replayed SELECT tenant_id, recorded_at FROM main.event
WHERE redacted_by IS NULL AND (cancelled_after IS NULL OR cancelled_after <> 'captured');

-- name: note_replayed_live
-- Of one tenant, where some scopes are derived aside.
INSERT INTO temp.replayed SELECT tenant_id, recorded_at FROM live.event
WHERE tenant_id = ?1 AND redacted_by IS NULL AND (cancelled_after IS NULL OR cancelled_after <> 'captured');

-- name: dropped_replayed
-- The transaction is over.
DROP TABLE IF EXISTS temp.replayed;

-- name: lay_records
-- What events made of frozen records that do not make it again. Where one that does ends a version, it will.
INSERT OR IGNORE INTO main.record
SELECT tenant_id, id, version, layer, scope, position, subject, predicate, object_key, slot, claim_key, session, topic,
  confidence, stance, valid_from, valid_to, recorded_from,
  iif((f.tenant_id, f.recorded_to) IN (SELECT tenant_id, recorded_at FROM temp.replayed), NULL, recorded_to), superseded_by,
  iif((f.tenant_id, f.recorded_to) IN (SELECT tenant_id, recorded_at FROM temp.replayed), NULL, closed_by), excluded, body,
  status, salience, horizon, due_at, due_offset, seen_at
FROM main.frozen_record AS f
WHERE (f.tenant_id, f.recorded_from) NOT IN (SELECT tenant_id, recorded_at FROM temp.replayed);

-- name: lay_supports
-- And what they rest on by these.
INSERT OR IGNORE INTO main.support SELECT * FROM main.frozen_support AS f
WHERE (f.tenant_id, f.recorded_at) NOT IN (SELECT tenant_id, recorded_at FROM temp.replayed);

-- name: lay_entities
-- What they name.
INSERT INTO main.entity SELECT tenant_id, entity_id, name, coalesce(type, 'concept') FROM main.frozen_mention
WHERE true ORDER BY position, event_id, surface ON CONFLICT DO NOTHING;

-- name: lay_mentions
-- By which name.
INSERT OR IGNORE INTO main.mention SELECT tenant_id, entity_id, scope, event_id, position, surface, type FROM main.frozen_mention;

-- name: frozen_texts
-- How search finds them.
SELECT * FROM main.frozen_text ORDER BY tenant_id, record_id;

-- name: fill_frozen
-- What no derivation of a group changes: ?2 is a JSON list of its scopes.
INSERT INTO main.frozen SELECT * FROM live.frozen WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: fill_frozen_records
-- Its versions.
INSERT INTO main.frozen_record SELECT * FROM live.frozen_record
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: fill_frozen_supports
-- What it rests on.
INSERT INTO main.frozen_support SELECT * FROM live.frozen_support
WHERE tenant_id = ?1 AND record_id IN (SELECT record_id FROM main.frozen);

-- name: fill_frozen_mentions
-- The names that it has.
INSERT INTO main.frozen_mention SELECT * FROM live.frozen_mention
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: fill_frozen_texts
-- How search finds it.
INSERT INTO main.frozen_text SELECT * FROM live.frozen_text
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2));

-- name: forgotten_aside
-- What was derived again aside and is forgotten here: ?2 is a JSON list of scopes. A fact that was told again since is forgotten no more,
-- nor is what rests on such a one or has another version since.
SELECT t.id FROM main.tombstone AS t WHERE t.tenant_id = ?1 AND t.scope IN (SELECT value FROM json_each(?2))
  AND t.id IN (SELECT id FROM aside.record)
  AND NOT EXISTS (SELECT 1 FROM aside.support AS s WHERE s.tenant_id = ?1 AND s.record_id = t.id AND s.relation = 'extracted_from'
                    AND s.recorded_at > t.erased_at)
  AND NOT EXISTS (
    SELECT 1 FROM aside.support AS b CROSS JOIN aside.support AS s ON s.tenant_id = b.tenant_id AND s.record_id = b.source_id
    WHERE b.tenant_id = ?1 AND b.record_id = t.id AND s.relation = 'extracted_from' AND s.recorded_at > t.erased_at)
  AND (t.layer = 'facts' OR NOT EXISTS (
    SELECT 1 FROM aside.record AS r WHERE r.tenant_id = ?1 AND r.id = t.id AND r.recorded_from > t.erased_at));

-- name: forget_aside
-- It stays forgotten: ?2 is a JSON list of ids.
DELETE FROM aside.record WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2));

-- name: forget_supports_aside
-- With what it rests on.
DELETE FROM aside.support WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2));

-- name: forget_texts_aside
-- And its rows of search.
DELETE FROM aside.text_row WHERE record IN (
  SELECT n.number FROM aside.identifier AS n WHERE n.tenant_id = ?1 AND n.id IN (SELECT value FROM json_each(?2)));

-- name: put_redacted_derivation
-- What rested on an event without words, and is deleted.
INSERT OR IGNORE INTO redacted_derivation (tenant_id, event_id, record_id) VALUES (?1, ?2, ?3);

-- name: redacted_derivations
-- What had rested on an event.
SELECT record_id FROM redacted_derivation WHERE tenant_id = ?1 AND event_id = ?2 ORDER BY record_id;

-- name: drop_redacted_derivations
-- Of events that are deleted, a JSON list.
DELETE FROM redacted_derivation WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2));

-- name: ask_scrubbing
-- Something was deleted whose words may still be in the file.
INSERT INTO scrubbing (id, asked, done) VALUES (1, 1, 0) ON CONFLICT DO UPDATE SET asked = asked + 1;

-- name: scrubbing_state
-- How often that was so, and how often of these the file was cleared.
SELECT asked, done FROM scrubbing WHERE id = 1;

-- name: note_pages_cleared
-- Pages were cleared past SQLite: a commit, so that every connection reads them again.
INSERT INTO scrubbing (id, asked, done, pages) VALUES (1, 0, 0, 1) ON CONFLICT DO UPDATE SET pages = pages + 1;

-- name: end_scrubbing
-- The file was cleared of what had been asked by then.
UPDATE scrubbing SET done = max(done, ?1) WHERE id = 1;
