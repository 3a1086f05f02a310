-- name: insert_record
-- One version; the same version again is the same row. It is excluded where those before it are by now: it was derived
-- before it lands.
INSERT OR IGNORE INTO record (tenant_id, id, version, layer, scope, position, subject, predicate, object_key, slot, claim_key,
                    session, topic, confidence, stance, valid_from, valid_to, recorded_from, recorded_to,
                    superseded_by, closed_by, excluded, body,
                    status, salience, horizon, due_at, due_offset, seen_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
        ?22 OR (?3 > 1 AND EXISTS (SELECT 1 FROM record WHERE tenant_id = ?1 AND id = ?2 AND excluded = 1)), ?23, ?24, ?25, ?26, ?27,
        ?28, ?29);

-- name: close_record
-- End a version.
UPDATE record_row SET recorded_to = ?4, closed_by = ?5
WHERE row = (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) << 24 | ?3 AND recorded_to IS NULL;

-- name: versions_followed
-- Versions that others follow, with the bodies of both: ?2 is a JSON list of ids, each with the number of the newer one.
SELECT i.tenant_id, i.id, o.version, o.body, n.body FROM json_each(?2) AS wanted
CROSS JOIN identifier AS i ON i.tenant_id = ?1 AND i.id = wanted.value ->> 0
CROSS JOIN record_row AS n ON n.row = i.number << 24 | (wanted.value ->> 1)
CROSS JOIN record_row AS o ON o.row = n.row - 1 AND n.version > 1;

-- name: bodies_onward
-- The bodies of versions and of those after each, up to the next by which ?3 can be divided: ?2 is a JSON list of ids, each with
-- the number of a version.
SELECT i.tenant_id, i.id, r.version, r.body FROM json_each(?2) AS wanted
CROSS JOIN identifier AS i ON i.tenant_id = ?1 AND i.id = wanted.value ->> 0
CROSS JOIN record_row AS r
ON r.row BETWEEN i.number << 24 | (wanted.value ->> 1) AND i.number << 24 | (wanted.value ->> 1) / ?3 * ?3 + ?3;

-- name: unpacked_bodies
-- Some versions whose bodies an earlier release wrote as text: facts alone, which have a predicate and no stance, stay text.
SELECT n.tenant_id, n.id, r.version, h.layer, r.body FROM record_row AS r INDEXED BY record_unpacked
CROSS JOIN shelf AS h ON h.number = r.shelf CROSS JOIN identifier AS n ON n.number = r.record
WHERE typeof(r.body) = 'text' AND (r.predicate IS NULL OR r.stance IS NOT NULL) LIMIT ?1;

-- name: pack_body
-- The same in fewer bytes.
UPDATE record_row SET body = ?4
WHERE row = (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) << 24 | ?3;

-- name: latest_records
-- The newest version of each id, or the newest recorded by ?3: ?2 is a JSON list. The ids lead: the other way round every
-- version is read, and a concept has hundreds.
SELECT h.tenant_id, n.id, r.version, h.layer, h.scope, r.position, s.id, r.predicate, coalesce(r.object_key, o.id), r.slot, r.claim_key, r.session, r.topic,
       r.confidence, r.stance, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to, r.superseded_by, r.closed_by, r.excluded, r.body,
       r.status, r.salience, r.horizon, r.due_at, r.due_offset, r.seen_at
FROM json_each(?2) AS wanted CROSS JOIN identifier AS n ON n.tenant_id = ?1 AND n.id = wanted.value
CROSS JOIN record_row AS r ON r.row = (SELECT v.row FROM record_row AS v
                                       WHERE v.row BETWEEN n.number << 24 AND n.number << 24 | 0xFFFFFF
                                         AND (?3 IS NULL OR v.recorded_from <= ?3)
                                       ORDER BY v.row DESC LIMIT 1)
CROSS JOIN shelf AS h ON h.number = r.shelf AND h.tenant_id = ?1
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = ?1
LEFT JOIN identifier AS o ON o.number = r.object AND o.tenant_id = ?1;

-- name: input_states
-- Of what latest_records gives, whether it is kept out, and of facts what decides whether a concept is made from them: their
-- bodies alone are JSON text, those of other layers are packed. What most of them say is not written.
SELECT n.id, r.excluded, h.layer = 'facts', s.id, iif(h.layer = 'facts', coalesce(r.body ->> '$.kind', 'event'), NULL), r.valid_to,
       iif(h.layer = 'facts', r.superseded_by IS NULL AND (r.recorded_to IS NULL OR (?3 IS NOT NULL AND r.recorded_to > ?3))
         AND (r.status IS NULL OR coalesce(r.body ->> '$.kind', '') = 'commitment') AND NOT coalesce(r.body ->> '$.negated', 0)
         AND NOT coalesce(r.body ->> '$.external', 0)
         AND (r.slot IS NULL OR instr(substr(r.slot, 1, instr(r.slot || '|', '|') - 1), '@') = 0), NULL),
       iif(h.layer = 'facts', (r.body -> '$.said_by') IS NULL, NULL)
