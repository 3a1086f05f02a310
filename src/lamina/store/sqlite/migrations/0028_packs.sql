-- Packs and answers, for a minute: what a recall found may be asked about again, through any process over this folder. The
-- row outlives its content for a while, so that who comes too late is told so.
CREATE TABLE pack (
  tenant_id          TEXT    NOT NULL,
  kind               TEXT    NOT NULL,
  caller             TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  body_hash          TEXT    NOT NULL,
  made_at            INTEGER NOT NULL,
  content            BLOB    NOT NULL,
  PRIMARY KEY (tenant_id, kind, caller, id)
) STRICT;
CREATE INDEX pack_made ON pack (tenant_id, made_at);
CREATE INDEX pack_held ON pack (made_at) WHERE content <> x'';
