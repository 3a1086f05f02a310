"""What ends when a vocabulary has a term no more: the scope's facts by it, and the beliefs that rested on nothing else.

They are kept for readers as of an earlier time and left out by default (seed 002, 7.4.1, ``deprecated``). A term that comes back begins
anew: what was said by the old one is not taken for the new one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lamina.kernel.records import Belief, Fact, Layer, Record, Stance, Support
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.view import DEPRECATED_BY, View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["deprecate_beliefs", "deprecate_facts", "deprecated_facts"]

_PAGE = 256


def deprecate_facts(view: View) -> Writes:
    """The ends of the facts by the terms that the view's entry is about."""
    writes = Writes()
    at = view.event.recorded_at
    for fact in _facts_by_lost_terms(view):
        writes.closings.append(Closing(fact.tenant_id, fact.id, fact.version, at))
        writes.supports.append(_deprecated(view, fact))
    return writes


def deprecated_facts(view: View) -> list[Fact]:
    """The facts that the view's entry has ended, by id."""
    tied = {s.record_id for s in view.dependants_of([view.event.id]) if s.relation == DEPRECATED_BY}
    found = [view.record(record_id) for record_id in sorted(tied)]
    return [fact for fact in found if isinstance(fact, Fact)]


def deprecate_beliefs(view: View, facts: Sequence[Fact]) -> Writes:
    """The scope's beliefs drawn anew without the facts that ended; those that no fact speaks for any more, here or in another scope, are
    deprecated."""
    writes = BeliefReviser(view).revise(facts)
    rewritten = {record.id for record in writes.records}
    supports = view.dependants_of({fact.id for fact in facts})
    resting = {s.record_id for s in supports if s.relation == "supported_by"}
    for record_id in sorted(resting - rewritten):
        belief = view.record(record_id)
        if isinstance(belief, Belief) and not _is_supported(view, belief):
            writes.closings = [each for each in writes.closings if each.id != record_id]
            _deprecate(view, belief, writes)
    return writes


def _facts_by_lost_terms(view: View) -> Iterator[Fact]:
    lost = view.event.deprecates
    assert lost is not None, "only an entry of a vocabulary that lost terms gets here"
    vocabulary, predicates = lost
    for predicate in predicates:
        found: list[Record] = view.query(Layer.FACTS, predicate=predicate, limit=_PAGE)
        while found:
            for fact in found:
                if isinstance(fact, Fact) and fact.binding and fact.binding.vocabulary == vocabulary:
                    yield fact
            last = found[-1]
            found = view.query(
                Layer.FACTS, predicate=predicate, after=(last.recorded_from, last.id), limit=_PAGE
            )


def _is_supported(view: View, belief: Belief) -> bool:
    if belief.recorded_to is not None or belief.stance is Stance.DEPRECATED:
        return True  # nothing is left to deprecate
    facts = [view.record(each.source_id) for each in belief.evidence if each.polarity == "supports"]
    return any(fact is not None and fact.recorded_to is None for fact in facts)


def _deprecate(view: View, belief: Belief, writes: Writes) -> None:
    event = view.event
    writes.closings.append(Closing(belief.tenant_id, belief.id, belief.version, event.recorded_at))
    writes.records.append(
        replace(
            belief,
            version=belief.version + 1,
            position=event.position,
            recorded_from=event.recorded_at,
            stance=Stance.DEPRECATED,
            revision_count=belief.revision_count + 1,
        )
    )
    writes.supports.append(_deprecated(view, belief))


def _deprecated(view: View, record: Record) -> Support:
    event = view.event
    return Support(
        tenant_id=event.tenant_id,
        record_id=record.id,
        source_id=event.id,
        relation=DEPRECATED_BY,
        weight=0.0,
        polarity="against",
        recorded_at=event.recorded_at,
    )
