-- How often the history of a tenant's documents was written anew without what was erased; `due` while its repository is still
-- the one from before. Who follows documents by the numbers of commits begins anew when `rewrites` moves.
CREATE TABLE rewriting (
  tenant_id          TEXT    NOT NULL,
  rewrites           INTEGER NOT NULL,
  due                INTEGER NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;