FROM json_each(?2) AS wanted CROSS JOIN identifier AS n ON n.tenant_id = ?1 AND n.id = wanted.value
CROSS JOIN record_row AS r ON r.row = (SELECT v.row FROM record_row AS v
                                       WHERE v.row BETWEEN n.number << 24 AND n.number << 24 | 0xFFFFFF
                                         AND (?3 IS NULL OR v.recorded_from <= ?3)
                                       ORDER BY v.row DESC LIMIT 1)
CROSS JOIN shelf AS h ON h.number = r.shelf AND h.tenant_id = ?1
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = ?1;

-- name: newer_facts_about
-- The newest ?6 facts of a scope whose subject is ?3 and that were recorded after ?4, as they stood at ?5: what input_states tells of facts. Of
-- an entity of whom much was told since, words and ids would be most of what is read.
SELECT n.id, r.recorded_from, s.id, coalesce(r.body ->> '$.kind', 'event'), r.valid_to,
       r.superseded_by IS NULL AND (r.status IS NULL OR coalesce(r.body ->> '$.kind', '') = 'commitment')
         AND NOT coalesce(r.body ->> '$.negated', 0) AND NOT coalesce(r.body ->> '$.external', 0)
         AND (r.slot IS NULL OR instr(substr(r.slot, 1, instr(r.slot || '|', '|') - 1), '@') = 0),
       (r.body -> '$.said_by') IS NULL
FROM shelf AS h CROSS JOIN identifier AS s CROSS JOIN record_row AS r INDEXED BY record_subject CROSS JOIN identifier AS n
WHERE h.tenant_id = ?1 AND h.scope = ?2 AND h.layer = 'facts' AND s.tenant_id = ?1 AND s.id = ?3
  AND r.subject = s.number AND r.shelf = h.number AND n.number = r.record AND n.tenant_id = ?1
  AND r.excluded = 0 AND r.recorded_from > ?4 AND r.recorded_from <= ?5 AND (r.recorded_to IS NULL OR r.recorded_to > ?5)
ORDER BY r.recorded_from DESC, n.id DESC, r.version DESC LIMIT ?6;

-- name: newer_facts_naming
-- As newer_facts_about, of those that name the entity as their object.
SELECT n.id, r.recorded_from, s.id, coalesce(r.body ->> '$.kind', 'event'), r.valid_to,
       r.superseded_by IS NULL AND (r.status IS NULL OR coalesce(r.body ->> '$.kind', '') = 'commitment')
         AND NOT coalesce(r.body ->> '$.negated', 0) AND NOT coalesce(r.body ->> '$.external', 0)
         AND (r.slot IS NULL OR instr(substr(r.slot, 1, instr(r.slot || '|', '|') - 1), '@') = 0),
       (r.body -> '$.said_by') IS NULL
FROM shelf AS h CROSS JOIN identifier AS o CROSS JOIN record_row AS r INDEXED BY record_object CROSS JOIN identifier AS n
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = ?1
WHERE h.tenant_id = ?1 AND h.scope = ?2 AND h.layer = 'facts' AND o.tenant_id = ?1 AND o.id = ?3
  AND r.object = o.number AND r.shelf = h.number AND n.number = r.record AND n.tenant_id = ?1
  AND r.excluded = 0 AND r.recorded_from > ?4 AND r.recorded_from <= ?5 AND (r.recorded_to IS NULL OR r.recorded_to > ?5)
ORDER BY r.recorded_from DESC, n.id DESC, r.version DESC LIMIT ?6;

-- name: record_versions
-- Every version of one record.
SELECT * FROM record WHERE tenant_id = ?1 AND id = ?2 ORDER BY version;

-- name: query_records
-- Versions inside scopes as seen from a place on both axes, newest knowledge first. A plus before a
-- column keeps its index out of the plan: without statistics the planner would not take the one that leaves the fewest rows.
SELECT * FROM record
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes)) AND layer = :layer
  AND (:with_excluded OR excluded = 0)
  AND recorded_from > :newer_than AND recorded_from <= :seen_at AND (:superseded OR recorded_to IS NULL OR recorded_to > :seen_at)
  AND (:recorded_start IS NULL OR recorded_from >= :recorded_start)
  AND (:recorded_end IS NULL OR recorded_from < :recorded_end)
  AND (:valid_at IS NULL OR (
    (valid_from <= :valid_at OR (layer = 'facts' AND slot IS NULL)) AND (valid_to IS NULL OR valid_to > :valid_at)
    AND (layer <> 'facts' OR slot IS NOT NULL OR valid_to IS NOT NULL
      OR coalesce(json_extract(body, '$.fades_at'), 9223372036854775807) > :valid_at)))
  AND (:valid_start IS NULL OR valid_to IS NULL OR valid_to > :valid_start)
  AND (:valid_end IS NULL OR valid_from < :valid_end)
  AND (:subject IS NULL OR subject = :subject) AND (:predicate IS NULL OR predicate = :predicate)
  AND (:object_key IS NULL OR object_key = :object_key) AND (:session IS NULL OR session = :session)
  AND (:topic IS NULL OR topic = :topic)
  AND confidence >= :min_confidence
  AND (:stances IS NULL OR stance IN (SELECT value FROM json_each(:stances)))
  AND (:after_at IS NULL OR (recorded_from, id) < (:after_at, :after_id))
