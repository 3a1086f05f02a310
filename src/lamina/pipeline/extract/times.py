"""Where a claim's validity comes from: the time expressions of its clause, read against `observed_at`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time

from lamina.language.temporal.calendar import day_after
from lamina.pipeline.extract.clauses import WEIGHTS
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import Kind, TimeMatch

_SINCE = frozenset(("since", "from", "starting"))
_UNTIL = frozenset(("until", "till", "through", "til"))
_BY = frozenset(("by", "before"))
_STATES: frozenset[Kind] = frozenset(
    (
        "identity",
        "role",
        "place",
        "possession",
        "relation",
        "preference",
        "quantity",
        "state_change",
        "attribute",
    )
)


@dataclass(frozen=True, slots=True)
class Validity:
    """Half-open; None is open. `due` keeps the wording of a deadline."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    due: str | None = None


class Times:
    """The time expressions of one sentence, with offsets relative to it."""

    def __init__(self, text: str, matches: Sequence[TimeMatch], observed_at: datetime) -> None:
        self._text = text
        self._matches = list(matches)
        self._observed_at = observed_at

    def covers(self, token: Token) -> bool:
        """Whether `token` is part of a time expression."""
        return any(match.start <= token.start < match.end for match in self._matches)

    def at(self, start: int, end: int) -> TimeMatch | None:
        """The first expression that overlaps the span."""
        return next((m for m in self._matches if m.start < end and start < m.end), None)

    def of_clause(self, parse: Parse, verb: Token) -> list[TimeMatch]:
        """The expressions that belong to the clause of `verb` and to none nested in it."""
        found = []
        for match in self._matches:
            token = next((t for t in parse.tokens if t.start >= match.start and t.end <= match.end), None)
            if token is not None and _clause_verb(parse, token) == verb.i:
                found.append(match)
        return found

    def all(self) -> list[TimeMatch]:
        return self._matches

    def validity(self, matches: Sequence[TimeMatch], kind: Kind) -> Validity:
        """An event or a plan lasts for the interval; a state begins with it, unless "until" says it ends."""
        for match in matches:
            earliest, latest = self.interval(match, future=kind in ("plan", "commitment"))
            if earliest is None and latest is None:
                continue
            word = self._preposition(match)
            if word in _BY:
                words = self._text[match.start : match.end]
                return Validity(
                    None, _end_of_day(latest) if _DAY.search(words) and word == "by" else latest, words
                )
            if word in _UNTIL:
                return Validity(None, latest)
            if _RANGE.search(self._text, match.start, match.end) and kind not in _STATES:
                return Validity(earliest, latest)
            if word in _SINCE or (latest is None and kind != "event"):
                return Validity(earliest, None)
            if kind in _STATES:
                return Validity(earliest, None)
            return Validity(earliest, latest)
        return Validity()

    def interval(self, match: TimeMatch, *, future: bool) -> tuple[datetime | None, datetime | None]:
        """The likeliest interval; with `future` the first that has not passed, where the words allow one."""
        if future and match.latest is not None and match.latest <= self._observed_at:
            for reading in match.readings:
                if reading.valid_to is not None and reading.valid_to > self._observed_at:
                    return reading.valid_from, reading.valid_to
        return match.earliest, match.latest

    def _preposition(self, match: TimeMatch) -> str:
        words = self._text[match.start : match.end].casefold().split()
        if words and words[0] in (_SINCE | _UNTIL | _BY):
            return words[0]
        before = self._text[max(0, match.start - 12) : match.start].casefold().split()
        return before[-1] if before else ""


_DAY = re.compile(r"\d|day\b|tomorrow|\b(?:mon|tue|wed|thu|fri|sat|sun)\b", re.IGNORECASE)
_RANGE = re.compile(r"\bfrom .{1,100} (?:to|until|till|through) ", re.IGNORECASE)


def _end_of_day(instant: datetime | None) -> datetime | None:
    """ "By Friday" counts Friday: the expression ends where the day begins."""
    if instant is None or instant.time() != time():
        return instant
    return day_after(instant)


def _clause_verb(parse: Parse, token: Token) -> int:
    for ancestor in (token, *parse.ancestors(token)):
        if ancestor.is_verb and ancestor.dep in WEIGHTS:
            return ancestor.i
    return -1
