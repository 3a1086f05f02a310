"""Numbers in words and figures, with what they count: "200 seats", "$300", "2.5 million"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import LiteralValue


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with what it counts; `noun` is singular, `literal` ready to store."""

    literal: LiteralValue
    noun: str


_TABLE: Final = table(__name__)
_MEASURES: Final = _TABLE.words("measures")
UNITS: Final = _TABLE.words("units")
_DURATIONS = _TABLE.words("durations")
_MONEY = _TABLE.words("money")
_NO_COUNTS = _TABLE.words("no_counts")
"""Behind a number, these make a time of it."""
_BOUNDS = _TABLE.words("bounds")
_MINOR = _TABLE.words("minor")
_BEFORE_A_PART = _TABLE.words("before_a_part")
_BEHIND_A_PART = _TABLE.words("behind_a_part")
_FRACTIONS = _TABLE.words("fractions")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{2,3}){0,4},\d{3}(?:\.\d{1,9})?")
_DECIMAL_COMMA: Final = re.compile(r"\d{1,12},\d{1,2}")
_EITHER: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""A thousand and two hundred where a full stop parts thousands, one and a fifth where it does not."""
_YEARS = range(1900, 2100)
_NUMBERS = {word: int(number) for word, number in _TABLE.pairs("numbers").items()}
_SCALES = {word: int(number) for word, number in _TABLE.pairs("scales").items()}


def number_of(tokens: list[Token]) -> int | float | None:
    """The value of "200", "1,500", "2.5 million", "three"; None when it is no plain number."""
    return number_of_words(" ".join(token.lower for token in tokens))


def number_of_words(text: str) -> int | float | None:
    """Mirrors ``number_of``: one number, in words or in figures, and what it is multiplied by."""
    first, *scales = [part.lstrip("$€£#") for part in text.casefold().split()] or [""]
    value = _number(first)
    for scale in scales:
        if value is None or len(scales) > 1 or scale not in _SCALES:
            return None
        value *= _SCALES[scale]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number(word: str) -> int | float | None:
    if word in _NUMBERS:
        return _NUMBERS[word]
    if len(word) > 15 or not word.isascii() or _EITHER.fullmatch(word):
        return None
    if _GROUPED.fullmatch(word):
        word = word.replace(",", "")
    elif _DECIMAL_COMMA.fullmatch(word):
        word = word.replace(",", ".")
    if word.replace(".", "", 1).isdigit():
        return float(word) if "." in word else int(word)
    return None


def amount_of(parse: Parse, token: Token) -> Amount | None:
    """The amount when `token` heads one: "200 seats", "5 kg", "$300". None where it is a part of a figure: a part is another figure."""
    if token.tag == "CD":
        currency = parse.child(token, "nmod", "quantmod")
        run = _run(parse, token.i, len(parse.tokens))
        value = number_of(run)
        if value is None or is_part_of_figure(parse, run[0].i, run[-1].i):
            return None
        if currency is not None and currency.text in ("$", "€", "£"):
            return Amount(LiteralValue("quantity", value, currency.text), "")
        return Amount(LiteralValue("integer" if isinstance(value, int) else "number", value), "")
    if not (token.is_noun or token.text == "%"):
        return None
    if token.lower in _NO_COUNTS:
        return None
    count = _count_of(parse, token)
    value = number_of(count)
    if value is None or is_part_of_figure(parse, count[0].i, token.i):
        return None
    if any(t.lower in _BEHIND_A_PART or t.text == "-" for t in parse.tokens[count[-1].i + 1 : token.i]):
        return None  # "5 lakh rupees" and "two dozen eggs" are not so few
    if token.tag == "NN" and value in _YEARS:
        return None  # "a 2017 macbook"
    noun = token.lemma if token.tag == "NNS" else token.lower
    if noun in _DURATIONS:
        return Amount(LiteralValue("duration", value, noun), noun)
    if (unit := token.lower.rstrip(".")) in UNITS:
        return Amount(LiteralValue("quantity", value, unit), unit)
    if noun in _MEASURES | _MONEY:
        return Amount(LiteralValue("quantity", value, noun), noun)
    kind = [t.lower for t in parse.children(token, "compound")]
    return Amount(
        LiteralValue("integer" if isinstance(value, int) else "number", value), "_".join([*kind, noun])
    )


def _count_of(parse: Parse, token: Token) -> list[Token]:
    """The number before `token`, whole: a part of it would be another number. One behind it is part of a name: "iPhone
    15"."""
    counts = [t for t in parse.children(token, "nummod") if t.tag == "CD" and t.i < token.i]
    if not counts or _is_bound(parse, counts[0]):
        return []
    run = _run(parse, counts[0].i, token.i)
    open_ended = _is_choice(parse, run[0].i - 1) or _is_choice(parse, run[-1].i + 1)
    return run if counts[-1] in run and not open_ended else []


