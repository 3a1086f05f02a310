"""The English words of time: names, numbers, units, and the words that hint at past or future."""

from __future__ import annotations

import re

from lamina.language.temporal.calendar import HOLIDAYS, SEASON_MONTH


def _index(names: str, base: int) -> dict[str, int]:
    return {word: base + place for place, group in enumerate(names.split()) for word in group.split("|")}


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


MONTHS = _index(
    "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug "
    "september|sep|sept october|oct november|nov december|dec",
    1,
)
WEEKDAYS = _index(
    "monday|mon tuesday|tue|tues wednesday|wed|weds thursday|thu|thur|thurs friday|fri saturday|sat sunday|sun",
    0,
)
WEEKDAY_PLURALS = _index("mondays tuesdays wednesdays thursdays fridays saturdays sundays", 0)

# These words have a common meaning outside the calendar, or are first names: alone they need a preposition.
SHY_MONTHS = _words("march mar may april june jun august sep sept dec jan")
SHY_WEEKDAYS = _words("mon wed sat sun thu fri")
SHY_SEASONS = _words("fall spring")
SEASONS = frozenset(SEASON_MONTH)
PREPOSITIONS = _words(
    "in of on since until till by before after from to through thru between during this next last early late mid "
    "around about past previous coming following upcoming every each starting beginning throughout"
)

ONES = _index(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    0,
)
TENS = {
    word: 10 * ten
    for word, ten in _index("twenty thirty forty|fourty fifty sixty seventy eighty ninety", 2).items()
}
ORDINALS = _index(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    1,
) | {"thirtieth": 30}
DECADE_WORDS = {
    word: 10 * ten
    for word, ten in _index(
        "twenties thirties forties fifties sixties seventies eighties nineties", 2
    ).items()
}

UNITS = {
    word: unit
    for unit, words in {
        "second": "second seconds sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days night nights",
        "week": "week weeks wk wks",
        "weekend": "weekend weekends",
        "fortnight": "fortnight fortnights",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years yr yrs",
        "decade": "decade decades",
        "century": "century centuries",
    }.items()
    for word in words.split()
}
UNIT_LETTERS = {"d": "day", "h": "hour", "w": "week", "y": "year", "s": "second", "m": "minute"}
VAGUE = {
    "few": 3,
    "several": 3,
    "some": 3,
}  # counted as three, as TIMEX annotators do, and marked approximate

LAST = _words("last past previous prev")
NEXT = _words("next following coming upcoming")
THIS = _words("this current")
ABOUT = _words("around about approximately approx circa roughly nearly almost")

PARTS = {  # hours, half-open; night ends at midnight
    "morning": (8, 12),
    "afternoon": (12, 16),
    "evening": (16, 20),
    "night": (20, 24),
    "lunchtime": (11, 13),
    "dinnertime": (16, 20),
    "daytime": (8, 18),
    "mornings": (8, 12),
    "afternoons": (12, 16),
    "evenings": (16, 20),
    "nights": (20, 24),
}
MEALS = {"breakfast": (8, 12), "lunch": (11, 13), "dinner": (16, 20)}
FREQUENCIES = {
    "hourly": "PT1H", "daily": "P1D", "nightly": "P1D", "everyday": "P1D", "weekly": "P1W", "biweekly": "P2W",
    "fortnightly": "P2W", "monthly": "P1M", "bimonthly": "P2M", "quarterly": "P3M", "yearly": "P1Y", "annual": "P1Y",
    "annually": "P1Y", "weekends": "P1WE", "weekdays": "P1BD",
}  # fmt: skip
NOW_WORDS = _words("now today tonight yesterday tomorrow tonite tmrw yday nowadays")

HOLIDAY = re.compile("|".join(f"({name})\\b" for name in HOLIDAYS))
HOLIDAY_RULES = tuple(HOLIDAYS.values())
HOLIDAY_STARTERS = _words(
    "new martin mlk groundhog st saint valentine valentines presidents president international april earth mardi ash "
    "palm good easter pentecost workers worker may cinco mother mothers memorial juneteenth father fathers "
    "independence labor labour columbus indigenous halloween all guy bonfire veterans veteran armistice remembrance "
    "thanksgiving black cyber christmas xmas boxing"
)

# A turn that shares no word with GATE and has no digit has no time expression: that test is all that chatter costs.
GATE = (
    frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(WEEKDAY_PLURALS)
    | SEASONS
    | frozenset(UNITS)
    | frozenset(PARTS)
    | frozenset(MEALS)
    | frozenset(FREQUENCIES)
    | NOW_WORDS
    | frozenset(DECADE_WORDS)
    | (HOLIDAY_STARTERS - {"new", "good", "all", "black", "st", "saint", "international", "guy", "president"})
    | _words(
        "noon midnight midday noonish eod otd tonight oclock clock thirty past moment present workweek am pm"
    )
    | _words("twice once times date eve gras hundred thousand nineteen twenty lately recently")
)
STARTER_EXTRA = (
    frozenset(ONES)
    | frozenset(TENS)
    | frozenset(ORDINALS)
    | LAST
    | NEXT
    | THIS
    | ABOUT
    | frozenset(VAGUE)
    | HOLIDAY_STARTERS
    | _words(
        "a an the in on at by for from between since until till before after within during over couple half quarter "
        "early earlier late later mid middle beginning start starting end to every each any all no not more less "
        "w q cy fy sy year years week greater right equal than ½ once twice thru through throughout lately recently "
        "mid rest bi eod > < = ' ~ as"
    )
)
STARTERS = GATE | STARTER_EXTRA

PAST_HINTS = _words(
    "was were did had went got met said told came saw made took left found gave bought had've ago already happened "
    "thought felt ran began started finished been used ate wrote sold won lost spent moved visited joined last"
)
FUTURE_HINTS = _words(
    "will ll shall gonna going plan plans planning planned tomorrow next upcoming soon let lets schedule book arrange "
    "should could can hope hoping deadline due expect want wants would hopefully excited forward might"
)
