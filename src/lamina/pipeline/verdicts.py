"""What a verdict makes of the claim that it judges: the judge's own word for it or against it, as if they had said so.

So all that holds of words holds of verdicts: nobody's denial ends what a person says of themselves, one actor counts once, and a
cancelled verdict is as if it had never been given. What is irrelevant stays true.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, get_args

from lamina.kernel.events import Event
from lamina.kernel.feedback import Feedback
from lamina.kernel.local import to_local
from lamina.kernel.records import Fact, Loop, ObjectValue
from lamina.kernel.ties import Tie
from lamina.language.entities import normalise_name
from lamina.pipeline.beside import may_end
from lamina.pipeline.ending import end_fact
from lamina.pipeline.extract.values import (
    Datatype,
    EntityRef,
    EntityType,
    LiteralValue,
    Span,
    Triple,
    claim_kind,
)
from lamina.pipeline.hearsay import author_of
from lamina.pipeline.matters import PASSING
from lamina.pipeline.versions import put_version, support_of
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["EXTRACTOR", "VERDICT_CONFIDENCE", "end_judged", "ends_claim", "judge_promise", "triple_judged"]

EXTRACTOR: Final = "lamina-feedback/1"
VERDICT_CONFIDENCE: Final = 0.95
"""Somebody who looked at a claim is as sure as one who states it plainly."""


def ends_claim(feedback: Feedback) -> bool:
    """Whether a verdict ends the claim, rather than speak for it or against it."""
    passing = feedback.claim.kind in PASSING and not feedback.claim.single
    return feedback.verdict == "outdated" or (feedback.verdict == "deny" and passing)


def end_judged(view: View, held: Iterable[Fact], feedback: Feedback, writes: Writes) -> bool:
    """End the facts that say what is judged, as far as the judge's word may; whether there were any."""
    event, found = view.event, False
    for fact in held:
        found = True
        of_person = feedback.claim.subject_type == "person"
        if may_end(event, fact, author_of(view, event, fact.subject.id) if of_person else None):
            end_fact(view, fact, event.context.observed_at, writes)
    return found


def judge_promise(view: View, loop: Loop, feedback: Feedback, writes: Writes) -> None:
    """Drop what was promised, or have it said again."""
    event = view.event
    if ends_claim(feedback):
        end_judged(view, [loop], feedback, writes)
        return
    at = event.context.observed_at
    sure = max(loop.confidence, VERDICT_CONFIDENCE)
    put_version(event, loop, replace(loop, confidence=sure, seen_at=max(loop.seen_at, at)), writes)
    again = support_of(event, loop.id, loop)
    writes.supports.append(again._replace(relation=Tie.AFFIRMED_BY, weight=VERDICT_CONFIDENCE, at=at))


def triple_judged(event: Event, feedback: Feedback) -> Triple:
    """The claim as the judge has it: once more, or denied. A claim that is open is said again as of now; what is denied was never so,
    and what is outdated is denied from now on."""
    claim, at = feedback.claim, event.context.observed_at
    as_of_now = feedback.verdict == "outdated" or (
        feedback.verdict == "confirm" and claim.valid_to is None and claim.valid_from <= at
    )
    bounded = claim.valid_to is not None and not as_of_now
    return Triple(
        subject=_entity(claim.subject, claim.subject_type),
        predicate=claim.predicate,
        object=_value(claim.object),
        kind=claim_kind(claim.kind),
        confidence=VERDICT_CONFIDENCE,
        evidence=Span(0, 0),
        valid_from=None if as_of_now else to_local(claim.valid_from, event.offset),
        valid_to=to_local(claim.valid_to, event.offset) if bounded and claim.valid_to is not None else None,
        negated=claim.negated == (feedback.verdict == "confirm"),
        single_valued=claim.single,
    )


def _entity(name: str, kind: str) -> EntityRef:
    types: tuple[EntityType, ...] = get_args(EntityType)
    known: EntityType = next((each for each in types if each == kind), "thing")
    return EntityRef(name, normalise_name(name), known)


def _value(value: ObjectValue) -> EntityRef | LiteralValue:
    if value.type != "literal":
        return _entity(value.text, "thing")
    types: tuple[Datatype, ...] = get_args(Datatype)
    datatype: Datatype = next((each for each in types if each == value.datatype), "string")
    return LiteralValue(datatype, value.value, value.unit)
