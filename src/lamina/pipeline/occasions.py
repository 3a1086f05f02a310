"""What happened and what is planned, from everything that was said of one claim and against it: a function of the words, not of their order.

None of it has a slot, and of much there may be several at once. Words are taken by when they were said:

1. One that says the same of the same time joins what was told before. Of days within each other the fewer count, and a plan has the day that any
   of its words tells.
2. A later denial ends what has no end. What has one and lies within the time that is denied never was, nor was what ends before it begins.
3. A denial holds until what it denies is said again.
4. What is told as over ends what has no end.

Hearsay ends nobody's word, and a person's word of another only their own (``beside.ends``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from lamina.kernel.records import Fact
from lamina.kernel.time import FOREVER, Instant
from lamina.pipeline.beside import ends
from lamina.pipeline.versions import vouched_for

__all__ = ["Occasion", "Word", "holds_at", "is_same", "occasions", "overlap", "retold"]

_INTENDED: Final = ("commitment", "plan")


class Word(NamedTuple):
    """One event's word: the fact that it would be alone, and when it was said."""

    fact: Fact
    said_at: Instant

    @property
    def is_over(self) -> bool:
        """Whether it was told as over, with no word of its beginning."""
        until = self.fact.valid_to
        return until is not None and until <= self.said_at and until - self.fact.valid_from <= 1


@dataclass(slots=True, eq=False)
class Occasion:
    """Something that happened or was planned, or that it did not or was not: its time and its trust, and the words that say so. ``held`` is the
    fact that it is where that stands as it is, ``ended_by`` what it was called off or taken up again by, ``ends`` what that is of this one."""

    fact: Fact
    words: list[Word] = field(default_factory=list)
    held: Fact | None = None
    ended_by: Occasion | None = None
    ends: Occasion | None = None


def occasions(words: Sequence[Word], fixed: Sequence[Fact] = ()) -> list[Occasion]:
    """What the words of one claim and of its denial come to beside facts that stand as they are, in the order in which they were first told."""
    told = sorted(words, key=_turn_of)
    denials = [each for each in told if each.fact.negated and not each.is_over]
    found = [Occasion(each, held=each) for each in fixed]
    for word in told:
        if not _never_was(word, denials):
            _say(word, found)
    return found


def is_same(held: Fact, said: Fact) -> bool:
    """Whether a claim without a slot says what is held. What happened on a day is another thing than what happened on none; promises are one
    not by their ends, since one that was done ended early, but by the day in their words."""
    if said.kind == "event" and (held.valid_to is None) is not (said.valid_to is None):
        return False
    return overlap(held, said) and (said.kind not in _INTENDED or held.text == said.text)


def retold(held: Fact, said: Fact) -> Fact:
    """A fact that is said again: vouched for by both, with the time of that which says more. Of days these are the fewer, of what is intended
    it is the day, else the earlier beginning."""
    told = vouched_for(held, said)
    if held.days is not None and said.days is not None:
        keeps, takes = _covers(said, held), _covers(held, said)
    else:
        differs = said.kind in _INTENDED and (held.valid_to is None) is not (said.valid_to is None)
        keeps, takes = differs and said.valid_to is None, differs
    if not keeps and takes:
        told = replace(
            told,
            valid_from=said.valid_from,
            valid_to=said.valid_to,
            from_offset=said.from_offset,
            to_offset=said.to_offset,
            fades_at=said.fades_at,
        )
    elif not keeps and said.valid_from < held.valid_from:
        told = replace(told, valid_from=said.valid_from, from_offset=said.from_offset)
    if told.fades_at is not None and said.fades_at is not None:
        told = replace(told, fades_at=max(told.fades_at, said.fades_at))
    return told


def holds_at(fact: Fact, moment: Instant) -> bool:
    """Whether a fact has no end by a moment."""
    return fact.valid_to is None or moment < fact.valid_to


def overlap(held: Fact, said: Fact) -> bool:
    """Whether two claims hold at one time; of days whether they share one, whatever clocks they were told by."""
    if held.days is not None and said.days is not None:
        return held.days[0] < said.days[1] and said.days[0] < held.days[1]
    return holds_at(held, said.valid_from) and (said.valid_to is None or held.valid_from < said.valid_to)


def _turn_of(word: Word) -> tuple[Instant, str, Instant, Instant]:
    fact = word.fact
    return word.said_at, fact.event_id, fact.valid_from, fact.valid_to or FOREVER


def _never_was(word: Word, denials: Sequence[Word]) -> bool:
    """Whether denials that were said later leave nothing of what a word says."""
    fact = word.fact
    if fact.negated or word.is_over:
        return False
    later = [each.fact for each in denials if _turn_of(each) > _turn_of(word) and ends(each.fact, fact)]
    until = [each.valid_from for each in later if _ends_before(fact, each)]
    ended = replace(fact, valid_to=min(until)) if until else fact
    return ended.valid_to is not None and any(_covers(each, ended) for each in later)


def _say(word: Word, found: list[Occasion]) -> None:
    """Take in the next word."""
    said = word.fact
    of_it = [each for each in found if each.fact.negated == said.negated]
    if word.is_over:
        over = [each for each in of_it if _ends_before(each.fact, said) and ends(said, each.fact)]
        for each in over:
            each.fact = replace(each.fact, valid_to=said.valid_to, to_offset=said.to_offset)
            each.words.append(word)
        if over:
            return
    same = [
        each
        for each in of_it
        if is_same(each.fact, said) and not (word.is_over and each.fact.valid_to is None)
    ]
    if same:
        occasion = max(same, key=lambda each: (each.fact.valid_from, each.fact.valid_to is None))
        occasion.fact = retold(occasion.fact, said)
        occasion.words.append(word)
    else:
        occasion = Occasion(said, [word])
        found.append(occasion)
    if not word.is_over:
        _end_contrary(word, occasion, found)


def _end_contrary(word: Word, occasion: Occasion, found: Sequence[Occasion]) -> None:
    """End what a word speaks against and what has no end: what happened or is planned where its denial begins, a denial when it was said again."""
    said = word.fact
    at = said.valid_from if said.negated else word.said_at
    for each in found:
        if each.fact.negated is said.negated or each.fact.valid_to is not None or each.fact.valid_from >= at:
            continue
        if ends(said, each.fact):
            each.fact = replace(each.fact, valid_to=at, to_offset=said.from_offset)
            each.ended_by, occasion.ends = occasion, each


def _ends_before(fact: Fact, other: Fact) -> bool:
    """Whether a fact has no end, and holds before another one begins."""
    return fact.valid_to is None and fact.valid_from < other.valid_from


def _covers(fact: Fact, held: Fact) -> bool:
    """Whether a claim holds for all of the time of one that has an end."""
    if fact.days is not None and held.days is not None:
        return fact.days[0] <= held.days[0] and held.days[1] <= fact.days[1]
    until = fact.valid_to is not None and held.valid_to is not None and held.valid_to <= fact.valid_to
    return fact.valid_from <= held.valid_from and (fact.valid_to is None or until)