ORDER BY recorded_from DESC, id DESC, version DESC LIMIT :limit;

-- name: query_records_of_subject
-- As query_records, of one subject: its index is read newest first and left at the limit. An entity may be told of in many other scopes, so
-- that the order is given here and not by the view.
SELECT h.tenant_id, n.id, r.version, h.layer, h.scope, r.position, s.id, r.predicate, coalesce(r.object_key, o.id), r.slot, r.claim_key, r.session, r.topic,
       r.confidence, r.stance, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to, r.superseded_by, r.closed_by, r.excluded, r.body,
       r.status, r.salience, r.horizon, r.due_at, r.due_offset, r.seen_at
FROM shelf AS h CROSS JOIN identifier AS s CROSS JOIN record_row AS r INDEXED BY record_subject CROSS JOIN identifier AS n
LEFT JOIN identifier AS o ON o.number = r.object AND o.tenant_id = :tenant_id
WHERE h.tenant_id = :tenant_id AND h.scope IN (SELECT value FROM json_each(:scopes)) AND h.layer = :layer
  AND s.tenant_id = :tenant_id AND s.id = :subject AND r.subject = s.number AND r.shelf = h.number AND n.number = r.record AND n.tenant_id = :tenant_id
  AND (:with_excluded OR excluded = 0)
  AND recorded_from > :newer_than AND recorded_from <= :seen_at AND (:superseded OR recorded_to IS NULL OR recorded_to > :seen_at)
  AND (:recorded_start IS NULL OR recorded_from >= :recorded_start)
  AND (:recorded_end IS NULL OR recorded_from < :recorded_end)
  AND (:valid_at IS NULL OR (
    (valid_from <= :valid_at OR (layer = 'facts' AND slot IS NULL)) AND (valid_to IS NULL OR valid_to > :valid_at)
    AND (layer <> 'facts' OR slot IS NOT NULL OR valid_to IS NOT NULL
      OR coalesce(json_extract(body, '$.fades_at'), 9223372036854775807) > :valid_at)))
  AND (:valid_start IS NULL OR valid_to IS NULL OR valid_to > :valid_start)
  AND (:valid_end IS NULL OR valid_from < :valid_end)
  AND (:predicate IS NULL OR predicate = :predicate)
  AND (:object_key IS NULL OR coalesce(r.object_key, o.id) = :object_key) AND (:session IS NULL OR session = :session)
  AND (:topic IS NULL OR topic = :topic)
  AND confidence >= :min_confidence
  AND (:stances IS NULL OR stance IN (SELECT value FROM json_each(:stances)))
  AND (:after_at IS NULL OR (recorded_from, n.id) < (:after_at, :after_id))
ORDER BY recorded_from DESC, n.id DESC, version DESC LIMIT :limit;

-- name: query_records_of_matter
-- As query_records, of what is said of one subject by one predicate: what their claims are found by begins alike, from :matter up to
-- before :matter_end, so that the others of a subject of whom much is told are not read. Of rows that earlier releases wrote it is a text,
-- from :claims up to before :claims_end.
SELECT h.tenant_id, n.id, r.version, h.layer, h.scope, r.position, s.id, r.predicate, coalesce(r.object_key, o.id), r.slot, r.claim_key, r.session, r.topic,
       r.confidence, r.stance, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to, r.superseded_by, r.closed_by, r.excluded, r.body,
       r.status, r.salience, r.horizon, r.due_at, r.due_offset, r.seen_at
FROM (
  SELECT k.row AS row FROM shelf AS p CROSS JOIN record_row AS k INDEXED BY record_claim
  WHERE p.tenant_id = :tenant_id AND p.scope IN (SELECT value FROM json_each(:scopes)) AND p.layer = :layer
    AND k.shelf = p.number AND k.claim_key >= :matter AND k.claim_key < :matter_end
  UNION ALL
  SELECT k.row FROM shelf AS p CROSS JOIN record_row AS k INDEXED BY record_claim
  WHERE p.tenant_id = :tenant_id AND p.scope IN (SELECT value FROM json_each(:scopes)) AND p.layer = :layer
    AND k.shelf = p.number AND k.claim_key >= :claims AND k.claim_key < :claims_end) AS own
