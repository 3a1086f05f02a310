"""What every engine promises about sittings, their windows and the outbox."""

from __future__ import annotations

from typing import Any

import pytest

from given import ALICE, BOB, NOON, TENANT, ManualClock, draft, outbox_states
from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.events import Context
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.idempotency import IdempotencyKey
from lamina.store.ports.log import Capture
from lamina.store.ports.sessions import End, Fold, OutboxRow, SessionKey
from lamina.store.ports.store import Store

HOME = SessionKey(TENANT, ALICE, "s-1")
MINUTE = 60 * SECOND_US
DAY = 24 * 60 * MINUTE
LEASE = NOON + 30 * SECOND_US


def turn(text: str = "hello", at: int = NOON, key: str | None = None, place: SessionKey = HOME) -> Capture:
    given = draft(
        text,
        place.scope,
        tenant_id=place.tenant_id,
        session=place.session,
        context=Context(observed_at=at),
    )
    return Capture(given, key and IdempotencyKey(place.tenant_id, "service:app", "turn", key), text)


def take(store: Store, count: int, at: int = NOON, place: SessionKey = HOME) -> list[str]:
    return [store.sessions.take([turn(f"turn {n}", at, place=place)])[0].event.id for n in range(count)]


def claim(store: Store, now: int = NOON, limit: int = 100, owner: str = "drain") -> list[OutboxRow]:
    return store.sessions.claim(limit=limit, lease_until=now + 30 * SECOND_US, now=now, owner=owner)


def fold(rows: list[OutboxRow], summary: str = "told", **more: Any) -> Fold:
    values: dict[str, Any] = {"bridge": None, "at": NOON, "sent": False, "revision": 0, **more}
    ids = tuple(row.id for row in rows)
    of = rows[0]
    return Fold(place=of.place, number=of.sitting, ids=ids, fence=of.fence, summary=summary, **values)


def test_the_window_holds_the_newest_turns_and_the_outbox_what_left_it(store: Store) -> None:
    ids = take(store, 15)
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert list(sitting.window) == list(sitting.buffered) == ids[3:]
    assert (sitting.number, sitting.turns, sitting.folded, sitting.summary) == (1, 15, 0, "")
    assert [row.event_id for row in store.sessions.outbox(TENANT, None, 9)] == ids[2::-1]


@pytest.mark.parametrize(
    ("ended_at", "later", "closes"),
    [(NOON + MINUTE, None, True), (NOON - MINUTE, None, True), (NOON + DAY, MINUTE, False)],
)
def test_an_end_closes_the_sitting_of_its_turns_unless_somebody_spoke_since(
    store: Store, ended_at: int, later: int | None, closes: bool
) -> None:
    turns = [turn("tea", NOON - MINUTE, key="a"), turn("coffee", NOON, key="b")]
    store.sessions.take(turns)
    if later is not None:
        store.sessions.take([turn("milk", NOON + later)])
    taken = store.sessions.take(turns, end=End(ended_at, NOON + DAY))
    assert all(entry.replayed for entry in taken)
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.closed_at == NOON + DAY) is closes
    left = [row.event_id for row in store.sessions.outbox(TENANT, None, 9)][::-1]
    assert left == ([entry.event.id for entry in taken] if closes else [])


def test_an_end_closes_no_sitting_with_turns_of_a_later_time(store: Store) -> None:
    take(store, 1, NOON)
    store.sessions.take([turn("old", NOON - DAY)], end=End(NOON - DAY + MINUTE, NOON))
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.turns, sitting.closed_at) == (2, None)


def test_a_turn_is_an_event_of_the_log(store: Store) -> None:
    (taken,) = store.sessions.take([turn("tea")])
    assert store.log.get(TENANT, [taken.event.id]) == {taken.event.id: taken.event}
    assert store.jobs.backlog()["pending"] == 1


