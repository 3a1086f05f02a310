"""Whose timeline a statement about a person is on: that of the slot, or one of its author's beside it.

Of a person speak for good they themselves (``hearsay.py``). What others say is placed as ever while nobody else has spoken of the
matter. Where somebody had, it stands beside that, follows only what the same author said, and ends when the person speaks; unless it
says what holds there again. All of this goes by when things were said, so that the order in which they are heard of does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lamina.kernel.records import Author
from lamina.kernel.time import FOREVER, Instant
from lamina.pipeline.timeline import Statement, ValueEnd, ValuePeriod, timeline, turn_of

__all__ = ["Side", "sides"]


@dataclass(frozen=True, slots=True)
class Side:
    """The periods of a slot, or with an ``author`` of what they say beside it."""

    author: Author | None
    periods: Sequence[ValuePeriod]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the person themselves, by which what others had said of the matter by then ends: of one value, or of any."""

    at: Instant
    value: str | None
    said: Statement

    def ends(self, other: Statement) -> bool:
        return self.value is None or self.value == other.value


def sides(statements: Sequence[Statement], endings: Sequence[ValueEnd] = ()) -> list[Side]:
    """The timelines of a matter, that of its slot first; ``endings`` are what was taken back."""
    together, beside = _parted(statements, endings)
    found = [Side(None, timeline(_ranked(together), endings))]
    words = list(_words(together)) if beside else []
    for _, said in sorted(beside.items()):
        over = [ValueEnd(each.value, word.at) for word in words for each in said if word.ends(each)]
        own = [_since(each, words) for each in said]
        found.append(Side(said[0].author, timeline(own, [*endings, *dict.fromkeys(over)])))
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
    together: list[Statement] = []
    beside: dict[str, list[Statement]] = {}
    speakers: set[str | None] = set()
    for each in sorted(statements, key=turn_of):
        if each.external:
            together.append(each)
            continue
        author = None if each.author is None else each.author.id
        if author is None or speakers <= {author}:
            together.append(each)
            speakers.add(author)
        elif _says_again(each, together, endings):
            together.append(each)
        else:
            beside.setdefault(author, []).append(each)
    return together, beside


def _says_again(said: Statement, before: Sequence[Statement], endings: Sequence[ValueEnd]) -> bool:
    """Whether a statement says what somebody's word has hold there, with no end."""
    if said.is_ending or all(each.said != said.said for each in before):
        return False
    ended = [each for each in endings if each.at <= said.said_at]
    return any(
        period.said == said.said
        and period.holds_to is None
        and any(each.is_word for each in period.statements)
        for period in timeline(_ranked(before), ended)
    )


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


def _since(said: Statement, words: Sequence[_Word]) -> Statement:
    """A statement of another's as far as no word of the person themselves speaks against it: from the last one before it on, and what is
    denied up to the next one after it."""
    bearing = [each for each in words if each.ends(said)]
    before = [each.at for each in bearing if turn_of(each.said) < turn_of(said)]
    begins = max([said.holds_from, *before])
    if begins > said.holds_from and begins < (said.holds_to or FOREVER):
        said = replace(said, holds_from=begins)
    if said.denies:
        after = [
            each.at for each in bearing if turn_of(each.said) > turn_of(said) and each.at > said.holds_from
        ]
        ends = min([*after, *([] if said.holds_to is None else [said.holds_to])], default=None)
        said = replace(said, holds_to=ends)
    return said
