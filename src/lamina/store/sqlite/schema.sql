-- Today's shape of the embedded engine. The numbered files under migrations/ lead here; a test compares.
-- Instants are microseconds since 1970, UTC. JSON columns hold compact JSON text.

-- The log. `seq` is the store's own row number and never leaves it; `position` counts per tenant. `content` is JSON of what is no plain
-- message; no statement reads it but of entries of ours, which are none. An empty `subject` is the observed actor.
CREATE TABLE event (
  seq                INTEGER PRIMARY KEY,
  tenant_id          TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  caller             TEXT    NOT NULL,
  observed_actor     TEXT    NOT NULL,
  subject            TEXT    NOT NULL,
  parties            TEXT,
  session            TEXT,
  modality           TEXT    NOT NULL,
  content            TEXT    NOT NULL,
  context            TEXT,
  directives         TEXT,
  origin_channel     TEXT    NOT NULL,
  origin_trust       TEXT    NOT NULL,
  batch_id           TEXT,
  observed_at        INTEGER NOT NULL,
  recorded_at        INTEGER NOT NULL,
  cancelled_after    TEXT
, observed_offset INTEGER, zone_offset INTEGER, redacted_by TEXT, bears_out INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX event_position ON event (tenant_id, position);
CREATE UNIQUE INDEX event_id ON event (tenant_id, id);
CREATE INDEX event_scope ON event (tenant_id, scope, position);
CREATE INDEX event_session ON event (tenant_id, scope, session, position) WHERE session IS NOT NULL;
CREATE INDEX event_alone ON event (tenant_id, scope, position) WHERE session IS NULL;
CREATE INDEX event_feedback ON event (tenant_id, position) WHERE modality = 'feedback';
CREATE INDEX event_redacted ON event (tenant_id, position) WHERE redacted_by IS NOT NULL;
CREATE INDEX event_sent ON event (tenant_id, json_extract(directives, '$.consolidate_into'), scope, position)
  WHERE json_extract(directives, '$.consolidate_into') IS NOT NULL;
CREATE INDEX event_expiring ON event (tenant_id, observed_at + json_extract(directives, '$.event_ttl_us'), id)
  WHERE json_extract(directives, '$.event_ttl_us') IS NOT NULL AND cancelled_after IS NULL;
CREATE INDEX event_expiry ON event (tenant_id, scope, position) WHERE origin_channel = 'expiry';

-- One row per event: the next stage to do. A finished stage is a lifecycle row, not a job.
CREATE TABLE job (
  tenant_id          TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  stage              INTEGER NOT NULL,
  scope              TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  event_seq          INTEGER NOT NULL,
  state              TEXT    NOT NULL,
  attempts           INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER,
  lease_until        INTEGER,
  lease_owner        TEXT,
  last_error         TEXT,
  fence              INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, event_id, stage),
  CHECK (state IN ('pending', 'running', 'failed')),
  CHECK ((state = 'failed') = (next_attempt_at IS NULL))
) WITHOUT ROWID;
CREATE INDEX job_due ON job (stage, state, event_seq);
CREATE INDEX job_scope ON job (tenant_id, scope, stage, position);

-- The fence of the newest lease, of jobs, outbox, inquiries and erasures together: what was leased under an older one is not its holder's.
CREATE TABLE lease_counter (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  fence              INTEGER NOT NULL
);

-- Tenants and words for what happens, by numbers. They stay.
CREATE TABLE tenant (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL
);
CREATE UNIQUE INDEX tenant_id ON tenant (tenant_id);
CREATE TABLE happening (
  number INTEGER PRIMARY KEY,
  name   TEXT    NOT NULL
);
CREATE UNIQUE INDEX happening_name ON happening (name);

-- What happened, counted per tenant. Rows of erased events go once a newer row tells of that, so that no number is ever given twice. A row's id is empty, a
-- function of its place; its event is named by its position, where there is one. Earlier releases wrote ids, or bits of them.
-- The view `lifecycle` shows the rows as they were; statements that put rows or look for them name what is here.
CREATE TABLE lifecycle_row (
  row        INTEGER PRIMARY KEY,
  tenant     INTEGER NOT NULL,
  sequence   INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  happening  INTEGER NOT NULL,
  place      INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  arrived_at INTEGER NOT NULL,
  payload    TEXT    NOT NULL,
  position   INTEGER,
  event_id   TEXT,
  job_id     TEXT
);
CREATE UNIQUE INDEX lifecycle_tenant ON lifecycle_row (tenant, sequence);
CREATE INDEX lifecycle_event ON lifecycle_row (tenant, event_id, number) WHERE event_id IS NOT NULL;
CREATE INDEX lifecycle_position ON lifecycle_row (tenant, position, number) WHERE position IS NOT NULL;
CREATE INDEX lifecycle_job ON lifecycle_row (tenant, job_id, sequence) WHERE job_id IS NOT NULL;

-- A family that has a number is a blob of one byte, as words of `audit` are.
CREATE TABLE idempotency (
  tenant_id          TEXT    NOT NULL,
  caller             TEXT    NOT NULL,
  family             TEXT    NOT NULL,
  key                TEXT    NOT NULL,
  body_hash          TEXT    NOT NULL,
  event_id           TEXT,
  response           TEXT,
  created_at         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, caller, family, key)
) WITHOUT ROWID;