CROSS JOIN record_row AS r ON r.row = own.row CROSS JOIN shelf AS h ON h.number = r.shelf AND h.tenant_id = :tenant_id
CROSS JOIN identifier AS n ON n.number = r.record AND n.tenant_id = :tenant_id
CROSS JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = :tenant_id
LEFT JOIN identifier AS o ON o.number = r.object AND o.tenant_id = :tenant_id
WHERE (:with_excluded OR excluded = 0)
  AND recorded_from > :newer_than AND recorded_from <= :seen_at AND (:superseded OR recorded_to IS NULL OR recorded_to > :seen_at)
  AND (:recorded_start IS NULL OR recorded_from >= :recorded_start)
  AND (:recorded_end IS NULL OR recorded_from < :recorded_end)
  AND (:valid_at IS NULL OR (
    (valid_from <= :valid_at OR (layer = 'facts' AND slot IS NULL)) AND (valid_to IS NULL OR valid_to > :valid_at)
    AND (layer <> 'facts' OR slot IS NOT NULL OR valid_to IS NOT NULL
      OR coalesce(json_extract(body, '$.fades_at'), 9223372036854775807) > :valid_at)))
  AND (:valid_start IS NULL OR valid_to IS NULL OR valid_to > :valid_start)
  AND (:valid_end IS NULL OR valid_from < :valid_end)
  AND s.id = :subject AND predicate = :predicate
  AND (:object_key IS NULL OR coalesce(r.object_key, o.id) = :object_key) AND (:session IS NULL OR session = :session)
  AND (:topic IS NULL OR topic = :topic)
  AND confidence >= :min_confidence
  AND (:stances IS NULL OR stance IN (SELECT value FROM json_each(:stances)))
  AND (:after_at IS NULL OR (recorded_from, n.id) < (:after_at, :after_id))
ORDER BY recorded_from DESC, n.id DESC, version DESC LIMIT :limit;

-- name: query_records_of_object
-- As query_records_of_subject, of claims that name an entity as their object.
SELECT h.tenant_id, n.id, r.version, h.layer, h.scope, r.position, s.id, r.predicate, coalesce(r.object_key, o.id), r.slot, r.claim_key, r.session, r.topic,
       r.confidence, r.stance, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to, r.superseded_by, r.closed_by, r.excluded, r.body,
       r.status, r.salience, r.horizon, r.due_at, r.due_offset, r.seen_at
FROM shelf AS h CROSS JOIN identifier AS o CROSS JOIN record_row AS r INDEXED BY record_object CROSS JOIN identifier AS n
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = :tenant_id
WHERE h.tenant_id = :tenant_id AND h.scope IN (SELECT value FROM json_each(:scopes)) AND h.layer = :layer
  AND o.tenant_id = :tenant_id AND o.id = :object_key AND r.object = o.number AND r.shelf = h.number AND n.number = r.record AND n.tenant_id = :tenant_id
  AND (:with_excluded OR excluded = 0)
  AND recorded_from > :newer_than AND recorded_from <= :seen_at AND (:superseded OR recorded_to IS NULL OR recorded_to > :seen_at)
  AND (:recorded_start IS NULL OR recorded_from >= :recorded_start)
  AND (:recorded_end IS NULL OR recorded_from < :recorded_end)
  AND (:valid_at IS NULL OR (
    (valid_from <= :valid_at OR (layer = 'facts' AND slot IS NULL)) AND (valid_to IS NULL OR valid_to > :valid_at)
    AND (layer <> 'facts' OR slot IS NOT NULL OR valid_to IS NOT NULL
      OR coalesce(json_extract(body, '$.fades_at'), 9223372036854775807) > :valid_at)))
  AND (:valid_start IS NULL OR valid_to IS NULL OR valid_to > :valid_start)
  AND (:valid_end IS NULL OR valid_from < :valid_end)
  AND (:predicate IS NULL OR predicate = :predicate)
  AND (:subject IS NULL OR s.id = :subject) AND (:session IS NULL OR session = :session)
  AND (:topic IS NULL OR topic = :topic)
  AND confidence >= :min_confidence
  AND (:stances IS NULL OR stance IN (SELECT value FROM json_each(:stances)))
  AND (:after_at IS NULL OR (recorded_from, n.id) < (:after_at, :after_id))
ORDER BY recorded_from DESC, n.id DESC, version DESC LIMIT :limit;

