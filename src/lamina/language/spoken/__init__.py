"""Speech as it would have been written: in plain characters, without stress and hesitation, apostrophes put in.

A text without signs of either goes through untouched, and what is not in English keeps its words.
"""

from __future__ import annotations

import re

from lamina.language.english import is_english
from lamina.language.spoken.characters import in_plain_text
from lamina.language.spoken.contractions import FORMS, with_apostrophes, with_denials_mended
from lamina.language.spoken.emphasis import without_emphasis
from lamina.language.spoken.writing import WrittenText

__all__ = ["WrittenText", "as_written", "in_plain_text"]

_WORDS = re.compile(r"[a-z]+")


def as_written(text: str) -> WrittenText:
    """``text`` as its speaker would have written it, with the way back to what was said."""
    said = in_plain_text(text)
    words = frozenset(_WORDS.findall(said.text.lower()))
    written = without_emphasis(said, words)
    written = written.edited(with_denials_mended(written.text, words))
    if not words.isdisjoint(FORMS):
        written = written.edited(with_apostrophes(written.text))
    return said if written is said or not is_english(written.text) else written