-- Tokens that were revoked before they expired. An empty issuer stands for every issuer of the tenant.
CREATE TABLE revocation (
  tenant_id          TEXT    NOT NULL,
  issuer             TEXT    NOT NULL,
  jti                TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  expires_at         INTEGER NOT NULL,
  reason             TEXT,
  revoked_by         TEXT    NOT NULL,
  revoked_at         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, jti, issuer)
) WITHOUT ROWID;
CREATE INDEX revocation_expiry ON revocation (expires_at);

-- A pruned scope is left out of lists and descents until it is written to. It keeps its creator: its memory is there.
CREATE TABLE scope (
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  auto_provisioned   INTEGER NOT NULL,
  created_by         TEXT    NOT NULL,
  created_at         INTEGER NOT NULL, pruned INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, path)
) WITHOUT ROWID;
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

-- One row: counts the changes of registrations, members and policies, and tokens that are revoked, so that decisions can be kept until there is one.
CREATE TABLE access_version (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  version            INTEGER NOT NULL
);

-- Ids that records, edges and mentions name by numbers, since they stand in many rows; each goes with the last row that has it. What
-- records are about is one of them.
CREATE TABLE identifier (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL,
  id        TEXT    NOT NULL
);
CREATE UNIQUE INDEX identifier_id ON identifier (id, tenant_id);

-- Scopes by numbers. They stay, as in `index_change`.
CREATE TABLE place (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL,
  scope     TEXT    NOT NULL
);
CREATE UNIQUE INDEX place_scope ON place (scope, tenant_id);

-- What edges mean, by numbers.
CREATE TABLE relation (
  number INTEGER PRIMARY KEY,
  name   TEXT    NOT NULL
);

-- Tenants, scopes and layers of records, by one number. They stay, as in `index_change`.
CREATE TABLE shelf (
  number    INTEGER PRIMARY KEY,
  tenant_id TEXT    NOT NULL,
  scope     TEXT    NOT NULL,
  layer     TEXT    NOT NULL
);
CREATE UNIQUE INDEX shelf_place ON shelf (scope, layer, tenant_id);

-- Every derived layer, in numbers: one row per version. What is searched has a column, the rest is `body`: JSON text of facts, packed of
-- others. `claim_key` is a digest: of subject and predicate, then of the whole claim. Earlier releases kept the text. Statements read
-- and write the view `record`, and change what is here. A row's number is that of its record and, in the last 24 bits, its version: those of
-- a record lie together, and are found by their range; a body stands in a page of its own only when it fills one. `object` is an entity's
-- number, and `object_key` what else a claim says.
CREATE TABLE record_row (
  row           INTEGER PRIMARY KEY,
  record        INTEGER NOT NULL,
  version       INTEGER NOT NULL,
  shelf         INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  subject       INTEGER,
  predicate     TEXT,
  object_key    TEXT,
  slot          TEXT,
  claim_key     TEXT,
  session       TEXT,
  topic         TEXT,
  confidence    REAL    NOT NULL,
  stance        TEXT,
  valid_from    INTEGER NOT NULL,
  valid_to      INTEGER,
  recorded_from INTEGER NOT NULL,
  recorded_to   INTEGER,
  superseded_by TEXT,
  closed_by     TEXT,
  excluded      INTEGER NOT NULL DEFAULT 0,
  body          TEXT    NOT NULL,
  status        TEXT,
  salience      INTEGER,
  horizon       TEXT,
  due_at        INTEGER,
  due_offset    INTEGER,
  seen_at       INTEGER
, object INTEGER);
CREATE INDEX record_scope ON record_row (shelf, recorded_from);
CREATE INDEX record_subject ON record_row (subject, shelf, recorded_from) WHERE subject IS NOT NULL;
CREATE INDEX record_topic ON record_row (shelf, topic, coalesce(recorded_to, 9223372036854775807), recorded_from) WHERE topic IS NOT NULL;
CREATE INDEX record_slot ON record_row (shelf, slot, recorded_from) WHERE slot IS NOT NULL;
CREATE INDEX record_object ON record_row (object, shelf, recorded_from) WHERE object IS NOT NULL;
CREATE INDEX record_claim ON record_row (shelf, claim_key) WHERE claim_key IS NOT NULL;
CREATE INDEX record_ended ON record_row (recorded_to) WHERE recorded_to IS NOT NULL;
-- Those that an earlier release wrote, until they are packed: no facts, which alone have a predicate and no stance.
CREATE INDEX record_unpacked ON record_row (shelf) WHERE typeof(body) = 'text' AND (predicate IS NULL OR stance IS NOT NULL);

-- The why graph and the reference count, in numbers. Statements read and write the view `support`. A weight is an integer, in
-- ten thousandths, where these say it, as nearly each is; in such a table a real number takes eight bytes, whatever it is.
CREATE TABLE support_row (
  record      INTEGER NOT NULL,
  source      INTEGER NOT NULL,
  relation    INTEGER NOT NULL,
  weight      INTEGER NOT NULL,
  against     INTEGER NOT NULL,
  place       INTEGER NOT NULL,
  actor       TEXT,
  recorded_at INTEGER NOT NULL,
  at          INTEGER,
  part        TEXT,
  accepted_in TEXT,
  PRIMARY KEY (record, source, relation)
) WITHOUT ROWID;
CREATE INDEX support_source ON support_row (source, record);

