"""One reading of one turn, whoever reads it: what it claims, and which of that is open, ends something or says it again.

Facts, identity and loops are taken from a reading, and from nothing else: ``loops/keeping.py`` takes what is ``open``, and ``facts.py`` what
else is ``said``, who somebody is among it: what was promised is one record, the loop. Rules and a model give the same value, so that one can
take the place of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from lamina import limits
from lamina.kernel.records import PROMISES
from lamina.pipeline.extract.values import EntityRef, Extraction, Triple
from lamina.pipeline.loops.matching import deed_of, key_terms
from lamina.pipeline.loops.values import LoopDraft, LoopReading
from lamina.pipeline.speakers import another_speaks
from lamina.pipeline.view import View

__all__ = ["Reading", "may_be_open", "shared_out"]

_LIES_AHEAD: Final = frozenset({"plan", "commitment"})
_ARRANGED: Final = "has_scheduled"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a turn says. ``reader`` is part of the ids of what is made of it, and shown with that; ``model`` is who was asked, None for
    rules. ``own`` is what of the turn its speaker plainly says: nothing else of it ends or moves anything."""

    reader: str
    said: Extraction
    open: LoopReading
    own: str
    model: str | None = None


def may_be_open(triple: Triple) -> bool:
    """Whether a claim is what its speaker promises, plans or has arranged."""
    ahead = triple.kind in _LIES_AHEAD or triple.predicate == _ARRANGED
    return ahead and triple.subject.actor is not None and not triple.negated


def shared_out(view: View, reading: Reading) -> tuple[Extraction, LoopReading]:
    """What of a reading of the view's event becomes facts, and what becomes loops: no claim becomes both."""
    if another_speaks(view, reading.said):
        return reading.said, LoopReading()
    opened = [each for each in reading.open.drafts if each.place is not None][: limits.LOOPS_NEW_PER_TURN_MAX]
    promises = [each for each in opened if each.type in PROMISES]
    facts = [each for each in reading.said.triples if not any(_is_said_by(each, draft) for draft in promises)]
    return replace(reading.said, triples=tuple(facts)), reading.open


def _is_said_by(triple: Triple, draft: LoopDraft) -> bool:
    """Whether a claim is what a draft leaves open: said in the same words of the turn, and of the same deed."""
    start, end = draft.place or (0, 0)
    if not may_be_open(triple) or not (triple.evidence.start < end and start < triple.evidence.end):
        return False
    value = triple.object
    words = value.name if isinstance(value, EntityRef) else str(value.value)
    wording, terms = key_terms(draft.wording), key_terms(words)
    return bool(terms & wording) and (deed_of(words) <= wording or terms <= wording)
