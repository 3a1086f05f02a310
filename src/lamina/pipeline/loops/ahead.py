"""What lies ahead beside what is open: wishes and plans that nobody has to keep, and what others have arranged.

A turn ends and moves these as it does loops. Only what is clearly meant: a wrong end is worse than a missing one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lamina.kernel.records import Fact, Layer
from lamina.language.entities import normalise_name, possessive
from lamina.language.tables import table
from lamina.pipeline.ending import end_fact, move_fact
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.loops.matching import key_terms, specific
from lamina.pipeline.loops.meaning import meant_by, terms_of
from lamina.pipeline.loops.values import LoopEnding, Move
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["FactsAhead"]

_TABLE = table(__name__)
_FACTS_MAX: Final = 64
_PLANNED: Final = tuple(
    sorted(name for name, each in PREDICATES.items() if each.kind in ("plan", "commitment"))
)
_ARRANGED: Final = "has_scheduled"
_NAMED = _TABLE.pattern("named")


class FactsAhead:
    """The facts of a scope that its person may end or move by a word. ``just_said`` are the turns that "it" may speak of."""

    def __init__(self, view: View, just_said: frozenset[str]) -> None:
        self._view = view
        self._just_said = just_said
        self._at = view.event.context.observed_at
        self._name = view.event.observed_actor.display_name
        self._speaker = view.entity(normalise_name(self._name))

    def end(self, ending: LoopEnding, writes: Writes) -> None:
        """End what some words say is done or given up."""
        if ending.words and ending.way in ("did", "is", "dropped", "thing"):
            fact = meant_by(ending, list(self._named_in(ending.words)))
            if fact is not None:
                end_fact(self._view, fact, self._at, writes)

    def move(self, move: Move, writes: Writes) -> None:
        """Put the one thing that has a day and is named, or was spoken of just now, on another."""
        if move.day is None or move.day[0] <= self._at:
            return
        dated = [each for each in self._named_in(move.words) if self._lies_ahead(each)]
        if move.words:
            said = key_terms((_NAMED.match(move.words) or {"what": ""})["what"])
            dated = [each for each in dated if specific(said) and said <= terms_of(each)]
        else:
            dated = [each for each in dated if each.event_id in self._just_said]
            dated += [each for each in writes.records if isinstance(each, Fact) and self._lies_ahead(each)]
        if move.about:
            earlier = key_terms(move.about) - key_terms(self._name)
            dated = [each for each in dated if not earlier.isdisjoint(terms_of(each))]
        if len(dated) == 1:
            move_fact(self._view, dated[0], *move.day, writes)

    def _named_in(self, words: str) -> Iterator[Fact]:
        """What is held, was told before this turn, is not over, and is whose words name: "Mia's appointment", "the move"."""
        named = _NAMED.match(words)
        own, who = (None, None) if named is None else (named["own"], named["who"])
        whose = self._speaker if own else None if who is None else self._person(who)
        for predicate in (*_PLANNED, _ARRANGED):
            subject = whose if predicate == _ARRANGED else self._speaker
            found = self._view.query(Layer.FACTS, subject=subject, predicate=predicate, limit=_FACTS_MAX)
            yield from (fact for fact in found if isinstance(fact, Fact) and self._may_end(fact))

    def _may_end(self, fact: Fact) -> bool:
        is_over = fact.valid_to is not None and fact.valid_to <= self._at
        return not (is_over or fact.negated or fact.event_id == self._view.event.id)

    def _person(self, who: str) -> str:
        """The id of somebody as facts name them: of "my daughter" the speaker's."""
        owner, _, kin = who.partition(" ")
        name = f"{possessive(self._name)} {kin}" if owner.casefold() in ("my", "our") else who
        return self._view.entity(normalise_name(name))

    def _lies_ahead(self, fact: Fact) -> bool:
        return fact.valid_to is not None and fact.valid_from > self._at and not fact.negated
