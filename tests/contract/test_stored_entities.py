"""What every engine promises of entities and of their mentions."""

from __future__ import annotations

from dataclasses import replace

from given import ALICE, BOB, TENANT, append, claim, land
from lamina.kernel.events import Event
from lamina.kernel.records import Entity, Mention
from lamina.kernel.scopes import Scope
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes


def test_an_entity_is_known_once_per_tenant(store: Store) -> None:
    first = Entity(tenant_id=TENANT, id="ent_1", normalised_name="alice", type="person")
    again = [replace(first, type="place"), replace(first, id="ent_2")]
    theirs = replace(first, tenant_id="other")
    land(store, Writes(entities=[first, *again, theirs]))
    assert store.records.entities(TENANT, ["alice", "bob"]) == {"alice": first}
    assert store.records.entities("other", ["alice"]) == {"alice": theirs}
    assert store.records.entities(TENANT, []) == {}


def test_an_entity_is_of_the_type_it_was_named_with_first_whichever_scope_lands_first(store: Store) -> None:
    def named(event: Event, kind: str) -> Writes:
        entity = Entity(tenant_id=TENANT, id="ent_1", normalised_name="al", type=kind)
        mention = Mention(
            tenant_id=TENANT,
            entity_id="ent_1",
            scope=event.scope,
            event_id=event.id,
            position=event.position,
            surface="Al",
            type=kind,
        )
        return Writes(entities=[entity], mentions=[mention])

    append(store, "a", scope=BOB)
    append(store, "b", "c")
    jobs = {job.event.content["text"]: job for job in claim(store)}
    for text, kind in (("b", "thing"), ("a", "person"), ("c", "place")):
        store.jobs.finish([(jobs[text], named(jobs[text].event, kind))])
    assert store.records.entities(TENANT, ["al"])["al"].type == "person"


def test_a_scope_knows_an_entity_by_its_own_first_mention(store: Store) -> None:
    def mention(event: Event, kind: str | None, scope: Scope = ALICE) -> Mention:
        return Mention(
            tenant_id=TENANT,
            entity_id="ent_1",
            scope=scope,
            event_id=event.id,
            position=event.position,
            surface="Al",
            type=kind,
        )

    first, second, third, fourth = append(store, *"abcd")
    told = [mention(first, "company", BOB), mention(second, None), mention(fourth, "place")]
    land(store, Writes(mentions=[*told, mention(third, "person")]))
    assert store.records.entity_types(TENANT, ALICE, ["ent_1", "ent_2"]) == {"ent_1": "person"}
    assert store.records.entity_types(TENANT, BOB, ["ent_1"]) == {"ent_1": "company"}
    assert store.records.entity_types("other", ALICE, ["ent_1"]) == {}
    assert store.records.entity_types(TENANT, ALICE, []) == {}
    store.log.cancel(TENANT, third.id)
    assert store.records.entity_types(TENANT, ALICE, ["ent_1"]) == {"ent_1": "place"}


def test_mentions_are_newest_first_and_only_of_the_scopes_asked_for(store: Store) -> None:
    def mention(position: int, scope: str = ALICE, tenant_id: str = TENANT) -> Mention:
        return Mention(
            tenant_id=tenant_id,
            entity_id="ent_1",
            scope=scope,  # type: ignore[arg-type]
            event_id=f"evt_{position}",
            position=position,
            surface="Al",
        )

    ours = [mention(1), mention(2), mention(3)]
    land(store, Writes(mentions=[*ours, ours[0], mention(4, BOB), mention(5, ALICE, "other")]))
    assert store.records.mentions(TENANT, ["ent_1"], [ALICE], 2) == [ours[2], ours[1]]
    assert len(store.records.mentions(TENANT, ["ent_1"], [ALICE, BOB], 9)) == 4
    assert store.records.mentions(TENANT, ["ent_1"], [], 9) == []
    assert store.records.mentions(TENANT, [], [ALICE], 9) == []
