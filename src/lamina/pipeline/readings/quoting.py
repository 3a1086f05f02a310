"""Whether words of an answer stand in a turn: what a model says is believed as far as the turn says it, too."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import takewhile
from typing import Final

__all__ = ["EDGES", "clean", "fold", "is_quoted", "plain", "was_said"]

EDGES: Final = " .,;:!?…\"'-–—"
_STEM_CHARS_FROM: Final = 5
_STEM_SHARE_FROM: Final = 0.7
_QUOTE_CHARS_FROM: Final = 4
_FOLDED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_SPACE = re.compile(r"[\s\x00-\x1f\x7f\u2028\u2029]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Text on one line, without what has no bytes."""
    return _SPACE.sub(" ", _SURROGATE.sub("", text)).strip()


def plain(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fold(text: str) -> str:
    """Text made comparable: on one line, without case, with plain quotation marks."""
    return clean(text.translate(_FOLDED)).casefold()


def is_quoted(quote: str, said: str, *, characters: int = _QUOTE_CHARS_FROM) -> bool:
    """Whether a quote stands in folded text, word for word but for case, blanks and its edges; one of fewer ``characters`` does not."""
    words = fold(quote).strip(EDGES)
    if len(words) < characters:
        return False
    return re.search(rf"(?<![a-z0-9]){re.escape(words)}(?![a-z0-9])", said) is not None


def was_said(term: str, known: Collection[str]) -> bool:
    """Whether a term, or another form of its word, is among others."""
    return term in known or any(_is_one_stem(term, other) for other in known)


def _is_one_stem(one: str, other: str) -> bool:
    """Whether two words are forms of one, such as "apply" and "application", as far as their beginnings tell."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return shared >= max(_STEM_CHARS_FROM, _STEM_SHARE_FROM * max(len(one), len(other)))
