"""Whom one may be married to: not a job, and not the sea."""

from __future__ import annotations

from typing import Final

from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.syntax import Token

__all__ = ["is_spouse"]

_SPOUSES: Final = word_set(
    "woman man guy girl person wife husband ex childhood sweetheart foreigner widow widower nobody somebody someone"
)


def is_spouse(target: Token) -> bool:
    """Whether one may be married to it: a name, or a noun of people; not "my job" or "the sea"."""
    lemma = target.lemma
    return (
        (target.is_name and target.text[:1].isupper())
        or target.tag.startswith(("PRP", "WP"))
        or lemma in words.RELATIONS
        or lemma in words.OCCUPATIONS
        or lemma in _SPOUSES
        or lemma.endswith(("ician", "ologist"))
    )
