-- Versioned documents: what stands at a path or stood there last. Its content is the rows `base` to `version` of
-- `document_version`, joined, so that an append is a row of its own; `base` is 0 where the document was taken away.
CREATE TABLE document (
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  base               INTEGER NOT NULL,
  size               INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, path)
) WITHOUT ROWID;

CREATE TABLE document_version (
  id                 INTEGER PRIMARY KEY,
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  kind               TEXT    NOT NULL,
  base               INTEGER NOT NULL,
  size               INTEGER NOT NULL,
  number             INTEGER NOT NULL,
  recorded_at        INTEGER NOT NULL,
  content            BLOB    NOT NULL,
  CHECK (kind IN ('put', 'append', 'remove'))
);
CREATE UNIQUE INDEX document_version_path ON document_version (tenant_id, path, version);
CREATE INDEX document_version_commit ON document_version (tenant_id, number);

-- One write of documents; `sha` is its hash in the repository, once that has it.
CREATE TABLE document_commit (
  tenant_id          TEXT    NOT NULL,
  number             INTEGER NOT NULL,
  author             TEXT    NOT NULL,
  message            TEXT    NOT NULL,
  committed_at       INTEGER NOT NULL,
  sha                TEXT,
  PRIMARY KEY (tenant_id, number)
) WITHOUT ROWID;
