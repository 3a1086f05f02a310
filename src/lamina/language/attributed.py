"""What others say or think of the speaker, which is not the speaker's word, and how a claim is taken back right behind
it.

Patterns over the words around a clause; who governs it in the grammar is read where there is a parse.
"""

from __future__ import annotations

import re
from typing import Final

from lamina.language.tables import table

__all__ = ["EXPERTS", "SAYINGS", "SURE", "denial", "is_attributed"]

_TABLE: Final = table(__name__)
SAYINGS: Final = _TABLE.words("sayings")
SURE: Final = _TABLE.words("sure")
EXPERTS: Final = _TABLE.words("experts")
"""Who and what the speaker believes when told of themselves: "the doctor told me I'm diabetic"."""

_WHO = r"(?P<who>[^,;.!?]{1,40})"
_ACCORDING = re.compile(rf"\baccording to (?!me\b|us\b){_WHO}", re.IGNORECASE)
_THEIR_VIEW: Final = _TABLE.pattern("their_view")
_RUMOUR: Final = _TABLE.pattern("rumour")
_THEY_ARE_SURE: Final = _TABLE.pattern("they_are_sure")
_SAID_BEFORE: Final = _TABLE.pattern("said_before")
_SAID_AFTER: Final = _TABLE.pattern("said_after")
_ONES_OWN = re.compile(r"\b(?:i|we|my|our)\b", re.IGNORECASE)
_BREAK = re.compile(r"[;!?–—]|\b(?:but|so|however|yet)\b", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")

_DENIAL: Final = _TABLE.pattern("denial")


def is_attributed(before: str, after: str) -> bool:
    """Whether the words around a clause put it down to somebody else than the speaker, or to talk.

    >>> is_attributed("According to Leonie ", ""), is_attributed("", " a fool, in Tom's opinion"), is_attributed("I
    told them ", "")
    (True, True, False)
    """
    clause = _BREAK.split(before)[-1]
    rest = _BREAK.split(after, maxsplit=1)[0]
    for part in (clause, rest):
        source = _ACCORDING.search(part)
        if source is not None and not _is_expert(source["who"]):
            return True
        if _THEIR_VIEW.search(part) is not None:
            return True
    said = _SAID_AFTER.search(after) or _SAID_BEFORE.search(clause)
    if said is not None and not _is_expert(said["who"]):
        return True
    if (talk := _RUMOUR.search(clause)) is not None and not _ONES_OWN.search(clause[talk.start() :]):
        return True
    sure = _THEY_ARE_SURE.search(clause)
    return sure is not None and not _ONES_OWN.match(sure[0])


def denial(after: str, following: str) -> str | None:
    """How what was just told is denied in the rest ``after`` it or at the beginning of the ``following`` sentence:
    "all" of it, or what it says of the speaker's "own"; None when it is not.

    >>> denial(", which is a lie.", ""), denial(".", "But I'm not."), denial(".", "I'm not sure what to do.")
    ('all', 'own', None)
    """
    found = _DENIAL.search(after) or _DENIAL.match(following)
    return None if found is None else "all" if found["all"] else "own"


def _is_expert(who: str) -> bool:
    return any(word.lower() in EXPERTS for word in _WORD.findall(who))