-- name: query_records_of_topic
-- As query_records, of one topic and without versions that were superseded: those are passed over inside the index.
SELECT * FROM record
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes)) AND layer = :layer
  AND (:with_excluded OR excluded = 0)
  AND +recorded_from > :newer_than AND +recorded_from <= :seen_at AND coalesce(recorded_to, 9223372036854775807) > :seen_at
  AND (:recorded_start IS NULL OR recorded_from >= :recorded_start)
  AND (:recorded_end IS NULL OR recorded_from < :recorded_end)
  AND (:valid_at IS NULL OR (
    (valid_from <= :valid_at OR (layer = 'facts' AND slot IS NULL)) AND (valid_to IS NULL OR valid_to > :valid_at)
    AND (layer <> 'facts' OR slot IS NOT NULL OR valid_to IS NOT NULL
      OR coalesce(json_extract(body, '$.fades_at'), 9223372036854775807) > :valid_at)))
  AND (:valid_start IS NULL OR valid_to IS NULL OR valid_to > :valid_start)
  AND (:valid_end IS NULL OR valid_from < :valid_end)
  AND (:subject IS NULL OR subject = :subject) AND (:predicate IS NULL OR predicate = :predicate)
  AND (:object_key IS NULL OR object_key = :object_key) AND (:session IS NULL OR session = :session)
  AND topic = :topic
  AND confidence >= :min_confidence
  AND (:stances IS NULL OR stance IN (SELECT value FROM json_each(:stances)))
  AND (:after_at IS NULL OR (recorded_from, id) < (:after_at, :after_id))
ORDER BY recorded_from DESC, id DESC, version DESC LIMIT :limit;

-- name: records_ended_since
-- Versions inside scopes that stood at ?4 and have ended since: ?2 is a JSON list.
SELECT * FROM record
WHERE tenant_id = ?1 AND scope IN (SELECT value FROM json_each(?2)) AND layer = ?3
  AND excluded = 0 AND recorded_from <= ?4 AND recorded_to > ?4
ORDER BY recorded_from DESC, id DESC LIMIT ?5;

-- name: records_in_slot
-- Versions of one slot of one scope: what competing values hold now.
SELECT * FROM record
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes)) AND slot = :slot AND layer = :layer
  AND (:with_excluded OR excluded = 0) AND recorded_from <= :seen_at AND (:superseded OR recorded_to IS NULL OR recorded_to > :seen_at)
ORDER BY recorded_from DESC, id DESC, version DESC LIMIT :limit;

-- name: records_in_slots
-- What several slots of one scope hold now, at most ?5 of each, which are the first of the index: ?4 is a JSON list.
SELECT h.tenant_id, n.id, r.version, h.layer, h.scope, r.position, s.id, r.predicate, coalesce(r.object_key, o.id), r.slot, r.claim_key, r.session, r.topic,
       r.confidence, r.stance, r.valid_from, r.valid_to, r.recorded_from, r.recorded_to, r.superseded_by, r.closed_by, r.excluded, r.body,
       r.status, r.salience, r.horizon, r.due_at, r.due_offset, r.seen_at
FROM json_each(?4) AS wanted CROSS JOIN record_row AS r
CROSS JOIN shelf AS h ON h.number = r.shelf AND h.tenant_id = ?1
CROSS JOIN identifier AS n ON n.number = r.record AND n.tenant_id = ?1
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = ?1
LEFT JOIN identifier AS o ON o.number = r.object AND o.tenant_id = ?1
WHERE r.row IN (
  SELECT k.row FROM record_row AS k INDEXED BY record_slot CROSS JOIN identifier AS d ON d.number = k.record AND d.tenant_id = ?1
  WHERE k.shelf = (SELECT p.number FROM shelf AS p WHERE p.tenant_id = ?1 AND p.scope = ?2 AND p.layer = ?3) AND k.slot = wanted.value
    AND k.excluded = 0 AND k.recorded_to IS NULL
  ORDER BY k.recorded_from DESC, d.id DESC, k.version DESC LIMIT ?5)
ORDER BY r.recorded_from DESC, n.id DESC, r.version DESC;

-- name: loops_spoken_of
-- Active loops among the newest open ones of a scope: those due between ?6 and ?7 by their day, the others as they were spoken
-- of last; ?3 maps horizons to the instant before which nobody may have spoken last.
SELECT head.* FROM (
  SELECT * FROM record
  WHERE tenant_id = ?1 AND scope = ?2 AND layer = 'facts' AND topic = 'loops.open' AND excluded = 0
    AND coalesce(recorded_to, 9223372036854775807) = 9223372036854775807
  ORDER BY recorded_from DESC, id DESC, version DESC LIMIT ?4) AS head
WHERE head.status = 'active'
  AND max(head.seen_at, coalesce(head.due_at, head.seen_at))
      >= coalesce(?3 ->> ('$.' || head.horizon), -9223372036854775808)
ORDER BY (head.due_at BETWEEN ?6 AND ?7) IS NOT TRUE,
  CASE WHEN head.due_at BETWEEN ?6 AND ?7 THEN head.due_at END,
  head.seen_at DESC, head.salience DESC, head.id LIMIT ?5;