def test_a_replayed_turn_moves_nothing(store: Store) -> None:
    first = store.sessions.take([turn("tea", key="a")])[0]
    again = store.sessions.take([turn("tea", key="a")])[0]
    assert again.replayed
    assert again.event == first.event
    assert [s.turns for s in store.sessions.newest(TENANT, ALICE, 9)] == [1]
    with pytest.raises(Conflict):
        store.sessions.take([turn("coffee", key="a"), turn("milk")])
    assert [s.turns for s in store.sessions.newest(TENANT, ALICE, 9)] == [1]


def test_a_long_gap_closes_the_sitting_before_the_new_turn(store: Store) -> None:
    ids = take(store, 3)
    gap = limits.SESSION_GAP_S * SECOND_US
    take(store, 1, NOON + gap)
    assert [s.number for s in store.sessions.newest(TENANT, ALICE, 9)] == [1]
    (late,) = take(store, 1, NOON + 2 * gap + 1)
    newest, older = store.sessions.newest(TENANT, ALICE, 9)
    assert (newest.number, newest.window, newest.closed_at) == (2, (late,), None)
    assert (older.number, older.turns, older.buffered) == (1, 4, ())
    assert older.closed_at is not None
    assert [row.event_id for row in store.sessions.outbox(TENANT, None, 9)][::-1][:3] == ids


def test_turns_out_of_order_stay_in_their_sitting(store: Store) -> None:
    take(store, 1, NOON)
    take(store, 1, NOON - 90 * MINUTE)
    take(store, 1, NOON + 20 * MINUTE)
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.number, sitting.turns, sitting.last_turn_at) == (1, 3, NOON + 20 * MINUTE)


@pytest.mark.parametrize("wrong", [40 * MINUTE, DAY, 300 * DAY, 100 * 365 * DAY])
def test_a_turn_with_a_wrong_clock_does_not_keep_its_session_in_one_sitting(
    store: Store, clock: ManualClock, wrong: int
) -> None:
    numbers = []
    for said, ahead in ((0, 0), (MINUTE, wrong), (2 * MINUTE, 0), (DAY, 0), (2 * DAY, 0)):
        clock.at = NOON + said
        take(store, 1, clock.at + ahead)
        numbers.append(store.sessions.newest(TENANT, ALICE, 1)[0].number)
    assert [later - numbers[2] for later in numbers[3:]] == [1, 2]


def test_a_turn_of_another_century_leaves_a_conversation_together(store: Store, clock: ManualClock) -> None:
    for said, dated in ((0, 0), (MINUTE, 100 * 365 * DAY), (2 * MINUTE, 0), (3 * MINUTE, -1900 * 365 * DAY)):
        clock.at = NOON + said
        take(store, 1, clock.at + dated)
    (sitting,) = store.sessions.newest(TENANT, ALICE, 9)
    assert (sitting.turns, sitting.last_turn_at) == (4, NOON + 2 * MINUTE)


def test_turns_that_are_all_dated_ahead_are_told_apart_by_their_own_times(store: Store) -> None:
    for at in (DAY, DAY + MINUTE, DAY, 2 * DAY):
        take(store, 1, NOON + at)
    assert [s.turns for s in store.sessions.newest(TENANT, ALICE, 9)] == [1, 3]


def test_tenants_and_users_with_equal_ids_stay_apart(store: Store) -> None:
    others = [HOME._replace(tenant_id="other"), HOME._replace(scope=BOB), HOME._replace(session="s-2")]
    take(store, 2)
    for place in others:
        assert store.sessions.sitting(place) is None
        take(store, 13, place=place)
        take(store, 1, NOON + 90 * MINUTE, place=place)
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.turns, sitting.closed_at) == (2, None)
    assert {row.place for row in store.sessions.outbox("other", None, 99)} == {others[0]}
    assert {row.place for row in store.sessions.outbox(TENANT, BOB, 99)} == {others[1]}
    assert store.sessions.outbox(TENANT, Scope("org:acm"), 99) == []


