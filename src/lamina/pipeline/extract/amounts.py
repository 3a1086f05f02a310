"""Numbers in words and figures, with what they count: "200 seats", "$300", "2.5 million"."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.values import LiteralValue


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with what it counts; `noun` is singular, `literal` ready to store."""

    literal: LiteralValue
    noun: str


_MEASURES = word_set(
    "kg kilo kilogram gram pound lb lbs mile km kilometre kilometer meter metre cm inch foot feet litre "
    "liter gallon dollar euro percent % degree celsius calorie gb mb tb usd eur gbp hour minute second "
    "day week month year"
)
UNITS = word_set(
    "s ms us µs ns sec secs min mins hr hrs b kb kib mib gib pb hz khz mhz ghz fps rpm px kw kwh mw mah mm nm mg ml bps kbps mbps gbps qps rps"
)
_DURATIONS = word_set("hour minute second day week month year")
_MONEY = word_set("quid buck grand")
_NO_COUNTS = word_set("am pm a.m. p.m. a.m p.m o'clock oclock")
"""Behind a number, these make a time of it."""
_SMALL = word_set("one two three four five six seven eight nine")
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "hundred": 100, "dozen": 12,
}  # fmt: skip
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "m": 1_000_000,
    "billion": 1_000_000_000,
}


def number_of(tokens: list[Token]) -> int | float | None:
    """The value of "200", "1,500", "2.5 million", "three"; None when it is no plain number."""
    return number_of_words(" ".join(token.lower for token in tokens))


def number_of_words(text: str) -> int | float | None:
    """Mirrors ``number_of``; "two thousand three hundred and eighty" is one as well, and what goes on otherwise is none."""
    total: int | float = 0
    value: int | float | None = None
    last_scale = 0
    joined = False
    for part in text.casefold().split():
        word = part.replace(",", "").lstrip("$€£#")
        if word == "and":
            if joined or (value is None and not total) or (value is not None and value % 100):
                return None
            joined = True
        elif word in _SCALES and (value is not None or (word == "hundred" and not total)):
            scale = _SCALES[word]
            if (
                joined
                or (last_scale and scale >= last_scale)
                or (scale == 100 and value is not None and value >= 100)
            ):
                return None
            value = (1 if value is None else value) * scale
            if scale > 100:
                total, value, last_scale = total + value, None, scale
        else:
            number = _number(word)
            if number is None or (joined and not word.isalpha()) or not _goes_on(total, value, number, word):
                return None
            value, joined = (value or 0) + number, False
    if joined or (value is None and not last_scale):
        return None
    whole = total + (value or 0)
    return int(whole) if isinstance(whole, float) and whole.is_integer() else whole


def _number(word: str) -> int | float | None:
    if word in _NUMBERS:
        return _NUMBERS[word]
    if len(word) > 15 or not word.isascii():
        return None
    if word.replace(".", "", 1).isdigit():
        return float(word) if "." in word else int(word)
    if word[-1:] in ("k", "m") and word[:-1].replace(".", "", 1).isdigit():
        return float(word[:-1]) * _SCALES[word[-1]]
    return None


def _goes_on(total: float, value: float | None, number: float, word: str) -> bool:
    """Whether a number goes on with another: "three hundred eighty", "twenty five", but not "twenty twelve" or "eight fifty"."""
    if value is None:
        return not total or (word.isalpha() and number < 1000)
    if not word.isalpha() or word == "hundred":
        return False
    return (value % 100 == 0 and number < 100) or (value % 100 >= 20 and value % 10 == 0 and word in _SMALL)


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
    """The number before `token`, whole: a part of it would be another number. One behind it is part of a name: "iPhone 15"."""
    counts = [t for t in parse.children(token, "nummod") if t.tag == "CD" and t.i < token.i]
    if not counts:
        return []
    run = _run(parse, counts[0].i, token.i)
    open_ended = _is_choice(parse, run[0].i - 1) or _is_choice(parse, run[-1].i + 1)
    return run if counts[-1] in run and not open_ended else []


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
