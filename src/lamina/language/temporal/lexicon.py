"""The English words of time: names, numbers, units, and the words that hint at past or future."""

from __future__ import annotations

import re

from lamina.language.tables import table
from lamina.language.temporal.calendar import HOLIDAYS, SEASON_MONTH

_TABLE = table(__name__)


def _index(names: str, base: int) -> dict[str, int]:
    return {word: base + place for place, group in enumerate(names.split()) for word in group.split("|")}


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


MONTHS = _index(_TABLE.text("months"), 1)
WEEKDAYS = _index(_TABLE.text("weekdays"), 0)
WEEKDAY_PLURALS = _index(_TABLE.text("weekday_plurals"), 0)

# These words have a common meaning outside the calendar, or are first names: alone they need a preposition.
SHY_MONTHS = _words("march mar may april june jun august sep sept dec jan")
SHY_WEEKDAYS = _words("mon wed sat sun thu fri")
SHY_SEASONS = _words("fall spring")
SEASONS = frozenset(SEASON_MONTH)
PREPOSITIONS = _TABLE.words("prepositions")

ONES = _index(_TABLE.text("ones"), 0)
TENS = {word: 10 * ten for word, ten in _index(_TABLE.text("tens"), 2).items()}
ORDINALS = _index(_TABLE.text("ordinals"), 1) | {"thirtieth": 30}
DECADE_WORDS = {word: 10 * ten for word, ten in _index(_TABLE.text("decade_words"), 2).items()}

UNITS = _TABLE.by_word("units")
UNIT_LETTERS = {"d": "day", "h": "hour", "w": "week", "y": "year", "s": "second", "m": "minute"}
VAGUE = dict.fromkeys(("few", "several", "some"), 3)  # as TIMEX annotators count, and marked approximate

LAST = _words("last past previous prev")
NEXT = _words("next following coming upcoming")
THIS = _words("this current")
ABOUT = _words("around about approximately approx circa roughly nearly almost")

PARTS = {word: (int(hours.split()[0]), int(hours.split()[1])) for word, hours in _TABLE.rows("parts_of_day")}
"""Hours, half-open; night ends at midnight."""
MEALS = {"breakfast": (8, 12), "lunch": (11, 13), "dinner": (16, 20)}
FREQUENCIES = _TABLE.by_word("frequencies")
NOW_WORDS = _words("now today tonight yesterday tomorrow tonite tmrw yday nowadays")

HOLIDAY = re.compile("|".join(f"({name})\\b" for name in HOLIDAYS))
HOLIDAY_RULES = tuple(HOLIDAYS.values())
HOLIDAY_STARTERS = _TABLE.words("holiday_starters")

# A turn that shares no word with GATE and has no digit has no time expression: that test is all that chatter costs.
_NO_GATE = {"new", "good", "all", "black", "st", "saint", "international", "guy", "president"}
GATE = _TABLE.words("gate").union(
    MONTHS,
    WEEKDAYS,
    WEEKDAY_PLURALS,
    SEASONS,
    UNITS,
    PARTS,
    MEALS,
    FREQUENCIES,
    NOW_WORDS,
    DECADE_WORDS,
    HOLIDAY_STARTERS - _NO_GATE,
)
STARTER_EXTRA = _TABLE.words("starter_extra").union(
    ONES, TENS, ORDINALS, LAST, NEXT, THIS, ABOUT, VAGUE, HOLIDAY_STARTERS
)
STARTERS = GATE | STARTER_EXTRA

PAST_HINTS = _TABLE.words("past_hints")
FUTURE_HINTS = _TABLE.words("future_hints")
