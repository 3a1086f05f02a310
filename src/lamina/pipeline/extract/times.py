"""Where a claim's validity comes from: the time expressions of its clause, read against `observed_at`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final, get_args

from lamina.language.dated import DATED_THINGS, OF_A_DAY, hangs_on_another, names_a_thing
from lamina.language.tables import table
from lamina.language.temporal import TemporalMatch
from lamina.language.temporal.calendar import day_after
from lamina.pipeline.extract.clauses import CLAUSAL
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import Kind

_TABLE: Final = table(__name__, dated_things=DATED_THINGS, of_a_day=OF_A_DAY)
_INSTANT = timedelta(seconds=1)
_LIFETIME: Final = 120
"""What is told of is no older in years, unless "since" says so: an older year is a number."""
_SINCE = _TABLE.words("since")
_UNTIL = _TABLE.words("until")
_BY = frozenset(("by", "before"))
_FROM: Final = frozenset(("from", "on"))
"""Of what is told in the present these lead to a day that comes: "I work at Acme from Monday"."""
_RECURRING = frozenset(("every", "each", "most"))
_STATES: frozenset[Kind] = frozenset(get_args(Kind)) - {"plan", "commitment", "event"}


@dataclass(frozen=True, slots=True)
class Validity:
    """Half-open; None is open. `due` keeps the wording of a deadline."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    due: str | None = None


class Times:
    """The time expressions of one sentence, with offsets relative to it."""

    def __init__(self, text: str, matches: Sequence[TemporalMatch], observed_at: datetime) -> None:
        self._text = text
        self._matches = list(matches)
        self._observed_at = observed_at
        # "On the fifth of May": the finder leaves the article out, and without its day it is nothing.
        self._covered = [
            (m.start - 4 if text[: m.start].lower().endswith(" the ") else m.start, m.end)
            for m in self._matches
        ]

    def covers(self, token: Token) -> bool:
        """Whether `token` is part of a time expression."""
        return any(start <= token.start < end for start, end in self._covered)

    def at(self, start: int, end: int) -> TemporalMatch | None:
        """The first expression that overlaps the span."""
        return next((m for m in self._matches if m.start < end and start < m.end), None)

    def of_clause(self, parse: Parse, verb: Token) -> list[TemporalMatch]:
        """The expressions that belong to the clause of `verb` and to none nested in it."""
        found = []
        for match in self._matches:
            token = next((t for t in parse.tokens if t.start >= match.start and t.end <= match.end), None)
            if token is not None and _clause_verb(parse, token) == verb.i:
                found.append(match)
        return found

    def within(self, parse: Parse, token: Token) -> list[TemporalMatch]:
        """The expressions below `token` that belong to it: not those of a relative clause ("the lamp I bought on
        Friday")."""
        low, high = token.start, max(t.end for t in parse.subtree(token, _RELATIVE))
        below = {t.i for t in parse.subtree(token, _RELATIVE)}
        return [
            match
            for match in self._matches
            if low <= match.start < high
            and any(t.i in below for t in parse.tokens if match.start <= t.start < match.end)
        ]

    def is_of_noun(self, match: TemporalMatch) -> bool:
        """Whether it tells which thing is meant: "the invoice from 3 October"."""
        before = self._text[max(0, match.start - 40) : match.start] + self._text[match.start : match.end]
        return _OF_NOUN.search(before) is not None

    def put_to(self, match: TemporalMatch) -> date | None:
        """The day ahead that something past was for: "booked a hotel for 5 December", "was postponed to Friday"."""
        word = _LEAD.match(self._text, match.start)
        before = self._text[max(0, match.start - 80) : match.start if word is None else word.end()]
        if _PUT_TO.search(before) is None:
            return None
        starts = [
            self.interval(match, future=True)[0],
            *(each.valid_from or each.valid_to for each in match.readings),
        ]
        return next(
            (start.date() for start in starts if start is not None and start > self._observed_at), None
        )

    def all(self) -> list[TemporalMatch]:
        return self._matches

    def not_ahead(self, matches: Sequence[TemporalMatch]) -> list[TemporalMatch]:
        """Those that do not begin after it was said, which are no times of what is past: "finished a 5K in 35 minutes"."""
        return [m for m in matches if m.earliest is None or m.earliest <= self._observed_at]

    def validity(
        self,
        matches: Sequence[TemporalMatch],
        kind: Kind,
        *,
        is_present: bool = False,
        has_begun: bool = True,
    ) -> Validity:
        """An event or a plan lasts for the interval; a state begins with it, unless "until" says it ends: what
        `is_present` ends in the days ahead. One that need not have begun ("from Monday") begins there too."""
        for match in matches:
            ahead = kind in ("plan", "commitment")
            earliest, latest = self.interval(match, future=ahead)
            if (earliest is None and latest is None) or (ahead and self.is_of_noun(match)):
                continue
            word = self._preposition(match)
            if self._tells_no_time(match, kind):
                continue
            if word in _FROM and kind in _STATES and not has_begun:
                earliest, latest = self.interval(match, future=True)
            if word in _RECURRING or (kind in _STATES and self._ends_duration(match, matches)):
                continue
            if word in _BY and self._word_before(match) == "since":
                return Validity()  # "since before 2010"
            if word in _BY:
                words = self._text[match.start : match.end]
                return Validity(
                    None, _end_of_day(latest) if _DAY.search(words) and word == "by" else latest, words
                )
            if word in _UNTIL:
                if is_present and not ahead:  # it holds now, and is told in the present
                    return Validity(self._observed_at, self.interval(match, future=True)[1])
                return Validity(None, latest)
            if ahead and _is_instant(earliest, latest):
                continue  # "now" is when it is said, and no day of the deed
            if _RANGE.search(self._text, match.start, match.end) and kind not in _STATES:
                return Validity(earliest, latest)
            if _BETWEEN_YEARS.search(self._text, match.start, match.end) and _has_passed(
                latest, self._observed_at
            ):
                return Validity(earliest, latest)
            if word in _SINCE or (latest is None and kind != "event"):
                return Validity(earliest, None)
            if kind in _STATES:
                return Validity(earliest, None)
            return Validity(earliest, latest)
        return Validity()

    def interval(self, match: TemporalMatch, *, future: bool) -> tuple[datetime | None, datetime | None]:
        """The likeliest interval; with `future` the first that has not passed, by day rather than at night, where the
        words allow one."""
        if not future or match.latest is None:
            return match.earliest, match.latest
        if match.earliest is None:  # "before Friday"
            ends = (match.latest, *(each.valid_to for each in match.readings))
            return None, next((end for end in ends if end and end > self._observed_at), match.latest)
        ahead = [
            (each.valid_from, each.valid_to)
            for each in match.readings
            if each.valid_from is not None and each.valid_to is not None and each.valid_to > self._observed_at
        ]
        if match.latest > self._observed_at and match.earliest is not None:
            ahead.insert(0, (match.earliest, match.latest))
        if not ahead:
            return match.earliest, match.latest
        first, _ = ahead[0]
        by_day = [
            (start, end)
            for start, end in ahead
            if start.date() == first.date()
            and start.time() >= _DAY_BEGINS
            and end - start < timedelta(hours=1)
        ]
        at_night = first.time() < _DAY_BEGINS and ahead[0][1] - first < timedelta(hours=1)
        return by_day[0] if at_night and by_day else ahead[0]

    def _preposition(self, match: TemporalMatch) -> str:
        words = self._text[match.start : match.end].casefold().split()
        if words and words[0] in (_SINCE | _UNTIL | _BY):
            return words[0]
        return self._word_before(match)

    def _word_before(self, match: TemporalMatch) -> str:
        before = _ROUGHLY.sub("", self._text[max(0, match.start - 24) : match.start].casefold()).split()
        return before[-1] if before else ""

    def _tells_no_time(self, match: TemporalMatch, kind: Kind) -> bool:
        """Whether it says nothing of when: "the next day", "a 1980s-era car", "morning meetings", of a state "now"."""
        if hangs_on_another(match.text) or "-" in self._text[match.end : match.end + 1]:
            return True
        if names_a_thing(self._text, match.start, match.end):
            return True
        if match.grain in ("decade", "century") and self._word_before(match) in ("from", "of"):
            return True
        if match.kind in ("time", "timerange") and kind in _STATES:
            return True  # "I work in a bank till 18:00"
        if match.kind == "time" and any(each.kind == "set" for each in self._matches):
            return True  # "on Sundays at six"
        if kind in _STATES and match.earliest and match.earliest.year < self._observed_at.year - _LIFETIME:
            return self._preposition(match) not in _SINCE  # "I play chess, about 1450 on lichess"
        if kind == "event" and match.grain == "year" and self._preposition(match) == "for":
            return True  # "sold it for 2000"
        now = kind in _STATES and _is_instant(match.earliest, match.latest)
        return now or _PART_OF_ANY_DAY.fullmatch(match.text) is not None

    def _ends_duration(self, match: TemporalMatch, matches: Sequence[TemporalMatch]) -> bool:
        """ "For 18 months now" began then."""
        words = self._text[match.start : match.end].casefold()
        return words == "now" and any(
            each.kind == "duration" and not self._text[each.end : match.start].strip() for each in matches
        )


