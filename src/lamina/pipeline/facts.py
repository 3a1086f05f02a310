"""Facts: from the triples of an event to versions that stand beside, confirm or supersede earlier ones.

Values of one slot (``matters.py``) follow each other in valid time (``slots.py``, by the rules of ``timeline.py`` and ``sides.py``);
what happened and what is planned has none (``occasions.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.kernel.corrections import Correction, correction_of
from lamina.kernel.events import Event
from lamina.kernel.feedback import Feedback, feedback_of
from lamina.kernel.predicates import family_of
from lamina.kernel.records import (
    Entity,
    Fact,
    Layer,
    Loop,
    Mention,
    claim_key_of,
    value_slot,
)
from lamina.kernel.ties import Tie
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.beside import ends, is_of_matter, may_end
from lamina.pipeline.claims import PERSON, ToldClaim, claim_of, fact_of, key_of, object_of, slot_of_claim
from lamina.pipeline.corrected_facts import corrected_fact, fact_gone, fact_meant, put_behind, retract
from lamina.pipeline.extract.values import EntityRef, Extraction, LiteralValue, TakenBack
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.hearsay import author_of
from lamina.pipeline.matters import is_shared, slot_of, words_of
from lamina.pipeline.namesakes import introduces, is_another
from lamina.pipeline.occasions import holds_at, is_same, overlap, retold
from lamina.pipeline.passing import OccasionPlacer
from lamina.pipeline.slots import SlotPlacer, valid_order
from lamina.pipeline.speakers import given_to_speaker
from lamina.pipeline.verdicts import EXTRACTOR as FEEDBACK
from lamina.pipeline.verdicts import end_judged, ends_claim, judge_promise, triple_judged
from lamina.pipeline.versions import put_version, stated_by, support_of, supports_of
from lamina.pipeline.view import View
from lamina.pipeline.vocabularies.cardinality import end_denied_value, end_values_before, value_of_one
from lamina.pipeline.vocabularies.fitting import BoundTriple, taken_back_by_term
from lamina.store.ports.writes import Writes

__all__ = ["FactResolver"]

FACTS_PER_EVENT_MAX = 64
_SLOT_MAX = 256


class FactResolver:
    """Places an event's claims among the facts that its scope holds."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._slots = SlotPlacer(view)
        self._occasions = OccasionPlacer(view)
        self._namesakes: frozenset[str] = frozenset()

    def resolve(self, extraction: Extraction, extractor: str) -> Writes:
        """The entities, mentions, facts, closings and supports of the view's event."""
        writes = Writes()
        event = self._view.event
        if (correction := correction_of(event)) is not None:
            self._correct(correction, writes)
            return writes
        if (feedback := feedback_of(event)) is not None:
            if event.directives.wants("facts"):
                self._judge(feedback, writes)
            return writes
        if event.directives.wants("entities"):
            _note_mentions(event, extraction, writes)
        if not event.directives.wants("facts"):
            return writes
        told = given_to_speaker(self._view, extraction)
        claims = [claim_of(self._view, triple) for triple in told.triples[:FACTS_PER_EVENT_MAX]]
        self._namesakes = self._doubtful(claims)
        for ordinal, claim in enumerate(claims):
            if claim.confidence < event.directives.confidence_floor:
                continue
            if claim.handed_over and claim.triple.negated:
                continue  # it can only support
            _note_claim_entities(event, claim, writes)
            self._place(event, claim, ordinal, extractor, writes)
        for taken in told.taken_back:
            self._take_back(event, *taken_back_by_term(self._view.terms, taken), writes)
        return writes

    def _place(self, event: Event, claim: ToldClaim, ordinal: int, extractor: str, writes: Writes) -> None:
        fact = fact_of(self._view, claim, ordinal, extractor)
        if claim.triple.single_valued and claim.subject.id in self._namesakes:
            fact = replace(fact, slot=None)
        single, of_person = claim.triple.single_valued, claim.is_of_person
        slot, doubtful = slot_of_claim(claim), claim.subject.id in self._namesakes
        if slot is None and not doubtful:
            self._occasions.place(self._of_claim(fact, writes), fact, writes)
            return
        if claim.has_ended and slot is not None and not (fact.negated or doubtful):
            self._in_slot(replace(fact, slot=slot), slot, writes, single=single, of_person=of_person)
            return
        if fact.slot is None:
            self._stand_apart(event, fact, claim, writes)
            return
        if claim.term is not None and not single and self._is_held_as_one(event, fact, claim.term, writes):
            return
        self._in_slot(fact, fact.slot, writes, single=single, of_person=of_person)
        if claim.term is not None and single and not fact.negated:
            end_values_before(event, fact, self._of_term(fact, claim.term, writes), writes)

    def _stand_apart(self, event: Event, fact: Fact, claim: ToldClaim, writes: Writes) -> None:
        """Place what competes with nothing: of somebody who may be another of the name, or "I used to not eat meat"."""
        if claim.has_ended and self._end_told(event, fact, writes):
            return
        same = [each for each in self._held(writes, claim_key=fact.claim_key) if is_same(each, fact)]
        if claim.has_ended:  # it says of nothing that holds that it does
            same = [each for each in same if each.valid_to is not None]
        if same:
            self._confirm(event, same[-1], fact, writes)
        else:
            _add(event, fact, writes)

    def _of_claim(self, fact: Fact, writes: Writes) -> list[Fact]:
        """What is held of a claim without a slot, and of its denial."""
        keys = [replace(fact, negated=negated).claim_key for negated in (False, True)]
        found = [each for key in keys for each in self._held(writes, claim_key=key)]
        return [each for each in found if each.slot is None and not isinstance(each, Loop)]

    def _is_held_as_one(self, event: Event, fact: Fact, term: BoundTriple, writes: Writes) -> bool:
        """Whether a value of a term that has many by now is held from when it had one, and is said again."""
        held = value_of_one(fact, self._of_term(fact, term, writes))
        if held is None:
            return False
        if fact.negated:
            end_denied_value(event, fact, held, writes)
            return False
        if overlap(held, fact):
            self._confirm(event, held, fact, writes)
            return True
        return False

    def _of_term(self, fact: Fact, term: BoundTriple, writes: Writes) -> list[Fact]:
        """The facts of the subject by the term and by the free predicates that mean it."""
        found: dict[str, Fact] = {}
        for predicate in term.predicates:
            found |= {
                each.id: each for each in self._held(writes, subject=fact.subject.id, predicate=predicate)
            }
        return list(found.values())

    def _doubtful(self, claims: Sequence[ToldClaim]) -> frozenset[str]:
        """The people of whom the event says that they are something else to somebody than was known."""
        told = {claim.subject.id for claim in claims if claim.triple.single_valued}
        ties: dict[tuple[str, str], list[str]] = {}
        for claim in claims:
            if claim.object.id in told and introduces(claim.triple):
                ties.setdefault((claim.subject.id, claim.object.id), []).append(claim.triple.predicate)
        return frozenset(
            person for (owner, person), said in ties.items() if is_another(self._view, owner, person, said)
        )

    def _correct(self, correction: Correction, writes: Writes) -> None:
        """Put another value in the place of exactly one fact, or end it; nothing where it is gone by now."""
        event, meant = self._view.event, fact_meant(self._view, correction)
        held = meant or fact_gone(self._view, correction)
        if held is None:
            return
        if correction.action == "retract":
            retract(self._view, held, correction, writes)
            return
        fact = corrected_fact(self._view, held, correction)
        if fact.object.id is not None:
            _note(event, [(normalise_name(fact.object.text), fact.object.text, "thing")], writes)
        if fact.slot is None:
            _add(event, fact, writes)
        else:
            single = held.slot is not None and not is_shared(held)
            self._in_slot(fact, fact.slot, writes, single=single, of_person=True)
        if meant is not None:
            put_behind(self._view, meant, fact, writes)

    def _judge(self, feedback: Feedback, writes: Writes) -> None:
        """Take a verdict for the judge's word."""
        event = self._view.event
        if feedback.verdict == "irrelevant":
            return
        claim = claim_of(self._view, triple_judged(event, feedback))
        if isinstance(target := self._view.record(feedback.target_id), Loop):
            judge_promise(self._view, target, feedback, writes)
            return
        if ends_claim(feedback):
            negated = feedback.claim.negated
            judged = claim_key_of(
                claim.subject.id, feedback.claim.predicate, claim.object.key, negated=negated
            )
            held = [
                fact
                for fact in self._held(writes, claim_key=judged)
                if holds_at(fact, event.context.observed_at)
            ]
            if end_judged(self._view, held, feedback, writes):
                return
        _note_claim_entities(event, claim, writes)
        self._place(event, claim, 0, FEEDBACK, writes)

    def _in_slot(self, fact: Fact, slot: str, writes: Writes, *, single: bool, of_person: bool) -> None:
        values = value_slot(fact.subject.id, fact.predicate) if single else slot
        told = self._of_matter(fact, values, writes, single=single, of_person=of_person)
        self._slots.place([each for each in told if is_of_matter(each, values)], fact, writes)

    def _of_matter(
        self, fact: Fact, values: str, writes: Writes, *, single: bool, of_person: bool
    ) -> list[Fact]:
        """What is held of the slot of a fact and beside it, and what was told of its values as over."""
        if single:
            return self._held(writes, subject=fact.subject.id, predicate=fact.predicate)
        found = {each.id: each for each in self._held(writes, slot=values)}
        for predicate in family_of(fact.predicate):
            if of_person:
                said = self._held(writes, subject=fact.subject.id, predicate=predicate)
            else:
                key = claim_key_of(fact.subject.id, predicate, fact.object.key, negated=False)
                said = self._held(writes, claim_key=key)
            found |= {each.id: each for each in said}
        return list(found.values())

    def _take_back(self, event: Event, taken: TakenBack, single_valued: bool | None, writes: Writes) -> None:
        """End the value that holds when the event is observed; nothing takes its place. ``single_valued`` is what a vocabulary says."""
        at = event.context.observed_at
        subject_id = self._view.entity(key_of(taken.subject))
        slot = value_slot(subject_id, taken.predicate)
        known = PREDICATES.get(taken.predicate)
        author = author_of(self._view, event, subject_id) if taken.subject.type == PERSON else None
        if single_valued is None:
            single_valued = known is None or known.single_valued
        if taken.object is not None and not single_valued:
            value, kind = object_of(self._view, taken.object), "attribute" if known is None else known.kind
            slot = slot_of(subject_id, taken.predicate, value, kind=kind, single=False, negated=False) or slot
        for held in self._held(writes, slot=slot):
            meant = taken.object is None or words_of(held.object) == words_of(
                object_of(self._view, taken.object)
            )
            if meant and held.valid_from <= at and holds_at(held, at) and may_end(event, held, author):
                ended = replace(held, valid_to=max(at, held.valid_from + 1), to_offset=event.offset)
                put_version(event, held, ended, writes)
                writes.supports.append(
                    support_of(event, held.id, held)._replace(
                        relation=Tie.TAKEN_BACK_BY, polarity="against", weight=0.0, at=at
                    )
                )

    def _confirm(self, event: Event, held: Fact, fact: Fact, writes: Writes) -> None:
        """The same claim again: more support, and a time that says more."""
        writes.supports += stated_by(event, held.id, fact)
        if (told := retold(held, fact)) != held:
            put_version(event, held, told, writes)

    def _end_told(self, event: Event, past: Fact, writes: Writes) -> bool:
        """ "I used to not eat meat" ends the claim that is held; whether there was one."""
        assert past.valid_to is not None
        held = [
            fact
            for fact in self._held(writes, claim_key=past.claim_key)
            if fact.valid_to is None and fact.valid_from < past.valid_to and ends(past, fact)
        ]
        for fact in held:
            ended = replace(fact, valid_to=past.valid_to, to_offset=past.to_offset)
            put_version(event, fact, ended, writes)
            writes.supports += supports_of(event, fact.id, past)
        return bool(held)

    def _held(
        self,
        writes: Writes,
        *,
        slot: str | None = None,
        claim_key: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
    ) -> list[Fact]:
        """The current versions in valid order, as this event's own earlier claims have left them."""
        stored = self._view.query(
            Layer.FACTS, slot=slot, claim_key=claim_key, subject=subject, predicate=predicate, limit=_SLOT_MAX
        )
        facts = {fact.id: fact for fact in stored if isinstance(fact, Fact)}
        for record in writes.records:
            if isinstance(record, Fact) and (
                (slot is not None and record.slot == slot)
                or (claim_key is not None and record.claim_key == claim_key)
                or (subject is not None and (record.subject.id, record.predicate) == (subject, predicate))
            ):
                facts[record.id] = record
        return sorted(facts.values(), key=valid_order)


def _add(event: Event, fact: Fact, writes: Writes) -> None:
    writes.records.append(fact)
    writes.supports += supports_of(event, fact.id, fact)


def _note_mentions(event: Event, extraction: Extraction, writes: Writes) -> None:
    named = [(mention.key, mention.surface, mention.type) for mention in extraction.mentions]
    named.append(
        (normalise_name(event.observed_actor.display_name), event.observed_actor.display_name, "person")
    )
    _note(event, named, writes)


def _note_claim_entities(event: Event, claim: ToldClaim, writes: Writes) -> None:
    references: Sequence[EntityRef | LiteralValue] = (claim.triple.subject, claim.triple.object)
    _note(event, [(key_of(r), r.name, r.type) for r in references if isinstance(r, EntityRef)], writes)


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
