"""What every engine promises of scopes."""

from __future__ import annotations

from dataclasses import replace

from given import ALICE, BOB, NOON, TENANT, ManualClock, append
from lamina.kernel.events import Directives
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.registry import ScopeState
from lamina.store.ports.store import Store


def test_the_scopes_that_were_told_of_last_come_first(store: Store) -> None:
    assert store.log.told_last(9) == []
    append(store, "a", scope=BOB)
    append(store, "b", "c")
    append(store, "d", tenant_id="other")
    append(store, "e")
    assert store.log.told_last(9) == [(TENANT, ALICE), ("other", ALICE), (TENANT, BOB)]
    assert store.log.told_last(2) == [(TENANT, ALICE), ("other", ALICE)]


def test_when_scopes_last_recorded_something(store: Store) -> None:
    assert store.log.last_recorded(TENANT, [ALICE, BOB]) is None
    first, second, third = append(store, "a", scope=BOB) + append(store, "b", "c")
    append(store, "d", tenant_id="other")
    store.log.cancel(TENANT, third.id)
    assert store.log.last_recorded(TENANT, [ALICE]) == third.recorded_at
    assert store.log.last_recorded(TENANT, [BOB]) == first.recorded_at
    assert store.log.last_recorded(TENANT, [BOB, ALICE]) == third.recorded_at
    assert store.log.last_recorded(TENANT, []) is None
    assert second.recorded_at < third.recorded_at


# ---- scopes


def test_a_scope_registers_itself_with_its_first_writer(store: Store, clock: ManualClock) -> None:
    append(store, "a", caller="service:first")
    clock.at += 5
    append(store, "b", caller="service:second")
    row = store.scopes.get(TENANT, ALICE)
    assert row is not None
    assert (row.path, row.created_by, row.created_at) == (ALICE, "service:first", NOON)
    assert row.auto_provisioned
    assert store.scopes.get("other", ALICE) is None


def test_scopes_below_a_path_stop_at_the_segment(store: Store) -> None:
    paths = ["org:a", "org:a-b", "org:a/user:x", "org:a/user:x/app:y", "org:a0", "org:ab", "org:b"]
    for path in reversed(paths):
        append(store, "x", scope=Scope(path))
    append(store, "x", scope=Scope("org:a/user:theirs"), tenant_id="other")
    assert store.scopes.below(TENANT, Scope("org:a"), 10) == ["org:a", "org:a/user:x", "org:a/user:x/app:y"]
    assert store.scopes.below(TENANT, Scope("org:a"), 2) == ["org:a", "org:a/user:x"]
    assert store.scopes.below(TENANT, Scope("org:none"), 10) == []


def test_a_scope_is_there_from_its_first_event_or_its_registration_on(
    store: Store, clock: ManualClock
) -> None:
    (first,) = append(store, "a", scope=ALICE)
    clock.at += SECOND_US
    (second,) = append(store, "b", scope=BOB)
    registered = ScopeState(
        tenant_id=TENANT, path=Scope("org:acme/team:x"), created_by="user:a", created_at=clock.at + 9
    )
    store.registry.register(replace(registered, registered_at=clock.at + 9))
    store.registry.register(
        replace(registered, path=BOB, created_at=clock.at + 9, registered_at=clock.at + 9)
    )
    there = {
        at: store.scopes.below(TENANT, Scope("org:acme"), 10, seen_at=at)
        for at in (first.recorded_at - 1, second.recorded_at - 1, second.recorded_at, clock.at + 9)
    }
    assert list(there.values()) == [[], [ALICE], [ALICE, BOB], ["org:acme/team:x", ALICE, BOB]]


# ---- who sends where


def test_the_scopes_that_send_into_one_are_told_once_each(store: Store) -> None:
    team = Scope("ws:team")
    into = Directives(consolidate_into=team)
    for scope, directives in ((BOB, into), (ALICE, into), (BOB, into), (ALICE, Directives()), (team, into)):
        append(store, "sent", scope=scope, directives=directives)
    append(store, "elsewhere", scope=ALICE, tenant_id="other", directives=into)
    assert store.log.senders_into(TENANT, team) == sorted([ALICE, BOB])
    assert store.log.senders_into("other", team) == [ALICE]
    assert store.log.senders_into(TENANT, ALICE) == []
