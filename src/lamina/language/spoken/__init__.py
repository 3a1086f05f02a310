"""Speech as it would have been written: apostrophes put in.

A text without signs of speech goes through untouched, and what is not in English does.
"""

from __future__ import annotations

import re

from lamina.language.english import is_english
from lamina.language.spoken.contractions import FORMS, with_apostrophes
from lamina.language.spoken.writing import WrittenText

__all__ = ["WrittenText", "as_written"]

_WORDS = re.compile(r"[a-z]+")


def as_written(text: str) -> WrittenText:
    """``text`` as its speaker would have written it, with the way back to what was said."""
    words = set(_WORDS.findall(text.lower()))
    said = written = WrittenText(text)
    if not words.isdisjoint(FORMS):
        written = written.edited(with_apostrophes(written.text))
    return said if written is said or not is_english(written.text) else written
