"""Signs of change: words by which a turn may say that something it names is no longer as it was.

One list of data, for one use: a turn that holds a sign, and that shares the matter of an older fact of the same
speaker, marks that fact as one that may have changed (``pipeline/changes.py``). Nothing is read of the sentence,
nothing ends by it, and the mark points at the turn. Words are compared as they stand, in any case. Before the colon
of a line is what its signs count with:

- nothing: with the words of the fact's object or of its predicate near them;
- ``*``: with those of its predicate only, or of what was denied: who starts a thing, or has a new one, still likes it;
- ``^``: as nothing, and without any of these with what its speaker told of themselves that is nearest: one thing took another's place;
- ``!``: as nothing, and with any word of what lies ahead: it is called off;
- ``~``: with none of them, but in a sentence that is near to the turn that told the fact;
- predicates: these by themselves, and with the words of their objects.

Beside the signs, what a turn tells in one predicate bears on others: who is single now is married to nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from lamina.language.tables import table

__all__ = ["CALLS_OFF", "REPLACES", "SIGNS", "SPEAKERS", "WITH_PREDICATE", "Sign", "bears_on", "signs_in"]


SPEAKERS: Final = "I I'm I've I'd I'll we we're we've we'd we'll"
"""Who says that something of their own changed, where the sentence is of themselves."""


SIGNS: Final[Mapping[str, frozenset[str]]] = {
    sign.strip(): frozenset(predicates.split())
    for predicates, signs in table(__name__).rows("signs")
    for sign in signs.split("|")
}
"""Sign to the predicates that it bears on by itself."""

WITH_PREDICATE: Final = "*"
"""Stands for the predicates of a sign that counts with the words of a predicate only."""
REPLACES: Final = "^"
"""Stands for those of a sign by which one thing took another's place."""
CALLS_OFF: Final = "!"
"""Stands for those of a sign by which what lies ahead will not be, or not then."""

NEAR_WORDS: Final = 4
"""So many words before or behind a sign are near it."""


_BEARING: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    (predicate, value): frozenset(others.split())
    for predicate, values, others in table(__name__).rows("bearing")
    for value in values.split() or ("",)
}
"""By a predicate and a value of it, empty for any, the predicates that it bears on."""


class Sign(NamedTuple):
    """A sign in a sentence, the predicates that it bears on by itself, and the words near it, before and behind."""

    words: str
    predicates: frozenset[str]
    near: tuple[str, ...]


_WORD = re.compile(r"[\w'’]+")
_LONGEST_FIRST = "|".join(each.replace(" ", r"\s+") for each in sorted(SIGNS, key=len, reverse=True))
_SIGN = re.compile(rf"(?<![\w'’])(?:{_LONGEST_FIRST})(?![\w'’])")


def signs_in(sentence: str) -> list[Sign]:
    """The signs of change in a sentence, with the words near each.

    >>> [(each.words, each.near) for each in signs_in("I no longer cycle.")]
    [('no longer', ('i', 'cycle'))]
    """
    plain = sentence.casefold()
    words = [(each.start(), each.group()) for each in _WORD.finditer(plain)]
    found = []
    for match in _SIGN.finditer(plain):
        before = [word for at, word in words if at < match.start()][-NEAR_WORDS:]
        after = [word for at, word in words if at >= match.end()][:NEAR_WORDS]
        text = " ".join(match.group().split())
        counts = [sign for sign in SIGNS if text == sign or text.startswith(f"{sign} ")]
        found += [Sign(sign, SIGNS[sign], (*before, *after)) for sign in counts]
    return found


def bears_on(predicate: str, value: str) -> frozenset[str]:
    """The predicates whose older values may have changed by what is told in another.

    >>> sorted(bears_on("status", "retired")), bears_on("status", "pregnant")
    (['works_as', 'works_at', 'works_at_some', 'works_in'], frozenset())
    """
    of_any = _BEARING.get((predicate, ""), frozenset())
    return of_any | _BEARING.get((predicate, value.casefold()), frozenset())
