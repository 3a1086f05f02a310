"""Entities that a user spoke of last, newest first: those of the facts that rest on the newest turns."""

from __future__ import annotations

from typing import Final

from lamina.kernel.changes import change_mark
from lamina.kernel.events import Modality, Party
from lamina.kernel.records import Fact, Loop
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.language.entities import entity_id, normalise_name
from lamina.language.quarantine import quarantine_of_words
from lamina.recall.changed import changes_of
from lamina.session.associations import entities_seen
from lamina.store.ports.log import EventQuery
from lamina.store.ports.store import Store
from lamina.types.sessions import EntitySeen

__all__ = ["entity_hints"]

_TURNS_READ: Final = 40


def entity_hints(store: Store, tenant_id: str, scope: Scope, actor: str, now: Instant) -> list[EntitySeen]:
    """The entities of the user's newest turns, those named last first, without the user; of each what holds at ``now``."""
    query = EventQuery(
        tenant_id=tenant_id,
        scopes=[scope],
        observed_actor=actor,
        modality=Modality.CONVERSATION.value,
        limit=_TURNS_READ,
    )
    turns = [event.id for event in store.log.query(query)]
    supports = store.records.dependants_of(tenant_id, turns)
    ids = [s.record_id for turn in turns for s in supports.get(turn, ()) if s.relation == Tie.EXTRACTED_FROM]
    found = store.records.get(tenant_id, ids)
    facts = [fact for fact_id in dict.fromkeys(ids) if isinstance(fact := found.get(fact_id), Fact)]
    marked = store.records.supports_related(tenant_id, [fact.id for fact in facts], Tie.MAY_CHANGE)
    marks = changes_of(store.log, tenant_id, facts, marked).marks
    user = entity_id(tenant_id, normalise_name(Party.of(actor).display_name))
    named: list[tuple[str, str, str]] = []
    for fact in facts:
        if isinstance(fact, Loop) or fact.superseded_by is not None:
            continue
        if fact.excluded or (fact.valid_to is not None and fact.valid_to <= now and fact.kind != "event"):
            continue
        if fact.text and not quarantine_of_words(fact.text):
            text = f"{fact.text}{change_mark(marks.get(fact.id))}"
            named.append((fact.subject.id, fact.subject.name, text))
            if fact.object.type == "entity" and fact.object.id and fact.object.name:
                named.append((fact.object.id, fact.object.name, text))
    return entities_seen(store.records, tenant_id, scope, [entry for entry in named if entry[0] != user])
