"""A person's own memory, ``user:ana`` and all below it: who may do what, by what was written there or above before, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from given import NOON, TENANT, ManualClock, append
from lamina.access.documents import TenantDocument
from lamina.access.presets import load_preset
from lamina.access.tiers import TieredPolicy
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.store.memory import MemoryStore
from lamina.store.ports.registry import PolicyRow, ScopeState
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

ABOVE, OWN, BELOW = (
    Scope("org:acme/team:x"),
    Scope("org:acme/team:x/user:ana"),
    Scope("org:acme/team:x/user:ana/project:p"),
)
ANA, BOB, ADMIN, HELPER, APP = "user:ana", "user:bob", "user:admin", "agent:helper", "service:app"
READ, WRITE, CLAIM = "scope.read.local", "scope.write", "policy.administer.scope"

Make = Callable[..., "Place"]


class Place:
    """A policy over a store, in which somebody wrote first."""

    def __init__(self, store: Store, preset: str) -> None:
        self.store = store
        self.policy = TieredPolicy(load_preset(preset), store.registry)

    def write(self, *first: tuple[str, Scope]) -> Place:
        for who, scope in first:
            append(self.store, "hello", scope=scope, caller=who)
        return self

    def tenant(self, **document: object) -> None:
        written = TenantDocument.model_validate(document).model_dump(exclude_unset=True)
        row = PolicyRow(
            tenant_id=TENANT, tier="tenant", target=TENANT, document=written, set_by=ADMIN, set_at=NOON
        )
        self.store.registry.put_document(row)

    def register(self, path: Scope, **roles: str) -> None:
        members = {f"user:{name}": role for name, role in roles.items()}
        state = ScopeState(
            tenant_id=TENANT,
            path=path,
            created_by=ADMIN,
            created_at=NOON,
            registered_at=NOON,
            members=members,
        )
        self.store.registry.register(state)

    def may(self, who: str, capability: str, scope: Scope) -> bool:
        return self.policy.current().decide(Principal(TENANT, who, "http"), Grant(capability, scope)).allowed

    def held(self, who: str) -> str:
        """What somebody may: r(ead), w(rite) and c(laim: register, add members, put a policy), above, at and below."""
        marks = ((READ, "r"), (WRITE, "w"), (CLAIM, "c"))
        return " ".join(
            "".join(mark if self.may(who, capability, scope) else "-" for capability, mark in marks)
            for scope in (ABOVE, OWN, BELOW)
        )


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    made: list[Store] = []

    def one(preset: str = "cloud_shared_saas") -> Place:
        clock = ManualClock()
        folder = tmp_path / str(len(made))
        made.append(
            MemoryStore(clock=clock)
            if request.param == "memory"
            else SqliteStore(folder, clock=clock, durable=False)
        )
        place = Place(made[-1], preset)
        place.tenant(administrators=[ADMIN])
        return place

    yield one
    for each in made:
        each.close()


FIRST: dict[str, list[tuple[str, Scope]]] = {
    "nobody": [],
    "ana at": [(ANA, OWN)],
    "ana below": [(ANA, BELOW)],
    "ana at, bob above": [(ANA, OWN), (BOB, ABOVE)],
    "bob above, ana at": [(BOB, ABOVE), (ANA, OWN)],
    "bob above": [(BOB, ABOVE)],
    "bob at": [(BOB, OWN)],
    "bob at and above": [(BOB, OWN), (BOB, ABOVE)],
    "ana at, bob below": [(ANA, OWN), (BOB, BELOW)],
    "bob below": [(BOB, BELOW)],
    "bob everywhere": [(BOB, BELOW), (BOB, OWN), (BOB, ABOVE)],
    "app at": [(APP, OWN)],
    "app at and above": [(APP, OWN), (APP, ABOVE)],
    "app at, ana below": [(APP, OWN), (ANA, BELOW)],
}
# Under cloud_shared_saas, where writing to what is somebody else's takes a capability that is not given.
OF_ANA, OF_BOB, OF_APP = "rwc rwc rwc", "rwc --- ---", "rwc rwc rwc"
HELD: dict[str, dict[str, str]] = {
    ANA: {
        "nobody": "rwc rwc rwc",
        "ana at": "r-c rwc rwc",
        "ana below": "r-c rwc rwc",
        "ana at, bob above": "r-- rwc rwc",
        "bob above, ana at": "r-- rwc rwc",
        "bob above": "r-- rwc rwc",
        "bob at": "rwc rwc rwc",
        "bob at and above": "r-- rwc rwc",
        "ana at, bob below": "r-c rwc rwc",
        "bob below": "rwc rwc rwc",
        "bob everywhere": "r-- rwc rwc",
        "app at": "rwc rwc rwc",
        "app at and above": "r-- rwc rwc",
        "app at, ana below": "r-c rwc rwc",
    },
    BOB: {
        "nobody": "rwc --- ---",
        "ana at": "rw- --- ---",
        "ana below": "rw- --- ---",
        "ana at, bob above": "rw- --- ---",
        "bob above, ana at": "rw- --- ---",
        "bob above": "rwc --- ---",
        "bob at": "r-- --- ---",
        "bob at and above": "rw- --- ---",
        "ana at, bob below": "r-- --- ---",
        "bob below": "r-- --- ---",
        "bob everywhere": "rw- --- ---",
        "app at": "rw- --- ---",
        "app at and above": "r-- --- ---",
        "app at, ana below": "rw- --- ---",
    },
    HELPER: {
        "nobody": "rwc rwc rwc",
        "ana at": "rw- r-- rwc",
        "ana below": "rw- rw- r--",
        "ana at, bob above": "r-- r-- rwc",
        "bob above, ana at": "r-- r-- rwc",
        "bob above": "r-- rwc rwc",
        "bob at": "rw- r-- rwc",
        "bob at and above": "r-- r-- rwc",
        "ana at, bob below": "rw- r-- r--",
        "bob below": "rw- rw- r--",
        "bob everywhere": "r-- r-- r--",
        "app at": "rw- r-- rwc",
        "app at and above": "r-- r-- rwc",
        "app at, ana below": "rw- r-- r--",
    },
    APP: {
        "nobody": "rwc rwc rwc",
        "ana at": "rw- r-- rwc",
        "ana below": "rw- rw- r--",
        "ana at, bob above": "r-- r-- rwc",
        "bob above, ana at": "r-- r-- rwc",
        "bob above": "r-- rwc rwc",
        "bob at": "rw- r-- rwc",
        "bob at and above": "r-- r-- rwc",
        "ana at, bob below": "rw- r-- r--",
        "bob below": "rw- rw- r--",
        "bob everywhere": "r-- r-- r--",
        "app at": "r-c rwc rwc",
        "app at and above": "rwc rwc rwc",
        "app at, ana below": "r-- rw- rw-",
    },
}
CASES = [(who, first, held) for who, rows in HELD.items() for first, held in rows.items()]


def test_the_table_is_whole() -> None:
    assert all(list(rows) == list(FIRST) for rows in HELD.values())


@pytest.mark.parametrize(("who", "first", "held"), CASES)
def test_who_holds_what_once_somebody_wrote_first(make: Make, who: str, first: str, held: str) -> None:
    assert make().write(*FIRST[first]).held(who) == held


@pytest.mark.parametrize("first", FIRST)
def test_an_administrator_of_the_tenant_registers_anything_and_reads_nobodys_own(
    make: Make, first: str
) -> None:
    place = make().write(*FIRST[first])
    assert [place.may(ADMIN, CLAIM, scope) for scope in (ABOVE, OWN, BELOW)] == [True] * 3
    assert [place.may(ADMIN, READ, scope) for scope in (ABOVE, OWN, BELOW)] == [True, False, False]


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("at", [ABOVE, OWN])
def test_members_of_a_registered_scope_keep_their_rights(make: Make, first: str, at: Scope) -> None:
    place = make().write(*FIRST[first])
    place.register(at, ana="reader", bob="writer", cy="owner")
    for who, expected in (
        (ANA, "r--"),
        (BOB, "rw-"),
        ("user:cy", "rwc"),
        (HELPER, "---"),
        ("user:dan", "---"),
    ):
        assert place.held(who).split()[1:] == [expected] * 2, who


@pytest.mark.parametrize("first", FIRST)
def test_where_the_tenant_opens_it_people_read_and_still_take_nothing_over(make: Make, first: str) -> None:
    place = make().write(*FIRST[first])
    closed = place.held(BOB)
    place.tenant(administrators=[ADMIN], defaults={"user_memory.open": True})
    assert place.held(BOB) == closed.replace(" ---", " r--")


@pytest.mark.parametrize("first", [name for name in FIRST if "ana" not in name and "app" not in name])
def test_on_a_machine_of_ones_own_who_wrote_first_registers_it(make: Make, first: str) -> None:
    place = make("dev_local").write(*FIRST[first])
    place.tenant()
    assert place.held(BOB) == "rwc rwc rwc"
    place.write((BOB, ABOVE), (HELPER, Scope(f"{ABOVE}/project:q")))
    assert place.may(BOB, CLAIM, ABOVE)
    place.tenant(administrators=[ADMIN])
    assert not any(place.may(BOB, CLAIM, path) for path in (ABOVE, OWN, BELOW))


@pytest.mark.parametrize("preset", ["on_prem_enterprise", "cloud_private"])
@pytest.mark.parametrize("first", FIRST)
def test_elevation_lets_nobody_write_into_a_memory_that_they_may_not_read(
    make: Make, preset: str, first: str
) -> None:
    place = make(preset).write(*FIRST[first])
    assert place.held(BOB).split()[1:] == ["---", "---"]
    for who in (ANA, HELPER, APP, ADMIN):
        assert [place.may(who, WRITE, scope) for scope in (OWN, BELOW)] == [True, True], who
    place.register(OWN, ana="owner", bob="writer")
    assert place.held(BOB).split()[1:] == ["rw-", "rw-"]


def test_a_tenant_that_says_so_by_name_lets_people_write_there_and_they_still_neither_read_nor_register(
    make: Make,
) -> None:
    place = make("on_prem_enterprise").write((ANA, OWN), (BOB, BELOW), (BOB, ABOVE))
    place.tenant(administrators=[ADMIN], allow=["scope.write.*"])
    assert place.held(BOB) == "rw- --- ---"
    place.tenant(administrators=[ADMIN], allow=["scope.write.others_memory"])
    assert place.held(BOB) == "rw- -w- -w-"


@pytest.mark.parametrize("cascade", ["derived_only", "redact_events"])
def test_who_may_not_read_a_memory_takes_nothing_out_of_it(make: Make, cascade: str) -> None:
    place, forget = make("on_prem_enterprise").write((ANA, OWN), (BOB, ABOVE)), f"forget.cascade.{cascade}"
    place.tenant(administrators=[ADMIN], allow=["scope.write.others_memory"])
    assert place.may(BOB, WRITE, OWN)
    assert not place.may(BOB, forget, OWN)
    assert [place.may(who, forget, OWN) for who in (ANA, HELPER, ADMIN)] == [True, True, True]


def test_where_memories_are_open_people_write_as_they_read(make: Make) -> None:
    place = make("on_prem_enterprise").write((ANA, OWN), (ANA, BELOW), (BOB, ABOVE))
    place.tenant(administrators=[ADMIN], defaults={"user_memory.open": True})
    assert place.held(BOB) == "rw- rw- rw-"


def test_the_innermost_person_of_a_path_is_told_of_by_the_outermost(make: Make) -> None:
    of_bob = Scope("user:ana/user:bob")
    place = make().write((BOB, of_bob))
    assert (place.may(ANA, READ, of_bob), place.may(BOB, READ, of_bob)) == (True, False)


def test_a_person_whose_id_no_scope_can_hold_has_the_memory_of_its_written_form(make: Make) -> None:
    whole, own = "user:ana@example.org", Scope("org:acme/user:b64-YW5hQGV4YW1wbGUub3Jn")
    place = make().write((BOB, own))
    assert [place.may(whole, each, own) for each in (READ, WRITE, CLAIM)] == [True] * 3
    assert [place.may(BOB, each, own) for each in (READ, WRITE, CLAIM)] == [False] * 3
    assert place.may(whole, CLAIM, Scope("org:acme"))
    assert not place.may(BOB, CLAIM, Scope("org:acme"))


def test_nobody_registers_a_path_of_ones_own_over_what_others_began_below(make: Make) -> None:
    place = make().write((BOB, ABOVE))
    assert place.may(BOB, CLAIM, ABOVE)
    place.write((HELPER, Scope(f"{ABOVE}/project:q")))
    assert not place.may(BOB, CLAIM, ABOVE)
    assert place.may(ADMIN, CLAIM, ABOVE)
