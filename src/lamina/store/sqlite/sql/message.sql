-- name: insert_message
-- A message. Its number is the next one, and none is given twice.
INSERT INTO message (tenant_id, id, thread_id, sender, recipient, path, idempotency_key, body_hash, sent_at, record)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: find_message
-- One message.
SELECT tenant_id, id, thread_id, sender, recipient, path, idempotency_key, body_hash, sent_at, record, number
FROM message WHERE tenant_id = ?1 AND id = ?2;

-- name: find_keyed_message
-- The message that was sent under a key.
SELECT tenant_id, id, thread_id, sender, recipient, path, idempotency_key, body_hash, sent_at, record, number
FROM message WHERE tenant_id = ?1 AND sender = ?2 AND recipient = ?3 AND idempotency_key = ?4;

-- name: inbox_after
-- Messages to a peer, the first past a number.
SELECT tenant_id, id, thread_id, sender, recipient, path, idempotency_key, body_hash, sent_at, record, number
FROM message WHERE tenant_id = ?1 AND recipient = ?2 AND number > ?3 ORDER BY number LIMIT ?4;

-- name: inbox_last
-- Messages to a peer, the last first.
SELECT tenant_id, id, thread_id, sender, recipient, path, idempotency_key, body_hash, sent_at, record, number
FROM message WHERE tenant_id = ?1 AND recipient = ?2 ORDER BY number DESC LIMIT ?3;

-- name: thread_last
-- Messages of a thread that name a peer, or all where ?3 is NULL, the last first.
SELECT tenant_id, id, thread_id, sender, recipient, path, idempotency_key, body_hash, sent_at, record, number
FROM message WHERE tenant_id = ?1 AND thread_id = ?2 AND (?3 IS NULL OR sender = ?3 OR recipient = ?3)
ORDER BY number DESC LIMIT ?4;

-- name: put_delivery
-- How far the delivery of a message is. The version before was looked at in the same transaction.
INSERT INTO delivery (
  tenant_id, message_id, status, requires_ack, ack_timeout_s, max_retries, retry_count, ack_deadline, updated_at, replayed_to, version
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT DO UPDATE SET
  status = excluded.status, ack_deadline = excluded.ack_deadline, updated_at = excluded.updated_at,
  replayed_to = excluded.replayed_to, version = excluded.version;

-- name: find_delivery
-- How far the delivery of a message is.
SELECT status, requires_ack, ack_timeout_s, max_retries, retry_count, ack_deadline, updated_at, replayed_to, version
FROM delivery WHERE tenant_id = ?1 AND message_id = ?2;

-- name: pending_deliveries
-- Messages whose delivery is followed, the newest first. ?2 is a JSON list of statuses as of ?3, or NULL for any.
SELECT m.tenant_id, m.id, m.thread_id, m.sender, m.recipient, m.path, m.idempotency_key, m.body_hash, m.sent_at, m.record, m.number,
  d.status, d.requires_ack, d.ack_timeout_s, d.max_retries, d.retry_count, d.ack_deadline, d.updated_at, d.replayed_to, d.version
FROM delivery AS d CROSS JOIN message AS m
WHERE d.tenant_id = ?1 AND m.tenant_id = d.tenant_id AND m.id = d.message_id
  AND (?2 IS NULL
       OR iif(d.status = 'pending_ack' AND d.ack_deadline <= ?3, 'dead_letter', d.status) IN (SELECT value FROM json_each(?2)))
  AND (?4 IS NULL OR m.sender = ?4 OR m.recipient = ?4)
  AND (?5 IS NULL OR m.recipient = ?5)
ORDER BY m.number DESC LIMIT ?6;

-- name: count_deliveries
-- How many deliveries there are of each status, of all that name a peer.
SELECT iif(d.status = 'pending_ack' AND d.ack_deadline <= ?2, 'dead_letter', d.status) AS state, count(*)
FROM delivery AS d CROSS JOIN message AS m
WHERE d.tenant_id = ?1 AND m.tenant_id = d.tenant_id AND m.id = d.message_id AND (?3 IS NULL OR m.sender = ?3 OR m.recipient = ?3)
GROUP BY state ORDER BY state;

-- name: insert_ack
-- What a recipient answered.
INSERT INTO message_ack (tenant_id, message_id, ack_id, path, record) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: acks_of
-- What was answered to messages, a JSON list, in its order.
SELECT tenant_id, message_id, ack_id, path, record FROM message_ack
WHERE tenant_id = ?1 AND message_id IN (SELECT value FROM json_each(?2)) ORDER BY number;

-- name: find_nonce
-- Whether a nonce was used, as of an instant.
SELECT 1 FROM message_nonce WHERE tenant_id = ?1 AND hash = ?2 AND (expires_at IS NULL OR expires_at > ?3);

-- name: put_nonce
-- The use of a nonce; one of before has expired, and gives way.
INSERT INTO message_nonce (tenant_id, hash, seen_at, expires_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at, expires_at = excluded.expires_at;

-- name: prune_nonces
-- Forget some nonces that have expired: their envelopes have, too.
DELETE FROM message_nonce WHERE tenant_id = ?1 AND hash IN (
  SELECT hash FROM message_nonce WHERE tenant_id = ?1 AND expires_at <= ?2 ORDER BY expires_at LIMIT ?3);

-- name: delete_acks_at
-- Acknowledgements whose documents stood at paths, a JSON list, and those of messages whose documents did.
DELETE FROM message_ack WHERE tenant_id = ?1 AND (
  path IN (SELECT value FROM json_each(?2))
  OR message_id IN (SELECT id FROM message WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2))));

-- name: delete_deliveries_at
-- Deliveries of messages whose documents stood at paths, a JSON list.
DELETE FROM delivery WHERE tenant_id = ?1 AND message_id IN (
  SELECT id FROM message WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2)));

-- name: delete_messages_at
-- Messages whose documents stood at paths, a JSON list.
DELETE FROM message WHERE tenant_id = ?1 AND path IN (SELECT value FROM json_each(?2));

-- name: paths_naming
-- Where messages stand that peers, a JSON list, sent or received, and what was answered to these.
SELECT path FROM message
WHERE tenant_id = ?1 AND (sender IN (SELECT value FROM json_each(?2)) OR recipient IN (SELECT value FROM json_each(?2)))
UNION
SELECT a.path FROM message AS m CROSS JOIN message_ack AS a
WHERE m.tenant_id = ?1 AND a.tenant_id = m.tenant_id AND a.message_id = m.id
  AND (m.sender IN (SELECT value FROM json_each(?2)) OR m.recipient IN (SELECT value FROM json_each(?2)))
ORDER BY path;
