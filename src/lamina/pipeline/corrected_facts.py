"""A correction of one fact: what it makes of the fact, and the claim that takes its place.

Whoever corrects says so of exactly one fact, and may (``correcting.py``), so that no rule about whose word ends whose applies. The
fact's place in the log stays what it was: readers of an earlier time see what was held then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lamina.kernel.corrections import Correction
from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.local import to_local
from lamina.kernel.records import Fact, Layer, ObjectValue, layer_of
from lamina.kernel.ties import Tie
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.direct import stated_value
from lamina.pipeline.ending import end_fact
from lamina.pipeline.extract.restating import restate
from lamina.pipeline.extract.values import EntityRef, LiteralValue, Span, Triple, claim_kind
from lamina.pipeline.hearsay import author_of
from lamina.pipeline.matters import is_shared, slot_of
from lamina.pipeline.versions import put_version, tie_at
from lamina.pipeline.view import View
from lamina.pipeline.vocabularies.fitting import Misfit, fitted
from lamina.store.ports.writes import Writes

__all__ = [
    "CORRECTED_CONFIDENCE",
    "EXTRACTOR",
    "corrected_fact",
    "fact_gone",
    "fact_meant",
    "object_of",
    "put_behind",
    "retract",
    "sentence_of",
]

CORRECTED_CONFIDENCE: Final = 0.99
"""Somebody looked at the claim and said what is right."""

EXTRACTOR: Final = "lamina-corrections/1"
_HELD_MAX: Final = 64


def fact_meant(view: View, correction: Correction) -> Fact | None:
    """The fact that a correction is of, as it stood then; where facts are derived apart, the one that says the same there."""
    found = view.record(correction.fact_id)
    if found is None and (known := view.whole().record(correction.fact_id)) is not None:
        assert isinstance(known, Fact), "corrections are of facts"
        same = view.query(Layer.FACTS, claim_key=known.claim_key, limit=_HELD_MAX)
        found = max(same, key=lambda each: (each.valid_from, each.id), default=None)
    if correction.action == "correct" and isinstance(found, Fact):
        found = _corrected_meanwhile(view, found)
    if not isinstance(found, Fact) or found.recorded_to is not None:
        return None
    return found


def _corrected_meanwhile(view: View, fact: Fact) -> Fact:
    """What the same person's corrections put in the place of a fact that is over by now: this one, sent before they were derived, still
    named it."""
    event = view.event
    for _ in range(_HELD_MAX):
        is_over = fact.recorded_to or (fact.valid_to and fact.valid_to <= event.context.observed_at)
        follows = view.record(fact.superseded_by) if is_over and fact.superseded_by else None
        if not isinstance(follows, Fact) or follows.extractor != EXTRACTOR:
            break
        told = view.events([follows.event_id]).get(follows.event_id)
        if told is None or told.observed_actor.id != event.observed_actor.id:
            break  # whether they may correct somebody else's word was not asked
        fact = follows
    return fact


def fact_gone(view: View, correction: Correction) -> Fact | None:
    """Where facts are derived apart, and nothing says there any more what was corrected: the fact as it was held right before. Who said what
    is right said so, too, where the word that was wrong is cancelled or lies outside of what is derived."""
    event, whole = view.event, view.whole()
    if whole is view or correction.action == "retract":
        return None
    earlier = [each for each in whole.versions(correction.fact_id) if each.recorded_from < event.recorded_at]
    if not earlier or not isinstance(held := earlier[-1], Fact):
        return None
    if held.recorded_to is not None and held.recorded_to < event.recorded_at:
        return None
    told = view.events([held.event_id]).get(held.event_id)
    known_as = view.entity(normalise_name(held.subject.name), told)
    return replace(held, subject=replace(held.subject, id=known_as))


def retract(view: View, held: Fact, correction: Correction, writes: Writes) -> None:
    """End a fact."""
    end_fact(view, held, correction.at or view.event.context.observed_at, writes)


def sentence_of(held: Fact, value: EntityRef | LiteralValue, event: Event | None = None) -> str:
    """A fact with another value, in words."""
    return restate(
        Triple(
            subject=EntityRef(held.subject.name, normalise_name(held.subject.name), "thing"),
            predicate=held.predicate,
            object=value,
            kind=claim_kind(held.kind),
            confidence=CORRECTED_CONFIDENCE,
            evidence=Span(0, 0),
            negated=held.negated,
        ),
        seen_at=None if event is None else to_local(event.context.observed_at, event.offset),
    )


def corrected_fact(view: View, held: Fact, correction: Correction) -> Fact:
    """The claim that takes the place of a fact: as long as that held, unless the correction says from when on. Of a fact by the vocabulary the
    value is as the term has it."""
    event, value = view.event, stated_value(correction.value)
    assert value is not None, "the door let a value through"
    match = None if held.binding is None else view.terms.of_predicate(held.predicate)
    by_term = None if match is None else fitted(match.term, value)
    if by_term is not None and not isinstance(by_term, Misfit):
        value = by_term
    value_of_fact = object_of(event.tenant_id, value)
    if value_of_fact.id is not None:
        value_of_fact = replace(value_of_fact, id=view.entity(normalise_name(value_of_fact.text)))
    single = held.slot is not None and not is_shared(held)
    begins = held.valid_from if correction.at is None else correction.at
    return replace(
        held,
        id=derived_id(Prefix.FACT, event.recorded_at, event.id, EXTRACTOR, 0),
        version=1,
        position=event.position,
        recorded_from=event.recorded_at,
        recorded_to=None,
        superseded_by=None,
        closed_by=None,
        event_id=event.id,
        confidence=CORRECTED_CONFIDENCE,
        valid_from=begins,
        from_offset=held.from_offset if correction.at is None else event.offset,
        object=value_of_fact,
        text=sentence_of(held, value, event),
        external=False,
        trust=event.origin.trust,
        by_assistant=False,
        handed_over=False,
        said_by=author_of(view, event, held.subject.id) if held.said_by is not None else None,
        excluded=False,
        extractor=EXTRACTOR,
        slot=slot_of(
            held.subject.id,
            held.predicate,
            value_of_fact,
            kind=held.kind,
            single=single,
            negated=held.negated,
        ),
        supersedes=held.id,
    )


def put_behind(view: View, held: Fact, corrected: Fact, writes: Writes) -> None:
    """See that a fact holds no more where what took its place does, and note by what it was corrected."""
    event = view.event
    said = [
        each.record_id
        for each in writes.supports
        if each.relation == Tie.EXTRACTED_FROM and each.source_id == event.id
    ]
    holds_now = next((each for each in said if layer_of(each) is Layer.FACTS and each != held.id), None)
    own = [each for each in writes.records if each.id == held.id]
    gone = any(each.id == held.id and each.version == held.version for each in writes.closings) and not own
    stands = own[-1] if own else held
    assert isinstance(stands, Fact), "a version of a fact is one"
    if not gone and (stands.valid_to is None or stands.valid_to > corrected.valid_from):
        begins = min(stands.valid_from, corrected.valid_from - 1)
        ended = replace(
            stands,
            valid_from=begins,
            valid_to=corrected.valid_from,
            to_offset=corrected.from_offset,
            superseded_by=holds_now,
        )
        put_version(event, stands, ended, writes, superseded_by=holds_now)
    writes.supports.append(tie_at(event, held.id, Tie.CORRECTED_BY, corrected.valid_from))


def object_of(tenant_id: str, value: EntityRef | LiteralValue) -> ObjectValue:
    """A value as the store keeps it."""
    if isinstance(value, EntityRef):
        key = normalise_name(value.name) or value.key
        return ObjectValue("entity", id=entity_id(tenant_id, key), name=value.name)
    return ObjectValue("literal", value=value.value, datatype=value.datatype, unit=value.unit)
