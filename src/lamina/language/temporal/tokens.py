"""A text cut into words, with the numbers, ordinals and years that can be read from it.

The grammar is a recursive descent over these tokens. Every rule has the form ``rule(reading, index) -> result | None``,
looks a bounded number of tokens ahead and carries in its result ``stop``, the index of the first token it left. Costly
rules are remembered per index, so a text is read in linear time whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from itertools import count
from typing import NamedTuple, TypeVar

from lamina.language.temporal.lexicon import ONES, ORDINALS, TENS
from lamina.language.temporal.starts import STARTS

_TOKEN = re.compile(r"[^\W\d_]+|[0-9]+|[^\w\s]|\w")
_PADDING = [""] * 13
DIGITS = "0"
_NUMBERS = count()
_RULE_BITS = 8
"""Rules that are remembered have numbers of so many bits."""
_NOTHING: frozenset[str] = frozenset()
_T = TypeVar("_T")


class Number(NamedTuple):
    value: float
    stop: int


def _lower(text: str) -> str:
    """Letters of ASCII in lower case, and its own apostrophe and hyphen. Offsets are kept, which str.lower does of ASCII alone."""
    if text.isascii():
        return text.lower()
    lower = text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    return lower.replace("\u2019", "'").replace("\u2013", "-")


class TokenizedText:
    """The tokens of one text and the instant it is read against; ``now`` is naive wall-clock time in ``zone``."""

    __slots__ = ("_spans", "day_first", "keys", "lower", "memo", "now", "size", "text", "words", "zone")

    def __init__(self, text: str, reference: datetime, day_first: bool = False) -> None:
        self.text = text
        self.lower = _lower(text)
        self.now = reference.replace(tzinfo=None)
        self.zone = reference.tzinfo
        self.day_first = day_first
        self.memo: dict[int, object] = {}
        tokens: list[str] = _TOKEN.findall(self.lower)
        self.size = len(tokens)
        self.words = tokens + _PADDING  # words[-1] is "", too
        self.keys = [DIGITS if word.isdigit() else word for word in self.words]  # what STARTS tells apart
        self._spans: tuple[list[int], list[int]] | None = None

    @property
    def starts(self) -> list[int]:
        """Where each token begins."""
        return (self._spans or self._spanned())[0]

    @property
    def ends(self) -> list[int]:
        """Where each token ends."""
        return (self._spans or self._spanned())[1]

    def _spanned(self) -> tuple[list[int], list[int]]:
        spans = [token.span() for token in _TOKEN.finditer(self.lower)]
        self._spans = [start for start, _ in spans], [end for _, end in spans]
        return self._spans

    def glued(self, i: int) -> bool:
        """Whether token ``i`` follows the one before it without a space."""
        return 0 < i < self.size and self.starts[i] == self.ends[i - 1]

    def skip(self, i: int, *words: str) -> int:
        """The index after token ``i`` if it is one of ``words``, else ``i``."""
        return i + 1 if self.words[i] in words else i

    def match(self, pattern: re.Pattern[str], i: int) -> tuple[re.Match[str], int] | None:
        """``pattern`` at token ``i`` if it ends where a token ends, with the index after it."""
        if i >= self.size:
            return None
        found = pattern.match(self.lower, self.starts[i])
        if found is None:
            return None
        stop = bisect_left(self.starts, found.end())
        if stop and self.ends[stop - 1] > found.end():
            return None
        return found, stop


def remembered(rule: Callable[[TokenizedText, int], _T]) -> Callable[[TokenizedText, int], _T]:
    """Read each index once by this rule."""
    number = next(_NUMBERS)

    @wraps(rule)
    def read(reading: TokenizedText, i: int) -> _T:
        memo, key = reading.memo, (i << _RULE_BITS) | number
        found = memo.get(key, memo)
        if found is memo:
            found = memo[key] = rule(reading, i)
        return found  # type: ignore[return-value]  # the key names the rule, so the type is its own

    return read


def begun_by(
    name: str,
) -> Callable[[Callable[[TokenizedText, int], _T | None]], Callable[[TokenizedText, int], _T | None]]:
    """Read by this rule what can begin it, and each index once."""
    starts = STARTS[name]

    def gated(rule: Callable[[TokenizedText, int], _T | None]) -> Callable[[TokenizedText, int], _T | None]:
        number = next(_NUMBERS)

        @wraps(rule)
        def read(reading: TokenizedText, i: int) -> _T | None:
            keys = reading.keys
            behind = starts.get(keys[i], _NOTHING)
            if behind is not None and keys[i + 1] not in behind:
                return None
            memo, key = reading.memo, (i << _RULE_BITS) | number
            found = memo.get(key, memo)
            if found is memo:
                found = memo[key] = rule(reading, i)
            return found  # type: ignore[return-value]  # the key names the rule, so the type is its own

        return read

    return gated


_DIGITS = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6})(?:\.[0-9]{1,3})?(?![0-9])")


@remembered
def cardinal(r: TokenizedText, i: int) -> Number | None:
    """``3``, ``3.5``, ``½``, ``twenty-one``, ``two hundred and six``."""
    word = r.words[i]
    if not word:
        return None
    if word[0].isdigit():
        found = r.match(_DIGITS, i)
        if found is None:
            return None
        value = float(found[0].group().replace(",", ""))
        return Number(value + 0.5, found[1] + 1) if r.words[found[1]] == "½" else Number(value, found[1])
    if word == "½":
        return Number(0.5, i + 1)
    if word == "dozen":
        return Number(12, i + 1)
    small = below_hundred(r, i)
    if small is None or r.words[small.stop] != "hundred":
        return small
    rest = below_hundred(r, r.skip(small.stop + 1, "and"))
    return Number(small.value * 100 + (rest.value if rest else 0), rest.stop if rest else small.stop + 1)


def below_hundred(r: TokenizedText, i: int) -> Number | None:
    word = r.words[i]
    if word in ONES:
        return Number(ONES[word], i + 1)
    if word not in TENS:
        return None
    j = r.skip(i + 1, "-")
    one = ONES.get(r.words[j], 0)
    if 1 <= one <= 9:
        return Number(TENS[word] + one, j + 1)
    return Number(TENS[word], i + 1)


def ordinal(r: TokenizedText, i: int) -> Number | None:
    """``3rd``, ``third``, ``twenty-first``."""
    word = r.words[i]
    if word in ORDINALS:
        return Number(ORDINALS[word], i + 1)
    if word in TENS:
        j = r.skip(i + 1, "-")
        if ORDINALS.get(r.words[j], 99) <= 9:
            return Number(TENS[word] + ORDINALS[r.words[j]], j + 1)
        return None
    if word.isdigit() and len(word) <= 2 and r.words[i + 1] in ("st", "nd", "rd", "th") and r.glued(i + 1):
        return Number(int(word), i + 2)
    return None


def day_number(r: TokenizedText, i: int) -> Number | None:
    """A day of the month, as an ordinal or as a number from 1 to 31, digits or words."""
    found = ordinal(r, i)
    if found is None and r.words[i].isdigit() and len(r.words[i]) <= 2:
        found = Number(int(r.words[i]), i + 1)
    if found is None:
        found = below_hundred(r, i)
    return found if found and 1 <= found.value <= 31 else None


def two_digit_year(value: int, pivot: int) -> int:
    """``value`` in the century that puts it at most 20 years after ``pivot``."""
    year = pivot // 100 * 100 + value
    return year - 100 if year > pivot + 20 else year


@remembered
def year_number(r: TokenizedText, i: int) -> Number | None:
    """``2023``, ``'87``, ``nineteen ninety six``, ``two thousand and fifteen``, ``twenty twenty-three``."""
    word = r.words[i]
    if word.isdigit():
        if len(word) == 4 and 1000 <= int(word) < 3000 and not _continues_number(r, i):
            return Number(int(word), i + 1)
        return None
    if word == "'" and len(r.words[i + 1]) == 2 and r.words[i + 1].isdigit() and r.glued(i + 1):
        return Number(two_digit_year(int(r.words[i + 1]), r.now.year), i + 2)
    if r.words[i + 1] == "thousand" and ONES.get(word) in (1, 2):
        rest = below_hundred(r, r.skip(i + 2, "and"))
        base = ONES[word] * 1000
        return Number(base + rest.value, rest.stop) if rest else Number(base, i + 2)
    century = below_hundred(r, i)
    if century is None or not 10 <= century.value <= 20:
        return None
    j = century.stop
    if r.words[j] == "hundred":
        rest = below_hundred(r, r.skip(j + 1, "and"))
        return Number(century.value * 100 + (rest.value if rest else 0), rest.stop if rest else j + 1)
    if r.words[j] == "oh" and r.words[j + 1] in ONES:
        return Number(century.value * 100 + ONES[r.words[j + 1]], j + 2)
    rest = below_hundred(r, j)
    if rest and rest.value >= 10:
        return Number(century.value * 100 + rest.value, rest.stop)
    return None


def _continues_number(r: TokenizedText, i: int) -> bool:
    """Whether the digits at ``i`` are a piece of a longer number, a time, a percentage or a sum of money."""
    after = r.words[i + 1]
    if r.glued(i + 1) and (
        after in ("%", "°") or (after in (".", ",", ":") and r.words[i + 2].isdigit() and r.glued(i + 2))
    ):
        return True
    return r.words[i - 1] in ("$", "#", "€", "£", "+") if i else False
