"""Audit chains and peppers: what every engine keeps."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from given import ALICE, BOB, NOON, TENANT, append, audit_draft, draft, key
from lamina.access.chain import check_chain
from lamina.access.retention import Retention
from lamina.access.rules import AuditRules
from lamina.errors import Conflict, Fault
from lamina.kernel.audit import GENESIS, Head, Pepper
from lamina.kernel.ids import RandomIds
from lamina.kernel.time import SECOND_US
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

DAY = 86_400 * SECOND_US


def noted(store: Store, *names: str, **more: object) -> None:
    for name in names:
        store.audit.note(audit_draft(name, **more))
    store.audit.flush()


def numbers(store: Store, **query: object) -> list[int]:
    return [row.number for row in store.audit.query(AuditQuery(tenant_id=TENANT, **query))]


def test_rows_are_numbered_and_each_holds_the_hash_before(store: Store) -> None:
    noted(store, "1", "2", "3")
    rows = store.audit.walk(TENANT, 0, 10)
    assert [row.number for row in rows] == [1, 2, 3]
    assert [row.previous for row in rows] == [GENESIS, rows[0].hash, rows[1].hash]
    assert rows[1].draft == audit_draft("2")
    assert store.audit.get(TENANT, rows[1].draft.id) == rows[1]
    assert store.audit.get("other", rows[1].draft.id) is None
    assert store.audit.heads() == [Head(TENANT, 3, rows[2].hash)]


def test_each_tenant_has_a_chain_of_its_own(store: Store) -> None:
    noted(store, "1")
    noted(store, "1", "2", tenant_id="zeta")
    assert [(head.tenant_id, head.number) for head in store.audit.heads()] == [(TENANT, 1), ("zeta", 2)]
    assert store.audit.walk("zeta", 0, 1)[0].previous == GENESIS


def test_the_row_of_a_write_lands_with_it_and_names_its_event(store: Store) -> None:
    with store.audit.ride(lambda event_id: audit_draft("w", event_id=event_id)) as ride:
        (event,) = append(store, "tea")
        append(store, "a second write takes no row")
    assert ride.landed
    (row,) = store.audit.walk(TENANT, 0, 10)
    assert row.draft.event_id == event.id


def test_a_write_that_fails_takes_its_row_with_it(store: Store) -> None:
    store.log.append([Capture(draft(), key("k"), "h1")])
    with (
        store.audit.ride(lambda event_id: audit_draft("w", event_id=event_id)) as ride,
        pytest.raises(Conflict),
    ):
        store.log.append([Capture(draft(), key("k"), "h2")])
    assert not ride.landed
    assert store.audit.walk(TENANT, 0, 10) == []
    append(store, "behind the block nothing rides")
    assert store.audit.walk(TENANT, 0, 10) == []


def test_a_write_that_is_tried_again_lands_its_row_with_the_try_that_lands(store: Store) -> None:
    store.log.append([Capture(draft(), key("k"), "h1")])
    with store.audit.ride(lambda event_id: audit_draft("w", event_id=event_id)) as ride:
        for _ in range(2):
            with pytest.raises(Conflict):
                store.log.append([Capture(draft(), key("k"), "h2")])
        (event,) = append(store, "tea")
        append(store, "a write behind it takes no row")
    assert ride.landed
    assert [row.draft.event_id for row in store.audit.walk(TENANT, 0, 10)] == [event.id]


def test_a_row_that_cannot_be_made_stops_the_write(store: Store) -> None:
    def broken(event_id: str | None) -> None:
        raise RuntimeError("no row")

    with store.audit.ride(broken), pytest.raises(RuntimeError):  # type: ignore[arg-type]
        append(store, "unseen")
    assert store.log.walk(TENANT, 0, 10) == []


HALF_AN_EMOJI = "\ud83d"


def test_a_row_that_cannot_be_stored_is_set_aside_and_takes_nothing_with_it(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    noted(store, "1")
    for name in ("2", "3", "4"):
        store.audit.note(audit_draft(name, user_agent=HALF_AN_EMOJI if name == "3" else "curl"))
    append(store, "tea")
    noted(store, "5")
    rows = store.audit.walk(TENANT, 0, 10)
    assert [row.draft.id for row in rows] == [audit_draft(name).id for name in ("1", "2", "4", "5")]
    assert [row.number for row in rows] == [1, 2, 3, 4]
    assert check_chain(store.audit, TENANT).broken is None
    (said,) = [each.getMessage() for each in caplog.records if each.name == "lamina.store"]
    assert audit_draft("3").id in said
    assert HALF_AN_EMOJI not in said


def test_a_row_that_cannot_be_stored_stops_its_own_write_alone(store: Store) -> None:
    with (
        pytest.raises(ValueError),
        store.audit.ride(lambda event_id: audit_draft("w", user_agent=HALF_AN_EMOJI, event_id=event_id)),
    ):
        append(store, "tea")
    append(store, "coffee")
    assert [event.content["text"] for event in store.log.walk(TENANT, 0, 10)] == ["coffee"]
    assert store.audit.walk(TENANT, 0, 10) == []


def test_a_row_that_cannot_be_stored_stops_no_write_beside_it(store: Store) -> None:
    def riding(number: int) -> int:
        failed, agent = 0, HALF_AN_EMOJI if number % 2 else "curl"
        for turn in range(20):
            name = f"{number}-{turn}"
            try:
                with store.audit.ride(
                    lambda event_id, name=name: audit_draft(name, user_agent=agent, event_id=event_id)
                ):
                    append(store, name)
            except ValueError:
                failed += 1
        return failed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(riding, range(8))) == [0, 20] * 4
    assert {event.content["text"][0] for event in store.log.walk(TENANT, 0, 1000)} == set("0246")
    assert len(store.audit.walk(TENANT, 0, 1000)) == 80
    assert check_chain(store.audit, TENANT).broken is None


def test_a_row_that_stands_already_is_set_aside(store: Store) -> None:
    if not isinstance(store, SqliteStore):
        pytest.skip("what this engine holds has no constraints")
    noted(store, *"abc")
    noted(store, "d", "a", "e")
    rows = store.audit.walk(TENANT, 0, 10)
    assert [row.draft.id for row in rows] == [audit_draft(name).id for name in "abcde"]
    assert check_chain(store.audit, TENANT).broken is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"limit": 2}, [4, 3]),
        ({"before": 3}, [2, 1]),
        ({"actor": "user:bob"}, [2]),
        ({"actor": "user:alice", "before": 4}, [3, 1]),
        ({"decision": "deny"}, [3]),
        ({"capability": "audit.read"}, [3]),
        ({"endpoint": "GET /v1/facts"}, [4]),
        ({"within": ALICE}, [4, 3, 1]),
        ({"within": BOB}, [2]),
        ({"since": NOON + 2}, [4, 3]),
        ({"until": NOON + 2}, [2, 1]),
    ],
)
def test_rows_are_found_newest_first(store: Store, query: dict[str, object], found: list[int]) -> None:
    noted(store, "1", at=NOON)
    noted(store, "2", at=NOON + 1, actor="user:bob", scope=str(BOB))
    noted(store, "3", at=NOON + 2, decision="deny", capability="audit.read", scope=f"{ALICE}/ws:x")
    noted(store, "4", at=NOON + 3, endpoint="GET /v1/facts")
    assert numbers(store, **query) == found


def test_the_chain_holds_across_concurrent_writers(store: Store) -> None:
    def work(name: str) -> None:
        for turn in range(20):
            if turn % 2:
                store.audit.note(audit_draft(f"{name}-{turn}"))
            else:
                make = audit_draft(f"{name}-{turn}")
                with store.audit.ride(lambda event_id, make=make: make):
                    append(store, f"{name} {turn}")

    threads = [threading.Thread(target=work, args=(str(n),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.audit.flush()
    checked = check_chain(store.audit, TENANT)
    assert (checked.rows, checked.broken) == (120, None)


def test_peppers_count_up_and_stay_while_a_row_needs_them(store: Store) -> None:
    first = store.peppers.add(Pepper(TENANT, 1, b"one", NOON))
    assert store.peppers.add(Pepper(TENANT, 1, b"late", NOON + 1)) == first
    second = store.peppers.add(Pepper(TENANT, 2, b"two", NOON + DAY))
    assert store.peppers.current(TENANT) == second
    assert store.peppers.current("other") is None
    noted(store, "1")
    assert store.peppers.prune(TENANT, NOON + 9 * DAY) == 0
    assert store.peppers.get(TENANT, 1) == first


def test_old_peppers_go_once_nothing_needs_them(store: Store) -> None:
    for version in (1, 2, 3):
        store.peppers.add(Pepper(TENANT, version, b"p", NOON + version * DAY))
    assert store.peppers.prune(TENANT, NOON + 3 * DAY) == 1
    assert [store.peppers.get(TENANT, version) is None for version in (1, 2, 3)] == [True, False, False]


# ---- retention


class _Clock:
    def __init__(self, at: int) -> None:
        self.at = at

    def now(self) -> int:
        return self.at


def retention(store: Store, at: int) -> Retention:
    rules = AuditRules(retention_us=10 * DAY)
    return Retention(store, RandomIds(), _Clock(at), lambda tenant_id: rules)


def aged(store: Store, *, gdpr: tuple[int, ...] = ()) -> None:
    for day in range(1, 7):
        noted(store, str(day), at=NOON + day * DAY, gdpr=int(day in gdpr))


def test_pruning_keeps_the_chain_verifiable_and_gdpr_rows(store: Store) -> None:
    aged(store, gdpr=(2,))
    head = store.audit.heads()[0]
    assert retention(store, NOON + 13 * DAY + 1).run() == 2
    assert numbers(store) == [7, 6, 5, 4, 2]
    assert check_chain(store.audit, TENANT, head).broken is None
    assert retention(store, NOON + 15 * DAY + 1).run() == 2
    assert numbers(store) == [8, 7, 6, 2]
    assert check_chain(store.audit, TENANT).broken is None
    assert store.audit.walk(TENANT, 6, 1)[0].draft.actor == "system:retention"


def test_nothing_is_pruned_before_its_time(store: Store) -> None:
    aged(store)
    assert retention(store, NOON + 11 * DAY).run() == 0
    assert store.audit.anchor(TENANT) is None


def test_a_head_of_a_pruned_row_cannot_be_compared(store: Store) -> None:
    aged(store)
    old = store.audit.walk(TENANT, 0, 1)[0]
    retention(store, NOON + 13 * DAY + 1).run()
    checked = check_chain(store.audit, TENANT, Head(TENANT, 1, old.hash))
    assert (checked.broken, checked.head_compared) == (None, False)


def test_an_anchor_that_was_not_recorded_is_noticed(store: Store) -> None:
    aged(store)
    last = store.audit.walk(TENANT, 1, 1)[0]
    retention(store, NOON + 12 * DAY + 1).run()
    anchor = store.audit.anchor(TENANT)
    assert anchor is not None
    assert anchor.number == last.number
    row = store.audit.walk(TENANT, 6, 1)[0]
    forged = replace(anchor, number=4, hash=store.audit.walk(TENANT, 3, 1)[0].hash, row_id=row.draft.id)
    store.audit.prune(forged, audit_draft("cover"))
    broken = check_chain(store.audit, TENANT).broken
    assert broken is not None
    assert "not recorded" in broken.reason


def test_a_head_finds_what_was_cut_off_and_what_was_written_anew(store: Store) -> None:
    noted(store, "1", "2")
    head = store.audit.heads()[0]
    assert check_chain(store.audit, TENANT, head).broken is None
    assert check_chain(store.audit, TENANT, Head(TENANT, 3, head.hash)).broken is not None
    broken = check_chain(store.audit, TENANT, Head(TENANT, 1, head.hash)).broken
    assert broken is not None
    assert broken.number == 1


def test_a_broken_chain_is_not_pruned(store: Store) -> None:
    aged(store)
    rows = store.audit.walk(TENANT, 0, 10)
    first = replace(rows[0], draft=rows[0].draft._replace(actor="user:mallory"))

    class Tampered:
        def __getattr__(self, name: str) -> object:
            return getattr(store.audit, name)

        def walk(self, tenant_id: str, after: int, limit: int) -> list[object]:
            return [first, *rows[1:]]

    class Around:
        audit = Tampered()
        peppers = store.peppers

    with pytest.raises(Fault) as caught:
        retention(Around(), NOON + 99 * DAY).run()  # type: ignore[arg-type]
    assert caught.value.code == "AUDIT_CHAIN_BROKEN"
    assert len(store.audit.walk(TENANT, 0, 10)) == 6


def test_a_tenant_whose_chain_is_broken_keeps_no_other_from_being_pruned(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenant_id in "abc":
        noted(store, "1", tenant_id=tenant_id)
    daily = retention(store, NOON + 99 * DAY)
    prune = daily.prune

    def refuse_b(tenant_id: str) -> int:
        if tenant_id == "b":
            raise Fault("AUDIT_CHAIN_BROKEN", "not as it was written")
        return prune(tenant_id)

    monkeypatch.setattr(daily, "prune", refuse_b)
    with pytest.raises(Fault):
        daily.run()
    anchors = [store.audit.anchor(tenant_id) for tenant_id in "abc"]
    assert [None if anchor is None else anchor.number for anchor in anchors] == [1, None, 1]
