-- What language models answered, by the hash of their input, and the events whose words they saw. Answers hold user
-- content and are no derived rows: a replay keeps them, erasure deletes them.
CREATE TABLE model_output (
  tenant_id          TEXT    NOT NULL,
  input_hash         TEXT    NOT NULL,
  task               TEXT    NOT NULL,
  model              TEXT    NOT NULL,
  text               TEXT    NOT NULL,
  tokens_in          INTEGER NOT NULL,
  tokens_out         INTEGER NOT NULL,
  recorded_at        INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, input_hash)
) WITHOUT ROWID;

CREATE TABLE model_output_source (
  tenant_id          TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  input_hash         TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, event_id, input_hash)
) WITHOUT ROWID;
CREATE INDEX model_output_source_hash ON model_output_source (tenant_id, input_hash);
