"""What derivation and readers of understanding both go by: topics, relations, and when a concept is stale (seed 002, 7.5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Final, Literal, NamedTuple

from lamina.kernel.records import Fact
from lamina.kernel.time import Instant

__all__ = [
    "INVALIDATION_THRESHOLD",
    "STALE_FROM",
    "WHOLE",
    "FactState",
    "Relation",
    "facts_of_topic",
    "ids_of_topic",
    "relation_of",
    "topic_of",
    "words_of_topic",
]

Relation = Literal[
    "is_a",
    "part_of",
    "specializes",
    "generalizes",
    "depends_on",
    "causes",
    "contradicts",
    "co_occurs_with",
    "related_to",
]
"""The relations of edges, as the contract has them by default."""

WHOLE: Final = "entity"
"""The topic of what is understood of an entity as a whole."""

STALE_FROM: Final = 0.2
"""A concept is stale from this share of changed inputs on."""

INVALIDATION_THRESHOLD: Final = 0.5
"""A concept that lost more of its supports than this share is deprecated."""

_TOPICS: Final[Mapping[str, str]] = {
    "identity": "identity",
    "attribute": "identity",
    "role": "work",
    "place": "places",
    "possession": "possessions",
    "relation": "people",
    "preference": "preferences",
    "plan": "plans",
    "commitment": "plans",
    "event": "events",
    "quantity": "numbers",
    "state_change": "numbers",
}

_FORTH: Final[Mapping[str, Relation]] = {
    "is_a": "is_a",
    "part_of": "part_of",
    "works_at": "part_of",
    "works_in": "part_of",
    "works_on": "part_of",
    "member_of": "part_of",
    "located_in": "part_of",
    "studies_at": "part_of",
    "volunteers_at": "part_of",
    "depend_on": "depends_on",
    "depends_on": "depends_on",
    "cause": "causes",
    "causes": "causes",
    "specializes": "specializes",
    "generalizes": "generalizes",
    "contradicts": "contradicts",
}
_BACK: Final[Mapping[str, Relation]] = {
    "is_a": "generalizes",
    "specializes": "generalizes",
    "generalizes": "specializes",
    "contradicts": "contradicts",
}


def topic_of(kind: str) -> str:
    """The topic under which a fact of a kind is understood."""
    return _TOPICS.get(kind, "other")


def relation_of(predicate: str, *, back: bool = False) -> Relation:
    """How the subject of a fact stands to its object; with ``back``, how the object stands to the subject.

    >>> relation_of("works_at"), relation_of("is_a", back=True), relation_of("likes")
    ('part_of', 'generalizes', 'related_to')
    """
    relation: Relation = _FORTH.get(predicate, "related_to")
    return _BACK.get(relation, "related_to") if back else relation


def words_of_topic(text: str) -> frozenset[str]:
    """The words of a topic or a name, by which concepts are asked for."""
    return frozenset(text.casefold().replace("_", " ").split())


class FactState(NamedTuple):
    """What of a fact decides whether a concept is made from it. ``counts`` it does unless it is a loop that states nothing, was superseded or replaced, is a
    denial, nobody's own word, or one word beside others'; ``is_own_word`` where nobody else said it of its person."""

    id: str
    subject: str
    kind: str
    valid_to: Instant | None
    counts: bool
    is_own_word: bool

    @classmethod
    def of(cls, fact: Fact) -> FactState:
        """The state of a fact that was read as a whole."""
        replaced = fact.superseded_by is not None or fact.recorded_to is not None
        told = not (fact.negated or fact.external or fact.is_beside)
        counts = told and not replaced and fact.is_stated
        return cls(fact.id, fact.subject.id, fact.kind, fact.valid_to, counts, fact.said_by is None)


def facts_of_topic(facts: Iterable[Fact], about: str, topic: str, at: Instant) -> list[Fact]:
    """Those of an entity's facts that a concept of a topic is made from at an instant: all that name the entity for ``WHOLE``, for
    another topic those of which it is the subject.

    What was superseded, denied, nobody's own word, or is over at ``at`` does not belong; what others say of somebody only while they say
    nothing themselves.
    """
    told = list(facts)
    return list(compress(told, _fitting([FactState.of(fact) for fact in told], about, topic, at)))


def ids_of_topic(states: Sequence[FactState], about: str, topic: str, at: Instant) -> frozenset[str]:
    """The ids of ``facts_of_topic``."""
    return frozenset(each.id for each in compress(states, _fitting(states, about, topic, at)))


def _fitting(states: Sequence[FactState], about: str, topic: str, at: Instant) -> list[bool]:
    found = [
        _is_current(each, at) and (topic == WHOLE or (each.subject == about and topic_of(each.kind) == topic))
        for each in states
    ]
    if any(each.is_own_word for each in compress(states, found)):
        return [fits and each.is_own_word for fits, each in zip(found, states, strict=True)]
    return found


def _is_current(fact: FactState, at: Instant) -> bool:
    # A state, a plan or a promise passes; what happened stays worth telling.
    return fact.counts and (fact.kind == "event" or fact.valid_to is None or fact.valid_to > at)
