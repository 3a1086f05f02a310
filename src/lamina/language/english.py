"""Whether a sentence is in English, by its function words."""

from __future__ import annotations

import re

from lamina.language.entities import NAME_RUN
from lamina.language.wordsets import word_set

__all__ = ["is_english"]

_SAMPLE_CHARS = 400
_ENGLISH_WORDS = word_set(
    "the a an and i you is are was were my to of in it that for on with have this but not be at we they "
    "he she so do did i'm it's can will just your me as has had by from or his her our their been about"
)
_OTHER_WORDS = word_set(
    "der die das und ich nicht ist ein eine mit wir le la les et je ne pas est un une des el los y que es "
    "por con il di che non sono per um uma não de em mi me da een het van niet en ahora vivo soy estoy tengo moro "
    "seit bei mehr j'habite n'habite chez depuis trabajo"
)
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
