"""Whether a clause is the speaker's own word: not what others say or think, not what is doubted, quoted or only
supposed."""

from __future__ import annotations

import re
from typing import Final

from lamina.language.tables import table

__all__ = ["is_own", "is_taken_back"]

_TABLE: Final = table(__name__)
_CLAUSAL: Final = _TABLE.part("clausal")
_OTHERS: Final = rf"(?:{_CLAUSAL}|ask(?:s|ed|ing)?|want(?:s|ed)?|expects?|expected|would like|needs?)"
_OWN_VIEW: Final = _TABLE.pattern("own_view")
_GOVERNED: Final = _TABLE.pattern("governed")
_ASKED = re.compile(rf"\b{_OTHERS}\s*(?:that\s*)?$", re.IGNORECASE)
_SUBORDINATED: Final = _TABLE.pattern("subordinated")
_MODIFIED: Final = _TABLE.pattern("modified")
_FRONTED: Final = _TABLE.pattern("fronted")
_PARTS = re.compile(r"([;!?]\s|,\s+|\s[-–—]+\s|\s(?:but|so|and|because|since|then)\s)", re.IGNORECASE)
_REPORTING_END = re.compile(rf"\b{_CLAUSAL}(?: (?:me|us|him|her|them|that|to me))?$", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
_LABEL: Final = _TABLE.pattern("label", 0)
_TOLD_AFTER: Final = _TABLE.pattern("told_after")
_TAKEN_BACK: Final = _TABLE.pattern("taken_back")

_TAKEN_BACK_BEHIND: Final = _TABLE.pattern("taken_back_behind")


def is_taken_back(said: str) -> bool:
    """Whether a sentence takes back what the one before said: "No, actually, don't."."""
    return _TAKEN_BACK_BEHIND.match(said) is not None


def is_own(before: str, after: str = "") -> bool:
    """Whether the clause between what stands ``before`` it in its sentence and what comes ``after`` is a main clause of
    the speaker's own.

    >>> is_own("yesterday Ana rang, so "), is_own("Ana thinks "), is_own("I don't think ")
    (True, False, False)
    """
    if before.count('"') % 2 or before.count("“") > before.count("”") or _LABEL.match(before):
        return False
    if _TOLD_AFTER.search(after) or _TAKEN_BACK.search(after):
        return False
    clause = _last_clause(before)
    rest = _OWN_VIEW.sub("", clause)
    if _GOVERNED.search(rest) or _ASKED.search(rest) or _SUBORDINATED.search(rest):
        return False
    return bool(_FRONTED.match(rest.strip())) or _MODIFIED.search(rest) is None


def _last_clause(before: str) -> str:
    """The part that the clause stands in, with the parts before it that govern it: what somebody says goes on until a
    new sentence begins, or until "but" and "so" begin one of the speaker's own."""
    pieces = _PARTS.split(before)
    clause = pieces[-1]
    for mark, piece in zip(pieces[-2::-2], pieces[-3::-2], strict=True):
        word = mark.strip().casefold()
        told = _REPORTING_END.search(piece.strip()) and word == ","
        goes_on = word in ("and", "because", "since", "then") and _GOVERNED.search(_OWN_VIEW.sub("", piece))
        supposed = word == "," and _SUPPOSED.search(piece) is not None
        if not (told or goes_on or supposed):
            break
        clause = f"{piece}{mark}{clause}"
    return clause
