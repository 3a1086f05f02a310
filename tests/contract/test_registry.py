"""Registered scopes, members and policy documents, on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from given import ALICE, BOB, NOON, TENANT, ManualClock, append, draft
from lamina.errors import Conflict, NotFound
from lamina.kernel.scopes import Scope
from lamina.store.ports.log import Capture
from lamina.store.ports.registry import PolicyRow, ScopeState
from lamina.store.ports.store import Store

ACME, TEAM = Scope("org:acme"), Scope("org:acme/team:x")


def state(path: Scope = TEAM, **more: Any) -> ScopeState:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "path": path,
        "created_by": "user:alice",
        "created_at": NOON,
        "registered_at": NOON,
        "members": {"user:alice": "owner", "user:bob": "reader"},
        "policies": {"inherit_from": ["org:acme"]},
    }
    return ScopeState(**{**values, **more})


def document(tier: str = "scope", target: str = TEAM, **more: Any) -> PolicyRow:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "document": {"deny": ["scope.write"]},
        "set_by": "user:alice",
        "set_at": NOON,
    }
    return PolicyRow(tier=tier, target=target, **{**values, **more})


def test_a_first_write_makes_a_scope_without_members_and_keeps_the_version(store: Store) -> None:
    before = store.registry.version()
    append(store, "a")
    found = store.registry.states(TENANT, [ALICE, BOB])[ALICE]
    assert (found.created_by, found.registered, dict(found.members)) == ("service:app", False, {})
    assert store.registry.version() == before


def test_a_registration_is_found_with_members_and_policies(store: Store) -> None:
    store.registry.register(state())
    assert store.registry.states(TENANT, [TEAM, ACME]) == {TEAM: state()}
    assert store.registry.states("globex", [TEAM]) == {}
    row = store.scopes.get(TENANT, TEAM)
    assert row is not None
    assert not row.auto_provisioned


def test_registering_again_is_a_conflict_and_changes_nothing(store: Store) -> None:
    store.registry.register(state())
    version = store.registry.version()
    with pytest.raises(Conflict) as caught:
        store.registry.register(state(members={"user:eve": "owner"}))
    assert caught.value.code == "SCOPE_REGISTRATION_EXISTS"
    assert store.registry.states(TENANT, [TEAM]) == {TEAM: state()}
    assert store.registry.version() == version


def test_a_scope_that_registered_itself_can_be_registered(store: Store) -> None:
    append(store, "a")
    store.registry.register(state(ALICE))
    found = store.registry.states(TENANT, [ALICE])[ALICE]
    assert (found.created_by, found.registered) == ("service:app", True)


def test_members_are_replaced_whole(store: Store) -> None:
    store.registry.register(state())
    store.registry.set_members(TENANT, TEAM, {"user:carol": "owner"})
    assert store.registry.states(TENANT, [TEAM])[TEAM].members == {"user:carol": "owner"}
    with pytest.raises(NotFound):
        store.registry.set_members(TENANT, ACME, {"user:carol": "owner"})


@pytest.mark.parametrize("written", [True, False])
def test_a_deleted_registration_leaves_a_scope_that_holds_something(store: Store, written: bool) -> None:
    store.registry.register(state())
    store.registry.put_document(document())
    if written:
        store.log.append([Capture(draft("a", TEAM))])
    store.registry.delete(TENANT, TEAM)
    found = store.registry.states(TENANT, [TEAM])
    assert [each.registered for each in found.values()] == ([False] if written else [])
    assert store.registry.documents(TENANT, "scope", [TEAM]) == {}


def test_documents_are_found_by_tier_and_target_and_replaced(store: Store) -> None:
    first, actor = document(), document("actor", "user:bob")
    store.registry.put_document(first)
    store.registry.put_document(actor)
    store.registry.put_document(document(document={"deny": []}))
    assert store.registry.documents(TENANT, "actor", ["user:bob", "user:eve"]) == {"user:bob": actor}
    assert store.registry.documents(TENANT, "scope", [TEAM])[TEAM].document == {"deny": []}
    assert store.registry.documents("globex", "scope", [TEAM]) == {}


def test_every_change_raises_the_version(store: Store) -> None:
    seen = [store.registry.version()]
    for change in (
        lambda: store.registry.register(state()),
        lambda: store.registry.set_members(TENANT, TEAM, {"user:bob": "owner"}),
        lambda: store.registry.put_document(document()),
        lambda: store.registry.delete(TENANT, TEAM),
        lambda: store.registry.prune(TENANT, NOON),
    ):
        change()
        seen.append(store.registry.version())
    assert seen == sorted(set(seen))


def test_scopes_are_listed_by_path_under_a_prefix(store: Store) -> None:
    for path in (ALICE, BOB, ACME, Scope("org:acmex")):
        append(store, "a", scope=path)
    store.registry.register(state(TEAM))

    def paths(prefix: str, **more: Any) -> list[str]:
        return [each.path for each in store.registry.listed(TENANT, prefix, **more)]

    assert paths("org:acme/") == [TEAM, ALICE, BOB]
    assert paths("") == [ACME, TEAM, ALICE, BOB, "org:acmex"]
    assert paths("org:acme/", auto_provisioned=True) == [ALICE, BOB]
    assert paths("org:acme/", auto_provisioned=False) == [TEAM]
    assert paths("org:acme/", after=TEAM, skip=1, limit=1) == [BOB]
    assert store.registry.listed("globex", "") == []


def test_who_owns_what_below_a_path(store: Store) -> None:
    append(store, "a")
    registry = store.registry
    assert registry.owns_below(TENANT, "service:app", ACME)
    assert not registry.owns_below(TENANT, "service:app", ALICE)
    assert not registry.others_below(TENANT, "service:app", ACME)
    assert registry.others_below(TENANT, "user:alice", ACME)
    registry.register(
        state(TEAM, members={"user:alice": "owner", "user:bob": "writer", "user:eve": "reader"})
    )
    assert [registry.owns_below(TENANT, actor, ACME) for actor in ("user:alice", "user:bob", "user:eve")] == [
        True, True, False,
    ]  # fmt: skip
    assert registry.others_below(TENANT, "service:app", ACME)


@pytest.mark.parametrize(
    ("path", "names", "others"),
    [
        ("org:acme/user:ana", (), False),
        ("org:acme/user:ana", ("user:ana",), False),
        ("org:acme/user:ana", ("user:bob", "user:b64-x"), True),
        ("org:acme/user:ana", ("user:anastasia",), True),
        ("org:acme/user:anastasia", ("user:ana",), True),
        ("org:acme/user:ana/user:bob", ("user:bob",), True),
        ("org:acme/user:ana/user:bob/project:p", ("user:x", "user:ana"), False),
        ("org:acme/superuser:ana", ("user:bob",), False),
        ("org:acme/team:user", ("user:bob",), False),
    ],
)
def test_of_people_what_lies_in_a_persons_memory_is_that_persons(
    store: Store, path: str, names: tuple[str, ...], others: bool
) -> None:
    append(store, "a", scope=Scope(path))
    assert store.registry.others_below(TENANT, "service:app", ACME, names=names) == others
    assert not store.registry.others_below(TENANT, "service:app", Scope(path), names=names)
    assert not store.registry.others_below("globex", "service:app", ACME, names=names)


def test_of_people_too_a_registered_scope_is_its_owners(store: Store) -> None:
    own = Scope("org:acme/user:ana")
    store.registry.register(state(own, members={"user:bob": "owner", "user:ana": "writer"}))
    for who, others in (("user:bob", False), ("user:ana", True)):
        assert store.registry.others_below(TENANT, who, ACME, names=(who,)) == others


def test_a_persons_own_path_is_found_at_the_very_top_too(store: Store) -> None:
    append(store, "a", scope=Scope("user:ana/project:p"))
    below = Scope("user:ana")
    assert store.registry.others_below(TENANT, "service:app", below, names=("user:bob",))
    assert not store.registry.others_below(TENANT, "user:ana", below, names=("user:ana",))


def test_idle_scopes_are_those_nobody_cared_for(store: Store, clock: ManualClock) -> None:
    append(store, "a", "b")
    append(store, "c", scope=TEAM)
    append(store, "d", scope=ACME)
    store.registry.register(state(TEAM))
    store.registry.put_document(document(target=ACME))
    clock.at += 1_000_000
    append(store, "e", scope=BOB)
    idle, total = store.registry.idle(TENANT, NOON + 500_000, 10)
    assert [(each.path, each.events, each.facts) for each in idle] == [(ALICE, 2, 0)]
    assert total == 1
    assert store.registry.prune(TENANT, NOON + 500_000) == 1
    assert [each.path for each in store.registry.listed(TENANT, "")] == [ACME, TEAM, BOB]
    assert store.scopes.below(TENANT, ACME, 10) == [ACME, TEAM, BOB]
    assert store.registry.idle(TENANT, NOON + 500_000, 10) == ([], 0)
    assert len(store.log.walk(TENANT, 0, 10)) == 5


def test_a_pruned_scope_stays_with_whoever_made_it(store: Store, clock: ManualClock) -> None:
    append(store, "a")
    made = store.registry.states(TENANT, [ALICE])
    clock.at += 1_000_000
    assert store.registry.prune(TENANT, clock.at) == 1
    assert store.registry.states(TENANT, [ALICE]) == made
    assert store.registry.others_below(TENANT, "user:mallory", ACME)
    assert store.registry.owns_below(TENANT, "service:app", ACME)


@pytest.mark.parametrize("by", ["a write", "a registration"])
def test_a_pruned_scope_comes_back_with_its_creator(store: Store, clock: ManualClock, by: str) -> None:
    append(store, "a")
    made = store.registry.states(TENANT, [ALICE])[ALICE]
    clock.at += 1_000_000
    store.registry.prune(TENANT, clock.at)
    if by == "a write":
        store.log.append([Capture(replace(draft("b"), caller="user:mallory"))])
    else:
        store.registry.register(state(ALICE, created_by="user:mallory", created_at=clock.at))
    (found,) = store.registry.listed(TENANT, "")
    assert (found.path, found.created_by, found.created_at) == (ALICE, made.created_by, made.created_at)
    assert store.scopes.below(TENANT, ACME, 10) == [ALICE]