-- name: records_of_claim
-- Versions that make one claim in one scope: found by its digest, or by its text where an earlier release wrote them.
SELECT * FROM record
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes)) AND layer = :layer
  AND claim_key IN (:claim_digest, :claim_key)
  AND (:with_excluded OR excluded = 0) AND +recorded_from <= :seen_at AND (:superseded OR recorded_to IS NULL OR recorded_to > :seen_at)
ORDER BY +recorded_from DESC, id DESC, version DESC LIMIT :limit;

-- name: touched_since
-- The newest number of a change, the first that is kept, and what changed for a tenant after ?2.
SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'touched'), (SELECT min(number) FROM touched),
       (SELECT json_group_array(id) FROM (
          SELECT n.id AS id FROM touched AS t CROSS JOIN identifier AS n ON n.number = t.identifier
          WHERE t.number > ?2 AND n.tenant_id = ?1
          UNION ALL SELECT id FROM touched WHERE number > ?2 AND tenant_id = ?1));

-- name: insert_support
-- One edge of the why graph.
INSERT OR IGNORE INTO support (tenant_id, record_id, source_id, relation, weight, polarity, place, actor, recorded_at, at, part, accepted_in)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: supports_of
-- What records rest on, or rested on at ?3: ?2 is a JSON list.
SELECT tenant_id, record_id, source_id, relation, weight, polarity, place, actor, recorded_at, at, part, accepted_in
FROM support WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2))
  AND (?3 IS NULL OR recorded_at <= ?3)
ORDER BY record_id, place, at, recorded_at, source_id;

-- name: supports_related
-- As supports_of, of those of the records that have a support of the relation ?4.
SELECT s.tenant_id, s.record_id, s.source_id, s.relation, s.weight, s.polarity, s.place, s.actor, s.recorded_at, s.at, s.part, s.accepted_in
FROM (SELECT DISTINCT marked.record_id FROM json_each(?2) AS wanted CROSS JOIN support AS marked
      WHERE marked.tenant_id = ?1 AND marked.record_id = wanted.value AND marked.relation = ?4
        AND (?3 IS NULL OR marked.recorded_at <= ?3)) AS of
CROSS JOIN support AS s
WHERE s.tenant_id = ?1 AND s.record_id = of.record_id AND (?3 IS NULL OR s.recorded_at <= ?3)
ORDER BY s.record_id, s.place, s.at, s.recorded_at, s.source_id;

-- name: ended_by
-- What told that claims are over, and when that was recorded first: ?2 is a JSON object of their ids and of the last instant of each, null
-- where none counts. A claim rests on a hundred turns, of which hardly any did: what an edge says by itself is looked at before its source is.
SELECT r.id, s.id, min(e.recorded_at) FROM json_each(?2) AS wanted CROSS JOIN identifier AS r ON r.tenant_id = ?1 AND r.id = wanted.key
CROSS JOIN support_row AS e ON e.record = r.number AND (e.against OR e.at = wanted.value)
  AND e.relation IS NOT (SELECT number FROM relation WHERE name = ?3)
CROSS JOIN identifier AS s ON s.number = e.source AND s.tenant_id = ?1
GROUP BY r.id, s.id ORDER BY r.id, s.id;

-- name: sources_below
-- The ids of what records rest on in the order of supports_of, the first ?6 of each as a JSON list: of the records ?2, and of those
-- among the first ?5 sources of each in turn, in at most ?4 steps.
WITH RECURSIVE source (record_id, step, sources) AS (
  SELECT wanted.value, 1, (
    SELECT json_group_array(source_id) FROM (
      SELECT source_id FROM support
      WHERE tenant_id = ?1 AND record_id = wanted.value AND (?3 IS NULL OR recorded_at <= ?3)
      ORDER BY place, at, recorded_at, source_id LIMIT ?6))
  FROM json_each(?2) AS wanted
  UNION
  SELECT below.value, above.step + 1, (
    SELECT json_group_array(source_id) FROM (
      SELECT source_id FROM support
      WHERE tenant_id = ?1 AND record_id = below.value AND (?3 IS NULL OR recorded_at <= ?3)
      ORDER BY place, at, recorded_at, source_id LIMIT ?6))
  FROM source AS above CROSS JOIN json_each(above.sources) AS below
  WHERE above.step < ?4 AND below.key < ?5 AND below.value NOT GLOB 'evt_*')
SELECT DISTINCT record_id, sources FROM source;

-- name: sources_among
-- The ids alone of what records rest on, in the order of supports_of: ?2 is a JSON object of their ids, each with a list of those looked for.
SELECT s.record_id, s.source_id FROM json_each(?2) AS wanted CROSS JOIN json_each(wanted.value) AS source CROSS JOIN support AS s
WHERE s.tenant_id = ?1 AND s.record_id = wanted.key AND s.source_id = source.value AND (?3 IS NULL OR s.recorded_at <= ?3)
ORDER BY s.record_id, s.place, s.at, s.recorded_at, s.source_id;

