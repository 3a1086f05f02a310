"""Kin of several words: "mother-in-law", "sister in law", "step mum" and "half-brother" are nouns of their own.

The parser is shown the plain noun, which it knows; its token then carries the whole word and the place of it, so nobody
takes a mother-in-law for a mother.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lamina.pipeline.extract.vocabulary import BLENDED_KIN

__all__ = ["NounPhrase", "folded"]

_NOUNS = "|".join(sorted(BLENDED_KIN, key=len, reverse=True))
_SEVERAL = re.compile(
    rf"\b(?:(?P<in_law>(?:{_NOUNS})s?)[- ]in[- ]laws?(?! (?:school|firm|enforcement|court))|(?P<before>half|step|"
    rf"foster)[- ](?P<kin>(?:{_NOUNS})s?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun that stands for several words: where it begins in the shortened text, what it is, how much shorter it
    is."""

    at: int
    noun: str
    word: str
    shorter_by: int


def folded(text: str) -> tuple[str, list[NounPhrase]]:
    """`text` with one noun for each kin of several words, and what was done to it in order."""
    folds: list[NounPhrase] = []
    parts: list[str] = []
    done = length = 0
    for match in _SEVERAL.finditer(text):
        noun = match["in_law"] or match["kin"]
        word = f"{noun}-in-law" if match["in_law"] else f"{match['before']}-{noun}"
        parts += [text[done : match.start()], noun]
        length += match.start() - done
        folds.append(NounPhrase(length, noun, word.lower(), len(match[0]) - len(noun)))
        length += len(noun)
        done = match.end()
    return "".join([*parts, text[done:]]), folds
