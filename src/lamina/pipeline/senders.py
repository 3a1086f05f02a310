"""What other scopes sent to one, by the names that this one knows (decision 0085).

Which entity a name stands for is decided in a scope, and what that decided shows in no other. A sender's facts are placed by the sender's
decisions, so where it, or the scope that believes, decided anything of the entities of a matter, what was sent is derived apart, from
the words, with names standing for what they do where it is believed. Where nobody did, which is nearly always, the sender's facts serve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from lamina.kernel.events import Event
from lamina.kernel.predicates import family_of
from lamina.kernel.records import Author, Fact, Layer, Record, Support, claim_key_of
from lamina.kernel.sameness import entities_of, standing_for
from lamina.kernel.scopes import Scope
from lamina.kernel.slots import slot_of_another
from lamina.kernel.ties import Tie
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.bearing import MATTER_MAX, BelievedMatter, facts_naming, facts_told, is_single_valued
from lamina.pipeline.isolation import IsolatedFacts
from lamina.pipeline.matters import words_of
from lamina.pipeline.namesakes import INTRODUCING
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.view import TIES, IsolatedView, View
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

__all__ = ["Senders", "SentFacts"]

_JOINED_MAX: Final = 64
"""So many entities are followed from one, through decisions that they are one or two."""
_APART_MAX: Final = 1_024


class SentFacts(NamedTuple):
    """Facts of senders in a view in which names stand for what they do where these are believed. ``held_as`` are the ids under which
    senders hold those that were derived apart, where these are others."""

    view: View
    facts: Mapping[str, Fact]
    held_as: Mapping[str, str]


class Senders:
    """Reads what was sent to the scope by which the names of a view stand."""

    def __init__(self, store: Store, readings: Readings) -> None:
        self._store = store
        self._apart = IsolatedFacts(store, readings)

    def facts_of(self, view: View, matter: BelievedMatter) -> list[SentFacts]:
        """The facts of a matter that other scopes hold and sent something of, and others by its predicates."""
        held = {sender: facts_told(view, matter, sender) for sender in view.senders(view.naming)}
        if not held:
            return []
        named = {
            sender: {matter.subject, matter.object_id, *_named_in(view, facts.values())}
            for sender, facts in held.items()
        }
        view.decided({each for ids in named.values() for each in ids if each is not None})  # one look for all
        plain: dict[str, Fact] = {}
        found: list[SentFacts] = []
        for sender, facts in held.items():
            if _is_decided(view, named[sender], sender):
                found += self._by_names(view, matter, sender)
            else:
                plain |= facts
        return [SentFacts(view, plain, {}), *found]

    def told_by(self, view: View, event: Event, facts: Sequence[Fact]) -> list[Fact]:
        """Those facts that an event told, took back or moved in its scope, as they are where the names of the view stand."""
        if event.scope == view.naming or not _is_decided(view, _named_in(view, facts), event.scope):
            return list(facts)
        matters = {(fact.subject.id, family_of(fact.predicate)) for fact in facts}
        said = {
            fact.id: fact
            for subject, family in sorted(matters)
            for fact in self._values_of(view, subject, family, event.scope)
        }
        said |= {fact.id: fact for fact in facts}
        apart, _ = self._derived(view, list(said.values()), event.scope, told_too=event.id)
        derived = _all_facts(apart, event.scope)
        supports = apart.supports_of([fact.id for fact in derived])
        return [
            fact
            for fact in derived
            if any(s.source_id == event.id and s.relation in TIES for s in supports.get(fact.id, ()))
        ]

    def renamed(self, view: View, entities: Sequence[str]) -> tuple[list[Fact], list[Fact]]:
        """What was sent of some entities, as names stand by the decision that the view's event is, and as they stood before it."""
        now: list[Fact] = []
        before: list[Fact] = []
        earlier = view.named_in(view.naming, decided_before=view.event.position)
        for sender in view.senders(view.naming):
            if facts := facts_naming(view, _joined(view, entities, sender), sender):
                now += _all_facts(self._derived(view, facts, sender)[0], sender)
                before += _all_facts(self._derived(earlier, facts, sender)[0], sender)
        return now, before

    def _by_names(self, view: View, matter: BelievedMatter, sender: Scope) -> list[SentFacts]:
        if matter.words is None:
            held = self._values_of(view, matter.subject, matter.predicates, sender)
        else:
            held = self._said_of_one(view, matter, sender)
        if not held:
            return []
        apart, supports = self._derived(view, held, sender)
        told = facts_told(apart, matter, sender)
        return [SentFacts(apart, told, _held_as(told, apart, held, supports))]

    def _values_of(self, view: View, subject: str, predicates: Iterable[str], sender: Scope) -> list[Fact]:
        """What a sender holds of those as whom a subject may stand there, by some predicates, and who these were introduced as."""
        found: list[Record] = []
        single = any(is_single_valued(each) for each in predicates)
        for person in _joined(view, [subject], sender):
            for each in predicates:
                found += view.query(
                    Layer.FACTS, scope=sender, subject=person, predicate=each, limit=MATTER_MAX
                )
            for each in INTRODUCING if single else ():
                found += view.query(
                    Layer.FACTS, scope=sender, object_key=person, predicate=each, limit=MATTER_MAX
                )
        return list({each.id: each for each in found if isinstance(each, Fact)}.values())

    def _said_of_one(self, view: View, matter: BelievedMatter, sender: Scope) -> list[Fact]:
        """What a sender holds of those as whom the subject and the thing of a matter may stand there."""
        things = [matter.object_key]
        if matter.object_id is not None:
            things = _joined(view, [matter.object_id], sender)
        found: list[Record] = []
        for subject in _joined(view, [matter.subject], sender):
            if matter.slot is not None:
                slot = slot_of_another(matter.slot, subject)
                found += view.query(Layer.FACTS, scope=sender, slot=slot, limit=MATTER_MAX)
            for predicate in matter.predicates:
                for thing in things:
                    for negated in (False, True):
                        key = claim_key_of(subject, predicate, thing, negated=negated)
                        found += view.query(Layer.FACTS, scope=sender, claim_key=key, limit=MATTER_MAX)
        return list({each.id: each for each in found if isinstance(each, Fact)}.values())

    def _derived(
        self, view: View, facts: Sequence[Fact], sender: Scope, *, told_too: str | None = None
    ) -> tuple[IsolatedView, Mapping[str, Sequence[Support]]]:
        """What the events behind some facts say, of those that were sent, and what the facts rest on; ``told_too`` counts though it
        was cancelled."""
        supports = view.supports_of([fact.id for fact in facts])
        tied = [each for found in supports.values() for each in found]
        sources = {each.source_id for each in tied}
        gone = view.cancelled(sources) - {told_too}
        bare = {
            key
            for key, event in view.events(sources - gone if self._has_frozen(view) else ()).items()
            if event.redacted_by is not None and _is_sent(event, sender, view.naming)
        }
        apart = self._apart.derived(
            view,
            tied,
            lambda derived: _all_facts(derived, sender),
            kept=_without_words(view, facts, supports, bare),
            counts=lambda event: _is_sent(event, sender, view.naming) and event.id not in gone | bare,
            told_too=[] if told_too is None else [told_too],
        )
        return apart, supports

    def _has_frozen(self, view: View) -> bool:
        return self._store.erasing.has_frozen(view.event.tenant_id)


