"""Whether two wordings speak of one thing: by their content words, whatever the tense."""

from __future__ import annotations

import re
from typing import Final

from lamina.language.tables import table
from lamina.language.tokens import analyse, content_terms
from lamina.pipeline.extract.inflect import past_forms

__all__ = [
    "TOKEN",
    "aside_of",
    "deed_of",
    "head_of",
    "is_past",
    "key_terms",
    "object_of",
    "overlap",
    "specific",
    "tells_of",
]

_TABLE: Final = table(__name__)
_BASE: Final = past_forms() | _TABLE.pairs("past")
_SAME_DEED: Final = _TABLE.by_word("same_deed")
"""Another verb for the same deed, where a wording begins with it or has it in the past."""
_NOT_SAID: Final = frozenset(analyse(_TABLE.text("not_said")))
_GENERIC = _TABLE.words("generic")
_COUNTS = frozenset(analyse("last two three four five six seven eight nine ten couple few several"))
_WORD = re.compile(r"[\w'-]+")
_NOT_PAST = _TABLE.words("not_past")
TOKEN: Final = re.compile(r"[\w&]+(?:['’.-]\w+)*")
_ARTICLES: Final = _TABLE.words("articles")
_PARTICLES = _TABLE.words("particles")
_STOPS: Final = _TABLE.words("stops")
_ASIDE = _TABLE.words("aside")
_MAY_FOLLOW: Final = _TABLE.words("may_follow")
_STATES = _TABLE.words("states")


def key_terms(words: str) -> frozenset[str]:
    """The content terms of a wording, verbs in their base form."""
    said = _WORD.findall(words.casefold())
    base = " ".join(_base_of(word, first=not place) for place, word in enumerate(said))
    terms = set(content_terms(analyse(base)))
    return frozenset(terms - _NOT_SAID or terms)


def _base_of(word: str, *, first: bool) -> str:
    if (first or word in _BASE or word.endswith("ed")) and word in _SAME_DEED:
        return _SAME_DEED[word]
    return _BASE.get(word, word)


def specific(terms: frozenset[str]) -> frozenset[str]:
    """The terms but for verbs that fit everything."""
    return terms - _GENERIC


def deed_of(words: str) -> frozenset[str]:
    """The verb that words begin with, but for one that fits everything."""
    return specific(key_terms(words.split(" ", 1)[0]))


def overlap(loop: frozenset[str], said: frozenset[str]) -> float:
    """How much of a loop's terms was said, 0..1; a verb that fits everything ("do", "finish") and how many there are
    count little."""
    if not loop:
        return 0.0
    weights = {term: 0.1 if term in _COUNTS else 0.25 if term in _GENERIC else 1.0 for term in loop}
    return sum(weight for term, weight in weights.items() if term in said) / sum(weights.values())


def is_past(words: str) -> bool:
    """Whether words begin with a verb of the past: "booked the dentist", "sent it"."""
    first = next(iter(_WORD.findall(words.casefold())), "")
    return first in _BASE or (len(first) > 4 and first.endswith("ed") and first not in _NOT_PAST)


def head_of(words: str) -> frozenset[str]:
    """The terms of the last thing that words name: "camera" of "the expensive bird camera"."""
    named = [terms for token in TOKEN.findall(words) if (terms := _terms(token))]
    return named[-1] if named else frozenset()


def tells_of(wording: str, said: str) -> bool:
    """Whether a report has the object of a loop as its own: "bought milk chocolate" and "called the bank about mum"
    tell nothing of milk and mum."""
    core = TOKEN.findall(wording)
    heard = TOKEN.findall(said)
    place = _object_at(core)
    if place is None:
        return True
    known = key_terms(wording)
    wanted = _terms(core[place])
    aside = _ASIDE & {word.casefold() for word in core[1:place]}
    places = [at for at, token in enumerate(heard) if _terms(token.removesuffix("'s")) == wanted]
    return not places or any(
        (not heard[at].endswith("'s") or _is_state(heard[at + 1 : at + 2]))
        and _may_follow(heard[at + 1] if at + 1 < len(heard) else "", known)
        and not (_ASIDE & {word.casefold() for word in heard[:at]} - aside)
        for at in places
    )


def aside_of(wording: str) -> frozenset[str]:
    """The terms of a deed that only say more of it: "the release" of "rotate the key before the release"."""
    core = TOKEN.findall(wording)
    place = _object_at(core)
    if place is None:
        return frozenset()
    return key_terms(" ".join(core[place + 1 :])) - key_terms(" ".join(core[: place + 1]))


def object_of(wording: str) -> frozenset[str]:
    """The terms of what a deed is done to: "lint rule" of "add a lint rule against prints"."""
    core = TOKEN.findall(wording)
    place = _object_at(core)
    return frozenset() if place is None else key_terms(" ".join(core[1 : place + 1])) - _COUNTS


def _object_at(core: list[str]) -> int | None:
    """Where the object of a deed ends in its words: "rota" of "send the new rota to Marcus"."""
    at = 1
    while at < len(core) and core[at].casefold() in _PARTICLES | _ARTICLES:
        at += 1
    end = at
    while end < len(core) and core[end].casefold() not in _STOPS:
        end += 1
    return end - 1 if end > at and _terms(core[end - 1]) else None


def _is_state(following: list[str]) -> bool:
    """Whether "'s" before it is a verb: "the boiler's fixed"."""
    return bool(following) and (is_past(following[0]) or following[0].casefold() in _STATES)


def _may_follow(word: str, known: frozenset[str]) -> bool:
    plain = word.casefold()
    return (
        not plain
        or plain in _MAY_FOLLOW
        or plain.endswith("ly")
        or not plain.isalpha()
        or word[0].isupper()
        or is_past(plain)
        or bool(key_terms(plain) & known)
    )


def _terms(word: str) -> frozenset[str]:
    return frozenset(content_terms(analyse(word)))
