-- What questions to language models cost each tenant on each UTC day (days since 1970).
CREATE TABLE model_spend (
  tenant_id          TEXT    NOT NULL,
  day                INTEGER NOT NULL,
  task               TEXT    NOT NULL,
  model              TEXT    NOT NULL,
  asked              INTEGER NOT NULL,
  tokens_in          INTEGER NOT NULL,
  tokens_out         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, task, model)
) WITHOUT ROWID;
CREATE INDEX model_spend_day ON model_spend (day);
