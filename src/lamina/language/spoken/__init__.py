"""Speech as it would have been written: apostrophes put in, words that fill a pause and words taken back left out.

A text without signs of speech goes through untouched, and what is not in English does.
"""

from __future__ import annotations

import re

from lamina.language.english import is_english
from lamina.language.spoken.capitals import TOLD, with_capitals
from lamina.language.spoken.contractions import FORMS, with_apostrophes
from lamina.language.spoken.fillers import BOTH, FILLERS, without_fillers
from lamina.language.spoken.repairs import may_repair, repaired
from lamina.language.spoken.writing import Written

__all__ = ["Written", "as_written"]

_WORDS = re.compile(r"[a-z]+")


def as_written(text: str) -> Written:
    """``text`` as its speaker would have written it, with the way back to what was said."""
    lower = text.lower()
    words = set(_WORDS.findall(lower))
    said = written = Written(text)
    if not words.isdisjoint(FILLERS) or words >= BOTH:
        written = written.edited(without_fillers(written.text, words))
    if not words.isdisjoint(FORMS):
        written = written.edited(with_apostrophes(written.text))
    if words >= TOLD:
        written = written.edited(with_capitals(written.text))
    if may_repair(words, lower):
        written = repaired(written)
    return said if written is said or not is_english(written.text) else written
