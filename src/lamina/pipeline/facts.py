"""Facts: from the triples of an event to versions that stand beside, confirm or supersede earlier ones.

Values of one slot, that is of a single-valued predicate of one subject, follow each other in *valid* time. An event that arrives
late finds its place among them, so the order of arrival does not change what is held in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lamina.kernel.events import Event, Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Entity, Fact, Layer, Mention, ObjectValue, Subject, Support
from lamina.kernel.time import Instant, from_datetime, to_datetime
from lamina.language.entities import normalise_name
from lamina.pipeline.extract.restating import restate
from lamina.pipeline.extract.values import EntityRef, Extraction, LiteralValue, TakenBack, Triple
from lamina.pipeline.view import EXTRACTED_FROM, TAKEN_BACK_BY, View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["EXTERNAL_FACTOR", "FactResolver", "entity_id"]

EXTERNAL_FACTOR = 0.7
"""What a tool or a document says is nobody's word: its claims start with less confidence."""

FACTS_PER_EVENT_MAX = 64
_SLOT_MAX = 256


def entity_id(tenant_id: str, normalised_name: str) -> str:
    """The id of an entity: a function of tenant and name, so that scopes need not agree on an order."""
    return derived_id(Prefix.ENTITY, 0, tenant_id, normalised_name)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A triple with its values as the store keeps them."""

    subject: Subject
    object: ObjectValue
    triple: Triple
    observed_at: Instant
    valid_from: Instant
    valid_to: Instant | None
    confidence: float

    @property
    def has_ended(self) -> bool:
        """Whether it is told as over, with no word of when it began ("I used to live in Rome")."""
        return (
            self.valid_to is not None and self.triple.valid_from is None and self.valid_to <= self.observed_at
        )


class FactResolver:
    """Places an event's claims among the facts that its scope holds."""

    def __init__(self, view: View) -> None:
        self._view = view

    def resolve(self, extraction: Extraction, extractor: str) -> Writes:
        """The entities, mentions, facts, closings and supports of the view's event."""
        writes = Writes()
        event = self._view.event
        if event.directives.wants("entities"):
            _note_mentions(event, extraction, writes)
        if not event.directives.wants("facts"):
            return writes
        claims = [_claim(event, triple) for triple in extraction.triples[:FACTS_PER_EVENT_MAX]]
        for ordinal, claim in enumerate(claims):
            if claim.confidence < event.directives.confidence_floor:
                continue
            _note_claim_entities(event, claim, writes)
            self._place(event, claim, ordinal, extractor, writes)
        for taken in extraction.taken_back:
            self._take_back(event, taken, writes)
        return writes

    def _place(self, event: Event, claim: _Claim, ordinal: int, extractor: str, writes: Writes) -> None:
        fact = _fact(event, claim, ordinal, extractor)
        if fact.negated:
            fact = self._end_denied(event, fact, writes)
        if claim.has_ended and self._end_told(event, fact, writes):
            return
        if fact.slot is not None:
            self._place_in_slot(event, fact, writes)
            return
        same = self._held(writes, claim_key=fact.claim_key)
        still_true = [held for held in same if held.valid_to is None or held.valid_to > fact.valid_from]
        if still_true:
            self._confirm(event, still_true[-1], fact, writes)
        else:
            _add(event, fact, writes)

    def _place_in_slot(self, event: Event, fact: Fact, writes: Writes) -> None:
        chain = self._held(writes, slot=fact.slot)
        holder = next((held for held in reversed(chain) if held.valid_from <= fact.valid_from), None)
        follower = next((held for held in chain if held.valid_from > fact.valid_from), None)
        if holder is not None and holder.object.key == fact.object.key and _holds_at(holder, fact.valid_from):
            self._confirm(event, holder, fact, writes)
            return
        if follower is not None and follower.object.key == fact.object.key:
            # The value was known already, only later: it holds from this event on.
            _revise(event, follower, writes, valid_from=fact.valid_from)
            writes.supports.append(_support(event, follower.id, fact))
            if holder is not None:
                _revise(event, holder, writes, valid_to=fact.valid_from, superseded_by=follower.id)
            return
        if holder is not None:
            follower = self._resume(event, holder, fact, writes) or follower
        _add(
            event,
            replace(
                fact,
                valid_to=_earlier(fact.valid_to, follower.valid_from if follower else None),
                supersedes=holder.id if holder else None,
                superseded_by=follower.id if follower else None,
            ),
            writes,
        )
        if holder is not None:
            ends_at = _earlier(holder.valid_to, fact.valid_from)
            _revise(event, holder, writes, valid_to=ends_at, superseded_by=fact.id)

    def _take_back(self, event: Event, taken: TakenBack, writes: Writes) -> None:
        """End the value that holds when the event is observed; nothing takes its place."""
        at = event.context.observed_at
        slot = f"{entity_id(event.tenant_id, _key_of(taken.subject))}|{taken.predicate}"
        for held in self._held(writes, slot=slot):
            if held.valid_from <= at and _holds_at(held, at):
                _revise(event, held, writes, valid_to=max(at, held.valid_from + 1))
                writes.supports.append(
                    _support(event, held.id, held)._replace(
                        relation=TAKEN_BACK_BY, polarity="against", weight=0.0, ordinal=at
                    )
                )

    def _resume(self, event: Event, holder: Fact, fact: Fact, writes: Writes) -> Fact | None:
        """The holder's value after ``fact`` interrupts it, where the holder was stated again later on.

        Without it, "Berlin in January, Hamburg in June, Berlin in October" would end in Hamburg or in Berlin depending on
        which of the three arrived last.
        """
        stated = [*self._view.standing_supports([holder.id]).get(holder.id, []), *writes.supports]
        later = [
            support
            for support in stated
            if support.record_id == holder.id
            and support.ordinal > fact.valid_from
            and _holds_at(holder, support.ordinal)
        ]
        if not later:
            return None
        resumed = replace(
            holder,
            id=derived_id(Prefix.FACT, event.recorded_at, event.id, holder.id, "resumed"),
            version=1,
            position=event.position,
            recorded_from=event.recorded_at,
            valid_from=min(support.ordinal for support in later),
            event_id=min(later, key=lambda support: (support.ordinal, support.source_id)).source_id,
            supersedes=fact.id,
        )
        writes.records.append(resumed)
        writes.supports += [
            support._replace(record_id=resumed.id, recorded_at=event.recorded_at) for support in later
        ]
        return resumed

    def _confirm(self, event: Event, held: Fact, fact: Fact, writes: Writes) -> None:
        """The same claim again: more support, and an earlier beginning where the event reaches further back."""
        writes.supports.append(_support(event, held.id, fact))
        if fact.valid_from < held.valid_from:
            _revise(event, held, writes, valid_from=fact.valid_from)

    def _end_denied(self, event: Event, denial: Fact, writes: Writes) -> Fact:
        """ "I no longer live in Porto" ends what said that she does, and supersedes it."""
        affirmed = replace(denial, negated=False).claim_key
        for held in self._held(writes, claim_key=affirmed):
            if held.valid_to is None and held.valid_from < denial.valid_from:
                _revise(event, held, writes, valid_to=denial.valid_from, superseded_by=denial.id)
                denial = replace(denial, supersedes=held.id)
        return denial

    def _end_told(self, event: Event, past: Fact, writes: Writes) -> bool:
        """ "I used to live in Porto" ends the claim that is held; whether there was one."""
        assert past.valid_to is not None
        held = [
            fact
            for fact in self._held(writes, claim_key=past.claim_key)
            if fact.valid_to is None and fact.valid_from < past.valid_to
        ]
        for fact in held:
            _revise(event, fact, writes, valid_to=past.valid_to)
            writes.supports.append(_support(event, fact.id, past))
        return bool(held)

    def _held(self, writes: Writes, *, slot: str | None = None, claim_key: str | None = None) -> list[Fact]:
        """The current versions in valid order, as this event's own earlier claims have left them."""
        stored = self._view.query(Layer.FACTS, slot=slot, claim_key=claim_key, limit=_SLOT_MAX)
        facts = {fact.id: fact for fact in stored if isinstance(fact, Fact)}
        for record in writes.records:
            if isinstance(record, Fact) and (
                (slot is not None and record.slot == slot)
                or (claim_key is not None and record.claim_key == claim_key)
            ):
                facts[record.id] = record
        return sorted(facts.values(), key=lambda fact: (fact.valid_from, fact.position, fact.id))


