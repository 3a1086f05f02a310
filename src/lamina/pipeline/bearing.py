"""Which claims bear on each other where they are believed: a matter, and what a scope holds of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lamina.kernel.predicates import family_of
from lamina.kernel.records import Belief, Fact, Layer, Record, Stance, claim_key_of
from lamina.kernel.scopes import Scope
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.matters import is_shared, words_of
from lamina.pipeline.view import View

__all__ = [
    "MATTER_MAX",
    "BelievedMatter",
    "beliefs_held",
    "facts_naming",
    "facts_told",
    "is_single_valued",
    "matter_of",
]

MATTER_MAX = 256
"""So many facts of a matter are weighed, and so many beliefs in them revised."""


@dataclass(frozen=True, slots=True)
class BelievedMatter:
    """The claims that bear on each other: values of a slot, or with ``words`` what is said of one thing where many may stand."""

    subject: str
    predicates: tuple[str, ...]
    words: str | None
    object_key: str
    object_id: str | None
    slot: str | None

    @property
    def key(self) -> tuple[str, tuple[str, ...], str | None]:
        """Equal for those of one matter."""
        return self.subject, self.predicates, self.words

    @property
    def claim_keys(self) -> list[str]:
        """What can be said of one thing."""
        return [
            claim_key_of(self.subject, predicate, self.object_key, negated=negated)
            for predicate in self.predicates
            for negated in (False, True)
        ]


def matter_of(view: View, fact: Fact, scope: Scope) -> BelievedMatter:
    """What bears on a fact where a scope believes it: of another scope's facts only what was sent may say."""
    family = family_of(fact.predicate)
    single = fact.slot is not None and not is_shared(fact)
    if fact.slot is None and fact.kind != "plan":
        # Of somebody who may be another of that name, a value stands beside those of the slot.
        single = scope != fact.scope and is_single_valued(fact.predicate)
        beside = [] if single else _queried(view, Layer.FACTS, scope, fact.subject.id, family)
        single = single or any(
            isinstance(each, Fact) and each.slot is not None and not is_shared(each) for each in beside
        )
    words = None if single else words_of(fact.object)
    return BelievedMatter(fact.subject.id, family, words, fact.object.key, fact.object.id, fact.slot)


def is_single_valued(predicate: str) -> bool:
    """Whether a subject has one value of a predicate at a time, by what is known of predicates."""
    registered = PREDICATES.get(predicate)
    return registered is not None and registered.single_valued


def facts_told(view: View, matter: BelievedMatter, scope: Scope) -> dict[str, Fact]:
    """The facts of a matter that a scope holds, and others by its predicates."""
    found: list[Record] = []
    if matter.words is None:
        found = _queried(view, Layer.FACTS, scope, matter.subject, matter.predicates)
    else:
        if matter.slot is not None:
            found += view.query(Layer.FACTS, scope=scope, slot=matter.slot, limit=MATTER_MAX)
        for claim_key in matter.claim_keys:
            found += view.query(Layer.FACTS, scope=scope, claim_key=claim_key, limit=MATTER_MAX)
    return {each.id: each for each in found if isinstance(each, Fact)}


def facts_naming(view: View, entities: Iterable[str], scope: Scope) -> list[Fact]:
    """The facts of a scope that name some entities, as whom they are about or as their value, by id."""
    found: dict[str, Fact] = {}
    for entity in entities:
        for named in (
            view.query(Layer.FACTS, scope=scope, subject=entity, limit=MATTER_MAX),
            view.query(Layer.FACTS, scope=scope, object_key=entity, limit=MATTER_MAX),
        ):
            found |= {each.id: each for each in named if isinstance(each, Fact)}
    return [found[each] for each in sorted(found)]


def beliefs_held(view: View, matter: BelievedMatter, scope: Scope) -> dict[str, Belief]:
    """The beliefs of a matter that a scope holds."""
    found = (
        _queried(view, Layer.BELIEFS, scope, matter.subject, matter.predicates)
        if matter.words is None
        else [
            each
            for claim_key in matter.claim_keys
            for each in view.query(Layer.BELIEFS, scope=scope, claim_key=claim_key, limit=MATTER_MAX)
        ]
    )
    # One that was deprecated is no more drawn anew: it is kept as it was.
    return {
        each.id: each for each in found if isinstance(each, Belief) and each.stance is not Stance.DEPRECATED
    }


def _queried(view: View, layer: Layer, scope: Scope, subject: str, predicates: Iterable[str]) -> list[Record]:
    return [
        each
        for predicate in predicates
        for each in view.query(layer, scope=scope, subject=subject, predicate=predicate, limit=MATTER_MAX)
    ]
