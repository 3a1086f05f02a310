"""What a turn ends and moves beside loops: what its speaker plans, has to do or owes, and what has a day.

Only what is clearly meant: the one plan that has all the words, the one thing with a day that is named, the one debt to somebody. A wrong
end is worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from lamina.kernel.events import text_of
from lamina.kernel.records import Fact, Layer
from lamina.language.entities import normalise_name, possessive
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.loops.doing import end_fact, move_fact
from lamina.pipeline.loops.matching import deed_of, key_terms, overlap, specific
from lamina.pipeline.loops.values import Ending, Move
from lamina.pipeline.view import EXTRACTED_FROM, View
from lamina.store.ports.writes import Writes

__all__ = ["StatedKeeper"]

_FACTS_MAX: Final = 64
_SAME_FROM: Final = 0.8
_JUST_NOW: Final = 2
_PLANNED: Final = tuple(
    sorted(name for name, each in PREDICATES.items() if each.kind in ("plan", "commitment"))
)
_WITH_A_DAY: Final = ("plans", "plans_to")
_ARRANGED: Final = "has_scheduled"
_OWED: Final = "owe"

_NAMED = re.compile(
    r"^(?:(?P<who>(?:my |our )?[\w-]+)(?:['’]s|(?<=s)['’]) |(?P<own>my|our) |(?:the|that|this) )?(?P<what>\S.*)$",
    re.IGNORECASE,
)
_IT = re.compile(r"^(?P<deed>\w+) (?P<what>me|us|it|that|them)$", re.IGNORECASE)
_PREPOSITIONS: Final = frozenset({"to", "from", "out", "of", "in", "on", "for", "with", "at", "into", "onto"})
_GIVES_UP = re.compile(
    r"^(?:cancel|sell|return|close|delete|quit|leave|drop|end|terminate|give up|give away|get rid of|throw|scrap|refund|replace)\b",
    re.IGNORECASE,
)
_WHO: Final = (
    r"(?P<who>(?!(?:for|the|my|his|her|it|that|rent|bill)\b)(?:my |our )?[\w'’-]+(?: [A-Z][\w'’-]+)?)"
)
_BACK: Final = (
    r"(?: back)?(?: (?:(?:the|all (?:the|of the)|his|her|their|my) )?(?:money|loan|debt|full amount)| in full| everything| all of it| what (?:i|we|he|she|they) owed(?: \w+)?| the rest|"
    r" (?:the |all )?[£$€]?\d[\d,.]*(?: [a-z]+)?)*(?: back)?(?: (?:now|today|yesterday|already|finally|last night|this morning|on \w+day))*\W*$"
)
_PAID_BY_ME = re.compile(rf"^(?:paid|repaid)(?: back)? {_WHO}{_BACK}", re.IGNORECASE)
_PAID_TO_ME = re.compile(
    rf"^{_WHO}(?: has|['’]s)?(?: finally| just| already)* (?:paid|repaid) (?:me|us){_BACK}", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_NOT_NAMES: Final = frozenset(
    {
        "me",
        "us",
        "him",
        "them",
        "you",
        "half",
        "some",
        "part",
        "most",
        "extra",
        "more",
        "nobody",
        "someone",
        "everyone",
    }
)


class StatedKeeper:
    """Lets the facts of a scope follow what a turn of its person tells."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event
        self._at = view.event.context.observed_at
        self._name = view.event.observed_actor.display_name

    def end(self, ending: Ending, writes: Writes) -> None:
        """End what some words say is done, given up or paid."""
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
        if ending.way in ("did", "other"):
            paid = (_PAID_BY_ME if ending.way == "did" else _PAID_TO_ME).match(ending.words)
            if paid is not None:
                return self._debt(paid, to_me=ending.way == "other")
        said = key_terms(ending.words)
        if ending.way in ("thing", "off"):
            found = _only(self._with_a_day(ending.words, planned=False))
            return found or (self._plans(lambda _, terms: said <= terms) if ending.way == "thing" else ())
        if ending.way == "did":
            return self._plans(lambda fact, terms: _is_done(fact, terms, said))
        if ending.way == "kept":
            return self._plans(lambda fact, terms: bool(_GIVES_UP.match(fact.object.text)) and said <= terms)
        if ending.way == "unwanted" and (alone := _IT.match(ending.words)) is not None:
            return self._plans(lambda fact, _: _is_of(fact, alone))
        if ending.way in ("dropped", "unwanted") and specific(said):
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
        tied = {each.record_id for each in self._view.dependants_of(turns) if each.relation == EXTRACTED_FROM}
        stated = [record for record in map(self._view.record, sorted(tied)) if isinstance(record, Fact)]
        own = [each for each in writes.records if isinstance(each, Fact) and each.event_id == self._event.id]
        wanted = (*_WITH_A_DAY, _ARRANGED)
        return [fact for fact in own or stated if fact.predicate in wanted and self._lies_ahead(fact)]

    def _debt(self, paid: re.Match[str], *, to_me: bool) -> Sequence[Fact]:
        """The one debt between the speaker and somebody, of whom the turn that told it speaks."""
        who = paid["who"]
        if who.casefold() in _NOT_NAMES:
            return ()
        amount = set(_DIGITS.findall(paid.string.replace(",", "")))
        owed = self._held(self._person(who) if to_me else self._speaker, [_OWED, "owes"])
        told = self._view.events([fact.event_id for fact in owed])
        name = key_terms(who)
        return _only(
            [
                fact
                for fact in owed
                if amount <= set(_DIGITS.findall(fact.object.text.replace(",", "")))
                and (to_me or name <= key_terms(text_of(told[fact.event_id].content)))
            ]
        )

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


def _is_done(fact: Fact, terms: frozenset[str], said: frozenset[str]) -> bool:
    """Whether what was done is what was planned, with little beside it."""
    deed = deed_of(fact.object.text)
    return bool(deed) and deed <= said and min(overlap(terms, said), overlap(said, terms)) >= _SAME_FROM


def _is_of(fact: Fact, alone: re.Match[str]) -> bool:
    """Whether "don't downgrade me" and "don't cancel it" speak of a plan: to be downgraded, and to cancel something."""
    deed = deed_of(alone["deed"])
    words = fact.object.text.split()
    done_to_me = len(words) > 1 and words[1].casefold() in _PREPOSITIONS
    return (
        bool(deed)
        and deed_of(fact.object.text) == deed
        and done_to_me == (alone["what"].casefold() in ("me", "us"))
    )


def _only(facts: Iterable[Fact]) -> Sequence[Fact]:
    found = list(facts)
    return found if len(found) == 1 else ()
