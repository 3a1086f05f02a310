-- name: insert_text
-- A record as search sees it.
INSERT INTO text (tenant_id, record_id, layer, scope, recorded_at, observed_at, session, speaker, role, characters,
                  question_share, self_share, terms, keys, wants_vector, quarantined, days)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: find_text
-- The row of a record.
SELECT id, recorded_at, scope FROM text WHERE tenant_id = ?1 AND record_id = ?2;

-- name: delete_text
-- Take a record out of the row table.
DELETE FROM text_row WHERE id = ?2 AND EXISTS (SELECT 1 FROM place WHERE number = text_row.place AND tenant_id = ?1);

-- name: index_tip
-- How far the rows of a scope go, each figure from the end of an index; ?4 is a JSON list of the stages.
SELECT (SELECT changes FROM index_change WHERE tenant_id = ?1 AND scope = ?2),
       (SELECT max(id) FROM text_row WHERE place = (SELECT number FROM place WHERE scope = ?2 AND tenant_id = ?1)),
       (SELECT max(id) FROM vector_row WHERE place = (SELECT number FROM place WHERE scope = ?2 AND tenant_id = ?1)
          AND model = (SELECT m.number FROM embedder AS m WHERE m.name = ?3)),
       (SELECT max(ended_number) FROM document_event WHERE tenant_id = ?1 AND scope = ?2 AND ended_number > 0),
       (SELECT max(position) FROM event WHERE tenant_id = ?1 AND scope = ?2),
       (SELECT recorded_at FROM event WHERE tenant_id = ?1 AND position = (
          SELECT min((SELECT position FROM job WHERE tenant_id = ?1 AND scope = ?2 AND stage = s.value AND state <> 'failed'
                      ORDER BY position LIMIT 1))
          FROM json_each(?4) AS s));

-- name: waiting_events
-- The newest events of a scope past a position ?4 that wait for one of the stages ?3, a JSON list, in the order of the log.
SELECT e.* FROM (
  SELECT j.position FROM json_each(?3) AS source CROSS JOIN job AS j
  WHERE j.tenant_id = ?1 AND j.scope = ?2 AND j.stage = source.value AND j.position > ?4
  ORDER BY j.position DESC LIMIT ?5) AS wanted
CROSS JOIN event AS e ON e.tenant_id = ?1 AND e.position = wanted.position
WHERE e.scope = ?2 AND e.cancelled_after IS NULL ORDER BY e.position;

-- name: texts_after
-- A scope's rows past a row number.
SELECT id, tenant_id, record_id, layer, scope, recorded_at, observed_at, session, speaker, role, characters,
       question_share, self_share, terms, keys, wants_vector, quarantined, days
FROM text WHERE tenant_id = ?1 AND scope = ?2 AND id > ?3 AND excluded = 0 ORDER BY id LIMIT ?4;

-- name: exclude_text
-- Keep a record's row, by its number, from those who list rows.
UPDATE text_row SET excluded = 1 WHERE id = ?2 AND EXISTS (SELECT 1 FROM place WHERE number = text_row.place AND tenant_id = ?1);

-- name: show_text
-- Give a hidden row back to those who list rows.
UPDATE text_row SET excluded = 0 WHERE id = ?2 AND excluded = 1 AND EXISTS (SELECT 1 FROM place WHERE number = text_row.place AND tenant_id = ?1);

-- name: insert_vector
-- A record's vectors under one model.
INSERT INTO vector (tenant_id, record_id, scope, model, pooled, tokens) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: find_vector
-- The row of a record's vectors under a model.
SELECT id FROM vector WHERE tenant_id = ?1 AND record_id = ?2 AND model = ?3;

-- name: insert_piece
-- A piece of a row's token vectors.
INSERT INTO token_piece (number, tokens) VALUES (?1, ?2);

-- name: undivided_tokens
-- Some rows past ?1 that have their token vectors themselves.
SELECT id FROM vector_row WHERE id > ?1 AND length(tokens) > 0 ORDER BY id LIMIT ?2;

-- name: tokens_undivided
-- The token vectors of such rows: ?1 is a JSON list of numbers.
SELECT id, tokens FROM vector_row WHERE id IN (SELECT value FROM json_each(?1)) AND length(tokens) > 0;

-- name: divide_tokens
-- They stand in pieces from here on.
UPDATE vector_row SET tokens = x'' WHERE id = ?1;

-- name: mark_embedded
-- A record has its vectors now.
UPDATE text_row SET wants_vector = 0
WHERE record = (SELECT number FROM identifier WHERE id = ?2 AND tenant_id = ?1) AND wants_vector = 1;

-- name: unembedded
-- Records that still want vectors, oldest first, over all tenants.
SELECT tenant_id, record_id FROM text WHERE wants_vector = 1 ORDER BY id LIMIT ?1;

-- name: vectors_after
-- A scope's pooled vectors past a row number.
SELECT v.id, n.id, v.pooled FROM vector_row AS v CROSS JOIN identifier AS n
WHERE v.place = (SELECT p.number FROM place AS p WHERE p.scope = ?2 AND p.tenant_id = ?1)
  AND v.model = (SELECT m.number FROM embedder AS m WHERE m.name = ?3) AND v.id > ?4 AND n.number = v.record AND n.tenant_id = ?1
ORDER BY v.id LIMIT ?5;

-- name: tokens_by_row
-- Token vectors by row number, piece by piece: ?2 is a JSON list. By the number a row takes one step; by record it takes an index too.
SELECT v.id, p.number, coalesce(p.tokens, v.tokens) FROM json_each(?2) AS wanted CROSS JOIN vector_row AS v
CROSS JOIN place AS h ON h.number = v.place AND h.tenant_id = ?1
LEFT JOIN token_piece AS p ON p.number BETWEEN v.id * 256 AND v.id * 256 + 255
WHERE v.id = wanted.value;

-- name: note_index_change
-- Rows of a scope were removed or excluded.
INSERT INTO index_change (tenant_id, scope, changes) VALUES (?1, ?2, 1)
ON CONFLICT DO UPDATE SET changes = changes + 1;

-- name: note_index_reset
-- Every row of every scope is about to be removed.
INSERT INTO index_change (tenant_id, scope, changes)
SELECT tenant_id, scope, 1 FROM (SELECT tenant_id, scope FROM text UNION SELECT tenant_id, scope FROM vector)
WHERE true ON CONFLICT DO UPDATE SET changes = changes + 1;

-- name: index_changes
-- How often rows of a scope were removed or excluded.
SELECT changes FROM index_change WHERE tenant_id = ?1 AND scope = ?2;
