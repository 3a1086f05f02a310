"""Contractions that were written without their apostrophe: "im", "dont", and "ill" where it is no illness.

Most are no other word. Those that are ("its", "id", "ill", "well", "were", "wed", "shed", "shell", "hell", "lets")
are taken for contractions only by what stands around them, and stay as they are in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.spoken.writing import Edit
from lamina.language.tables import table

__all__ = ["FORMS", "with_apostrophes", "with_denials_mended"]

_TABLE: Final = table(__name__)
_LENGTHS: Final = {form: int(letters) for form, letters in _TABLE.by_word("endings").items()}
_SHORT: Final = _TABLE.words("short")
_LEADS: Final = _TABLE.part("leads")
_STARTS: Final = re.compile(rf"(?:^|[.!?,;:…\n]|\b{_LEADS}) {{0,9}}$", re.IGNORECASE)
_OPENS: Final = _TABLE.pattern("opens")
_WHILE: Final = re.compile(r"\b(?:while|because|cause|cos|since|when|until|till) {0,9}$", re.IGNORECASE)

_LED_BY: Final = {"starts": _STARTS, "opens": _OPENS, "while": _WHILE}
_RULES: Final = tuple(
    (
        form,
        int(length),
        _LED_BY.get(lead),
        re.compile(never, re.IGNORECASE),
        re.compile(rf" {{1,9}}(?:{follows})", re.IGNORECASE),
    )
    for form, length, lead, never, follows in _TABLE.rows("by_place")
)
"""The form, letters behind the apostrophe, what leads up to it, what never does, and what follows it."""
FORMS: Final = frozenset(_LENGTHS).union(form for form, *_ in _RULES)
"""Every form that may lack its apostrophe, in small letters."""

_MISPLACED: Final = _TABLE.pattern("misplaced")
_BROKEN: Final = _TABLE.pattern("broken")
"""What any of the misplaced has in it, but for those that are one word."""
_JOINED: Final = re.compile(r"\b\w+not\b")
_MISSPELT: Final = _TABLE.pairs("misspelt")
_ANY_WORD: Final = re.compile(r"(?<![\w'’])[A-Za-z]{3,7}(?![\w'’])")

_WORD: Final = re.compile(r"[A-Za-z]{2,9}(?![\w'’@/&-]|\.\w)")
_PART_OF_WORD: Final = re.compile(r"[\w'’.@/#&-]")
_NO_PROMISE: Final = re.compile(r"\b(?:his|her|my|their|our|your|its|a) {0,9}$", re.IGNORECASE)
_BEFORE: Final = 40


def with_apostrophes(text: str) -> Iterator[Edit]:
    """The edits that put in the apostrophes which are missing."""
    for match in _WORD.finditer(text):
        form = match[0].lower()
        if form not in FORMS or _PART_OF_WORD.match(text, match.start() - 1 if match.start() else len(text)):
            continue
        if form in _SHORT and match[0][1:] != form[1:]:
            continue  # "ID", "IM" and "WELL" are written so by who means them
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        length = _LENGTHS.get(form) or _by_place(form, before, text, match.end())
        if length and not _is_another(match, before, text):
            yield match.end() - length, match.end() - length, "'"


def with_denials_mended(text: str, words: frozenset[str]) -> Iterator[Edit]:
    """The edits that write denials as they are written: "do'nt", "don' t", "donot", "nto"; ``words`` are those of the text in small letters."""
    found: list[Edit] = []
    if _BROKEN.search(text) or _JOINED.search(" ".join(words)):
        for match in _MISPLACED.finditer(text):
            found.append((match.start(), match.end(), f"{match[1] or match[2] + 'o'}n't"))
    if not words.isdisjoint(_MISSPELT):
        for match in _ANY_WORD.finditer(text):
            if (word := _MISSPELT.get(match[0].lower())) is not None:
                found.append((match.start(), match.end(), word))
    yield from sorted(found)


def _by_place(form: str, before: str, text: str, end: int) -> int:
    for each, length, lead, never, follows in _RULES:
        led = each == form and (lead is None or lead.search(before))
        if led and not never.search(before) and follows.match(text, end):
            return length
    return 0


def _is_another(match: re.Match[str], before: str, text: str) -> bool:
    """ "As is her wont", "Jony Ive", "Treffen im Park"."""
    form = match[0].lower()
    if form == "wont":
        return _NO_PROMISE.search(before) is not None
    if match[0][0].isupper() and form in ("ive", "im", "hes"):
        return _OPENS.search(before) is None
    behind = text[match.end() : match.end() + 2].strip()
    return form == "im" and behind.isupper() and _STARTS.search(before) is None
