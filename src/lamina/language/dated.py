"""Words that name a day or a time.

Behind a thing such as an invoice, "from 3 October" says which one is meant. It is part of the thing's name there, and not the day by which
something is due.
"""

from __future__ import annotations

from typing import Final

from lamina.language.tables import table

__all__ = ["DATED_THINGS", "OF_A_DAY", "hangs_on_another", "is_time_word", "names_a_thing"]

_TABLE: Final = table(__name__)
DATED_THINGS: Final = _TABLE.part("dated_things")
"""Alternatives of a pattern."""
OF_A_DAY: Final = r" (?:dated )?(?:from|of)"
"""What stands between such a thing and its day."""
_TIME_WORDS: Final = _TABLE.words("time_words")
_TOLD_FROM: Final = _TABLE.pattern("told_from")
_OWNED: Final = _TABLE.pattern("owned")
_THING: Final = _TABLE.pattern("thing")
_NEAR: Final = 16


def is_time_word(text: str) -> bool:
    """Whether the words only name a day or a time, which is when something holds and never what."""
    return all(word.strip(".,").casefold() in _TIME_WORDS for word in text.split())


def hangs_on_another(text: str) -> bool:
    """Whether a time is told from another one of the talk, and not from when it is said: "the next day", "the week before"."""
    return _TOLD_FROM.fullmatch(text) is not None


def names_a_thing(text: str, start: int, end: int) -> bool:
    """Whether the time at a place of a text is the first part of a thing's name: "my winter clothes", "the Friday report"."""
    return (
        _OWNED.search(text[max(0, start - _NEAR) : start]) is not None and _THING.match(text, end) is not None
    )
