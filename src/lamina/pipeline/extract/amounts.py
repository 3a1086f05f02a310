"""Numbers in words and figures, with what they count: "200 seats", "$300", "2.5 million"."""

from __future__ import annotations

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
_YEARS = range(1900, 2100)
_NUMBERS = {word: int(number) for word, number in _TABLE.pairs("numbers").items()}
_SCALES = {word: int(number) for word, number in _TABLE.pairs("scales").items()}


def number_of(tokens: list[Token]) -> int | float | None:
    """The value of "200", "1,500", "2.5 million", "three"; None when it is no plain number."""
    return number_of_words(" ".join(token.lower for token in tokens))


def number_of_words(text: str) -> int | float | None:
    """Mirrors ``number_of``: one number, in words or in figures, and what it is multiplied by."""
    first, *scales = [part.replace(",", "").lstrip("$€£#") for part in text.casefold().split()] or [""]
    value = _number(first)
    for scale in scales:
        if value is None or len(scales) > 1 or scale not in _SCALES:
            return None
        value *= _SCALES[scale]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number(word: str) -> int | float | None:
    if word in _NUMBERS:
        return _NUMBERS[word]
    if len(word) > 15 or not word.isascii():
        return None
    if word.replace(".", "", 1).isdigit():
        return float(word) if "." in word else int(word)
    return None


def amount_of(parse: Parse, token: Token) -> Amount | None:
    """The amount when `token` heads one: "200 seats", "5 kg", "$300"."""
    if token.tag == "CD":
        currency = parse.child(token, "nmod", "quantmod")
        value = number_of(_run(parse, token.i, len(parse.tokens)))
        if value is None:
            return None
        if currency is not None and currency.text in ("$", "€", "£"):
            return Amount(LiteralValue("quantity", value, currency.text), "")
        return Amount(LiteralValue("integer" if isinstance(value, int) else "number", value), "")
    if not (token.is_noun or token.text == "%"):
        return None
    if token.lower in _NO_COUNTS:
        return None
    value = number_of(_count_of(parse, token))
    if value is None:
        return None
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