def test_a_session_is_closed_once(store: Store) -> None:
    ids = take(store, 2)
    assert store.sessions.close(HOME, NOON, untouched_since=NOON) is None
    ended = store.sessions.close(HOME, NOON + 9)
    assert ended is not None
    assert ended == store.sessions.sitting(HOME)
    assert (ended.closed_at, ended.window, ended.buffered) == (NOON + 9, tuple(ids), ())
    assert store.sessions.close(HOME, NOON + 9) is None
    assert len(store.sessions.outbox(TENANT, None, 9)) == 2
    take(store, 1)
    assert [s.number for s in store.sessions.newest(TENANT, ALICE, 9)] == [2, 1]
    assert store.sessions.sitting(HOME, 1) == ended


def test_idle_sessions_are_those_without_a_new_turn(store: Store, clock: ManualClock) -> None:
    take(store, 1)
    clock.at += 10 * MINUTE
    take(store, 1, place=HOME._replace(session="s-2"))
    assert store.sessions.idle(NOON, 9) == []
    assert store.sessions.idle(NOON + MINUTE, 9) == [HOME]
    assert store.sessions.close(HOME, clock.at, untouched_since=NOON + MINUTE) is not None
    assert store.sessions.idle(NOON + MINUTE, 9) == []


def test_nothing_overtakes_in_a_session(store: Store) -> None:
    take(store, 15)
    take(store, 13, place=HOME._replace(session="s-2"))
    first = claim(store, limit=1)
    assert [row.place.session for row in claim(store)] == ["s-2"]
    store.sessions.put_off(first[0], "down", retry_at=NOON + 5, failed=False)
    assert claim(store, NOON + 4) == []
    assert [row.id for row in claim(store, NOON + 5)] == [1, 2, 3]


def test_what_a_clock_ahead_put_off_is_sent(store: Store) -> None:
    """It stood a year ahead while the graph was not there."""
    take(store, 15)
    first = claim(store, limit=1)
    store.sessions.put_off(first[0], "down", retry_at=NOON + 366 * 1440 * MINUTE, failed=False)
    assert [row.id for row in claim(store)][:1] == [first[0].id]


def test_a_long_session_keeps_nobody_waiting(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OUTBOX_SESSION_ROWS_MAX", 2)
    take(store, 17)
    for name in ("s-2", "s-3"):
        take(store, 13, place=HOME._replace(session=name))
    assert [row.id for row in claim(store, limit=3)] == [1, 2, 6]
    assert [row.id for row in claim(store)] == [7]


def test_a_lease_ends_by_time_or_when_given_back(store: Store) -> None:
    take(store, 13)
    rows = claim(store)
    assert claim(store, LEASE - 1) == []
    again = claim(store, LEASE)
    assert [row.id for row in again] == [row.id for row in rows]
    store.sessions.release(again)
    assert len(claim(store)) == 1
    assert store.sessions.take_over() == 1
    assert store.sessions.take_over() == 0
    assert len(claim(store)) == 1


def test_who_lost_its_lease_changes_nothing(store: Store) -> None:
    take(store, 14)
    late = claim(store)
    held = claim(store, LEASE)
    store.sessions.put_off(late[0], "late", retry_at=None, failed=True)
    store.sessions.sent(late, NOON)
    store.sessions.release(late)
    assert {
        (row.id, row.state, row.attempts, row.lease_until) for row in store.sessions.outbox(TENANT, None, 9)
    } == {(row.id, "pending", 0, LEASE + 30 * SECOND_US) for row in held}
    store.sessions.put_off(held[0], "down", retry_at=None, failed=True)
    store.sessions.sent(held[1:], NOON)
    assert outbox_states(store) == ["failed"]


def test_a_turn_is_folded_once(store: Store) -> None:
    take(store, 14)
    rows = claim(store)
    assert store.sessions.fold(fold(rows))
    assert not store.sessions.fold(fold(rows, "twice"))
    assert not store.sessions.fold(fold(rows[:1], "twice"))
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.summary, sitting.folded, sitting.bridge) == ("told", 2, None)
    assert {row.folded_at for row in store.sessions.outbox(TENANT, None, 9)} == {NOON}


