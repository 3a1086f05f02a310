"""Claims: triples with their values as the store keeps them, and the facts that they would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.kernel.events import Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.local import to_local
from lamina.kernel.records import Fact, ObjectValue, Subject
from lamina.kernel.time import SECOND_US, Instant, from_datetime
from lamina.language.entities import normalise_name
from lamina.pipeline.extract.restating import restate
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Triple
from lamina.pipeline.hearsay import author_of, is_assistants, is_handed_over, is_hearsay
from lamina.pipeline.matters import slot_of
from lamina.pipeline.view import View
from lamina.pipeline.vocabularies.fitting import BoundTriple, bound

__all__ = [
    "EXTERNAL_FACTOR",
    "PERSON",
    "ToldClaim",
    "claim_of",
    "fact_of",
    "fades_from",
    "key_of",
    "object_of",
    "slot_of_claim",
]

EXTERNAL_FACTOR: Final = 0.7
"""What a tool or a document says is nobody's word: its claims start with less confidence."""

PERSON: Final = "person"
_PLAN: Final = "plan"
_FADES: Final = limits.PLAN_FADES_DAYS * 24 * 3600 * SECOND_US


@dataclass(frozen=True, slots=True)
class ToldClaim:
    """A triple with its values as the store keeps them, those of ``term`` where the vocabulary has one; ``worded`` is as it was said."""

    subject: Subject
    object: ObjectValue
    triple: Triple
    worded: Triple
    term: BoundTriple | None
    observed_at: Instant
    valid_from: Instant
    valid_to: Instant | None
    confidence: float
    handed_over: bool

    @property
    def is_of_person(self) -> bool:
        """Whether its subject is a person."""
        return self.triple.subject.type == PERSON

    @property
    def has_ended(self) -> bool:
        """Whether it is told as over, with no word of when it began ("I used to live in Rome")."""
        return (
            self.valid_to is not None and self.triple.valid_from is None and self.valid_to <= self.observed_at
        )


def claim_of(view: View, worded: Triple) -> ToldClaim:
    """The claim that a triple of the view's event makes."""
    event = view.event
    by_term = bound(view.terms, worded)
    triple = worded if by_term is None else by_term.triple
    subject = Subject(view.entity(key_of(triple.subject)), triple.subject.name)
    observed_at = event.context.observed_at
    valid_from = from_datetime(triple.valid_from) if triple.valid_from else observed_at
    valid_to = from_datetime(triple.valid_to) if triple.valid_to else None
    if valid_to is not None and valid_to <= valid_from:
        # Of what is over and has no beginning only its last instant is certain; anything else is a slip of the words.
        over = triple.valid_from is None
        valid_from, valid_to = (valid_to - 1, valid_to) if over else (valid_from, None)
    handed_over = is_handed_over(event, stands_apart=triple.handed_over)
    factor = EXTERNAL_FACTOR if handed_over or event.origin.trust is Trust.EXTERNAL else 1.0
    confidence = round(triple.confidence * factor, 4)
    return ToldClaim(
        subject,
        object_of(view, triple.object),
        triple,
        worded,
        by_term,
        observed_at,
        valid_from,
        valid_to,
        confidence,
        handed_over,
    )


def key_of(reference: EntityRef) -> str:
    """The name by which an entity is known."""
    return normalise_name(reference.name) or reference.key


def object_of(view: View, value: EntityRef | LiteralValue) -> ObjectValue:
    """A value of a triple as the store keeps it."""
    if isinstance(value, EntityRef):
        return ObjectValue("entity", id=view.entity(key_of(value)), name=value.name)
    return ObjectValue("literal", value=value.value, datatype=value.datatype, unit=value.unit)


def fact_of(view: View, claim: ToldClaim, ordinal: int, extractor: str) -> Fact:
    """The fact that a claim would be among no others; ``ordinal`` is its number among those of its event."""
    event, triple = view.event, claim.triple
    external = claim.handed_over or is_hearsay(event, triple.kind, triple.predicate)
    # What is over must not end what holds now, so it takes no place among the values of its slot.
    slot = None if claim.has_ended else slot_of_claim(claim)
    return Fact(
        tenant_id=event.tenant_id,
        id=derived_id(Prefix.FACT, event.recorded_at, event.id, extractor, ordinal),
        scope=event.scope,
        version=1,
        position=event.position,
        confidence=claim.confidence,
        valid_from=claim.valid_from,
        valid_to=claim.valid_to,
        recorded_from=event.recorded_at,
        event_id=event.id,
        subject=claim.subject,
        predicate=triple.predicate,
        object=claim.object,
        kind=triple.kind,
        negated=triple.negated,
        text=restate(claim.worded, seen_at=to_local(event.context.observed_at, event.offset)),
        external=external,
        trust=Trust.EXTERNAL if external else event.origin.trust,
        by_assistant=is_assistants(event, triple.kind, triple.predicate),
        handed_over=claim.handed_over,
        said_by=author_of(view, event, claim.subject.id) if claim.is_of_person and not external else None,
        extractor=extractor,
        slot=slot,
        from_offset=event.offset,
        to_offset=None if claim.valid_to is None else event.offset,
        fades_at=fades_from(triple.kind, claim.observed_at, claim.valid_to),
        binding=None if claim.term is None else claim.term.binding,
    )


def fades_from(kind: str, said_at: Instant, valid_to: Instant | None) -> Instant | None:
    """From when on what was said once is no longer told as current: a plan without a day."""
    return said_at + _FADES if kind == _PLAN and valid_to is None else None


def slot_of_claim(claim: ToldClaim) -> str | None:
    """What a claim competes for, also one that has ended; None for what happened and for plans."""
    triple = claim.triple
    return slot_of(
        claim.subject.id,
        triple.predicate,
        claim.object,
        kind=triple.kind,
        single=triple.single_valued,
        negated=triple.negated,
    )
