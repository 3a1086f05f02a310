"""Dates in digits: ISO, 5/7/2023, 7.5.2023, 2023-05, 20230507.

The month comes first (5/7/2023 is the 7th of May), unless ``day_first`` is set, the numbers allow only the other order,
or a stated weekday fits only the other order; with dots the day comes first, as where dots are used.
"""

from __future__ import annotations

import re

from lamina.language.tables import table
from lamina.language.temporal.lexicon import MONTHS, WEEKDAYS
from lamina.language.temporal.nodes import Node, Partial, dated
from lamina.language.temporal.tokens import TokenizedText, two_digit_year

_TABLE = table(__name__)
_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
_END = r"(?![0-9]|[/.:][0-9]|-[0-9](?![0-9]*[/.][0-9])|%)"  # a hyphen may join two dates
_YEAR = r"(?:1[5-9]|2[01])[0-9]{2}"  # 1/1000 is a fraction
_FULL = re.compile(
    rf"(?:([12][0-9]{{3}})([-/. ])({_NAMES}|[0-9]{{1,2}})\2([0-9]{{1,2}})|((?:19|"
    rf"20)[0-9]{{2}})([01][0-9])([0-3][0-9])){_END}"
)
_ENDING_IN_YEAR = re.compile(
    rf"([0-9]{{1,2}})\s?([-/.])\s?([0-9]{{1,2}})\s?\2\s?([0-9]{{4}}|[0-9]{{2}}){_END}"
)
_MONTH_AND_YEAR = re.compile(rf"([0-9]{{1,2}})([-/])({_YEAR}){_END}|({_YEAR})([-/])([0-9]{{1,2}}){_END}")
_DAY_AND_MONTH = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})(\.(?!\w))?{_END}")
_SECOND_OF_PAIR = re.compile(r"[0-9]{1,2}[./][0-9]+")
_BEFORE_DOTTED = _TABLE.words("before_dotted") | frozenset(WEEKDAYS)


def numeric_date(r: TokenizedText, i: int) -> Node | None:
    if not r.words[i].isdigit() or inside_number(r, i):
        return None
    if found := r.match(_FULL, i):
        match, stop = found
        year, month, day = (match[1], match[3], match[4]) if match[1] else (match[5], match[6], match[7])
        return existing(dated(r, stop, Partial(int(year), MONTHS.get(month) or int(month), int(day))))
    if found := r.match(_ENDING_IN_YEAR, i):
        match, stop = found
        year_said = int(match[4]) if len(match[4]) == 4 else two_digit_year(int(match[4]), r.now.year)
        return _ordered(r, stop, match[2], int(match[1]), int(match[3]), year_said)
    if found := r.match(_MONTH_AND_YEAR, i):
        match, stop = found
        year, month = (match[3], match[1]) if match[3] else (match[4], match[6])
        return dated(r, stop, Partial(int(year), int(month)))
    if found := r.match(_DAY_AND_MONTH, i):
        match, stop = found
        if match[4] and match[2] != ".":
            stop -= 1  # the full stop ends the sentence
        if match[2] != "/" and not _dotted_is_date(r, i, stop, match[2]):
            return None
        return _ordered(r, stop, match[2], int(match[1]), int(match[3]), None)
    return None


def inside_number(r: TokenizedText, i: int) -> bool:
    before = r.words[i - 1] if i else ""
    if not r.glued(i):
        return before in ("$", "#") or (before == "." and r.glued(i - 1) and r.words[i - 2].isdigit())
    if before.isalpha() or before in ("$", "#", "@", "_", "+"):
        return True
    if before == "-" and r.words[i + 1] in MONTHS:
        return not r.words[i - 2].isdigit()
    if before in ("-", "~") and (len(r.words[i]) == len(r.words[i - 2]) == 4 or r.match(_SECOND_OF_PAIR, i)):
        return not r.words[i - 2].isdigit() and r.words[i - 2] != "."
    return before in (".", ",", "/", ":", "-") and r.glued(i - 1) and r.words[i - 2].isalnum()


def _dotted_is_date(r: TokenizedText, i: int, stop: int, mark: str) -> bool:
    """Whether ``7.6`` or ``7-6`` is a date, not a decimal or a score: by the words around it."""
    before = r.words[i - 1] if i else ""
    if before in WEEKDAYS or (before == "," and r.words[i - 2] in WEEKDAYS):
        return True
    if mark == "-":
        return False
    if before in _BEFORE_DOTTED and r.words[stop] not in ("percent", "%", "million", "billion"):
        return True
    closing = r.words[stop]
    return i == 0 and (
        not closing or closing in ("in", "at", "around", "early", "late", "-", "evening") or closing.isdigit()
    )


def _ordered(
    r: TokenizedText, stop: int, mark: str, first: int, second: int, year: int | None
) -> Node | None:
    """The date from two numbers: in the usual order, else in the other one."""
    month_first = Partial(year, first, second)
    day_first = Partial(year, second, first)
    order = (day_first, month_first) if r.day_first or mark == "." else (month_first, day_first)
    for partial in order:
        node = existing(dated(r, stop, partial))
        if node:
            return node
    return None


def existing(node: Node | None) -> Node | None:
    return node if node and node.spans else None
