"""With which words a rule of the grammar can begin, and what must follow those that say nothing by themselves.

Most words of a text begin no time, and a rule that is asked at one goes through a dozen others to find out. A table says so at the price of a
look-up: it names every word with which the rule can begin (``"0"`` for digits), and for an article or a preposition what can stand
behind it. A table may name too much, never too little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.language.tables import table
from lamina.language.temporal import lexicon

__all__ = ["STARTS", "Starts"]

Starts = Mapping[str, frozenset[str] | None]
"""A word to what can follow it; ``None`` where anything can."""

_LISTS = (
    "ones tens ordinals vague units months weekdays weekday_plurals seasons decade_words frequencies last next this "
    "about parts meals"
)
_SAY_NOTHING = {"all", "good", "black", "new"}
"""They begin a holiday's name only before the rest of it."""


def _starts() -> dict[str, Starts]:
    lists = {name: " ".join(getattr(lexicon, name.upper())) for name in _LISTS.split()}
    holidays = " ".join(lexicon.HOLIDAY_STARTERS - _SAY_NOTHING)
    rules: dict[str, dict[str, frozenset[str] | None]] = {}
    for name, words, behind in table(__name__, holidays=holidays, **lists).rows("rules"):
        rule = rules.setdefault(name, {})
        follows = frozenset(each for word in behind.split() for each in rules.get(word, (word,))) or None
        for word in words.split():
            for begins, then in rules.get(word, {word: follows}).items():
                there = rule.get(begins, frozenset())
                rule[begins] = None if then is None or there is None else there | then
    found = rules.pop("ANYTHING").items()
    expression = {word: behind for word, behind in found if word in lexicon.STARTERS or word == "0"}
    return {**rules, "EXPRESSION": expression}


STARTS: Final = _starts()
"""By the rule. Of what begins an expression the finder tries those that are ``STARTERS``."""