def _is_sent(event: Event, sender: Scope, into: Scope) -> bool:
    return event.scope == sender and event.directives.consolidate_into == into


def _without_words(
    view: View, facts: Sequence[Fact], supports: Mapping[str, Sequence[Support]], bare: Collection[str]
) -> Writes:
    """What is kept of events whose words were erased: by the names of the facts, since no words say it again."""
    kept = Writes()
    for fact in facts if bare else ():
        rows = [each for each in supports.get(fact.id, ()) if each.source_id in bare]
        if any(each.relation == Tie.EXTRACTED_FROM for each in rows):
            kept.records.append(replace(_by_name(view, fact), recorded_to=None, closed_by=None))
            kept.supports += rows
    return kept


def _is_decided(view: View, entities: Iterable[str | None], sender: Scope) -> bool:
    """Whether a sender, or the scope by which the names of a view stand, decided anything of some entities."""
    decided = view.decided([each for each in entities if each is not None])
    return any(scope in (sender, view.naming) for found in decided.values() for scope, _ in found)


def _named_in(view: View, facts: Iterable[Fact]) -> set[str | None]:
    """The entities that facts name, and who says of another what they have one value of at a time: it counts whom they know."""
    found: set[str | None] = set()
    authors: set[Author] = set()
    for fact in facts:
        found |= {fact.subject.id, fact.object.id}
        if fact.said_by is not None and is_single_valued(fact.predicate):
            authors.add(fact.said_by)
    tenant_id = view.event.tenant_id
    return found | {entity_id(tenant_id, normalise_name(each.name or each.id)) for each in authors}


def _joined(view: View, entities: Iterable[str], sender: Scope) -> list[str]:
    """Entities with all that decisions of a sender, or of the scope by which the names of a view stand, join them to."""
    found = dict.fromkeys(entities)
    front = list(found)
    while front and len(found) < _JOINED_MAX:
        near = [
            each
            for decisions in view.decided(front).values()
            for scope, decision in decisions
            if scope in (sender, view.naming)
            for each in entities_of(decision)
        ]
        front = [each for each in dict.fromkeys(near) if each not in found]
        found |= dict.fromkeys(front)
    return list(found)[:_JOINED_MAX]


def _all_facts(view: View, scope: Scope) -> list[Fact]:
    found = view.query(Layer.FACTS, scope=scope, limit=_APART_MAX)
    return [each for each in found if isinstance(each, Fact)]


def _by_name(view: View, record: Fact) -> Fact:
    def named(known_as: str, name: str) -> str:
        key = normalise_name(name)
        if not key:
            return known_as
        return standing_for(entity_id(record.tenant_id, key), record.event_id, view.samenesses)

    subject = replace(record.subject, id=named(record.subject.id, record.subject.name))
    value = record.object
    if value.id is not None:
        value = replace(value, id=named(value.id, value.text))
    slot = None if record.slot is None else slot_of_another(record.slot, subject.id)
    return replace(record, subject=subject, object=value, slot=slot)


def _held_as(
    told: Mapping[str, Fact],
    apart: View,
    held: Sequence[Fact],
    supports: Mapping[str, Collection[Support]],
) -> dict[str, str]:
    """For each fact that was derived apart and that the sender does not hold: the one that it holds, and that most of the same says."""
    known = {fact.id for fact in held}
    said = {
        key: {each.source_id for each in found if each.relation == Tie.EXTRACTED_FROM}
        for key, found in {**supports, **apart.supports_of(told.keys() - known)}.items()
    }
    found: dict[str, str] = {}
    for fact in told.values():
        if fact.id in known:
            continue
        alike = [
            (len(shared), words_of(each.object) == words_of(fact.object), each.id)
            for each in held
            if (each.predicate, each.negated) == (fact.predicate, fact.negated)
            and (shared := said.get(each.id, set()) & said.get(fact.id, set()))
        ]
        if alike:
            found[fact.id] = max(alike)[-1]
    return found
