-- name: last_commit
-- The number and time of a tenant's newest commit.
SELECT number, committed_at FROM document_commit WHERE tenant_id = ?1 ORDER BY number DESC LIMIT 1;

-- name: insert_commit
-- A commit; its hash follows when the repository has it.
INSERT INTO document_commit (tenant_id, number, author, message, committed_at) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: insert_version
-- One change of one path.
INSERT INTO document_version (tenant_id, path, version, kind, base, size, number, recorded_at, content)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: put_standing
-- What stands at a path from now on.
INSERT INTO document (tenant_id, path, version, base, size, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (tenant_id, path) DO UPDATE
SET version = excluded.version, base = excluded.base, size = excluded.size, updated_at = excluded.updated_at;

-- name: find_standing
-- What stands at a path, or stood there last.
SELECT path, version, base, size, updated_at FROM document WHERE tenant_id = ?1 AND path = ?2;

-- name: first_below
-- A document below a folder: ?2 is the path with '/', ?3 the same with '0', the character after '/'.
SELECT path FROM document WHERE tenant_id = ?1 AND path > ?2 AND path < ?3 AND base > 0 LIMIT 1;

-- name: first_beginning
-- The first document whose path begins so: ?2 is the beginning, ?3 past every path with it.
SELECT path FROM document WHERE tenant_id = ?1 AND path >= ?2 AND path < ?3 AND base > 0 ORDER BY path LIMIT 1;

-- name: standing_below
-- The documents of a range of paths, by path.
SELECT path, version, base, size, updated_at FROM document
WHERE tenant_id = ?1 AND path > ?2 AND path < ?3 AND base > 0 ORDER BY path LIMIT ?4;

-- name: contents_of
-- The rows whose contents joined are those of documents: ?2 is a JSON list of [path, first version, last version].
SELECT v.path, v.content FROM json_each(?2) AS wanted CROSS JOIN document_version AS v
WHERE v.tenant_id = ?1 AND v.path = wanted.value ->> 0
  AND v.version BETWEEN wanted.value ->> 1 AND wanted.value ->> 2
ORDER BY wanted.key, v.version;

-- name: standing_many
-- What stands at paths: ?2 is a JSON list.
SELECT path, version, base, size, updated_at FROM document
WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2)) AND base > 0;

-- name: find_document
-- What stands at a path, with the content of its newest row: all of it, where that is a put.
SELECT d.path, d.version, d.base, d.size, d.updated_at, v.content
FROM document AS d CROSS JOIN document_version AS v
WHERE d.tenant_id = ?1 AND d.path = ?2 AND d.base > 0
  AND v.tenant_id = ?1 AND v.path = ?2 AND v.version = d.version;

-- name: standing_at
-- What stood at a path at an instant.
SELECT path, version, base, size, recorded_at FROM document_version
WHERE tenant_id = ?1 AND path = ?2 AND recorded_at <= ?3 ORDER BY version DESC LIMIT 1;

-- name: standing_of
-- What stood at a path as of one of its versions.
SELECT path, version, base, size, recorded_at FROM document_version
WHERE tenant_id = ?1 AND path = ?2 AND version = ?3;

-- name: standing_below_at
-- The documents of a range of paths that stood at an instant, by path.
SELECT v.path, v.version, v.base, v.size, v.recorded_at FROM document_version AS v
WHERE v.tenant_id = ?1 AND v.path > ?2 AND v.path < ?3 AND v.recorded_at <= ?5 AND v.base > 0
  AND NOT EXISTS (SELECT 1 FROM document_version
                  WHERE tenant_id = ?1 AND path = v.path AND version = v.version + 1 AND recorded_at <= ?5)
ORDER BY v.path LIMIT ?4;

-- name: commits_of_sha
-- Commits whose hash begins so: two are enough to know that it names none alone.
SELECT number, sha, author, message, committed_at FROM document_commit
WHERE tenant_id = ?1 AND substr(sha, 1, length(?2)) = ?2 LIMIT 2;

-- name: commit_at
-- The newest commit of an instant or before it.
SELECT number, sha, author, message, committed_at FROM document_commit
WHERE tenant_id = ?1 AND committed_at <= ?2 ORDER BY number DESC LIMIT 1;

-- name: history
-- The versions of a path below a version, newest first, with their commits.
SELECT v.path, v.version, v.kind, v.size, c.number, c.sha, c.author, c.message, c.committed_at
FROM document_version AS v CROSS JOIN document_commit AS c
WHERE v.tenant_id = ?1 AND v.path = ?2 AND v.version < ?3 AND c.tenant_id = ?1 AND c.number = v.number
ORDER BY v.version DESC LIMIT ?4;

-- name: head_commit
-- The newest commit that the repository has.
SELECT number, sha, author, message, committed_at FROM document_commit
WHERE tenant_id = ?1 AND sha IS NOT NULL ORDER BY number DESC LIMIT 1;

-- name: commits_after
-- Commits past a number, in order.
SELECT number, sha, author, message, committed_at FROM document_commit
WHERE tenant_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3;

-- name: standing_in_commit
-- What stood at the paths of a commit after each of its changes, in their order.
SELECT path, version, base, size, recorded_at FROM document_version
WHERE tenant_id = ?1 AND number = ?2 ORDER BY id;

-- name: note_sha
-- The hash of a commit.
UPDATE document_commit SET sha = ?3 WHERE tenant_id = ?1 AND number = ?2;

-- name: document_tenants
-- The tenants that have documents.
SELECT DISTINCT tenant_id FROM document_commit ORDER BY tenant_id;

-- name: insert_document_event
-- An event tells of the document at a path.
INSERT INTO document_event (tenant_id, path, event_id, scope) VALUES (?1, ?2, ?3, ?4);

-- name: end_document_events
-- What was told of a path so far is so no more.
UPDATE document_event SET ended_number = ?3, ended_at = ?4
WHERE tenant_id = ?1 AND path = ?2 AND ended_number = 0;

-- name: last_told_of
-- The newest event that tells of the document at a path: ids of events sort by time.
SELECT event_id FROM document_event
WHERE tenant_id = ?1 AND path = ?2 AND ended_number = 0 ORDER BY event_id DESC LIMIT 1;

-- name: ends_after
-- The events of a scope that tell of no document any more, past the number of a commit.
SELECT ended_number, event_id, ended_at FROM document_event
WHERE tenant_id = ?1 AND scope = ?2 AND ended_number > 0 AND ended_number > ?3 ORDER BY ended_number, event_id;

-- name: last_end
-- The commit of the newest of them.
SELECT ended_number FROM document_event
WHERE tenant_id = ?1 AND scope = ?2 AND ended_number > 0 ORDER BY ended_number DESC LIMIT 1;

-- name: standing_steps
-- The changes that what stands is made of, in their order.
SELECT v.path, v.version FROM document_version AS v CROSS JOIN document AS d
WHERE v.tenant_id = ?1 AND d.tenant_id = ?1 AND d.path = v.path AND d.base > 0 AND v.version BETWEEN d.base AND d.version
ORDER BY v.id;

-- name: find_step
-- One change of a document, with its commit.
SELECT v.kind, v.content, c.number, c.sha, c.author, c.message, c.committed_at
FROM document_version AS v CROSS JOIN document_commit AS c
WHERE v.tenant_id = ?1 AND v.path = ?2 AND v.version = ?3 AND c.tenant_id = ?1 AND c.number = v.number;
