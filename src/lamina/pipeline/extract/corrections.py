"""Corrections of an allergy: "my allergy test came back and it's cashews, not peanuts" gives the new value, and a denial
that ends the old one. A sentence that tells of a value and denies another says so of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lamina.language.dated import is_time_word
from lamina.language.tables import table
from lamina.pipeline.extract.confidence import FACTS
from lamina.pipeline.extract.references import FIRST, FIRST_PLURAL, SECOND, THIRD, References, entity
from lamina.pipeline.extract.restating import object_text
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple

__all__ = ["corrected", "denied"]

_TABLE: Final = table(__name__)
_OLD: Final = _TABLE.part("old")
_SWAP: Final = _TABLE.pattern("swap")
_ALLERGY = re.compile(r"\b(?:my|the|an?) (?:\w+ )?allerg(?:y|ies)\b|\ballergic\b", re.IGNORECASE)
_PRONOUNS: Final = FIRST | FIRST_PLURAL | SECOND | THIRD
_DETERMINER = re.compile(r"^(?:the|an?|my|our|to) ", re.IGNORECASE)


def corrected(text: str, refs: References, offset: int) -> list[Triple]:
    """The claims of a sentence that swaps one cause of an allergy for another; empty for any other sentence."""
    swap = _SWAP.search(text)
    if swap is None or refs.speaker is None or _ALLERGY.search(text, 0, swap.start()) is None:
        return []
    new, old = (_DETERMINER.sub("", swap[group].strip()) for group in ("new", "old"))
    if is_time_word(new) or is_time_word(old) or not new or not old:
        return []
    right = Triple(
        refs.speaker,
        "allergic_to",
        LiteralValue("string", new),
        "identity",
        FACTS["identity"],
        Span(offset, offset + len(text)),
        corrects=True,
    )
    return [right, replace(right, object=LiteralValue("string", old), negated=True, corrects=False)]


def denied(text: str, triples: Sequence[Triple]) -> list[Triple]:
    """What ", not peanuts" denies beside a lasting claim of several possible values ("I'm allergic to cashews")."""
    found = []
    for triple in triples:
        lasting = triple.kind not in ("event", "plan", "commitment", "quantity")
        if triple.negated or triple.single_valued or not lasting:
            continue
        match = re.search(re.escape(object_text(triple)) + _OLD, text, re.IGNORECASE)
        if match is None or match["old"].casefold() in _PRONOUNS:
            continue  # of "Tom plays the guitar, not me" it is who does not
        if len(match["old"].split()) <= 3 and not is_time_word(match["old"]):
            words = _DETERMINER.sub("", match["old"])
            known = triple.object
            old = entity(words, known.type) if isinstance(known, EntityRef) else LiteralValue("string", words)
            found.append(replace(triple, object=old, negated=True, corrects=False, qualifiers=()))
    return found
