"""Decides cheaply whether a sentence can hold a claim, so that chatter never reaches the parser.

A sentence passes when it is not a question, has at least three words, and has an anchor: somebody or something a
claim could be about (first person, a third person, a name, a number, or a definite noun at its start). Greetings,
thanks and praise have none, or are known by their first words.
"""

from __future__ import annotations

import re
from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract.own_names import names_speaker

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TABLE: Final = table(__name__)
_OPENER: Final = _TABLE.pattern("opener")
_CHATTER: Final = _TABLE.pattern("chatter")
_FIRST_PERSON: Final = _TABLE.pattern("first_person")
_ANCHOR: Final = _TABLE.pattern("anchor")
_NAME = re.compile(r"(?<=[\w,;:’'\")] )[A-ZÀ-ÖØ-ÞА-Я][\w’'-]*\w|[A-Z]{2,}")
_DEFINITE_SUBJECT = re.compile(r"(?:the|our|my|this|each|every) \w+", re.IGNORECASE)
_NAMED_SUBJECT: Final = _TABLE.pattern("named_subject", 0)
_NON_LATIN = re.compile(r"[^\x00-\u024f\u2000-\u206f\U0001f000-\U0001ffff]")
_YOU_START = re.compile(r"you(?:['’](?:re|ve|ll|d))?\b", re.IGNORECASE)

_SWAPS: Final = _TABLE.pattern("swaps")

_STANDING: Final = _TABLE.pattern("standing")
"""Requests that are to hold from then on."""

WORDS_MIN = 3
_INTRODUCTION_WORDS_MAX = 10


def worth_parsing(sentence: str, *, personal: bool = True) -> bool:
    """Whether `sentence` may hold a claim worth a parse. Written text (`personal=False`) needs no anchor."""
    if sentence.rstrip(" \"'”’)").endswith(("?", "？")):
        return False
    if _NON_LATIN.search(sentence):
        return True
    words = _WORD.findall(sentence[:400])
    if personal and len(words) < _INTRODUCTION_WORDS_MAX and names_speaker(sentence):
        return True
    brief = words and (words[0].casefold() in ("i'm", "i’m") or words[-1].casefold() in ("died", "dead"))
    least = WORDS_MIN - 1 if brief else WORDS_MIN
    if len(words) < least:
        return False
    if not personal:
        return True
    body = without_opener(sentence)
    if _SWAPS.match(body) or _STANDING.match(body):
        return True
    if _is_chatter(body):
        return False
    if _FIRST_PERSON.search(body) or _ANCHOR.search(body):
        return True
    return bool(_NAME.search(body) or _NAMED_SUBJECT.match(body) or _DEFINITE_SUBJECT.match(body))


def without_opener(sentence: str) -> str:
    """The sentence without "Oh, hey", "Yeah," and the like before it."""
    opener = _OPENER.match(sentence)
    return sentence[opener.end() :] if opener else sentence


def _is_chatter(body: str) -> bool:
    if len(_WORD.findall(body[:120])) < WORDS_MIN - 1:
        return True
    if _YOU_START.match(body) and not re.search(r"\d|[a-z] [A-Z]", body):
        return True
    chatter = _CHATTER.match(body)
    if chatter is None:
        return False
    # "Thanks, I moved to Lisbon yesterday" is worth it: a second clause with its own first person.
    return re.search(r"[,;-] ?(?:and |but )?(?:I|my|we|our)\b|\d", body[chatter.end() :]) is None
