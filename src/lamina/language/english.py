"""Whether a sentence is in English, by its function words."""

from __future__ import annotations

import re
from typing import Final

from lamina.language.entities import NAME_RUN
from lamina.language.tables import table

__all__ = ["is_english"]

_SAMPLE_CHARS = 400
_TABLE: Final = table(__name__)
_ENGLISH_WORDS: Final = _TABLE.words("english_words")
_OTHER_WORDS: Final = _TABLE.words("other_words")
# Words of both sides ("in", "me", "a") tell nothing.
_ENGLISH_ONLY = _ENGLISH_WORDS - _OTHER_WORDS - {"in", "do", "was", "so", "as", "a", "an", "will"}
_OTHER_ONLY = _OTHER_WORDS - _ENGLISH_WORDS - {"die", "per", "des", "pas", "los", "son", "con", "em"}
_SPLIT = re.compile(r"[^\w'’]+")
_NAME = re.compile(NAME_RUN)


def is_english(sentence: str) -> bool:
    """Whether the English parser may be trusted: by function words, for Latin script.

    Decides "not English" only when other languages' words outnumber English ones, so short sentences pass.
    """
    sample = sentence[:_SAMPLE_CHARS]
    latin = sum(1 for c in sample if c.isalpha() and c < "\u0250")
    letters = sum(1 for c in sample if c.isalpha())
    if letters and latin < 0.7 * letters:
        return False
    english, other = _words_of(sample)
    if english >= other:
        return True
    english, other = _words_of(_NAME.sub(" ", sample))  # "I'm Maria de la Cruz"
    return english >= max(other, 1)


def _words_of(sample: str) -> tuple[int, int]:
    """How many words are English alone, and how many are another language's alone."""
    words = [w for w in _SPLIT.split(sample.casefold().replace("’", "'")) if w]
    return sum(1 for w in words if w in _ENGLISH_ONLY), sum(1 for w in words if w in _OTHER_ONLY)