def is_part_of_figure(parse: Parse, first: int, last: int) -> bool:
    """Whether a number, with or without what it counts, is only a part of what is said: "half a | million", "12 of | 20", "another | 12",
    "two | and a half", "one metre | seventy", "5 ft | 6 in", "900 dollars | and 50 cents"."""
    tokens = parse.tokens
    before, behind = first - 1, last + 1
    if before >= 0 and tokens[before].lower in ("a", "an"):
        before -= 1
    if before >= 0 and tokens[before].lower in _BEFORE_A_PART:
        return True
    if [t.lower for t in tokens[behind : behind + 2]] == ["and", "a"] and _is_fraction(parse, behind + 2):
        return True
    if _is_measured(parse, first - 1 - _links(parse, first - 1)):
        return tokens[last].tag == "CD" or tokens[last].lower in _MINOR
    behind += _links(parse, behind)
    if not _is_part(parse, behind) or tokens[last].tag == "CD":
        return False
    unit = tokens[behind + 1].lower if behind + 1 < len(tokens) else ""
    return unit in _MINOR or not unit[:1].isalpha()


def _is_fraction(parse: Parse, at: int) -> bool:
    return at < len(parse.tokens) and parse.tokens[at].lower in _FRACTIONS


def _links(parse: Parse, at: int) -> int:
    return int(0 <= at < len(parse.tokens) and parse.tokens[at].lower in ("and", ","))


def _is_measured(parse: Parse, at: int) -> bool:
    """Whether a measure with its number stands at a place: "one metre"."""
    if at < 1 or not _is_part(parse, at - 1):
        return False
    unit = parse.tokens[at].lower
    return (
        unit in _MINOR | _MEASURES | UNITS | _MONEY
        or parse.tokens[at].lemma in _MEASURES | _DURATIONS | _MONEY
    )


def bounds_number(tokens: list[Token]) -> bool:
    """Whether a phrase begins with what makes another figure of its number: "over 900", "half a million", "no fewer than 12"."""
    first = [token.lower for token in tokens[:2]]
    bounds = first[0] in _BOUNDS | {"half", "between"} or (first[0] in ("no", "at") and first[-1] in _BOUNDS)
    return bounds and any(t.tag == "CD" or t.lower == "dozen" for t in tokens[1:4])


def _is_bound(parse: Parse, number: Token) -> bool:
    """ "Less than five", "at least two", "up to three": not how many there are."""
    before = parse.tokens[max(0, number.i - 3) : number.i]
    return any(t.lower in _BOUNDS and (t.head == number.i or parse.head(t).head == number.i) for t in before)


def _run(parse: Parse, at: int, end: int) -> list[Token]:
    """The numbers side by side, or joined by "and", around the one ``at``, before ``end``."""
    first = last = at
    while _is_part(parse, first - 1) or (_joins(parse, first - 1) and _is_part(parse, first - 2)):
        first -= 1 if _is_part(parse, first - 1) else 2
    while last + 1 < end and (
        _is_part(parse, last + 1)
        or (_joins(parse, last + 1) and _is_part(parse, last + 2) and last + 2 < end)
    ):
        last += 1 if _is_part(parse, last + 1) else 2
    return parse.tokens[first : last + 1]


def _is_choice(parse: Parse, at: int) -> bool:
    """ "Two or three", "five to six"."""
    choice = 0 < at < len(parse.tokens) - 1 and parse.tokens[at].lower in ("or", "to", "-", "–")
    return choice and _is_part(parse, at - 1) and _is_part(parse, at + 1)


def _is_part(parse: Parse, at: int) -> bool:
    return 0 <= at < len(parse.tokens) and parse.tokens[at].tag == "CD"


def _joins(parse: Parse, at: int) -> bool:
    return 0 <= at < len(parse.tokens) and parse.tokens[at].lower == "and"