def _holds_at(fact: Fact, moment: Instant) -> bool:
    return fact.valid_to is None or moment < fact.valid_to


def _claim(event: Event, triple: Triple) -> _Claim:
    subject_name = triple.subject.name
    subject = Subject(entity_id(event.tenant_id, _key_of(triple.subject)), subject_name)
    observed_at = event.context.observed_at
    valid_from = from_datetime(triple.valid_from) if triple.valid_from else observed_at
    valid_to = from_datetime(triple.valid_to) if triple.valid_to else None
    if valid_to is not None and valid_to <= valid_from:
        # Of what is over and has no beginning only its last instant is certain; anything else is a slip of the words.
        over = triple.valid_from is None
        valid_from, valid_to = (valid_to - 1, valid_to) if over else (valid_from, None)
    factor = EXTERNAL_FACTOR if event.origin.trust is Trust.EXTERNAL else 1.0
    confidence = round(triple.confidence * factor, 4)
    return _Claim(
        subject, _object(event, triple.object), triple, observed_at, valid_from, valid_to, confidence
    )


def _key_of(reference: EntityRef) -> str:
    return normalise_name(reference.name) or reference.key


def _object(event: Event, value: EntityRef | LiteralValue) -> ObjectValue:
    if isinstance(value, EntityRef):
        return ObjectValue("entity", id=entity_id(event.tenant_id, _key_of(value)), name=value.name)
    return ObjectValue("literal", value=value.value, datatype=value.datatype, unit=value.unit)