CREATE TABLE entity (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  normalised_name    TEXT    NOT NULL,
  type               TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entity_name ON entity (tenant_id, normalised_name);

-- The names under which scopes know an entity, in numbers and in the order of the log: content of those scopes. Statements read and write the view `mention`.
CREATE TABLE mention_row (
  entity   INTEGER NOT NULL,
  place    INTEGER NOT NULL,
  event    INTEGER NOT NULL,
  position INTEGER NOT NULL,
  surface  TEXT    NOT NULL,
  type     TEXT,
  PRIMARY KEY (entity, place, position, event, surface)
) WITHOUT ROWID;
CREATE INDEX mention_event ON mention_row (event);

-- Records, edges and mentions with their ids.
CREATE VIEW record AS
SELECT
  h.tenant_id AS tenant_id, n.id AS id, r.version AS version, h.layer AS layer, h.scope AS scope,
  r.position AS position, s.id AS subject, r.predicate AS predicate, coalesce(r.object_key, o.id) AS object_key, r.slot AS slot,
  r.claim_key AS claim_key, r.session AS session, r.topic AS topic, r.confidence AS confidence, r.stance AS stance,
  r.valid_from AS valid_from, r.valid_to AS valid_to, r.recorded_from AS recorded_from, r.recorded_to AS recorded_to,
  r.superseded_by AS superseded_by, r.closed_by AS closed_by, r.excluded AS excluded, r.body AS body,
  r.status AS status, r.salience AS salience, r.horizon AS horizon, r.due_at AS due_at, r.due_offset AS due_offset,
  r.seen_at AS seen_at
FROM record_row AS r JOIN shelf AS h ON h.number = r.shelf
JOIN identifier AS n ON n.number = r.record AND n.tenant_id = h.tenant_id AND r.row BETWEEN n.number << 24 AND n.number << 24 | 0xFFFFFF
LEFT JOIN identifier AS s ON s.number = r.subject AND s.tenant_id = h.tenant_id
LEFT JOIN identifier AS o ON o.number = r.object AND o.tenant_id = h.tenant_id;

CREATE VIEW support AS
SELECT r.tenant_id AS tenant_id, r.id AS record_id, s.id AS source_id, n.name AS relation,
  iif(typeof(e.weight) = 'integer', e.weight / 10000.0, e.weight) AS weight,
  iif(e.against, 'against', 'supports') AS polarity, e.place AS place, e.actor AS actor, e.recorded_at AS recorded_at, e.at AS at,
  e.part AS part, e.accepted_in AS accepted_in
FROM support_row AS e JOIN identifier AS r ON r.number = e.record
JOIN identifier AS s ON s.number = e.source AND s.tenant_id = r.tenant_id
LEFT JOIN relation AS n ON n.number = e.relation;

CREATE VIEW mention AS
SELECT p.tenant_id AS tenant_id, n.id AS entity_id, p.scope AS scope, e.id AS event_id, m.position AS position, m.surface AS surface,
  m.type AS type
FROM mention_row AS m JOIN place AS p ON p.number = m.place
JOIN identifier AS n ON n.number = m.entity AND n.tenant_id = p.tenant_id
JOIN identifier AS e ON e.number = m.event AND e.tenant_id = p.tenant_id;

CREATE VIEW lifecycle AS
SELECT
  t.tenant_id AS tenant_id, l.sequence AS sequence, l.id AS id, h.name AS name, p.scope AS scope, l.event_id AS event_id,
  l.job_id AS job_id, l.number AS number, l.arrived_at AS arrived_at, l.payload AS payload, l.position AS position
FROM lifecycle_row AS l JOIN tenant AS t ON t.number = l.tenant JOIN happening AS h ON h.number = l.happening
JOIN place AS p ON p.number = l.place AND p.tenant_id = t.tenant_id;

-- What a conflict does is said by the statement, also to what its triggers write.
CREATE TRIGGER record_put INSTEAD OF INSERT ON record BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.subject
  WHERE NEW.subject IS NOT NULL AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.object_key
  WHERE NEW.object_key GLOB 'ent_*' AND NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.object_key AND tenant_id = NEW.tenant_id);
  INSERT INTO shelf (tenant_id, scope, layer) SELECT NEW.tenant_id, NEW.scope, NEW.layer
  WHERE NOT EXISTS (SELECT 1 FROM shelf WHERE tenant_id = NEW.tenant_id AND scope = NEW.scope AND layer = NEW.layer);
  INSERT INTO record_row (
    row, record, version, shelf, position, subject, predicate, object_key, slot, claim_key, session, topic, confidence,
    stance, valid_from, valid_to, recorded_from, recorded_to, superseded_by, closed_by, excluded, body, status,
    salience, horizon, due_at, due_offset, seen_at, object
  )
  SELECT
    n.number << 24 | NEW.version, n.number, NEW.version, h.number, NEW.position,
    (SELECT number FROM identifier WHERE id = NEW.subject AND tenant_id = NEW.tenant_id), NEW.predicate,
    iif(NEW.object_key GLOB 'ent_*', NULL, NEW.object_key), NEW.slot, NEW.claim_key, NEW.session, NEW.topic, NEW.confidence, NEW.stance, NEW.valid_from,
    NEW.valid_to, NEW.recorded_from, NEW.recorded_to, NEW.superseded_by, NEW.closed_by, coalesce(NEW.excluded, 0), NEW.body,
    NEW.status, NEW.salience, NEW.horizon, NEW.due_at, NEW.due_offset, NEW.seen_at,
    (SELECT number FROM identifier WHERE id = NEW.object_key AND tenant_id = NEW.tenant_id AND NEW.object_key GLOB 'ent_*')
  FROM identifier AS n, shelf AS h
  WHERE n.id = NEW.id AND n.tenant_id = NEW.tenant_id AND h.tenant_id = NEW.tenant_id AND h.scope = NEW.scope AND h.layer = NEW.layer;
