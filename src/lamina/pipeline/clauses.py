"""The clauses of a sentence by its punctuation, and a long one cut to a few words, as they were said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["CLAUSE_WORDS_MIN", "clauses_of", "cut_clause"]

CLAUSE_WORDS_MIN: Final = 3
"""What has fewer words is part of the clause beside it."""
_WORDS_MAX: Final = 7
_BEGINNING_MIN: Final = 4
_END: Final = re.compile(r"[,;:()\"“”…–—]+\s*|\s-\s|(?<=[.!?])\s+")
_CLOSING: Final = " .!?:*#_"


def clauses_of(text: str) -> list[str]:
    """The clauses in their order.

    >>> clauses_of("Yes, the boat is ours now, and we sail on Sunday")
    ['Yes, the boat is ours now', 'and we sail on Sunday']
    """
    clauses: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if len(text[start : match.start()].split()) >= CLAUSE_WORDS_MIN:
            clauses.append(text[start : match.start()])
            start = match.end()
    rest = text[start:]
    if not clauses or len(rest.split()) >= CLAUSE_WORDS_MIN:
        return [*clauses, rest]
    return [*clauses[:-1], text[text.rindex(clauses[-1]) :]]


def cut_clause(clause: str, is_about: Callable[[str], bool]) -> str:
    """The clause, of a long one the first words to the last that ``is_about`` names, or as many words that end with it."""
    words: Sequence[str] = clause.split()
    if len(words) <= _WORDS_MAX:
        return " ".join(words).strip(_CLOSING)
    held = [at for at, word in enumerate(words) if is_about(word)]
    end = max(held[-1] + 1, _BEGINNING_MIN) if held else _WORDS_MAX
    if end <= _WORDS_MAX:
        return f"{' '.join(words[:end])} …"
    return f"… {' '.join(words[end - _WORDS_MAX : end])}{' …' if end < len(words) else ''}".strip(_CLOSING)
