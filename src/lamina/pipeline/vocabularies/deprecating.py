"""What ends when a vocabulary has a term no more: the scope's facts by it, and the beliefs that rested on nothing else.

They are kept for readers as of an earlier time and left out by default (seed 002, 7.4.1, ``deprecated``). A term that comes back begins
anew: what was said by the old one is not taken for the new one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.kernel.records import Belief, Fact, Layer, Record, Stance
from lamina.kernel.ties import Tie
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.senders import Senders
from lamina.pipeline.versions import deprecate_belief, tie
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["deprecate_beliefs", "deprecate_facts", "deprecated_facts"]

_PAGE = 256


def deprecate_facts(view: View) -> Writes:
    """The ends of the facts by the terms that the view's entry is about."""
    event, writes = view.event, Writes()
    for fact in _facts_by_lost_terms(view):
        writes.closings.append(Closing.of(fact, event.recorded_at))
        writes.supports.append(tie(event, fact.id, event.id, Tie.DEPRECATED_BY))
    return writes


def deprecated_facts(view: View) -> list[Fact]:
    """The facts that the view's entry has ended, by id."""
    tied = {s.record_id for s in view.dependants_of([view.event.id]) if s.relation == Tie.DEPRECATED_BY}
    found = [view.record(record_id) for record_id in sorted(tied)]
    return [fact for fact in found if isinstance(fact, Fact)]


def deprecate_beliefs(view: View, facts: Sequence[Fact], senders: Senders) -> Writes:
    """The scope's beliefs drawn anew without the facts that ended; those that no fact speaks for any more, here or in another scope, are
    deprecated."""
    event, writes = view.event, BeliefReviser(view, senders).revise(facts)
    rewritten = {record.id for record in writes.records}
    supports = view.dependants_of({fact.id for fact in facts})
    resting = {s.record_id for s in supports if s.relation == Tie.SUPPORTED_BY}
    for record_id in sorted(resting - rewritten):
        belief = view.record(record_id)
        if isinstance(belief, Belief) and not _is_supported(view, belief):
            writes.closings = [each for each in writes.closings if each.id != record_id]
            deprecate_belief(event, belief, writes)
            writes.supports.append(tie(event, belief.id, event.id, Tie.DEPRECATED_BY))
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
