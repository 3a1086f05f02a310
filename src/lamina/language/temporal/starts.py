"""With which words a rule of the grammar can begin, and what must follow those that say nothing by themselves.

Most words of a text begin no time, and a rule that is asked at one goes through a dozen others to find out. A table says so at the price of a
look-up: it names every word with which the rule can begin (``"0"`` for digits), and for an article or a preposition what can stand
behind it. A table may name too much, never too little.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from lamina.language.temporal.lexicon import (
    ABOUT,
    DECADE_WORDS,
    FREQUENCIES,
    HOLIDAY_STARTERS,
    LAST,
    MEALS,
    MONTHS,
    NEXT,
    ONES,
    ORDINALS,
    PARTS,
    SEASONS,
    STARTERS,
    TENS,
    THIS,
    UNITS,
    VAGUE,
    WEEKDAY_PLURALS,
    WEEKDAYS,
)
from lamina.language.wordsets import word_set

__all__ = [
    "ANCHORED",
    "ANY_DATE",
    "CALENDAR_DATE",
    "CLOCK",
    "DATE_RANGE",
    "EXPRESSION",
    "HOURS",
    "LENGTH",
    "MOMENT",
    "NTH_OF",
    "OF_TODAY",
    "PARTIAL_PERIOD",
    "PART_OF_DAY",
    "PLAIN_DATE",
    "SET",
    "SHIFTED",
    "TIME_PIECE",
    "Starts",
]

Starts = Mapping[str, frozenset[str] | None]
"""A word to what can follow it; ``None`` where anything can."""


def _starts(*plain: Collection[str], **followed: Collection[str]) -> Starts:
    """What begins a rule by itself, and by the names of other words what must follow those."""
    words: dict[str, frozenset[str] | None] = {word: None for part in plain for word in part}
    return words | {word: frozenset(behind) for word, behind in followed.items()}


def _any_of(*tables: Starts) -> Starts:
    """What begins any of several rules."""
    found: dict[str, frozenset[str] | None] = {}
    for table in tables:
        for word, behind in table.items():
            there = found.get(word, frozenset())
            found[word] = None if behind is None or there is None else behind | there
    return found


_NUMBER: Final = frozenset(("0", "½", "dozen")) | ONES.keys() | TENS.keys()
_ORDINAL: Final = frozenset(("0",)) | ORDINALS.keys() | TENS.keys()
_DAY: Final = _ORDINAL | ONES.keys()

_AFTER_ARTICLE: Final = word_set(
    "couple few dozen good half business working work - more full whole long consecutive"
)
LENGTH: Final = _starts(
    _NUMBER,
    VAGUE,
    ("couple", "half"),
    the=("couple", "few", "dozen", "good"),
    **dict.fromkeys(
        ("a", "an"),
        VAGUE.keys() | UNITS.keys() | _AFTER_ARTICLE,
    ),
)

_HOLIDAYS_FOLLOWED: Final = {
    "all": ("saints",),
    "good": ("friday",),
    "black": ("friday",),
    "new": ("year", "years"),
}
_NAMED: Final = frozenset(("calendar", "year", "cy")) | _DAY | SEASONS | HOLIDAY_STARTERS
CALENDAR_DATE: Final = _starts(
    _NAMED,
    MONTHS,
    WEEKDAYS,
    ("q", "h"),
    the=_NAMED | DECADE_WORDS.keys() | {"'"},
    **{"'": ("0",)},
    **_HOLIDAYS_FOLLOWED,
)

_DIRECTION: Final = LAST | NEXT | THIS | _NUMBER | VAGUE.keys() | {"couple", "half", "the"}
SHIFTED: Final = _starts(_DIRECTION, **dict.fromkeys(("the", "these", "those"), _DIRECTION))

_NTH: Final = _ORDINAL | {"last"}
NTH_OF: Final = _starts(_NTH, the=_NTH)

_UNIT: Final = UNITS.keys() | HOLIDAY_STARTERS | {"w", "wk"}
_RELATIVE: Final = _starts(
    _UNIT,
    ("today", "yesterday", "yday", "tomorrow", "tmrw", "otd", "current", "day"),
    the=_UNIT | {"current", "day", "next", "following"},
    **_HOLIDAYS_FOLLOWED,
)
PLAIN_DATE: Final = _any_of(CALENDAR_DATE, SHIFTED, NTH_OF, _RELATIVE)

_BEFORE_LENGTH: Final = frozenset(("over", "almost", "nearly"))
ANCHORED: Final = _any_of(
    LENGTH,
    _starts(UNITS, WEEKDAYS, the=LENGTH.keys() | UNITS.keys() | WEEKDAYS.keys() | _BEFORE_LENGTH),
    _starts(
        **dict.fromkeys(("in", "within"), LENGTH.keys() | _BEFORE_LENGTH | {"about", "around", "the"}),
        **dict.fromkeys(("about", "around"), LENGTH.keys() | _BEFORE_LENGTH),
        **dict.fromkeys(_BEFORE_LENGTH, LENGTH),
    ),
)

_THIRD: Final = frozenset(("early", "late", "mid", "middle", "beginning", "start", "end", "eod"))
PARTIAL_PERIOD: Final = _starts(
    ("early", "late", "mid", "middle", "eod"),
    the=_THIRD | {"earlier", "later"},
    **dict.fromkeys(("beginning", "start", "end"), ("of",)),
    **dict.fromkeys(("earlier", "later"), ("this", "in", "last", "next")),
)

ANY_DATE: Final = _any_of(ANCHORED, PARTIAL_PERIOD, PLAIN_DATE)

_HOUR: Final = frozenset(("0", "noon", "midday", "noonish", "midnight", "mid", "half", "quarter"))
_HOURS_WORDS: Final = _HOUR | ONES.keys() | TENS.keys()
CLOCK: Final = _starts(
    _HOURS_WORDS,
    a={"half", "quarter", "0"} | ONES.keys() | TENS.keys(),
    **{"~": _HOURS_WORDS | {"a"}},
    **dict.fromkeys(ABOUT, _HOURS_WORDS | {"a", "~"}),
)
_EDGE: Final = frozenset(("early", "late", "later", "earlier"))
_PART: Final = PARTS.keys() | MEALS.keys() | _EDGE
PART_OF_DAY: Final = _starts(
    PARTS,
    **dict.fromkeys(("in", "at", "during"), _PART | {"the", "this"}),
    **dict.fromkeys(("the", "this"), _PART),
    **dict.fromkeys(_EDGE, PARTS.keys() | MEALS.keys() | {"in", "the"}),
)
HOURS: Final = _any_of(
    CLOCK,
    _starts(
        at=CLOCK.keys() | {"from", "between", "for"},
        **dict.fromkeys(("from", "between"), CLOCK),
        **{"for": LENGTH},
    ),
)
TIME_PIECE: Final = _any_of(CLOCK, PART_OF_DAY, HOURS)

_TONIGHT: Final = frozenset(("tonight", "tonite"))
_DAYS: Final = frozenset(("this", "last", "next", "yesterday", "tomorrow", "today"))
OF_TODAY: Final = _starts(
    _TONIGHT,
    ("now",),
    right=("now",),
    at=("the", "present", "this"),
    **dict.fromkeys(_EDGE, _DAYS | _TONIGHT),
    **dict.fromkeys(_DAYS, PARTS),
)
MOMENT: Final = _any_of(
    OF_TODAY,
    ANY_DATE,
    TIME_PIECE,
    _starts(**dict.fromkeys(ABOUT | {"~"}, ANY_DATE)),
    _starts(**dict.fromkeys(ABOUT | {"at", "by", "from", "before", "after"}, TIME_PIECE)),
)

_DAYS_OF_MONTH: Final = _starts(_DAY, the=_DAY)
DATE_RANGE: Final = _any_of(
    MOMENT,
    _DAYS_OF_MONTH,
    _starts(**dict.fromkeys(("from", "between", "in"), MOMENT.keys() | _DAYS_OF_MONTH.keys())),
)

_OPENED: Final = MOMENT.keys() | MEALS.keys() | MONTHS.keys() | {"date", "now"}
_OPEN: Final = _starts(
    (">", "<"),
    to=("date",),
    year=("greater",),
    no=("later", "earlier"),
    ever=("since",),
    prior=("to",),
    up=("to",),
    greater=("than",),
    later=("than",),
    earlier=("than",),
    **{"as": ("early", "late"), "not": ("later",)},
    **dict.fromkeys(("starting", "beginning"), _OPENED | {"on", "from"}),
    **dict.fromkeys(("since", "after", "before", "until", "till", "til", "by"), _OPENED),
)
_WHOLE: Final = UNITS.keys() | {"the", "whole", "entire", "long", "business", "working", "work"}
SET: Final = _any_of(
    LENGTH,
    _starts(
        ("every", "each", "any", "once", "twice"),
        FREQUENCIES,
        WEEKDAY_PLURALS,
        WEEKDAYS,
        bi=("-",),
    ),
    _starts(**dict.fromkeys(("a", "an"), ("time", "times"))),
)
_REST: Final = _any_of(
    LENGTH,
    _starts(more=("than",), less=("than",), the=("whole", "entire"), all=_WHOLE, whole=_WHOLE),
    _starts(**{"for": LENGTH}),
)
EXPRESSION: Final[Starts] = {
    word: behind
    for word, behind in _any_of(DATE_RANGE, _OPEN, SET, _REST).items()
    if word in STARTERS or word == "0"
}
"""Of these the finder tries those that are ``STARTERS``."""
