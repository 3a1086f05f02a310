"""What a turn ends and moves beside loops: what its speaker plans or has to do, and what has a day.

Only what is clearly meant: the one plan that has all the words, the one thing with a day that is named. A wrong end is
worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from lamina.kernel.records import Fact, Layer
from lamina.kernel.ties import Tie
from lamina.language.entities import normalise_name, possessive
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.loops.doing import end_fact, move_fact
from lamina.pipeline.loops.matching import key_terms, specific
from lamina.pipeline.loops.meaning import was_done
from lamina.pipeline.loops.values import Ending, Move
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["StatedKeeper"]

_FACTS_MAX: Final = 64
_JUST_NOW: Final = 2
_PLANNED: Final = tuple(
    sorted(name for name, each in PREDICATES.items() if each.kind in ("plan", "commitment"))
)
_WITH_A_DAY: Final = ("plans", "plans_to")
_ARRANGED: Final = "has_scheduled"

_NAMED = re.compile(
    r"^(?:(?P<who>(?:my |our )?[\w-]+)(?:['’]s|(?<=s)['’]) |(?P<own>my|our) |(?:the|that|this) )?(?P<what>\S.*)$",
    re.IGNORECASE,
)


class StatedKeeper:
    """Lets the facts of a scope follow what a turn of its person tells."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event
        self._at = view.event.context.observed_at
        self._name = view.event.observed_actor.display_name

    def end(self, ending: Ending, writes: Writes) -> None:
        """End what some words say is done or given up."""
        if not ending.words:
            return
        for fact in self._meant(ending):
            end_fact(self._view, fact, self._at, writes)

    def move(self, move: Move, writes: Writes) -> None:
        """Put the one thing that has a day and is named, or was spoken of just now, on another."""
        if move.day is None or move.day[0] <= self._at:
            return
        found = self._with_a_day(move.words) if move.words else self._just_stated(writes)
        if move.about:
            earlier = key_terms(move.about) - key_terms(self._name)
            found = [fact for fact in found if not earlier.isdisjoint(key_terms(fact.object.text))]
        if len(found) == 1:
            move_fact(self._view, found[0], *move.day, writes)

    def _meant(self, ending: Ending) -> Sequence[Fact]:
        said = key_terms(ending.words)
        if ending.way == "thing":
            found = _only(self._with_a_day(ending.words, planned=False))
            return found or self._plans(lambda _, terms: said <= terms)
        if ending.way == "did":
            return self._plans(lambda fact, _: was_done(fact.object.text, ending.words))
        if ending.way == "dropped" and specific(said):
            return self._plans(lambda _, terms: said <= terms)
        return ()

    def _plans(self, is_meant: Callable[[Fact, frozenset[str]], bool]) -> Sequence[Fact]:
        """What the speaker plans or has to do, and is meant; nothing where that may be two things."""
        found: list[tuple[frozenset[str], Fact]] = []
        own = key_terms(self._name)
        for fact in self._held(self._speaker, _PLANNED):
            terms = key_terms(fact.object.text) - own
            if is_meant(fact, terms):
                found.append((terms, fact))
        return [fact for _, fact in found] if len({terms for terms, _ in found}) == 1 else ()

    def _with_a_day(self, words: str, *, planned: bool = True) -> list[Fact]:
        """What lies ahead, has a day and is named: "Mia's appointment", "the move"."""
        named = _NAMED.match(words)
        if named is None:
            return []
        who = self._speaker if named["own"] else None if named["who"] is None else self._person(named["who"])
        said = key_terms(named["what"])
        held = self._held(who, [_ARRANGED])
        held += self._held(who or self._speaker, _WITH_A_DAY) if planned else []
        return [
            fact
            for fact in held
            if self._lies_ahead(fact) and specific(said) and said <= key_terms(fact.object.text)
        ]

    def _just_stated(self, writes: Writes) -> list[Fact]:
        """What has a day of what the speaker's last turns stated."""
        speaker = self._event.observed_actor.id
        before = [each for each in self._view.previous(_JUST_NOW) if each.observed_actor.id == speaker]
        turns = [each.id for each in before[-1:]]
        tied = {
            each.record_id for each in self._view.dependants_of(turns) if each.relation == Tie.EXTRACTED_FROM
        }
        stated = [record for record in map(self._view.record, sorted(tied)) if isinstance(record, Fact)]
        own = [each for each in writes.records if isinstance(each, Fact) and each.event_id == self._event.id]
        wanted = (*_WITH_A_DAY, _ARRANGED)
        return [fact for fact in own or stated if fact.predicate in wanted and self._lies_ahead(fact)]

    @property
    def _speaker(self) -> str:
        return self._view.entity(normalise_name(self._name))

    def _person(self, who: str) -> str:
        """The id of somebody as facts name them: of "my daughter" the speaker's."""
        owner, _, kin = who.partition(" ")
        name = f"{possessive(self._name)} {kin}" if owner.casefold() in ("my", "our") else who
        return self._view.entity(normalise_name(name))

    def _held(self, subject: str | None, predicates: Collection[str]) -> list[Fact]:
        """What is held of a subject, or of any, was told before this turn and is not over."""
        return [
            fact
            for predicate in predicates
            for fact in self._view.query(Layer.FACTS, subject=subject, predicate=predicate, limit=_FACTS_MAX)
            if isinstance(fact, Fact)
            and not fact.negated
            and fact.event_id != self._event.id
            and (fact.valid_to is None or fact.valid_to > self._at)
        ]

    def _lies_ahead(self, fact: Fact) -> bool:
        return fact.valid_to is not None and fact.valid_from > self._at and not fact.negated


def _only(facts: Iterable[Fact]) -> Sequence[Fact]:
    found = list(facts)
    return found if len(found) == 1 else ()