END;
CREATE TRIGGER record_taken INSTEAD OF DELETE ON record BEGIN
  DELETE FROM record_row
  WHERE row = (SELECT number FROM identifier WHERE id = OLD.id AND tenant_id = OLD.tenant_id) << 24 | OLD.version;
END;
CREATE TRIGGER support_put INSTEAD OF INSERT ON support BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.source_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.source_id AND tenant_id = NEW.tenant_id);
  INSERT INTO relation (name) SELECT NEW.relation WHERE NOT EXISTS (SELECT 1 FROM relation WHERE name = NEW.relation);
  INSERT INTO support_row (record, source, relation, weight, against, place, actor, recorded_at, at, part, accepted_in)
  SELECT r.number, s.number, n.number,
    iif(round(NEW.weight * 10000) / 10000 = NEW.weight, CAST(round(NEW.weight * 10000) AS INTEGER), NEW.weight),
    NEW.polarity = 'against', NEW.place, NEW.actor, NEW.recorded_at, NEW.at, NEW.part,
    NEW.accepted_in
  FROM identifier AS r, identifier AS s, relation AS n
  WHERE r.id = NEW.record_id AND r.tenant_id = NEW.tenant_id AND s.id = NEW.source_id AND s.tenant_id = NEW.tenant_id
    AND n.name = NEW.relation;
END;
CREATE TRIGGER support_taken INSTEAD OF DELETE ON support BEGIN
  DELETE FROM support_row
  WHERE record = (SELECT number FROM identifier WHERE id = OLD.record_id AND tenant_id = OLD.tenant_id)
    AND source = (SELECT number FROM identifier WHERE id = OLD.source_id AND tenant_id = OLD.tenant_id)
    AND relation = (SELECT number FROM relation WHERE name = OLD.relation);
END;
CREATE TRIGGER mention_put INSTEAD OF INSERT ON mention BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.entity_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.entity_id AND tenant_id = NEW.tenant_id);
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.event_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.event_id AND tenant_id = NEW.tenant_id);
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  INSERT INTO mention_row (entity, place, event, position, surface, type)
  SELECT n.number, p.number, e.number, NEW.position, NEW.surface, NEW.type
  FROM identifier AS n, place AS p, identifier AS e
  WHERE n.id = NEW.entity_id AND n.tenant_id = NEW.tenant_id AND p.scope = NEW.scope AND p.tenant_id = NEW.tenant_id
    AND e.id = NEW.event_id AND e.tenant_id = NEW.tenant_id;
END;
CREATE TRIGGER mention_taken INSTEAD OF DELETE ON mention BEGIN
  DELETE FROM mention_row
  WHERE entity = (SELECT number FROM identifier WHERE id = OLD.entity_id AND tenant_id = OLD.tenant_id)
    AND place = (SELECT number FROM place WHERE scope = OLD.scope AND tenant_id = OLD.tenant_id)
    AND event = (SELECT number FROM identifier WHERE id = OLD.event_id AND tenant_id = OLD.tenant_id)
    AND surface = OLD.surface;
END;


