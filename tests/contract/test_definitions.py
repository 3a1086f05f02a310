"""What a tenant defines is an entry of the log, and stands until another entry ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from given import ALICE, BOB, NOON, TENANT, ManualClock, append, draft, fact, finish_all, land
from lamina.errors import Conflict
from lamina.kernel.events import DEFINITION, Directives, EventDraft, Origin, Trust
from lamina.kernel.records import Binding
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.store.ports.definitions import Definition, DefinitionKind
from lamina.store.ports.log import EventQuery
from lamina.store.ports.registry import Activation, PolicyRow
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from told import Memory

SYSTEM = Scope("system:definitions")
Q3: tuple[DefinitionKind, str] = ("temporal_phrase", "q3")


def _entry(meaning: str, tenant_id: str = TENANT) -> EventDraft:
    return replace(
        draft(content={"kind": "temporal_phrase", "meaning": meaning}),
        tenant_id=tenant_id,
        scope=SYSTEM,
        session=None,
        modality=DEFINITION,
        directives=Directives(extract=(), embed="none"),
        origin=Origin("user:admin", DEFINITION, Trust.PRINCIPAL),
    )


def _anything(standing: Sequence[Definition]) -> None:
    """Refuses nothing."""


def _meanings(store: Store, seen_at: int | None = None) -> list[str]:
    return [
        each.body["meaning"] for each in store.definitions.held(TENANT, "temporal_phrase", seen_at=seen_at)
    ]


def test_a_reader_of_then_has_what_stood_then(store: Store, clock: ManualClock) -> None:
    first = store.definitions.define(_entry("summer"), Q3, _anything)
    clock.at += SECOND_US
    second = store.definitions.define(_entry("autumn"), Q3, _anything)
    clock.at += SECOND_US
    assert store.definitions.withdraw(_entry(""), Q3) == second
    assert store.definitions.withdraw(_entry(""), Q3) is None
    assert _meanings(store) == []
    assert _meanings(store, first.recorded_from - 1) == []
    assert _meanings(store, first.recorded_from) == _meanings(store, second.recorded_from - 1) == ["summer"]
    assert _meanings(store, second.recorded_from) == _meanings(store, clock.at - 1) == ["autumn"]
    assert _meanings(store, clock.at) == []
    assert store.definitions.held("other", "temporal_phrase") == []


def test_a_change_has_a_place_in_the_log_and_stands_in_no_list(store: Store) -> None:
    (told,) = append(store, "a")
    made = store.definitions.define(_entry("summer"), Q3, _anything)
    entry = store.log.get(TENANT, [made.event_id])[made.event_id]
    assert (entry.position, entry.recorded_at) == (told.position + 1, made.recorded_from)
    assert (entry.defines, entry.excluded, entry.content["meaning"]) == (True, True, "summer")
    assert store.log.query(EventQuery(tenant_id=TENANT, scopes=[SYSTEM])) == []
    assert store.log.count(TENANT, [SYSTEM]) == 0


def test_what_is_refused_leaves_nothing(store: Store) -> None:
    made = store.definitions.define(_entry("summer"), Q3, _anything)

    def refuse(standing: Sequence[Definition]) -> None:
        assert standing == [made]
        raise Conflict("PHRASE_EXISTS", "no")

    with pytest.raises(Conflict):
        store.definitions.define(_entry("autumn"), Q3, refuse)
    assert store.definitions.held(TENANT, "temporal_phrase") == [made]
    assert len(store.log.walk(TENANT, 0, 10)) == 1


def test_names_are_found_as_they_stand_or_stood(store: Store, clock: ManualClock) -> None:
    first = store.definitions.define(_entry("summer"), Q3, _anything)
    clock.at += SECOND_US
    second = store.definitions.define(_entry("autumn"), Q3, _anything)
    store.definitions.define(_entry("winter"), ("temporal_phrase", "q4"), _anything)
    asked = (TENANT, "temporal_phrase", ["q3", "never"])
    assert store.definitions.named(*asked) == {"q3": second}
    assert store.definitions.named(*asked, seen_at=first.recorded_from)["q3"].body["meaning"] == "summer"
    assert store.definitions.named(*asked, seen_at=first.recorded_from - 1) == {}
    assert store.definitions.named("other", "temporal_phrase", ["q3"]) == {}
    assert store.definitions.named(TENANT, "temporal_phrase", []) == {}


def test_lost_terms_are_told_where_facts_by_them_are_held_or_may_come(store: Store) -> None:
    sales: tuple[DefinitionKind, str] = ("vocabulary", "sales")
    before = store.definitions.define(_entry("before"), sales, _anything)
    bound = Binding("sales", "stage", 1.0)
    held = fact("held", predicate="deal_stage", binding=bound)
    other = fact("other", scope=BOB, predicate="deal_stage", binding=Binding("trade", "stage", 1.0))
    land(store, Writes(records=[held, other]))
    finish_all(store)
    (waits,) = append(store, "a", scope=Scope("org:acme/user:carol"))
    seen: list[Definition | None] = []

    def lost(standing: Definition | None) -> Sequence[str]:
        seen.append(standing)
        return ["deal_stage"]

    made = store.definitions.define(_entry("after"), sales, _anything, lost=lost)
    assert [each and each.event_id for each in seen] == [before.event_id]
    told = store.log.walk(TENANT, made.position, 10)
    assert [(entry.scope, entry.deprecates) for entry in told] == [
        (ALICE, ("sales", ("deal_stage",))),
        (waits.scope, ("sales", ("deal_stage",))),
    ]
    assert all(entry.excluded for entry in told)


def test_a_policy_and_what_it_makes_active_land_together_and_once(store: Store) -> None:
    def put(vocabularies: list[str] | None) -> None:
        row = PolicyRow(
            tenant_id=TENANT, tier="scope", target=ALICE, document={}, set_by="user:admin", set_at=NOON
        )
        change = replace(_entry(""), content={"kind": "active_vocabularies", "vocabularies": vocabularies})
        store.registry.put_document(row, Activation(change, f"policy {ALICE}"))

    for said in (None, ["sales"], ["sales"], [], None):
        put(said)
    told = [entry.content["vocabularies"] for entry in store.log.walk(TENANT, 0, 10)]
    assert told == [["sales"], [], None]
    assert store.definitions.held(TENANT, "active_vocabularies") == []


def test_a_policy_and_its_rules_for_beliefs_land_together_and_once(store: Store) -> None:
    def put(**rules: float) -> None:
        row = PolicyRow(
            tenant_id=TENANT, tier="tenant", target=TENANT, document={}, set_by="user:admin", set_at=NOON
        )
        said = {"kind": "belief_rules", **{name.replace("__", "."): value for name, value in rules.items()}}
        store.registry.put_document(row, rules=replace(_entry(""), content=said))

    for rules in ({}, {"tenant__confidence_floor": 0.5}, {"tenant__confidence_floor": 0.5}, {}, {}):
        put(**rules)
    told = [entry.content.get("tenant.confidence_floor") for entry in store.log.walk(TENANT, 0, 10)]
    assert told == [0.5, None]


def test_a_replay_keeps_definitions_and_derives_the_same(store: Store, clock: ManualClock) -> None:
    memory = Memory(store, clock)
    memory.tell({"kind": "triple", "subject": "Ana", "predicate": "age", "object": 30}, clock.at)
    store.definitions.define(_entry("summer"), Q3, _anything)
    memory.tell({"kind": "triple", "subject": "Ana", "predicate": "age", "object": 31}, clock.at)
    store.definitions.withdraw(_entry(""), Q3)
    memory.derive()
    held = store.definitions.held(TENANT, "temporal_phrase", seen_at=clock.at)
    live, again = memory.replayed()
    assert live == again
    assert store.definitions.held(TENANT, "temporal_phrase", seen_at=clock.at) == held
