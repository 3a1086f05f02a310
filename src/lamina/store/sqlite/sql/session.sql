-- name: latest_session
-- The latest sitting of a session.
SELECT * FROM session WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 ORDER BY number DESC LIMIT 1;

-- name: find_session
-- One sitting.
SELECT * FROM session WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND number = ?4;

-- name: put_session
-- A sitting as it stands now.
INSERT INTO session (tenant_id, scope, session, number, window_events, turns, folded, summary, bridge, opened_at,
                     touched_at, last_turn_at, last_position, closed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT (tenant_id, scope, session, number) DO UPDATE
SET window_events = excluded.window_events, turns = excluded.turns, touched_at = excluded.touched_at,
    last_turn_at = excluded.last_turn_at, last_position = excluded.last_position, closed_at = excluded.closed_at;

-- name: newest_sessions
-- The sittings of a scope, those with the newest turns first.
SELECT * FROM session WHERE tenant_id = ?1 AND scope = ?2 ORDER BY last_position DESC LIMIT ?3;

-- name: idle_sessions
-- Open sittings without a turn since an instant, longest first.
SELECT tenant_id, scope, session FROM session
WHERE closed_at IS NULL AND touched_at < ?1 ORDER BY touched_at LIMIT ?2;

-- name: insert_outbox
-- A turn that left its window.
INSERT INTO outbox (tenant_id, scope, session, sitting, event_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: outbox_heads
-- The first pending row of each session, where it is due: it holds back all behind it. The index is skipped through from
-- session to session, so that a long queue behind a target that is down costs nothing.
WITH RECURSIVE head (id) AS (
  SELECT * FROM (SELECT id FROM outbox INDEXED BY outbox_pending
                 WHERE state = 'pending' ORDER BY tenant_id, scope, session, id LIMIT 1)
  UNION ALL
  SELECT coalesce(
    (SELECT n.id FROM outbox AS n INDEXED BY outbox_pending WHERE n.state = 'pending'
       AND n.tenant_id = o.tenant_id AND n.scope = o.scope AND n.session > o.session ORDER BY n.session, n.id LIMIT 1),
    (SELECT n.id FROM outbox AS n INDEXED BY outbox_pending WHERE n.state = 'pending'
       AND n.tenant_id = o.tenant_id AND n.scope > o.scope ORDER BY n.scope, n.session, n.id LIMIT 1),
    (SELECT n.id FROM outbox AS n INDEXED BY outbox_pending WHERE n.state = 'pending'
       AND n.tenant_id > o.tenant_id ORDER BY n.tenant_id, n.scope, n.session, n.id LIMIT 1))
  FROM head CROSS JOIN outbox AS o ON o.id = head.id
)
SELECT o.tenant_id, o.scope, o.session FROM head CROSS JOIN outbox AS o ON o.id = head.id
WHERE coalesce(o.next_attempt_at, 0) NOT BETWEEN ?1 + 1 AND ?1 + 86400000000 AND coalesce(o.lease_until, 0) NOT BETWEEN ?1 + 1 AND ?1 + 86400000000
ORDER BY o.id LIMIT ?2;

-- name: outbox_of_session
-- The first pending rows of a session, in the order of leaving.
SELECT * FROM outbox INDEXED BY outbox_pending
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND state = 'pending' ORDER BY id LIMIT ?4;

-- name: outbox_unfolded
-- The newest turns that left the window of a sitting and are not folded, the newest first.
SELECT event_id FROM outbox INDEXED BY outbox_pending
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND state = 'pending' AND sitting = ?4 AND folded_at IS NULL
ORDER BY id DESC LIMIT ?5;

-- name: sitting_left
-- The sitting whose window an event has left.
SELECT sitting FROM outbox WHERE tenant_id = ?1 AND event_id = ?2 AND scope = ?3;

-- name: outbox_of_sitting
-- The rows of a sitting, in the order of leaving. They are found by the events of its session.
SELECT o.id, o.tenant_id, o.scope, o.session, o.sitting, o.event_id, o.sent_at, o.created_at
FROM event AS e INDEXED BY event_session CROSS JOIN outbox AS o ON o.tenant_id = e.tenant_id AND o.event_id = e.id
WHERE e.tenant_id = ?1 AND e.scope = ?2 AND e.session = ?3 AND o.sitting = ?4 ORDER BY o.id;

-- name: folded_turns
-- The turns that the summary of a sitting tells of, in the order of leaving.
SELECT o.event_id
FROM event AS e INDEXED BY event_session CROSS JOIN outbox AS o ON o.tenant_id = e.tenant_id AND o.event_id = e.id
WHERE e.tenant_id = ?1 AND e.scope = ?2 AND e.session = ?3 AND o.sitting = ?4 AND o.folded_at IS NOT NULL ORDER BY o.id;

-- name: sittings_after
-- The sittings of every tenant from behind one on.
SELECT * FROM session WHERE (tenant_id, scope, session, number) > (?1, ?2, ?3, ?4)
ORDER BY tenant_id, scope, session, number LIMIT ?5;

-- name: drop_outbox
-- Take a row out.
DELETE FROM outbox WHERE tenant_id = ?1 AND id = ?2;

-- name: requeue_outbox
-- Put a row behind all others, to be folded anew; it keeps when it was sent.
INSERT INTO outbox (tenant_id, scope, session, sitting, event_id, sent_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: unfold_session
-- Forget what a sitting's summary and bridge tell.
UPDATE session SET summary = '', bridge = NULL, folded = 0, worded = NULL, revision = revision + 1
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND number = ?4;

-- name: lease_outbox
-- Take a row.
UPDATE outbox SET lease_until = ?2, lease_owner = ?3, fence = ?4 WHERE id = ?1;

-- name: fold_outbox
-- Note that rows leased under the fence ?6 are folded, sent too where ?5 says so, else their attempts count anew: ?2 is a JSON
-- list, rows folded before are left alone.
UPDATE outbox
SET folded_at = ?3, state = iif(?5, 'sent', state), sent_at = iif(?5, ?3, sent_at),
    attempts = iif(?5, attempts + 1, 0), next_attempt_at = NULL, lease_until = iif(?5, NULL, lease_until),
    lease_owner = iif(?5, NULL, lease_owner), fence = iif(?5, 0, fence), last_error = NULL
WHERE tenant_id = ?1 AND sitting = ?4 AND id IN (SELECT value FROM json_each(?2)) AND folded_at IS NULL
  AND fence = ?6;

-- name: fold_session
-- What a sitting's summary tells now, of ?6 turns more, unless it changed since it was at the revision ?9; the bridge where one is
-- given. Where a model is asked, ?8, it goes on from what was told before; else the rules' words stand.
UPDATE session SET summary = ?5, folded = folded + ?6, bridge = coalesce(?7, bridge), revision = revision + 1,
                   worded = iif(?8, coalesce(worded, summary), NULL)
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND number = ?4 AND revision = ?9;

-- name: word_session
-- What a language model makes of one turn more of a sitting, unless the summary changed since the revision ?8. ?5 is null once
-- nothing waits for the model; ?6 and ?7 stay as they are where they are null.
UPDATE session SET worded = ?5, summary = coalesce(?6, summary), bridge = coalesce(?7, bridge), revision = revision + 1
WHERE tenant_id = ?1 AND scope = ?2 AND session = ?3 AND number = ?4 AND revision = ?8;

-- name: outbox_of_event
-- Where an event that left its window stood.
SELECT scope, session, sitting FROM outbox WHERE tenant_id = ?1 AND event_id = ?2;

-- name: turns_to_word
-- The turns of a sitting that wait for a model's words, in the order of leaving.
SELECT i.event_id FROM inquiry AS i INDEXED BY inquiry_open
CROSS JOIN outbox AS o ON o.tenant_id = i.tenant_id AND o.event_id = i.event_id
WHERE i.tenant_id = ?1 AND i.scope = ?2 AND i.state IN ('pending', 'answered') AND i.task = ?5
  AND o.session = ?3 AND o.sitting = ?4
ORDER BY i.position, i.id LIMIT ?6;

-- name: send_outbox
-- Everybody has had these rows: ?1 is a JSON list of ids and of fences that still have to hold.
UPDATE outbox SET state = 'sent', attempts = attempts + 1, sent_at = ?2, next_attempt_at = NULL, lease_until = NULL,
                  lease_owner = NULL, fence = 0, last_error = NULL
FROM json_each(?1) AS held
WHERE outbox.id = held.value ->> 0 AND fence = held.value ->> 1 AND state <> 'sent';

-- name: put_off_outbox
-- A failed attempt under the fence ?5: due again at ?3, or failed for good when ?4.
UPDATE outbox SET attempts = attempts + 1, last_error = ?2, next_attempt_at = ?3, lease_until = NULL,
                  lease_owner = NULL, fence = 0, state = iif(?4, 'failed', 'pending')
WHERE id = ?1 AND state = 'pending' AND fence = ?5;

-- name: release_outbox
-- Give leases back: ?1 is a JSON list of ids and fences.
UPDATE outbox SET lease_until = NULL, lease_owner = NULL, fence = 0
FROM json_each(?1) AS held
WHERE outbox.id = held.value ->> 0 AND fence = held.value ->> 1;

-- name: outbox_leases_left
-- The leases of those who are gone end.
UPDATE outbox SET lease_until = NULL, lease_owner = NULL, fence = 0 WHERE state = 'pending' AND lease_until IS NOT NULL;

-- name: revive_outbox
-- Rows of a tenant that failed for good are due again, at or under a scope.
UPDATE outbox SET state = 'pending', attempts = 0, next_attempt_at = NULL
WHERE tenant_id = ?1 AND state = 'failed' AND (scope = ?2 OR (scope >= ?3 AND scope < ?4));

-- name: outbox_left
-- Rows that are not sent, newest first, at or under a scope where one is given.
SELECT * FROM outbox
WHERE tenant_id = ?1 AND state <> 'sent' AND (?2 IS NULL OR scope = ?2 OR (scope >= ?3 AND scope < ?4))
ORDER BY id DESC LIMIT ?5;

-- name: count_failed_outbox
-- How many rows failed for good.
SELECT count(*) FROM outbox INDEXED BY outbox_left WHERE state <> 'sent' AND state = 'failed';