-- What search reads, in numbers. `id` orders rows by indexing. Statements read, put and change the view `text`.
CREATE TABLE text_row (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  record         INTEGER NOT NULL,
  layer          TEXT    NOT NULL,
  place          INTEGER NOT NULL,
  recorded_at    INTEGER NOT NULL,
  observed_at    INTEGER NOT NULL,
  session        TEXT,
  speaker        TEXT,
  role           TEXT,
  characters     INTEGER NOT NULL,
  question_share REAL    NOT NULL,
  self_share     REAL    NOT NULL,
  terms          TEXT    NOT NULL,
  keys           TEXT    NOT NULL,
  wants_vector   INTEGER NOT NULL DEFAULT 0,
  excluded       INTEGER NOT NULL DEFAULT 0,
  quarantined    TEXT    NOT NULL DEFAULT '',
  days           TEXT    NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX text_row_record ON text_row (record);
CREATE INDEX text_row_place ON text_row (place);
CREATE INDEX text_row_unembedded ON text_row (id) WHERE wants_vector = 1;

-- The models that made vectors, by numbers.
CREATE TABLE embedder (
  number INTEGER PRIMARY KEY,
  name   TEXT    NOT NULL
);

-- Vectors, in numbers. Statements read and put the view `vector`.
CREATE TABLE vector_row (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  record INTEGER NOT NULL,
  place  INTEGER NOT NULL,
  model  INTEGER NOT NULL,
  pooled BLOB    NOT NULL,
  tokens BLOB    NOT NULL
);
CREATE UNIQUE INDEX vector_row_record ON vector_row (record, model);
CREATE INDEX vector_row_place ON vector_row (place, model);

-- The token vectors of a row, in its order: from 256 times its id on. They fill pages, and who reads pooled vectors passes none of
-- them. A row that has its tokens itself was written by an earlier release, or is too long.
CREATE TABLE token_piece (
  number             INTEGER PRIMARY KEY,
  tokens             BLOB    NOT NULL
);

-- Rows of search with their ids.
CREATE VIEW text AS
SELECT
  t.id AS id, p.tenant_id AS tenant_id, n.id AS record_id, t.layer AS layer, p.scope AS scope,
  t.recorded_at AS recorded_at, t.observed_at AS observed_at, t.session AS session, t.speaker AS speaker,
  t.role AS role, t.characters AS characters, t.question_share AS question_share, t.self_share AS self_share,
  t.terms AS terms, t.keys AS keys, t.wants_vector AS wants_vector, t.excluded AS excluded,
  t.quarantined AS quarantined, t.days AS days
FROM text_row AS t JOIN place AS p ON p.number = t.place
JOIN identifier AS n ON n.number = t.record AND n.tenant_id = p.tenant_id;

CREATE VIEW vector AS
SELECT v.id AS id, p.tenant_id AS tenant_id, n.id AS record_id, p.scope AS scope, m.name AS model, v.pooled AS pooled, v.tokens AS tokens
FROM vector_row AS v JOIN place AS p ON p.number = v.place
JOIN identifier AS n ON n.number = v.record AND n.tenant_id = p.tenant_id
JOIN embedder AS m ON m.number = v.model;

CREATE TRIGGER text_put INSTEAD OF INSERT ON text BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  INSERT INTO text_row (
    record, layer, place, recorded_at, observed_at, session, speaker, role, characters, question_share, self_share,
    terms, keys, wants_vector, excluded, quarantined, days
  )
  SELECT
    n.number, NEW.layer, p.number, NEW.recorded_at, NEW.observed_at, NEW.session, NEW.speaker, NEW.role,
    NEW.characters, NEW.question_share, NEW.self_share, NEW.terms, NEW.keys, coalesce(NEW.wants_vector, 0),
    coalesce(NEW.excluded, 0), coalesce(NEW.quarantined, ''), coalesce(NEW.days, '')
  FROM identifier AS n, place AS p
  WHERE n.id = NEW.record_id AND n.tenant_id = NEW.tenant_id AND p.scope = NEW.scope AND p.tenant_id = NEW.tenant_id;
END;
CREATE TRIGGER text_changed INSTEAD OF UPDATE ON text BEGIN
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  UPDATE text_row SET
    layer = NEW.layer, place = (SELECT number FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id),
    recorded_at = NEW.recorded_at, observed_at = NEW.observed_at, session = NEW.session, speaker = NEW.speaker,
    role = NEW.role, characters = NEW.characters, question_share = NEW.question_share, self_share = NEW.self_share,
    terms = NEW.terms, keys = NEW.keys, wants_vector = NEW.wants_vector, excluded = NEW.excluded,
    quarantined = NEW.quarantined, days = NEW.days
  WHERE id = OLD.id;
END;
CREATE TRIGGER vector_put INSTEAD OF INSERT ON vector BEGIN
  INSERT INTO identifier (tenant_id, id) SELECT NEW.tenant_id, NEW.record_id
  WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE id = NEW.record_id AND tenant_id = NEW.tenant_id);
  INSERT INTO place (tenant_id, scope) SELECT NEW.tenant_id, NEW.scope
  WHERE NOT EXISTS (SELECT 1 FROM place WHERE scope = NEW.scope AND tenant_id = NEW.tenant_id);
  INSERT INTO embedder (name) SELECT NEW.model WHERE NOT EXISTS (SELECT 1 FROM embedder WHERE name = NEW.model);
  INSERT INTO vector_row (record, place, model, pooled, tokens)
  SELECT n.number, p.number, m.number, NEW.pooled, NEW.tokens FROM identifier AS n, place AS p, embedder AS m
  WHERE n.id = NEW.record_id AND n.tenant_id = NEW.tenant_id AND p.scope = NEW.scope AND p.tenant_id = NEW.tenant_id
    AND m.name = NEW.model;
END;
CREATE TRIGGER vector_taken INSTEAD OF DELETE ON vector BEGIN
  DELETE FROM vector_row WHERE id = OLD.id;
END;

-- The records and sources whose versions or edges changed lately, by the numbers of their ids, so that a process knows what of its memory is
-- old; whose rows go leaves its id itself, since its number may be another's next. Rows go as new ones come; an erasure takes all of them.
CREATE TABLE touched (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  identifier INTEGER,
  tenant_id  TEXT,
  id         TEXT
);
CREATE TRIGGER touched_kept AFTER INSERT ON touched BEGIN
  DELETE FROM touched WHERE number <= NEW.number - 2048;
END;
CREATE TRIGGER record_row_put AFTER INSERT ON record_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record);
END;
CREATE TRIGGER record_row_changed AFTER UPDATE ON record_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record);
END;
CREATE TRIGGER support_row_put AFTER INSERT ON support_row BEGIN
  INSERT INTO touched (identifier) VALUES (NEW.record), (NEW.source);
END;
-- A number goes with the last row that has it. Where another is most likely left is looked first.
CREATE TRIGGER record_row_gone AFTER DELETE ON record_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number = OLD.record;
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.subject, OLD.object)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER support_row_gone AFTER DELETE ON support_row BEGIN
  INSERT INTO touched (tenant_id, id) SELECT tenant_id, id FROM identifier WHERE number IN (OLD.record, OLD.source);
  DELETE FROM identifier WHERE number IN (OLD.record, OLD.source)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER mention_row_gone AFTER DELETE ON mention_row BEGIN
  DELETE FROM identifier WHERE number IN (OLD.entity, OLD.event)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER text_row_gone AFTER DELETE ON text_row BEGIN
  DELETE FROM identifier WHERE number = OLD.record
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;
CREATE TRIGGER vector_row_gone AFTER DELETE ON vector_row BEGIN
  DELETE FROM token_piece WHERE number BETWEEN OLD.id * 256 AND OLD.id * 256 + 255;
  DELETE FROM identifier WHERE number = OLD.record
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM text_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE row BETWEEN identifier.number << 24 AND identifier.number << 24 | 0xFFFFFF)
    AND NOT EXISTS (SELECT 1 FROM support_row WHERE source = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE event = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM mention_row WHERE entity = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM vector_row WHERE record = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE subject = identifier.number)
    AND NOT EXISTS (SELECT 1 FROM record_row WHERE object = identifier.number);
