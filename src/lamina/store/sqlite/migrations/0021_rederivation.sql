-- By which versions of derivation the derived rows are made, and which before; JSON objects, part to version.
CREATE TABLE derived_by (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  versions           TEXT    NOT NULL,
  earlier            TEXT    NOT NULL
);

-- Scopes whose rows earlier versions made, until they are derived anew. `derived` of the `events` are, aside.
CREATE TABLE stale_scope (
  tenant_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  events             INTEGER NOT NULL,
  derived            INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, scope)
) WITHOUT ROWID;
