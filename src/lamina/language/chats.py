"""Chats, forwarded messages and songs that somebody pastes, by their form: a time beside a name, a heading, "from Tom:".

What stands there was said by whoever is named, whoever put it into a turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.tables import table

__all__ = ["PARAGRAPH_END", "ROLES", "said_by_others"]

_TABLE: Final = table(__name__)
ROLES: Final = _TABLE.words("roles")
"""What the sides of a pasted talk are called where they have no names."""
_LINE: Final = _TABLE.pattern("line", re.MULTILINE)
_HEADING: Final = _TABLE.pattern("heading", re.MULTILINE)
_SENDER: Final = _TABLE.pattern("sender", re.MULTILINE)
_SONG: Final = _TABLE.pattern("song", re.MULTILINE)
PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")


def said_by_others(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of others stand in a text, half-open: a line with a time and a name, and the paragraph below a heading or behind who
    sent it.

    >>> list(said_by_others("Tom  10:02 AM\\nI live in Rome\\n\\nIs he right?"))
    [(13, 28)]
    """
    yield from (match.span() for match in _LINE.finditer(text))
    for pattern in (_HEADING, _SENDER):
        reached = 0
        for match in pattern.finditer(text):
            if match.start() < reached:
                continue  # below another, whose paragraph is theirs already
            end = PARAGRAPH_END.search(text, match.end())
            reached = len(text) if end is None else end.start()
            yield match.end(), reached
    song = _SONG.search(text)
    if song is not None:
        yield song.start(), len(text)
