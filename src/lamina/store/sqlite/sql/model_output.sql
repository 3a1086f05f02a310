-- name: insert_model_output
-- An answer to an input that was not asked before.
INSERT INTO model_output (tenant_id, input_hash, task, model, text, tokens_in, tokens_out, recorded_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT DO NOTHING;

-- name: insert_model_output_source
-- An event whose words the model saw.
INSERT INTO model_output_source (tenant_id, event_id, input_hash) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING;

-- name: lost_words
-- An event of a JSON list that has its words no more, if there is any.
SELECT wanted.value FROM json_each(?2) AS wanted
WHERE NOT EXISTS (SELECT 1 FROM event WHERE tenant_id = ?1 AND id = wanted.value AND redacted_by IS NULL) LIMIT 1;

-- name: asked_still
-- Whether an inquiry is open.
SELECT 1 FROM inquiry WHERE tenant_id = ?1 AND id = ?2 AND state IN ('pending', 'answered');

-- name: find_model_output
-- The answer to an input.
SELECT * FROM model_output WHERE tenant_id = ?1 AND input_hash = ?2;

-- name: forget_model_outputs
-- Delete what was made from any of these events: ?2 is a JSON list.
DELETE FROM model_output
WHERE tenant_id = ?1 AND input_hash IN (
  SELECT input_hash FROM model_output_source
  WHERE tenant_id = ?1 AND event_id IN (SELECT value FROM json_each(?2)));

-- name: forget_model_output_sources
-- Delete the sources of answers that are gone.
DELETE FROM model_output_source
WHERE tenant_id = ?1
  AND input_hash NOT IN (SELECT input_hash FROM model_output WHERE tenant_id = ?1);

-- name: add_model_spend
-- Add to what a tenant's questions of a task to a model cost on a day.
INSERT INTO model_spend (tenant_id, day, task, model, asked, tokens_in, tokens_out) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO UPDATE SET asked = asked + excluded.asked, tokens_in = tokens_in + excluded.tokens_in,
                          tokens_out = tokens_out + excluded.tokens_out;

-- name: model_spend_of
-- What a tenant spent on a day.
SELECT tenant_id, day, task, model, asked, tokens_in, tokens_out FROM model_spend
WHERE tenant_id = ?1 AND day = ?2 ORDER BY task, model;

-- name: model_spend_on
-- What every tenant spent on a day.
SELECT tenant_id, day, task, model, asked, tokens_in, tokens_out FROM model_spend
WHERE day = ?1 ORDER BY tenant_id, task, model;