END;

-- Counts removals and exclusions per scope: followers that hold rows in memory start over when it moves.
CREATE TABLE index_change (
  tenant_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  changes            INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, scope)
) WITHOUT ROWID;

-- Who asked for what, and what they were told. Rows of a tenant are numbered without gaps, and `hash` covers every
-- other column: `previous` is the hash of the row before, empty where that has it. The order of the columns is the one of `AuditDraft`,
-- but for `detail`, which is JSON. Of hashes 32 bytes are kept, of ids of ours 16, of usual words one; earlier releases kept their texts.
CREATE TABLE audit (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  at                 INTEGER NOT NULL,
  actor              TEXT    NOT NULL,
  token_jti          TEXT,
  scope              TEXT,
  endpoint           TEXT    NOT NULL,
  capability         TEXT    NOT NULL,
  decision           TEXT    NOT NULL,
  decided_by_tier    TEXT    NOT NULL,
  method             TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  body_hash          TEXT    NOT NULL,
  headers_hash       TEXT    NOT NULL,
  body_bytes         INTEGER,
  pepper_version     INTEGER NOT NULL,
  response_status    INTEGER NOT NULL,
  event_id           TEXT,
  client_ip          TEXT,
  user_agent         TEXT,
  request_id         TEXT    NOT NULL,
  elapsed_ms         INTEGER NOT NULL,
  gdpr               INTEGER NOT NULL,
  number             INTEGER NOT NULL,
  previous           TEXT    NOT NULL,
  hash               TEXT    NOT NULL
, detail TEXT);
CREATE UNIQUE INDEX audit_number ON audit (tenant_id, number);
CREATE UNIQUE INDEX audit_id ON audit (tenant_id, id);
CREATE INDEX audit_actor ON audit (tenant_id, actor, number);

-- Where a chain begins whose older rows were deleted; `row_id` is the row of the deletion.
CREATE TABLE audit_anchor (
  tenant_id          TEXT    NOT NULL,
  number             INTEGER NOT NULL,
  hash               TEXT    NOT NULL,
  kept               TEXT    NOT NULL,
  row_id             TEXT    NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

CREATE TABLE pepper (
  tenant_id          TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  secret             BLOB    NOT NULL,
  created_at         INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, version)
) WITHOUT ROWID;

