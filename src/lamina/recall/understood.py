"""What came of the inputs of concepts since they were made: what changed, and what is gone (seed 002, 7.5.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Concept, Layer, Support, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.understanding import STALE_FROM, WHOLE, ids_of_topic
from lamina.kernel.views import ConceptStanding, consulted_supports
from lamina.recall.plan import Plan
from lamina.store.ports.records import InputState, NamedAs, NewerFact
from lamina.store.ports.store import Store
from lamina.store.queries import MayRead

__all__ = ["standings", "standings_of_chosen", "with_edges_there"]

_NEWER_MAX: Final = 64


class _States(Protocol):
    def input_states(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> Mapping[str, InputState]: ...


class _Heads(Protocol):
    def heads(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> Mapping[str, RecordHead]: ...


def standings(
    store: Store,
    tenant_id: str,
    concepts: Sequence[Concept],
    supports: Callable[[str], Sequence[Support]],
    *,
    records: _States | None = None,
    now: Instant,
    seen_at: Instant | None = None,
) -> dict[str, ConceptStanding]:
    """How each concept stands, by id: now, or as seen at an instant. ``supports`` are those that the reader may see, ``records`` what
    tells how their sources stand where the store need not be asked."""
    if not concepts:
        return {}
    own = {each.id: consulted_supports(each, supports(each.id)) for each in concepts}
    sources = {support.source_id for found in own.values() for support in found}
    events = {each for each in sources if layer_of(each) is Layer.EVENTS}
    states = (records or store.records).input_states(tenant_id, sources - events, seen_at=seen_at)
    told = store.log.get(tenant_id, events)
    gone = {
        each: (states[each].excluded if each in states else True)
        if each not in events
        else each not in told or told[each].excluded
        for each in sources
    }
    at = seen_at or now
    newer = _newer(store, [each for each in concepts if _may_be_stale(each)], at)
    return {
        concept.id: _standing(concept, own[concept.id], states, gone, newer.get(concept.id, ()), at)
        for concept in concepts
    }


def standings_of_chosen(
    store: Store,
    records: _States,
    plan: Plan,
    values: Iterable[object],
    supports: Mapping[str, Sequence[Support]],
) -> dict[str, ConceptStanding]:
    """Mirrors ``standings``, for the concepts among what a recall chose."""
    concepts = [each for each in values if isinstance(each, Concept)]
    at = plan.axes.seen_at
    return standings(
        store,
        plan.tenant_id,
        concepts,
        lambda each: supports.get(each, ()),
        records=records,
        now=at,
        seen_at=plan.held_at,
    )


def with_edges_there(
    concepts: Sequence[Concept],
    records: _Heads,
    tenant_id: str,
    may_read: MayRead,
    *,
    seen_at: Instant | None = None,
) -> list[Concept]:
    """The concepts, with those of their edges that lead to one that is there, in a scope that the reader may read."""
    led_to = {edge.to for concept in concepts for edge in concept.edges}
    found = records.heads(tenant_id, led_to, seen_at=seen_at) if led_to else {}
    there = {key for key, each in found.items() if may_read(each.scope)}
    return [
        replace(each, edges=tuple(edge for edge in each.edges if edge.to in there)) if each.edges else each
        for each in concepts
    ]


def _may_be_stale(concept: Concept) -> bool:
    return concept.about is not None and concept.recorded_to is None and bool(concept.inputs)


def _standing(
    concept: Concept,
    own: Sequence[Support],
    records: Mapping[str, InputState],
    gone: Mapping[str, bool],
    newer: Sequence[NewerFact],
    at: Instant,
) -> ConceptStanding:
    lost = [each.source_id for each in own if gone[each.source_id]]
    share = round(len(lost) / len(own), 4) if own else 0.0
    if concept.about is None or not _may_be_stale(concept):
        return ConceptStanding(lost=share)
    inputs = (records.get(s.source_id) for s in own)
    facts = [each.fact for each in inputs if each is not None and each.fact is not None]
    states = [*facts, *(each.state for each in newer)]
    fitting = ids_of_topic(states, concept.about, concept.topic, at)
    changed = [each for each in facts if each.id not in fitting and each.id not in lost]
    fresh = {each.state.id for each in newer if each.state.id in fitting} - {each.id for each in facts}
    count, of = len(changed) + len(fresh), len(facts) + len(fresh)
    staleness = round(count / of, 4) if of else 0.0
    reason = f"{count} of {of} inputs changed after the last synthesis" if staleness >= STALE_FROM else None
    return ConceptStanding(staleness, reason, share)


def _newer(store: Store, concepts: Sequence[Concept], at: Instant) -> dict[str, list[NewerFact]]:
    """By concept, the facts of its entity that were recorded after it was made, as far as they bear on its topic. Concepts of one
    entity share what is read: the newest facts after the oldest of them begin with the newest after each."""
    found: dict[str, list[NewerFact]] = {each.id: [] for each in concepts}
    of_entity: dict[tuple[str, Scope, str], list[Concept]] = defaultdict(list)
    for each in concepts:
        assert each.about is not None, "asked for of an entity"
        of_entity[each.tenant_id, each.scope, each.about].append(each)
    for place, alike in of_entity.items():
        whole = [each for each in alike if each.topic == WHOLE]
        named: Sequence[tuple[NamedAs, Sequence[Concept]]] = [("subject", alike), ("object", whole)]
        for named_as, asking in named:
            if not asking:
                continue
            facts = store.records.newer_facts(
                *place,
                named_as,
                newer_than=min(each.recorded_from for each in asking),
                seen_at=at,
                limit=_NEWER_MAX,
            )
            for concept in asking:
                found[concept.id] += [each for each in facts if each.recorded_from > concept.recorded_from]
    return found