def _fact(event: Event, claim: _Claim, ordinal: int, extractor: str) -> Fact:
    triple = claim.triple
    # What is over must not end what holds now, so it takes no place among the values of its slot.
    single = triple.single_valued and not triple.negated and not claim.has_ended
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
        text=restate(triple, seen_at=to_datetime(event.context.observed_at)),
        external=event.origin.trust is Trust.EXTERNAL,
        extractor=extractor,
        slot=f"{claim.subject.id}|{triple.predicate}" if single else None,
    )


def _add(event: Event, fact: Fact, writes: Writes) -> None:
    writes.records.append(fact)
    writes.supports.append(_support(event, fact.id, fact))


def _revise(
    event: Event,
    held: Fact,
    writes: Writes,
    *,
    valid_from: Instant | None = None,
    valid_to: Instant | None = None,
    superseded_by: str | None = None,
) -> None:
    """Put a new version of a fact in the place of the one held; one event makes one version of it at most."""
    changed = replace(
        held,
        valid_from=held.valid_from if valid_from is None else valid_from,
        valid_to=held.valid_to if valid_to is None else valid_to,
        superseded_by=superseded_by or held.superseded_by,
    )
    if held.recorded_from == event.recorded_at and held in writes.records:
        writes.records[writes.records.index(held)] = changed
        return
    writes.closings.append(Closing(held.tenant_id, held.id, held.version, event.recorded_at, superseded_by))
    writes.records.append(
        replace(
            changed,
            version=held.version + 1,
            position=event.position,
            recorded_from=event.recorded_at,
            recorded_to=None,
        )
    )


def _support(event: Event, record_id: str, stated: Fact) -> Support:
    """The event's statement of a fact; its ordinal is from when on, by this statement, the claim holds."""
    return Support(
        tenant_id=event.tenant_id,
        record_id=record_id,
        source_id=event.id,
        relation=EXTRACTED_FROM,
        weight=stated.confidence,
        ordinal=stated.valid_from,
        role=event.observed_actor.id,
        recorded_at=event.recorded_at,
    )


def _earlier(one: Instant | None, other: Instant | None) -> Instant | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def _note_mentions(event: Event, extraction: Extraction, writes: Writes) -> None:
    named = [(mention.key, mention.surface, mention.type) for mention in extraction.mentions]
    named.append(
        (normalise_name(event.observed_actor.display_name), event.observed_actor.display_name, "person")
    )
    _note(event, named, writes)


def _note_claim_entities(event: Event, claim: _Claim, writes: Writes) -> None:
    references: Sequence[EntityRef | LiteralValue] = (claim.triple.subject, claim.triple.object)
    _note(event, [(_key_of(r), r.name, r.type) for r in references if isinstance(r, EntityRef)], writes)


def _note(event: Event, named: Sequence[tuple[str, str, str]], writes: Writes) -> None:
    for key, surface, kind in named:
        if not key:
            continue
        entity = Entity(
            tenant_id=event.tenant_id, id=entity_id(event.tenant_id, key), normalised_name=key, type=kind
        )
        if all(known.id != entity.id for known in writes.entities):
            writes.entities.append(entity)
        mention = Mention(
            tenant_id=event.tenant_id,
            entity_id=entity.id,
            scope=event.scope,
            event_id=event.id,
            position=event.position,
            surface=surface,
        )
        if mention not in writes.mentions:
            writes.mentions.append(mention)
