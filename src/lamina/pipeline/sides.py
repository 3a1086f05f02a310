"""Whose timeline a statement about a person is on: that of the slot, or one of its author's beside it.

Of a person speak for good they themselves (``hearsay.py``). What others say is placed as ever while nobody else has spoken of the
matter. Where somebody had, it stands beside that, follows only what the same author said, and ends when the person speaks; unless it
says what holds there again. All of this goes by when things were said, so that the order in which they are heard of does not show.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, NamedTuple

from lamina.kernel.records import Author
from lamina.kernel.time import FOREVER, Instant
from lamina.pipeline.timeline import Statement, ValueEnd, ValuePeriod, timeline, turn_of

__all__ = ["Side", "ends_of_others", "sides"]

_DRAWN_MAX: Final = 64
"""How often it is looked up what holds in a matter: as often as its values change between words of others."""


@dataclass(frozen=True, slots=True)
class Side:
    """The periods of a slot, or with an ``author`` of what they say beside it."""

    author: Author | None
    periods: Sequence[ValuePeriod]


class _Word(NamedTuple):
    """A word of the person themselves, by which what others had said of the matter by then ends: of one value, or of any."""

    at: Instant
    value: str | None
    said: Statement


def sides(statements: Sequence[Statement], endings: Sequence[ValueEnd] = ()) -> list[Side]:
    """The timelines of a matter, that of its slot first; ``endings`` are what was taken back."""
    together, beside = _parted(statements, endings)
    found = [Side(None, timeline(_ranked(together), endings))]
    words = sorted(_words(together), key=lambda each: turn_of(each.said)) if beside else []
    for _, said in sorted(beside.items()):
        own = {value: _Bearing(value, words) for value in {each.value for each in said}}
        over = {ValueEnd(value, at) for value, bearing in own.items() for at in bearing.instants}
        ends = [*endings, *sorted(over, key=lambda each: (each.at, each.value))]
        found.append(Side(said[0].author, timeline([own[each.value].told(each) for each in said], ends)))
    return found


def ends_of_others(statements: Sequence[Statement]) -> set[Instant]:
    """The instants at which what stood beside the words of a person ends, if it did."""
    return {each.at for each in _words(statements)}


def _parted(
    statements: Sequence[Statement], endings: Sequence[ValueEnd]
) -> tuple[list[Statement], dict[str, list[Statement]]]:
    """What is on the timeline of the slot, and by their ids what authors say beside it."""
    if all(each.author is None for each in statements):
        return list(statements), {}
    together = _Together(endings)
    beside: dict[str, list[Statement]] = {}
    speakers: set[str | None] = set()
    for each in sorted(statements, key=turn_of):
        author = None if each.author is None else each.author.id
        if each.external or together.holds(each, speakers - {author}):
            together.add(each)
        elif author is None or speakers <= {author}:
            together.add(each)
            speakers.add(author)
        else:
            beside.setdefault(author, []).append(each)
    return together.said, beside


class _Together:
    """What is on the timeline of a slot, as far as it was said by some turn."""

    def __init__(self, endings: Sequence[ValueEnd]) -> None:
        self.said: list[Statement] = []
        self._values: set[tuple[str, bool]] = set()
        self._endings = endings
        self._open: set[tuple[str, bool]] | None = None
        self._drawn = 0

    def add(self, said: Statement) -> None:
        """Take in what was said next."""
        self.said.append(said)
        self._values.add(said.said)
        goes_on = not (self._endings or said.external) and said.holds_to is None
        if self._open is not None and not (goes_on and said.said in self._open):
            self._open = None

    def holds(self, said: Statement, others: Collection[str | None]) -> bool:
        """Whether another's statement says what somebody's word has hold there, with no end. Of a matter in which that changes too often
        nobody says it again."""
        if said.author is None or said.is_ending or not others or said.said not in self._values:
            return False
        if self._open is None:
            if self._drawn == _DRAWN_MAX:
                return False
            self._drawn += 1
            ended = [each for each in self._endings if each.at <= said.said_at]
            self._open = {
                period.said
                for period in timeline(_ranked(self.said), ended)
                if period.holds_to is None and any(each.is_word for each in period.statements)
            }
        return said.said in self._open


def _ranked(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, those of others as hearsay where the person themselves has spoken of it."""
    own = any(each.author is None and not each.external for each in statements)
    return [
        replace(each, is_word=not each.external, external=each.external or (own and each.author is not None))
        for each in statements
    ]


def _words(statements: Sequence[Statement]) -> Iterator[_Word]:
    for each in statements:
        if each.author is not None or each.external:
            continue
        if each.is_ending:
            assert each.holds_to is not None, "it was over"
            yield _Word(each.holds_to, each.value, each)
        elif each.holds_to is None and each.holds_from <= each.said_at:
            yield _Word(each.said_at, each.value if each.denies else None, each)


class _Bearing:
    """The words of the person that end what others say of a value, in the order in which they were said."""

    def __init__(self, value: str, words: Sequence[_Word]) -> None:
        bearing = [each for each in words if each.value is None or each.value == value]
        self.instants = [each.at for each in bearing]
        self._turns = [turn_of(each.said) for each in bearing]
        self._latest = list(accumulate(self.instants, max))

    def told(self, said: Statement) -> Statement:
        """A statement of another's as far as none of them speaks against it: from the last one before it on, and what is denied up to the next
        one after it."""
        before = bisect_left(self._turns, turn_of(said))
        begins = self._latest[before - 1] if before else said.holds_from
        if said.holds_from < begins < (said.holds_to or FOREVER):
            said = replace(said, holds_from=begins)
        if said.denies:
            after = [at for at in self.instants[before:] if at > said.holds_from]
            ends = min([*after, *([] if said.holds_to is None else [said.holds_to])], default=None)
            said = replace(said, holds_to=ends)
        return said