def test_a_fold_keeps_what_turns_did_meanwhile(store: Store) -> None:
    take(store, 13)
    rows = claim(store)
    (late,) = take(store, 1)
    assert store.sessions.fold(fold(rows, bridge="last time", sent=True))
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.turns, sitting.window[-1], sitting.folded, sitting.bridge) == (14, late, 1, "last time")
    take(store, 1)
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.summary, sitting.folded) == ("told", 1)


def test_a_row_that_failed_before_names_its_next_attempt(store: Store) -> None:
    take(store, 13)
    (row,) = claim(store)
    store.sessions.put_off(row, "x" * 9999, retry_at=NOON + 5, failed=False)
    (kept,) = store.sessions.outbox(TENANT, None, 9)
    assert (kept.state, kept.attempts, kept.next_attempt_at, kept.lease_until) == (
        "pending",
        1,
        NOON + 5,
        None,
    )
    assert kept.last_error == "x" * limits.JOB_ERROR_LENGTH_MAX


def test_a_failed_row_holds_nobody_back_and_can_be_revived(store: Store) -> None:
    take(store, 14)
    first, second = claim(store)
    store.sessions.put_off(first, "400", retry_at=None, failed=True)
    store.sessions.sent([second], NOON)
    assert outbox_states(store) == ["failed"]
    assert store.upkeep.state().outbox_failed == 1
    assert claim(store, LEASE) == []
    assert store.sessions.revive("other", ALICE) == 0
    assert store.sessions.revive(TENANT, Scope("org:acme")) == 1
    assert store.upkeep.state().outbox_failed == 0
    assert [(row.id, row.attempts) for row in claim(store, LEASE)] == [(first.id, 0)]
    assert store.sessions.outbox("other", None, 9) == []


def test_what_was_told_of_a_cancelled_turn_starts_over(store: Store) -> None:
    ids = take(store, 14)
    store.sessions.close(HOME, NOON)
    rows = claim(store)
    assert store.sessions.fold(fold(rows, "secret", bridge="Last session:\nsecret", sent=True))
    store.log.cancel(TENANT, ids[1])
    sitting = store.sessions.sitting(HOME)
    assert sitting is not None
    assert (sitting.summary, sitting.bridge, sitting.folded, sitting.lags) == ("", None, 0, True)
    assert store.sessions.unfolded(HOME, 1, 99) == ids
    assert store.sessions.unfolded(HOME, 1, 3) == ids[-3:]
    again = claim(store)
    assert [(row.event_id, row.sent_at) for row in again] == [(event_id, NOON) for event_id in ids]
    assert store.sessions.fold(fold(again, "told", revision=sitting.revision))
    assert store.sessions.unfolded(HOME, 1, 99) == []


def test_a_fold_that_is_under_way_when_its_turn_is_cancelled_lands_nothing(store: Store) -> None:
    ids = take(store, 14)
    rows = claim(store)
    store.log.cancel(TENANT, ids[0])
    assert not store.sessions.fold(fold(rows, "secret"))
    store.sessions.sent([rows[0]], NOON)
    store.sessions.put_off(rows[1], "down", retry_at=None, failed=True)
    store.sessions.release(rows)
    assert outbox_states(store) == ["pending", "pending"]


def test_a_sitting_whose_window_holds_the_cancelled_turn_keeps_what_it_tells(store: Store) -> None:
    ids = take(store, 14)
    other = SessionKey(TENANT, ALICE, "s-2")
    take(store, 13, place=other)
    claimed = claim(store)
    for place in (HOME, other):
        assert store.sessions.fold(fold([row for row in claimed if row.place == place]))
    store.log.cancel(TENANT, ids[5])
    assert {s.summary for s in store.sessions.newest(TENANT, ALICE, 9)} == {"told"}
