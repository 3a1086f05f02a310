"""Whether two wordings speak of one thing: by their content words, whatever the tense."""

from __future__ import annotations

import re
from typing import Final

from lamina.language.tokens import analyse, content_terms
from lamina.language.wordsets import word_set
from lamina.pipeline.extract.inflect import past_forms

__all__ = ["is_past", "key_terms", "overlap"]

_BASE: Final = {
    **past_forms(),
    **dict(
        pair.split(":")
        for pair in [
            "done:do",
            "gone:go",
            "written:write",
            "taken:take",
            "given:give",
            "eaten:eat",
            "spoken:speak",
            "chosen:choose",
            "seen:see",
            "been:be",
            "broken:break",
            "driven:drive",
            "begun:begin",
            "shown:show",
            "flown:fly",
            "got:get",
            "gotten:get",
        ]
    ),
}
_NOT_SAID: Final = frozenset(
    analyse("waiting hear yet remember back finally just already trouble struggling keep")
)
_GENERIC = word_set("do get go make take have finish finished complete completed done sort sorted start")
_WORD = re.compile(r"[\w'-]+")
_NOT_PAST = word_set("indeed speed breed exceed proceed succeed")


def key_terms(words: str) -> frozenset[str]:
    """The content terms of a wording, verbs in their base form."""
    base = " ".join(_BASE.get(word, word) for word in _WORD.findall(words.casefold()))
    terms = set(content_terms(analyse(base)))
    return frozenset(terms - _NOT_SAID or terms)


def overlap(loop: frozenset[str], said: frozenset[str]) -> float:
    """How much of a loop's terms was said, 0..1; a verb that fits everything ("do", "finish") counts little."""
    if not loop:
        return 0.0
    weights = {term: 0.25 if term in _GENERIC else 1.0 for term in loop}
    return sum(weight for term, weight in weights.items() if term in said) / sum(weights.values())


def is_past(words: str) -> bool:
    """Whether words begin with a verb of the past: "booked the dentist", "sent it"."""
    first = next(iter(_WORD.findall(words.casefold())), "")
    return first in _BASE or (len(first) > 4 and first.endswith("ed") and first not in _NOT_PAST)