-- name: statements
-- The events that spoke of facts and count, those without words too: ?2 is a JSON list.
SELECT s.record_id, s.source_id, s.relation, s.actor, coalesce(s.at, 0), e.observed_at, e.recorded_at
FROM json_each(?2) AS wanted
CROSS JOIN support AS s ON s.tenant_id = ?1 AND s.record_id = wanted.value
CROSS JOIN event AS e INDEXED BY event_id ON e.tenant_id = ?1 AND e.id = s.source_id
WHERE e.cancelled_after IS NULL OR e.bears_out = 1
ORDER BY e.position, s.record_id, s.relation;

-- name: dependants_of
-- What rests on sources: ?2 is a JSON list.
SELECT tenant_id, record_id, source_id, relation, weight, polarity, place, actor, recorded_at, at, part, accepted_in
FROM support WHERE tenant_id = ?1 AND source_id IN (SELECT value FROM json_each(?2))
ORDER BY source_id, record_id;

-- name: sources_of
-- The ids alone of what records rested on by a relation at ?4: ?2 is a JSON list.
SELECT record_id, source_id FROM support
WHERE tenant_id = ?1 AND record_id IN (SELECT value FROM json_each(?2)) AND relation = ?3 AND recorded_at <= ?4
ORDER BY record_id, source_id;

-- name: episodes_of
-- The ids of the episodes, from ?3 up to before ?4, that held events at ?5: ?2 is a JSON list.
SELECT source_id, record_id FROM support
WHERE tenant_id = ?1 AND source_id IN (SELECT value FROM json_each(?2)) AND record_id >= ?3 AND record_id < ?4
  AND recorded_at <= ?5
GROUP BY source_id, record_id ORDER BY source_id, record_id;

-- name: resting_on
-- The ids alone of what rests on sources, from the index, once for each edge: ?2 is a JSON list.
SELECT s.source_id, s.record_id FROM json_each(?2) AS wanted CROSS JOIN support AS s
WHERE s.tenant_id = ?1 AND s.source_id = wanted.value;

-- name: resting_on_by
-- As resting_on, of what was known by ?3: that is not in the index, and the rows are read.
SELECT s.source_id, s.record_id FROM json_each(?2) AS wanted CROSS JOIN support AS s
WHERE s.tenant_id = ?1 AND s.source_id = wanted.value AND s.recorded_at <= ?3;

-- name: insert_entity
-- An entity is known once per tenant.
INSERT INTO entity (tenant_id, id, normalised_name, type) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: entities_by_name
-- Entities by normalised name: ?2 is a JSON list.
SELECT tenant_id, id, normalised_name, type FROM entity INDEXED BY entity_name
WHERE tenant_id = ?1 AND normalised_name IN (SELECT value FROM json_each(?2));

-- name: insert_mention
-- A name as an event used it.
INSERT OR IGNORE INTO mention (tenant_id, entity_id, scope, event_id, position, surface, type)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: type_by_first_mention
-- An entity is of the type that it was named with first, whichever scope lands first.
UPDATE entity SET type = ?3
WHERE tenant_id = ?1 AND id = ?2 AND type <> ?3 AND NOT EXISTS (
  SELECT 1 FROM mention WHERE tenant_id = ?1 AND entity_id = ?2 AND (position, event_id) < (?4, ?5));

-- name: mentions_in_scopes
-- The newest mentions of entities inside scopes: ?2 and ?3 are JSON lists. An entity may be named in many other scopes, which are not read, and
-- thousands of times in one, of which the newest ?4 are.
SELECT n.tenant_id, n.id, p.scope, e.id, m.position, m.surface, m.type
FROM json_each(?3) AS wanted_scope CROSS JOIN json_each(?2) AS wanted
CROSS JOIN place AS p ON p.tenant_id = ?1 AND p.scope = wanted_scope.value
CROSS JOIN identifier AS n ON n.tenant_id = ?1 AND n.id = wanted.value
CROSS JOIN mention_row AS m ON m.entity = n.number AND m.place = p.number AND m.position >= coalesce((
  SELECT k.position FROM mention_row AS k WHERE k.entity = n.number AND k.place = p.number ORDER BY k.position DESC LIMIT 1 OFFSET ?4 - 1), 0)
CROSS JOIN identifier AS e ON e.number = m.event AND e.tenant_id = ?1
ORDER BY m.position DESC, n.id, m.surface LIMIT ?4;