-- One-shot reminders. `identity` is what an item was created with, in canonical JSON; it never changes.
CREATE TABLE schedule_item (
  tenant_id          TEXT    NOT NULL,
  schedule_id        TEXT    NOT NULL,
  kind               TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  title              TEXT    NOT NULL,
  note               TEXT,
  due_at             INTEGER NOT NULL,
  task_id            TEXT,
  thread_id          TEXT,
  subject_kind       TEXT,
  subject_id         TEXT,
  idempotency_key    TEXT,
  metadata           TEXT    NOT NULL,
  identity           TEXT    NOT NULL,
  identity_hash      TEXT    NOT NULL,
  version            INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  created_by         TEXT    NOT NULL,
  updated_at         INTEGER NOT NULL,
  updated_by         TEXT    NOT NULL,
  terminal_at        INTEGER,
  terminal_by        TEXT,
  terminal_reason    TEXT,
  PRIMARY KEY (tenant_id, schedule_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX schedule_item_key ON schedule_item (tenant_id, idempotency_key);
CREATE INDEX schedule_item_due ON schedule_item (tenant_id, due_at, schedule_id);
CREATE INDEX schedule_item_task ON schedule_item (tenant_id, task_id, due_at);
CREATE INDEX schedule_item_thread ON schedule_item (tenant_id, thread_id, due_at);
CREATE INDEX schedule_item_subject ON schedule_item (tenant_id, subject_kind, subject_id, due_at);
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

-- Which events tell of the document at a path, and since when one does so no more: from the commit `ended_number`, which
-- replaced or removed what it told of; 0 while it does.
CREATE TABLE document_event (
  tenant_id          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  ended_number       INTEGER NOT NULL DEFAULT 0,
  event_id           TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  ended_at           INTEGER,
  PRIMARY KEY (tenant_id, path, ended_number, event_id),
  CHECK ((ended_number = 0) = (ended_at IS NULL))
) WITHOUT ROWID;
CREATE INDEX document_event_end ON document_event (tenant_id, scope, ended_number) WHERE ended_number > 0;

-- Opaque tokens of Relay peers, by the SHA-256 of their text. Lists are JSON; an empty one grants nothing.
CREATE TABLE relay_token (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  sha256             TEXT    NOT NULL,
  peer_id            TEXT    NOT NULL,
  rights             TEXT    NOT NULL,
  read_namespaces    TEXT    NOT NULL,
  write_namespaces   TEXT    NOT NULL,
  issued_at          INTEGER NOT NULL,
  expires_at         INTEGER,
  revoked_at         INTEGER,
  revoked_reason     TEXT,
  trust              TEXT    NOT NULL,
  description        TEXT    NOT NULL,
  rotated_at         INTEGER,
  rotated_to         TEXT,
  rotated_from       TEXT,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX relay_token_sha256 ON relay_token (sha256);

-- Keys that peers sign messages with. `sealed` can be opened with the key file alone, which lies beside no backup; it is empty once
-- the key verifies nothing any more.
CREATE TABLE signing_key (
  tenant_id          TEXT    NOT NULL,
  key_id             TEXT    NOT NULL,
  algorithm          TEXT    NOT NULL,
  created_at         INTEGER NOT NULL,
  activated_at       INTEGER,
  verifies_until     INTEGER,
  sealed             BLOB    NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signing_key_active ON signing_key (tenant_id) WHERE activated_at IS NOT NULL AND verifies_until IS NULL;

-- Runs of operators' jobs. One that is `running` is the lock of its job until `lease_until`.
CREATE TABLE job_run (
  tenant_id          TEXT    NOT NULL,
  run_id             TEXT    NOT NULL,
  job_id             TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  started_at         INTEGER NOT NULL,
  finished_at        INTEGER,
  lease_until        INTEGER,
  dry_run            INTEGER NOT NULL,
  force              INTEGER NOT NULL,
  client_ip          TEXT,
  initiator          TEXT    NOT NULL,
  error              TEXT,
  result_keys        TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX job_run_running ON job_run (tenant_id, job_id) WHERE status = 'running';
CREATE INDEX job_run_started ON job_run (tenant_id, started_at);

-- Sittings: stretches of a session without a long gap. Their turns are events: `window_events` names the newest of
-- them, `folded` of the `turns` are told of in `summary`.
CREATE TABLE session (
  tenant_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  session            TEXT    NOT NULL,
  number             INTEGER NOT NULL,
  window_events      TEXT    NOT NULL,
  turns              INTEGER NOT NULL,
  folded             INTEGER NOT NULL,
  summary            TEXT    NOT NULL,
  bridge             TEXT,
  opened_at          INTEGER NOT NULL,
  touched_at         INTEGER NOT NULL,
  last_turn_at       INTEGER NOT NULL,
  last_position      INTEGER NOT NULL,
  closed_at          INTEGER,
  worded             TEXT,
  revision           INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, scope, session, number),
  CHECK (json_array_length(window_events) <= 12),
  CHECK (folded <= turns)
) WITHOUT ROWID;
CREATE INDEX session_newest ON session (tenant_id, scope, last_position);
CREATE INDEX session_open ON session (touched_at) WHERE closed_at IS NULL;

-- Turns that left their window, until everything behind the two calls has had them; in the order of leaving.
CREATE TABLE outbox (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id          TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  session            TEXT    NOT NULL,
  sitting            INTEGER NOT NULL,
  event_id           TEXT    NOT NULL,
  state              TEXT    NOT NULL DEFAULT 'pending',
  attempts           INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER,
  lease_until        INTEGER,
  last_error         TEXT,
  folded_at          INTEGER,
  sent_at            INTEGER,
  created_at         INTEGER NOT NULL,
  lease_owner        TEXT,
  fence              INTEGER NOT NULL DEFAULT 0,
  CHECK (state IN ('pending', 'sent', 'failed')),
  CHECK (state <> 'pending' OR attempts = 0 OR next_attempt_at IS NOT NULL)
);
CREATE UNIQUE INDEX outbox_event ON outbox (tenant_id, event_id);
CREATE INDEX outbox_pending ON outbox (tenant_id, scope, session, id) WHERE state = 'pending';
CREATE INDEX outbox_left ON outbox (tenant_id, id) WHERE state <> 'sent';

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

-- What questions to language models cost each tenant on each UTC day (days since 1970). No content; a replay keeps it.
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

-- What a language model is asked of events, one after the other within a scope. No words are kept here: they are the
-- event's and the answer's. A replay keeps these rows, and applies each answer after the event that stands here.
CREATE TABLE inquiry (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id          TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  task               TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  position           INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  state              TEXT    NOT NULL DEFAULT 'pending',
  attempts           INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER,
  lease_until        INTEGER,
  last_error         TEXT,
  input_hash         TEXT,
  applied_after      INTEGER,
  applied_order      INTEGER,
  applied_at         INTEGER,
  lease_owner        TEXT,
  fence              INTEGER NOT NULL DEFAULT 0,
  CHECK (state IN ('pending', 'answered', 'applied', 'failed', 'dropped')),
  CHECK ((state = 'applied') = (applied_after IS NOT NULL))
);
CREATE UNIQUE INDEX inquiry_event ON inquiry (tenant_id, event_id, task);
CREATE INDEX inquiry_open ON inquiry (tenant_id, scope, position, id) WHERE state IN ('pending', 'answered');
CREATE INDEX inquiry_answered ON inquiry (id) WHERE state = 'answered';
CREATE INDEX inquiry_applied ON inquiry (tenant_id, scope, applied_after, applied_order) WHERE state = 'applied';
CREATE INDEX inquiry_unsettled ON inquiry (tenant_id, id) WHERE state IN ('pending', 'answered', 'failed');

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

-- Packs and answers, for a minute: what a recall found may be asked about again, through any process over this folder. The
-- row outlives its content for a while, so that who comes too late is told so. One of kind `cleared` says when an erasure let a
-- tenant's go: what was begun before is not kept.
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
  status             TEXT,
  salience           INTEGER,
  horizon            TEXT,
  due_at             INTEGER,
  due_offset         INTEGER,
  seen_at            INTEGER,
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
  place              INTEGER NOT NULL,
  actor              TEXT,
  recorded_at        INTEGER NOT NULL,
  at                 INTEGER,
  part               TEXT,
  accepted_in        TEXT,
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
  days               TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, record_id)
) WITHOUT ROWID;
-- How often the history of a tenant's documents was written anew without what was erased; `due` while its repository is still
-- the one from before. Who follows documents by the numbers of commits begins anew when `rewrites` moves.
CREATE TABLE rewriting (
  tenant_id          TEXT    NOT NULL,
  rewrites           INTEGER NOT NULL,
  due                INTEGER NOT NULL,
  PRIMARY KEY (tenant_id)
) WITHOUT ROWID;

-- Plans of erasures that were shown, for a day; figures alone.
CREATE TABLE erasure_preview (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  made_by            TEXT    NOT NULL,
  made_at            INTEGER NOT NULL,
  expires_at         INTEGER NOT NULL,
  figures            TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- Manifests, line by line, of previews and of erasures: ids and scopes, and paths of documents.
CREATE TABLE erasure_line (
  tenant_id          TEXT    NOT NULL,
  plan_id            TEXT    NOT NULL,
  kind               TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, plan_id, kind, id, scope, record_id)
) WITHOUT ROWID;

-- Erasures as jobs. `state` is JSON: what is not searched. While one runs, what its place names is hidden.
CREATE TABLE erasure (
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  scope              TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  cancelling         INTEGER NOT NULL DEFAULT 0,
  next_attempt_at    INTEGER NOT NULL DEFAULT 0,
  lease_until        INTEGER,
  lease_owner        TEXT,
  fence              INTEGER NOT NULL DEFAULT 0,
  state              TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK (status IN ('running', 'completed', 'cancelled', 'failed'))
) WITHOUT ROWID;
CREATE INDEX erasure_running ON erasure (tenant_id, id) WHERE status = 'running';
CREATE INDEX erasure_completed ON erasure (id) WHERE status = 'completed';

-- What had rested on an event that lost its words, and was deleted with them: its id alone, for the event's back-pointers.
CREATE TABLE redacted_derivation (
  tenant_id          TEXT    NOT NULL,
  event_id           TEXT    NOT NULL,
  record_id          TEXT    NOT NULL,
  PRIMARY KEY (tenant_id, event_id, record_id)
) WITHOUT ROWID;

-- How often something was erased whose words may still be in the file, how often of these it was cleared since, and how often pages were.
CREATE TABLE scrubbing (
  id                 INTEGER PRIMARY KEY CHECK (id = 1),
  asked              INTEGER NOT NULL,
  done               INTEGER NOT NULL,
  pages              INTEGER NOT NULL DEFAULT 0
);

-- Messages between peers, in the order in which they landed. They are never changed. `record` is the message as JSON, `path` where
-- its document stands. AUTOINCREMENT: readers go on from a number, so none is given twice, whatever is erased.
CREATE TABLE message (
  number             INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id          TEXT    NOT NULL,
  id                 TEXT    NOT NULL,
  thread_id          TEXT    NOT NULL,
  sender             TEXT    NOT NULL,
  recipient          TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  idempotency_key    TEXT,
  body_hash          TEXT    NOT NULL,
  sent_at            INTEGER NOT NULL,
  record             TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_id ON message (tenant_id, id);
CREATE INDEX message_inbox ON message (tenant_id, recipient, number);
CREATE INDEX message_thread ON message (tenant_id, thread_id, number);
CREATE INDEX message_path ON message (tenant_id, path);
CREATE UNIQUE INDEX message_key ON message (tenant_id, sender, recipient, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- How far the delivery of a message is, of those that somebody follows. `version` rises with each change.
CREATE TABLE delivery (
  tenant_id          TEXT    NOT NULL,
  message_id         TEXT    NOT NULL,
  status             TEXT    NOT NULL,
  requires_ack       INTEGER NOT NULL,
  ack_timeout_s      INTEGER NOT NULL,
  max_retries        INTEGER NOT NULL,
  retry_count        INTEGER NOT NULL,
  ack_deadline       INTEGER,
  updated_at         INTEGER NOT NULL,
  replayed_to        TEXT,
  version            INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, message_id),
  CHECK (status IN ('pending_ack', 'delivered', 'acked', 'dead_letter', 'replayed'))
) STRICT, WITHOUT ROWID;

-- What recipients answered. Never changed.
CREATE TABLE message_ack (
  number             INTEGER PRIMARY KEY,
  tenant_id          TEXT    NOT NULL,
  message_id         TEXT    NOT NULL,
  ack_id             TEXT    NOT NULL,
  path               TEXT    NOT NULL,
  record             TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_ack_id ON message_ack (tenant_id, message_id, ack_id);
CREATE INDEX message_ack_path ON message_ack (tenant_id, path);

-- Nonces of signed envelopes that were used, as hashes. Those without an end stay.
CREATE TABLE message_nonce (
  tenant_id          TEXT    NOT NULL,
  hash               TEXT    NOT NULL,
  seen_at            INTEGER NOT NULL,
  expires_at         INTEGER,
  PRIMARY KEY (tenant_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_nonce_end ON message_nonce (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
