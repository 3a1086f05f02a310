-- What a tenant defines for itself, each from the entry of the log that says so until the one that ends it.
CREATE TABLE definition (
  tenant_id          TEXT    NOT NULL,
  kind               TEXT    NOT NULL,
  name               TEXT    NOT NULL,
  body               TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  recorded_from      INTEGER NOT NULL,
  recorded_to        INTEGER,
  PRIMARY KEY (tenant_id, kind, name, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX definition_standing ON definition (tenant_id, kind, name) WHERE recorded_to IS NULL;