-- name: entity_types
-- What entities are by their first mention in a scope, null for one without: ?3 is a JSON list. An entity may have thousands of mentions, which
-- lie in their order, and nearly always the first one counts.
SELECT wanted.value, (
  SELECT m.type FROM place AS p CROSS JOIN identifier AS n CROSS JOIN mention_row AS m
  WHERE p.tenant_id = ?1 AND p.scope = ?2 AND n.tenant_id = ?1 AND n.id = wanted.value AND m.entity = n.number AND m.place = p.number
    AND m.type IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM identifier AS i CROSS JOIN event AS e INDEXED BY event_id
                    WHERE i.number = m.event AND i.tenant_id = ?1 AND e.tenant_id = ?1 AND e.id = i.id
                      AND e.cancelled_after IS NOT NULL AND e.bears_out = 0)
  ORDER BY m.position, m.event, m.surface LIMIT 1)
FROM json_each(?3) AS wanted;

-- name: exclude_record
-- Keep a record out of recall and lists.
UPDATE record_row SET excluded = 1
WHERE row BETWEEN (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) << 24
  AND (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) << 24 | 0xFFFFFF;

-- name: all_dependants
-- Everything that rests on a source, through any number of records. Joins are crossed to keep their order: here and
-- below the planner would read all supports of the tenant in every round.
WITH RECURSIVE dependant (id) AS (
  SELECT record_id FROM support WHERE tenant_id = ?1 AND source_id = ?2
  UNION
  SELECT s.record_id FROM dependant d CROSS JOIN support s ON s.tenant_id = ?1 AND s.source_id = d.id
)
SELECT id FROM dependant ORDER BY id;

-- name: is_excluded
-- Whether a record is kept out.
SELECT 1 FROM record WHERE tenant_id = ?1 AND id = ?2 AND excluded = 1 LIMIT 1;

-- name: is_kept_out
-- Whether a record or an event is kept out.
SELECT 1 FROM record WHERE tenant_id = ?1 AND id = ?2 AND excluded = 1
UNION ALL
SELECT 1 FROM event INDEXED BY event_id WHERE tenant_id = ?1 AND id = ?2 AND cancelled_after IS NOT NULL AND bears_out = 0
LIMIT 1;

-- name: excluded_sources
-- Which of some events and records are kept out: ?2 is a JSON list.
SELECT id FROM event WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2))
  AND cancelled_after IS NOT NULL AND bears_out = 0
UNION
SELECT id FROM record WHERE tenant_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND excluded = 1;

-- name: readmit_record
-- A record that rests on something new is back in recall and lists.
UPDATE record_row SET excluded = 0
WHERE row BETWEEN (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) << 24
  AND (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) << 24 | 0xFFFFFF AND excluded = 1;

-- name: event_supports_left
-- Whether a record rests on an event that is not cancelled, through any number of records. It does not rest on what
-- speaks against it, nor on what has none of its words (?3): it ends a loop, or says yes to an offer that is cancelled
-- (?5; of what speaks of a loop, ?4).
WITH RECURSIVE source (id) AS (
  SELECT ?2
  UNION
  SELECT s.source_id FROM source d CROSS JOIN support s
  ON s.tenant_id = ?1 AND s.record_id = d.id AND s.polarity <> 'against'
    AND s.relation NOT IN (SELECT value FROM json_each(?3))
    AND NOT (s.relation IN (SELECT value FROM json_each(?4)) AND EXISTS (
      SELECT 1 FROM support o CROSS JOIN event e ON e.tenant_id = ?1 AND e.id = o.source_id
      WHERE o.tenant_id = ?1 AND o.record_id = s.record_id AND o.relation = ?5 AND o.accepted_in = s.source_id
        AND e.cancelled_after IS NOT NULL AND e.bears_out = 0))
)
SELECT 1 FROM source CROSS JOIN event e ON e.tenant_id = ?1 AND e.id = source.id
WHERE e.cancelled_after IS NULL OR e.bears_out = 1
LIMIT 1;

-- name: scopes_of_versions
-- The scopes of the versions of a record: what keeps it out touches each of them.
SELECT DISTINCT scope FROM record WHERE tenant_id = ?1 AND id = ?2;

-- name: redacted_among
-- The scopes of those of some events whose words went: ?2 is a JSON list. A tenant of which none did has no event looked for.
SELECT e.id, e.scope FROM json_each(?2) AS wanted CROSS JOIN event AS e INDEXED BY event_id
WHERE EXISTS (SELECT 1 FROM event INDEXED BY event_redacted WHERE tenant_id = ?1 AND redacted_by IS NOT NULL)
  AND e.tenant_id = ?1 AND e.id = wanted.value AND e.redacted_by IS NOT NULL;

-- name: record_scopes
-- The scopes of records, null for an id that is not there: ?2 is a JSON list. All versions have one scope; one is read.
SELECT wanted.value, (SELECT scope FROM record WHERE tenant_id = ?1 AND id = wanted.value LIMIT 1)
FROM json_each(?2) AS wanted;
