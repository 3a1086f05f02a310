"""What came of the inputs of concepts since they were made: what changed, and what is gone (seed 002, 7.5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from lamina.kernel.records import Concept, Fact, Layer, Record, Support, layer_of
from lamina.kernel.time import Axes, Instant
from lamina.kernel.understanding import STALE_FROM, WHOLE, facts_of_topic
from lamina.kernel.views import ConceptStanding, consulted_supports
from lamina.recall.plan import Plan
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store

__all__ = ["standings", "standings_of_chosen"]

_NEWER_MAX: Final = 64


def standings(
    store: Store,
    tenant_id: str,
    concepts: Sequence[Concept],
    supports: Callable[[str], Sequence[Support]],
    *,
    now: Instant,
    seen_at: Instant | None = None,
) -> dict[str, ConceptStanding]:
    """How each concept stands, by id: now, or as seen at an instant. ``supports`` are those that the reader may see."""
    if not concepts:
        return {}
    own = {each.id: consulted_supports(each, supports(each.id)) for each in concepts}
    sources = {support.source_id for found in own.values() for support in found}
    events = {each for each in sources if layer_of(each) is Layer.EVENTS}
    records = store.records.get(tenant_id, sources - events, seen_at=seen_at)
    told = store.log.get(tenant_id, events)
    gone = {
        each: (records[each].excluded if each in records else True)
        if each not in events
        else each not in told or told[each].excluded
        for each in sources
    }
    return {
        concept.id: _standing(store, concept, own[concept.id], records, gone, seen_at or now)
        for concept in concepts
    }


def standings_of_chosen(
    store: Store, plan: Plan, values: Iterable[object], supports: Mapping[str, Sequence[Support]]
) -> dict[str, ConceptStanding]:
    """Mirrors ``standings``, for the concepts among what a recall chose."""
    concepts = [each for each in values if isinstance(each, Concept)]
    at = plan.axes.seen_at
    return standings(
        store, plan.tenant_id, concepts, lambda each: supports.get(each, ()), now=at, seen_at=plan.held_at
    )


def _standing(
    store: Store,
    concept: Concept,
    own: Sequence[Support],
    records: Mapping[str, Record],
    gone: Mapping[str, bool],
    at: Instant,
) -> ConceptStanding:
    lost = [each.source_id for each in own if gone[each.source_id]]
    share = round(len(lost) / len(own), 4) if own else 0.0
    if concept.about is None or concept.recorded_to is not None or not concept.inputs:
        return ConceptStanding(lost=share)
    facts = [each for each in (records.get(s.source_id) for s in own) if isinstance(each, Fact)]
    newer = _newer(store, concept, at)
    fitting = {each.id for each in facts_of_topic([*facts, *newer], concept.about, concept.topic, at)}
    changed = [each for each in facts if each.id not in fitting and each.id not in lost]
    fresh = {each.id for each in newer if each.id in fitting} - {each.id for each in facts}
    count, of = len(changed) + len(fresh), len(facts) + len(fresh)
    staleness = round(count / of, 4) if of else 0.0
    reason = f"{count} of {of} inputs changed after the last synthesis" if staleness >= STALE_FROM else None
    return ConceptStanding(staleness, reason, share)


def _newer(store: Store, concept: Concept, at: Instant) -> list[Fact]:
    """The facts of its entity that were recorded after a concept was made, as far as they bear on its topic."""
    assert concept.about is not None, "asked for of an entity"
    query = RecordQuery(
        tenant_id=concept.tenant_id,
        layer=Layer.FACTS,
        scopes=[concept.scope],
        axes=Axes(seen_at=at),
        subject=concept.about,
        limit=_NEWER_MAX,
    )
    found = store.records.query(query)
    if concept.topic == WHOLE:
        of_object = RecordQuery(
            tenant_id=concept.tenant_id,
            layer=Layer.FACTS,
            scopes=[concept.scope],
            axes=Axes(seen_at=at),
            object_key=concept.about,
            limit=_NEWER_MAX,
        )
        found += store.records.query(of_object)
    return [each for each in found if isinstance(each, Fact) and each.recorded_from > concept.recorded_from]