_DAY_BEGINS = time(7)
_RELATIVE = frozenset(("relcl",))
_LEAD = re.compile(r"(?:for|to|until|till)\b", re.IGNORECASE)
_OF_NOUN: Final = _TABLE.pattern("of_noun")
"""Dated for a claim alone: a loop is due on the day of the trip or exam that it is about."""
_PUT_TO: Final = _TABLE.pattern("put_to")
_DAY = re.compile(r"\d|day\b|tomorrow|\b(?:mon|tue|wed|thu|fri|sat|sun)\b", re.IGNORECASE)
_ROUGHLY = re.compile(r" (?:at least|about|around|roughly|approximately|early|late|mid) $")
_PART_OF_ANY_DAY = re.compile(r"(?:(?:in|at) )?(?:the )?(?:morning|afternoon|evening|night)s?", re.IGNORECASE)
_BETWEEN_YEARS = re.compile(
    r"\b(?:from|between)\b.{1,100} (?:to|until|till|through|and) .{0,40}\d{4}", re.IGNORECASE
)
_RANGE = re.compile(r"\bfrom .{1,100} (?:to|until|till|through) ", re.IGNORECASE)


def _has_passed(latest: datetime | None, now: datetime) -> bool:
    return latest is not None and latest <= now


def _is_instant(earliest: datetime | None, latest: datetime | None) -> bool:
    return earliest is not None and latest is not None and latest - earliest <= _INSTANT


def _end_of_day(instant: datetime | None) -> datetime | None:
    """ "By Friday" counts Friday: the expression ends where the day begins."""
    if instant is None or instant.time() != time():
        return instant
    return day_after(instant)


def _clause_verb(parse: Parse, token: Token) -> int:
    for ancestor in (token, *parse.ancestors(token)):
        if ancestor.is_verb and ancestor.dep in CLAUSAL:
            return ancestor.i
    return -1
