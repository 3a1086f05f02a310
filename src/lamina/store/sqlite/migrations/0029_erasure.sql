-- What erasure leaves: events without their words, the claims that rest on them, marks of what is gone, and where a log ends whose
-- newest event is gone. `redacted_by` names what took an event's words; `bears_out` says that it had not been cancelled before.
ALTER TABLE event ADD COLUMN redacted_by TEXT;
ALTER TABLE event ADD COLUMN bears_out INTEGER NOT NULL DEFAULT 0;
CREATE INDEX event_redacted ON event (tenant_id, position) WHERE redacted_by IS NOT NULL;

-- By which event a version ended: what it changed of records that do not rest on it.
CREATE INDEX record_ended ON record (tenant_id, recorded_to) WHERE recorded_to IS NOT NULL;

-- The last position, instant and row number that a tenant's log had given when events were deleted: none is given twice.
CREATE TABLE log_end (
  tenant_id          TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  recorded_at        INTEGER NOT NULL,
  seq                INTEGER NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

-- Ids that name nothing any more, for those who could read their scope. `cascade` says how they went.
CREATE TABLE tombstone (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  layer              TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  cascade            TEXT    NOT NULL,
  erasure_id         TEXT    NOT NULL,
  audit_id           TEXT,
  erased_at          INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- Records that rest on erased words. They are no derived rows: up to `until` no derivation changes them, and a replay takes them
-- from the four tables below, which have the columns of the tables that they are copied from.
CREATE TABLE frozen (
  tenant_id          TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  until              INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, record_id)
) WITHOUT ROWID;
CREATE INDEX frozen_scope ON frozen (tenant_id, scope);

CREATE TABLE frozen_record (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  layer              TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  subject            TEXT,
  predicate          TEXT,
  object_key         TEXT,
  slot               TEXT,
  claim_key          TEXT,
  session            TEXT,
  topic              TEXT,
  confidence         REAL    NOT NULL,
  stance             TEXT,
  valid_from         INTEGER NOT NULL,
  valid_to           INTEGER,
  recorded_from      INTEGER NOT NULL,
  recorded_to        INTEGER,
  superseded_by      TEXT,
  closed_by          TEXT,
  excluded           INTEGER NOT NULL DEFAULT 0,
  body               TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id, version)
) WITHOUT ROWID;
CREATE INDEX frozen_record_matter ON frozen_record (tenant_id, scope, subject, predicate);
CREATE INDEX frozen_record_from ON frozen_record (tenant_id, recorded_from);
CREATE INDEX frozen_record_to ON frozen_record (tenant_id, recorded_to) WHERE recorded_to IS NOT NULL;

CREATE TABLE frozen_support (
  tenant_id          TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  source_id          TEXT    NOT NULL,
  relation           TEXT    NOT NULL,
  weight             REAL    NOT NULL,
  polarity           TEXT    NOT NULL,
  ordinal            INTEGER NOT NULL,
  role               TEXT,
  recorded_at        INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, record_id, source_id, relation)
) WITHOUT ROWID;
CREATE INDEX frozen_support_at ON frozen_support (tenant_id, recorded_at);

CREATE TABLE frozen_mention (
  tenant_id          TEXT    NOT NULL,
  entity_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  surface            TEXT    NOT NULL,
  type               TEXT,
  name               TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, entity_id, scope, event_id, surface)
) WITHOUT ROWID;
CREATE INDEX frozen_mention_scope ON frozen_mention (tenant_id, scope);

CREATE TABLE frozen_text (
  tenant_id          TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  layer              TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  recorded_at        INTEGER NOT NULL,
  observed_at        INTEGER NOT NULL,
  session            TEXT,
  speaker            TEXT,
  role               TEXT,
  characters         INTEGER NOT NULL,
  question_share     REAL    NOT NULL,
  self_share         REAL    NOT NULL,
  terms              TEXT    NOT NULL,
  keys               TEXT    NOT NULL,
  wants_vector       INTEGER NOT NULL DEFAULT 0,
  quarantined        TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, record_id)
) WITHOUT ROWID;
