"""The English words of time: names, numbers, units, and the words that hint at past or future."""

from __future__ import annotations

import re

from lamina.language.tables import table
from lamina.language.temporal.calendar import HOLIDAYS, SEASON_MONTH

_TABLE = table(__name__)


def _index(names: str, base: int) -> dict[str, int]:
    return {word: base + place for place, group in enumerate(names.split()) for word in group.split("|")}


MONTHS = _index(_TABLE.text("months"), 1)
WEEKDAYS = _index(_TABLE.text("weekdays"), 0)
WEEKDAY_PLURALS = _index(_TABLE.text("weekday_plurals"), 0)

# These words have a common meaning outside the calendar, or are first names: alone they need a preposition.
SHY_MONTHS = _TABLE.words("shy_months")
SHY_WEEKDAYS = _TABLE.words("shy_weekdays")
SHY_SEASONS = _TABLE.words("shy_seasons")
SEASONS = frozenset(SEASON_MONTH)
PREPOSITIONS = _TABLE.words("prepositions")

ONES = _index(_TABLE.text("ones"), 0)
TENS = {word: 10 * ten for word, ten in _index(_TABLE.text("tens"), 2).items()}
ORDINALS = _index(_TABLE.text("ordinals"), 1) | {"thirtieth": 30}
DECADE_WORDS = {word: 10 * ten for word, ten in _index(_TABLE.text("decade_words"), 2).items()}

UNITS = _TABLE.by_word("units")
UNIT_LETTERS = {"d": "day", "h": "hour", "w": "week", "y": "year", "s": "second", "m": "minute"}
VAGUE = dict.fromkeys(("few", "several", "some"), 3)  # as TIMEX annotators count, and marked approximate

LAST = _TABLE.words("last")
NEXT = _TABLE.words("next")
THIS = _TABLE.words("this")
ABOUT = _TABLE.words("about")

PARTS = {word: (int(hours.split()[0]), int(hours.split()[1])) for word, hours in _TABLE.rows("parts_of_day")}
"""Hours, half-open; night ends at midnight."""
MEALS = {"breakfast": (8, 12), "lunch": (11, 13), "dinner": (16, 20)}
FREQUENCIES = _TABLE.by_word("frequencies")
NOW_WORDS = _TABLE.words("now_words")

HOLIDAY = re.compile("|".join(f"({name})\\b" for name in HOLIDAYS))
HOLIDAY_RULES = tuple(HOLIDAYS.values())
HOLIDAY_STARTERS = _TABLE.words("holiday_starters")

# A turn that shares no word with GATE and has no digit has no time expression: that test is all that chatter costs.
_NO_GATE = {"new", "good", "all", "black", "st", "saint", "international", "guy", "president"}
_NAMES = (MONTHS, WEEKDAYS, WEEKDAY_PLURALS, SEASONS, UNITS, PARTS, MEALS, FREQUENCIES, DECADE_WORDS)
GATE = _TABLE.words("gate").union(*_NAMES, NOW_WORDS, HOLIDAY_STARTERS - _NO_GATE)
_NUMBERS = (ONES, TENS, ORDINALS, VAGUE)
STARTER_EXTRA = _TABLE.words("starter_extra").union(*_NUMBERS, LAST, NEXT, THIS, ABOUT, HOLIDAY_STARTERS)
STARTERS = GATE | STARTER_EXTRA

PAST_HINTS = _TABLE.words("past_hints")
FUTURE_HINTS = _TABLE.words("future_hints")
NOUNS_TOO = _TABLE.words("nouns_too")
"""Hints that behind one of ``DETERMINERS`` name a thing."""
DETERMINERS = _TABLE.words("determiners")
OPEN_WORDS = _TABLE.words("open_words")
"""Behind which "in two weeks" lies ahead, though they are told as past: "decided to move in two weeks"."""
