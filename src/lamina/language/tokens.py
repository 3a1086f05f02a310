"""Terms of a text, the same for the index and for the question.

A term is a run of letters and digits: lower case, Latin accents folded, English words stemmed (Snowball),
runs of Chinese, Japanese or Korean script as overlapping pairs. Nothing else appears in a term, so a
space-joined list of terms survives any plain tokenizer unchanged.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

import Stemmer

from lamina import limits
from lamina.language.spoken.characters import UNSEEN
from lamina.language.tables import table

TERM_CHARS_MAX = 64
"""Longer runs (keys, encoded blobs) are cut here, so that one token cannot bloat the index."""

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
# Python's \w leaves out the vowel signs of Hebrew, Arabic and the Indic and South-East Asian scripts, and
# without them their words fall apart; the two dandas are punctuation.
_SIGNS = r"\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u1000-\u109f"
_TOKEN = re.compile(rf"([{_CJK}]+)|((?:(?![{_CJK}_])[\w{_SIGNS}])+(?:'(?:(?![{_CJK}_])\w)+)*)")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
"""The same in small letters of ASCII, in a third of the time."""
_LATIN_ACCENTS = re.compile(r"[\u0300-\u036f]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

# Not strftime: its month names follow the locale of the process.
_TABLE = table(__name__)
_MONTHS = _TABLE.text("months").split()

_STOPWORDS = _TABLE.text("stopwords")


class _Stemmers(threading.local):
    """A Snowball stemmer keeps a buffer and a cache, so each thread needs its own."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")


_stemmers = _Stemmers()


def analyse(text: str) -> list[str]:
    """Terms of ``text`` in reading order, repetitions kept.

    >>> analyse("Caroline's painting cost 1,500 euros, didn't it?")
    ['carolin', 'paint', 'cost', '1500', 'euro', 'didnt', 'it']
    """
    plain = _normalise(text)
    if plain.isascii():
        return list(map(_stem, _ASCII_TOKEN.findall(plain)))
    terms: list[str] = []
    for cjk, word in _TOKEN.findall(plain):
        if cjk:
            terms.extend(_pairs(cjk))
        else:
            terms.append(_stem(word))
    return terms


@lru_cache(maxsize=limits.TERMS_KEPT_MAX)
def known_terms(text: str) -> tuple[str, ...]:
    """As ``analyse``, of a short text such as a name or a claim's words, and remembered: these come again with every
    question."""
    return tuple(analyse(text))


@lru_cache(maxsize=limits.TERMS_KEPT_MAX)
def term_set(text: str) -> frozenset[str]:
    """The terms of a short text, each once; remembered as ``known_terms`` are."""
    return frozenset(known_terms(text))


def event_terms(text: str, speaker: str, observed_at: datetime) -> list[str]:
    """Terms under which an event is indexed: its day in words, its speaker (may be empty), its text."""
    day = f"{observed_at.day} {_MONTHS[observed_at.month - 1]} {observed_at.year}"
    return analyse(f"{day} {speaker}: {text}")


def content_terms(terms: Sequence[str]) -> list[str]:
    """``terms`` without English function words; all of them when nothing else is there."""
    kept = [term for term in terms if term not in STOP_TERMS]
    return kept or list(terms)


def _normalise(text: str) -> str:
    if text.isascii():
        small = text.lower()  # what follows would leave it as it is
        return _THOUSANDS.sub("", small) if "," in small else small
    seen = UNSEEN.sub("", text).replace("\u2019", "'")
    folded = unicodedata.normalize("NFKD", seen).lower()
    # Only Latin-style accents go: the voicing marks of kana are combining characters too, and carry meaning.
    plain = unicodedata.normalize("NFKC", _LATIN_ACCENTS.sub("", folded))
    return _THOUSANDS.sub("", plain)


@lru_cache(maxsize=limits.LINES_KEPT_MAX)
def _stem(word: str) -> str:
    """Remembered: a look-up takes a tenth of it, and what is talked about is talked about again."""
    stem: str = _stemmers.english.stemWord(word[:TERM_CHARS_MAX])
    return stem.replace("'", "")


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


STOP_TERMS = frozenset(_stem(word) for word in re.findall(r"\S+", _STOPWORDS))
"""Function words as ``analyse`` gives them."""
