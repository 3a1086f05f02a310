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
_DURATIONS = word_set("hour minute second day week month year")
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "dozen": 12,
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
    """Mirrors ``number_of``."""
    value: int | float | None = None
    for part in text.casefold().split():
        word = part.replace(",", "").lstrip("$€£#")
        if value is not None and word in _SCALES:
            value = value * _SCALES[word]
            continue
        if value is not None:
            return None
        if word in _NUMBERS:
            value = _NUMBERS[word]
        elif len(word) <= 15 and word.isascii() and word.replace(".", "", 1).isdigit():
            value = float(word) if "." in word else int(word)
        elif (
            len(word) <= 15
            and word[-1:] in ("k", "m")
            and word[:-1].isascii()
            and word[:-1].replace(".", "", 1).isdigit()
        ):
            value = float(word[:-1]) * _SCALES[word[-1]]
        else:
            return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def amount_of(parse: Parse, token: Token) -> Amount | None:
    """The amount when `token` heads one: "200 seats", "5 kg", "$300"."""
    if token.tag == "CD":
        digits = [
            *[t for t in parse.children(token, "compound", "quantmod", "nummod") if t.tag == "CD"],
            token,
        ]
        currency = parse.child(token, "nmod", "quantmod")
        value = number_of(sorted(digits, key=lambda t: t.i))
        if value is None:
            return None
        if currency is not None and currency.text in ("$", "€", "£"):
            return Amount(LiteralValue("quantity", value, currency.text), "")
        return Amount(LiteralValue("integer" if isinstance(value, int) else "number", value), "")
    if not (token.is_noun or token.text == "%"):
        return None
    counts = [t for t in parse.children(token, "nummod") if t.tag == "CD"]
    if len(counts) != 1:
        return None
    scale = [t for t in parse.children(counts[0], "compound", "quantmod") if t.tag == "CD"]
    value = number_of(sorted([*scale, counts[0]], key=lambda t: t.i))
    if value is None:
        return None
    noun = token.lemma if token.tag == "NNS" else token.lower
    if noun in _DURATIONS:
        return Amount(LiteralValue("duration", value, noun), noun)
    if noun in _MEASURES:
        return Amount(LiteralValue("quantity", value, noun), noun)
    kind = [t.lower for t in parse.children(token, "compound")]
    return Amount(
        LiteralValue("integer" if isinstance(value, int) else "number", value), "_".join([*kind, noun])
    )
