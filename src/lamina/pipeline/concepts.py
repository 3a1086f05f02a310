"""Concepts: what a scope understands of an entity, and of one side of it (seed 002, 7.5).

Made from facts alone and in their own sentences, so nothing is claimed that no fact says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Concept, Edge, Fact, Layer, Loop, Stance, Subject, Support
from lamina.language.quarantine import quarantine_of_words
from lamina.pipeline.beside import is_beside
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["SYNTHESIZER", "ConceptSynthesizer", "concept_id"]

SYNTHESIZER: Final = "lamina-extractive/1"
FACTS_FROM: Final = 3
"""An entity of which fewer facts are known has no concept yet."""

FACTS_CONSULTED_MAX: Final = 64
_SENTENCES_MAX: Final = 6
_EDGES_MAX: Final = 12

_TOPICS = {
    "identity": "identity",
    "attribute": "identity",
    "role": "work",
    "place": "places",
    "possession": "possessions",
    "relation": "people",
    "preference": "preferences",
    "plan": "plans",
    "commitment": "plans",
    "event": "events",
    "quantity": "numbers",
    "state_change": "numbers",
}
_DEFAULT: Final = "default"
"""The vocabulary of the contract's own relations."""
_RELATIONS = {"is_a": "is_a", "part_of": "part_of", "works_at": "part_of", "member_of": "part_of"}


def concept_id(event: Event, subject: Subject, topic: str) -> str:
    """The id of a concept, stable across its versions: from scope, entity and topic."""
    return derived_id(Prefix.CONCEPT, 0, event.tenant_id, event.scope, subject.id, topic)


class ConceptSynthesizer:
    """Writes the next version of each concept that an event's facts touch."""

    def __init__(self, view: View) -> None:
        self._view = view

    def synthesize(self, facts: Sequence[Fact]) -> Writes:
        """New versions of the entity's concept and of the concept of each topic touched."""
        writes = Writes()
        event = self._view.event
        if not event.directives.wants("concepts") and event.directives.extract is not None:
            return writes
        subjects = {fact.subject.id: fact.subject for fact in sorted(facts, key=lambda fact: fact.id)}
        for subject in subjects.values():
            known = self._facts(subject)
            topics = {_TOPICS.get(f.kind, "other") for f in facts if f.subject.id == subject.id}
            self._update(event, subject, "", known, writes)
            for topic in sorted(topics):
                of_topic = [fact for fact in known if _TOPICS.get(fact.kind, "other") == topic]
                self._update(event, subject, topic, of_topic, writes)
        return writes

    def _facts(self, subject: Subject) -> list[Fact]:
        found = self._view.query(Layer.FACTS, subject=subject.id, limit=FACTS_CONSULTED_MAX * 4)
        return [record for record in found if isinstance(record, Fact) and not isinstance(record, Loop)]

    def _update(
        self, event: Event, subject: Subject, topic: str, facts: Sequence[Fact], writes: Writes
    ) -> None:
        current = [
            fact
            for fact in facts
            if fact.superseded_by is None
            and not (fact.negated or fact.external or is_beside(fact))
            and not _is_over(event, fact)
        ]
        if any(fact.said_by is None for fact in current):
            # What others say of somebody is no part of what is understood of them by their own word.
            current = [fact for fact in current if fact.said_by is None]
        record_id = concept_id(event, subject, topic)
        held = self._view.record(record_id)
        if not current or (held is None and len(current) < FACTS_FROM):
            if isinstance(held, Concept) and held.recorded_to is None:
                writes.closings.append(Closing(held.tenant_id, held.id, held.version, event.recorded_at))
            return
        consulted = sorted(current, key=lambda f: (-f.confidence, -f.valid_from, f.id))[:FACTS_CONSULTED_MAX]
        version = held.version + 1 if isinstance(held, Concept) else 1
        concept = Concept(
            tenant_id=event.tenant_id,
            id=record_id,
            scope=event.scope,
            version=version,
            position=event.position,
            confidence=round(sum(fact.confidence for fact in consulted) / len(consulted), 4),
            valid_from=min(fact.valid_from for fact in consulted),
            valid_to=None,
            recorded_from=event.recorded_at,
            name=f"{subject.name}: {topic}" if topic else subject.name,
            topic=topic or "entity",
            summary=_summary(consulted),
            stance=Stance.SUPPORTED,
            synthesizer=SYNTHESIZER,
            consulted=len(consulted),
            available=len(current),
            edges=_edges(self._view, subject, consulted) if not topic else (_part_of(event, subject),),
        )
        if isinstance(held, Concept):
            if (held.summary, held.edges, held.consulted) == (
                concept.summary,
                concept.edges,
                concept.consulted,
            ):
                return
            writes.closings.append(Closing(held.tenant_id, held.id, held.version, event.recorded_at))
            concept = replace(concept, valid_from=min(concept.valid_from, held.valid_from))
        writes.records.append(concept)
        writes.supports += [_support(event, concept, fact) for fact in consulted]


def _is_over(event: Event, fact: Fact) -> bool:
    """Whether a state, a plan or a promise has passed; what happened stays worth telling."""
    passing = fact.kind != "event"
    return passing and fact.valid_to is not None and fact.valid_to <= event.context.observed_at


def _summary(facts: Sequence[Fact]) -> str:
    told = islice((fact.text for fact in facts if not quarantine_of_words(fact.text)), _SENTENCES_MAX)
    return " ".join(dict.fromkeys(text.rstrip(".") + "." for text in told))


def _edges(view: View, subject: Subject, facts: Sequence[Fact]) -> tuple[Edge, ...]:
    """To the concepts of the entities that facts relate it to, heavier the more facts do. A relation of the scope's vocabulary goes before
    that of the contract."""
    related: Counter[tuple[str, str, str]] = Counter()
    named = [fact for fact in facts if fact.object.id is not None and fact.object.id != subject.id]
    terms = view.terms if named else None
    for fact in named:
        to = concept_id(view.event, Subject(fact.object.id or "", fact.object.name or ""), "")
        match = None if terms is None else terms.of_relation(fact.predicate)
        if match is None:
            related[to, _RELATIONS.get(fact.predicate, "related_to"), _DEFAULT] += 1
        else:
            related[to, match.term.id, match.vocabulary] += 1
    total = sum(related.values())
    ordered = sorted(related.items(), key=lambda item: (-item[1], item[0]))[:_EDGES_MAX]
    return tuple(
        Edge(to, relation, round(count / total, 4), vocabulary)
        for (to, relation, vocabulary), count in ordered
    )


def _part_of(event: Event, subject: Subject) -> Edge:
    return Edge(concept_id(event, subject, ""), "part_of", 1.0)


def _support(event: Event, concept: Concept, fact: Fact) -> Support:
    return Support(
        tenant_id=event.tenant_id,
        record_id=concept.id,
        source_id=fact.id,
        relation="synthesized_from",
        weight=fact.confidence,
        recorded_at=event.recorded_at,
    )
