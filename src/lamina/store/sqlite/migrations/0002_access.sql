-- Registered scopes, their members, and policy documents.
CREATE INDEX scope_creator ON scope (tenant_id, created_by, path);

-- Scopes that somebody registered: their members count, and nobody else enters.
CREATE TABLE registration (
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  policies           TEXT    NOT NULL,
  registered_at      INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, path)
) WITHOUT ROWID;

CREATE TABLE member (
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  actor              TEXT    NOT NULL,
  role               TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, path, actor),
  CHECK (role IN ('owner', 'writer', 'reader'))
) WITHOUT ROWID;
CREATE INDEX member_actor ON member (tenant_id, actor, path);

-- Policy documents: the deployment's has an empty tenant and target, a tenant's its own id, others path or actor.
CREATE TABLE policy (
  tenant_id          TEXT    NOT NULL,
  tier               TEXT    NOT NULL,
  target             TEXT    NOT NULL,
  document           TEXT    NOT NULL,
  set_by             TEXT    NOT NULL,
  set_at             INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, tier, target),
  CHECK (tier IN ('deployment', 'tenant', 'scope', 'actor'))
) WITHOUT ROWID;

-- One row: counts the changes to the three tables above, so that decisions can be kept until there is one.
CREATE TABLE access_version (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  version            INTEGER NOT NULL
);
INSERT INTO access_version (id, version) VALUES (1, 0);
