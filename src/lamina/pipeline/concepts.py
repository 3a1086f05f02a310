"""Concepts: what a scope understands of an entity, and of one side of it (seed 002, 7.5).

Made from facts, what is believed of them and the episodes in which they were told, in the facts' own sentences, so nothing is claimed that no
fact says. What a concept could have been made from and was not is counted with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from lamina.kernel.events import Event, Trust
from lamina.kernel.records import Concept, Edge, Fact, Layer, Stance, Subject, Support
from lamina.kernel.sameness import EntityMerge, EntitySplit, Sameness
from lamina.kernel.ties import Tie
from lamina.kernel.understanding import WHOLE, relation_of, topic_of, words_of_topic
from lamina.language.entities import entity_id, normalise_name
from lamina.language.quarantine import quarantine_of_words
from lamina.pipeline.beliefs import SUPPORTED_FROM
from lamina.pipeline.coalescence import Coalescence, identity_of_concept
from lamina.pipeline.concept_inputs import Consulted, EntityInputs, matter_of_scope
from lamina.pipeline.concept_words import question_of
from lamina.pipeline.versions import next_version
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["SYNTHESIZER", "ConceptSynthesizer"]

SYNTHESIZER: Final = "lamina-extractive/2"
FACTS_FROM: Final = 3
"""An entity of which fewer facts are known has no concept yet, unless the scope is called after it."""

_SENTENCES_MAX: Final = 6
_EDGES_MAX: Final = 12
_DEFAULT: Final = "default"
"""The vocabulary of the contract's own relations."""
_CONCEPTS_MAX: Final = 64


class ConceptSynthesizer:
    """Writes the next version of each concept that an event's facts touch."""

    def __init__(self, view: View, told_in: str | None = None) -> None:
        """``told_in`` is the episode of the view's event, which may not have landed."""
        self._view = view
        self._told_in = told_in
        self._matter = matter_of_scope(view.event.tenant_id, view.event.scope)

    def synthesize(self, facts: Sequence[Fact]) -> Writes:
        """New versions of the concepts of the entities that facts name, and of the topics touched of their subjects."""
        writes = Writes()
        directives = self._view.event.directives
        if not directives.wants("concepts") and directives.extract is not None:
            return writes
        for about in self._named_in(facts):
            topics = {topic_of(fact.kind) for fact in facts if fact.subject.id == about.id}
            self.renew(about, topics, writes)
        return writes

    def anew(self, facts: Sequence[Fact], topics: Sequence[str], *, force: bool) -> Writes:
        """New versions of the concepts of all entities that facts name where these say something else now, or ``force`` wants them anyway.

        ``topics`` are words of topics and names; without any, every concept is meant.
        """
        writes = Writes()
        for about in self._named_in(facts):
            inputs = EntityInputs(self._view, about, self._told_in)
            own = {topic_of(fact.kind) for fact in facts if fact.subject.id == about.id}
            for topic in (WHOLE, *sorted(own)):
                if not topics or any(
                    words_of_topic(each) <= words_of_topic(f"{topic} {about.name}") for each in topics
                ):
                    self._update(inputs, topic, writes, force=force)
        return writes

    def decided(self, decision: Sameness, facts: Sequence[Fact]) -> Writes:
        """The concepts of two entities that are one now, or of the two that one was, and of what facts relate to them."""
        writes, coalescence = Writes(), Coalescence(self._view)
        ends: dict[str, str] = {}
        other = decision.into if isinstance(decision, EntityMerge) else decision.new
        topics = self._topics(decision.entity, other)
        if isinstance(decision, EntityMerge):
            writes.add(coalescence.merged(decision.into, decision.entity, topics))
        else:
            writes.add(coalescence.ended(decision.entity, topics))
            ends = {each.topic: each.id for each in writes.records if isinstance(each, Concept)}
        after = ConceptSynthesizer(self._view.after(writes, self._view.event))
        for about in self._of_pair(decision, other, facts):
            is_one = about.id in (decision.entity, other)
            after.renew(about, topics if is_one else set(), writes, split_from=ends if is_one else {})
        return writes

    def _of_pair(self, decision: Sameness, other: str, facts: Sequence[Fact]) -> list[Subject]:
        """The entities that facts name, and both that a decision is about where anything is said of them."""
        named = {each.id: each for each in self._named_in(facts)}
        for entity in (decision.entity, other):
            if entity not in named or not self._is_own_name(named[entity]):
                of_it = self._view.query(Layer.FACTS, subject=entity, limit=_CONCEPTS_MAX)
                found = self._named_in([fact for fact in of_it if isinstance(fact, Fact)])
                named |= {each.id: each for each in found if each.id == entity}
        if isinstance(decision, EntitySplit) and decision.new in named:
            # An entry that lost its words is of a scope that forgot all, so that facts name the entity as others do.
            name = str(self._view.event.content.get("name", named[decision.new].name))
            named[decision.new] = Subject(decision.new, name)
        return list(named.values())

    def _named_in(self, facts: Sequence[Fact]) -> list[Subject]:
        """The entities that facts name, subjects before objects, each by the name that is its own where some fact has that."""
        ordered = sorted(facts, key=lambda fact: fact.id)
        named: dict[str, Subject] = {}
        for each in (
            *(fact.subject for fact in ordered),
            *(Subject(f.object.id, f.object.name or "") for f in ordered if f.object.id is not None),
        ):
            if each.id not in named or self._is_own_name(each):
                named[each.id] = each
        return list(named.values())

    def _is_own_name(self, subject: Subject) -> bool:
        return entity_id(self._view.event.tenant_id, normalise_name(subject.name)) == subject.id

    def _topics(self, *entities: str) -> set[str]:
        """The sides of which there are concepts of some entities."""
        found = [
            each
            for entity in entities
            for each in self._view.query(Layer.UNDERSTANDING, subject=entity, limit=_CONCEPTS_MAX)
        ]
        return {each.topic for each in found if isinstance(each, Concept)}

    def renew(
        self,
        about: Subject,
        topics: Collection[str],
        writes: Writes,
        *,
        split_from: Mapping[str, str] | None = None,
    ) -> None:
        """The concept of an entity, and those of some of its topics, as the scope's records have them now.

        ``split_from`` names, by topic, the concepts that the entity's were split from just now.
        """
        inputs = EntityInputs(self._view, about, self._told_in)
        for topic in (WHOLE, *sorted(set(topics) - {WHOLE})):
            self._update(inputs, topic, writes, split_from=(split_from or {}).get(topic))

    def _update(
        self,
        inputs: EntityInputs,
        topic: str,
        writes: Writes,
        *,
        split_from: str | None = None,
        force: bool = False,
    ) -> None:
        event, about = self._view.event, inputs.about
        facts = inputs.of_topic(topic)
        record_id, held, ended = identity_of_concept(self._view, about.id, topic)
        source = split_from or ended
        least = 1 if about.id == self._matter or split_from is not None else FACTS_FROM
        if held is None and len(facts) < least:
            return
        if held is not None and not self._is_own_name(about):
            about = replace(about, name=held.name.removesuffix(f": {topic}"))
        consulted = inputs.consulted(facts)
        if not consulted.facts:
            if held is not None and held.recorded_to is None:
                self._end(held, writes)
            return
        concept = self._version(record_id, about, topic, consulted)
        if held is not None and held.worded_from is not None:
            concept = _as_worded(held, concept, consulted.facts)
        if source is not None:
            concept = replace(concept, derived_from=(source,))
        if held is not None:
            concept = replace(concept, version=held.version + 1, derived_from=held.derived_from)
            if held.recorded_to is None:
                if _says(held) == _says(concept) and not force:
                    return
                writes.closings.append(Closing.of(held, event.recorded_at))
            concept = replace(concept, valid_from=min(concept.valid_from, held.valid_from))
        writes.records.append(concept)
        # What the version before rests on is there; all of it is said again where any of it may have been cancelled.
        known = held.inputs if held is not None and not (held.excluded or self._view.saw_excluded) else ()
        writes.supports += _supports(event, concept, consulted, set(known))

    def _version(self, record_id: str, about: Subject, topic: str, consulted: Consulted) -> Concept:
        event, facts = self._view.event, consulted.facts
        is_whole = topic == WHOLE
        part_of = Edge(identity_of_concept(self._view, about.id, WHOLE).id, "part_of", 1.0)
        return Concept(
            tenant_id=event.tenant_id,
            id=record_id,
            scope=event.scope,
            version=1,
            position=event.position,
            confidence=consulted.confidence,
            trust=Trust.least(each.trust for each in (*facts, *consulted.beliefs, *consulted.episodes)),
            valid_from=min(fact.valid_from for fact in facts),
            valid_to=None,
            recorded_from=event.recorded_at,
            name=about.name if is_whole else f"{about.name}: {topic}",
            topic=topic,
            summary=_summary(facts),
            stance=Stance.SUPPORTED if consulted.confidence >= SUPPORTED_FROM else Stance.UNCERTAIN,
            synthesizer=SYNTHESIZER,
            consulted=len(consulted.ids),
            available=consulted.available,
            edges=_edges(self._view, about, facts) if is_whole else (part_of,),
            about=about.id,
            inputs=consulted.ids,
            unread=consulted.unread,
        )

    def _end(self, held: Concept, writes: Writes) -> None:
        """Nothing is left to make it of: it ends, or where that was cancelled, stays as deprecated (seed 002, 7.5.1)."""
        event = self._view.event
        writes.closings.append(Closing.of(held, event.recorded_at))
        lost = self._lost(held)
        if not lost:
            return
        deprecated = replace(
            held,
            stance=Stance.DEPRECATED,
            summary="",
            sentences=(),
            worded_from=None,
            edges=(),
            consulted=0,
            available=0,
            inputs=(),
            unread=(),
            support_lost=lost,
        )
        writes.records.append(next_version(event, held, deprecated))

    def _lost(self, held: Concept) -> float:
        """The share of a version's inputs that ended without anything in their place: only a cancellation does that."""
        found = [self._view.record(each) for each in held.inputs]
        gone = [
            each for each in found if each is None or (each.recorded_to is not None and not each.closed_by)
        ]
        return round(len(gone) / len(found), 4) if found else 0.0


def _says(concept: Concept) -> tuple[object, ...]:
    return (
        concept.name,
        concept.summary,
        concept.edges,
        concept.inputs,
        concept.available,
        concept.confidence,
        concept.stance,
        concept.trust,
    )


def _as_worded(held: Concept, concept: Concept, facts: Sequence[Fact]) -> Concept:
    """A version in the words that a language model gave the one before, where it is made from what the model was shown."""
    question = question_of(concept.scope, concept.id, concept.name, facts)
    if question.input_hash != held.worded_from:
        return concept
    return replace(
        concept,
        summary=held.summary,
        sentences=held.sentences,
        synthesizer=held.synthesizer,
        worded_from=held.worded_from,
    )


def _summary(facts: Sequence[Fact]) -> str:
    told = islice((fact.text for fact in facts if not quarantine_of_words(fact.text)), _SENTENCES_MAX)
    return " ".join(dict.fromkeys(text.rstrip(".") + "." for text in told))


def _edges(view: View, about: Subject, facts: Sequence[Fact]) -> tuple[Edge, ...]:
    """To the concepts of the entities that facts relate it to, heavier the more facts do. A relation of the scope's vocabulary goes before
    that of the contract."""
    related: Counter[tuple[str, str, str]] = Counter()
    named = [fact for fact in facts if fact.object.id is not None and fact.object.id != fact.subject.id]
    terms = view.terms if named else None
    for fact in named:
        forth = fact.subject.id == about.id
        to = (fact.object.id if forth else fact.subject.id) or ""
        match = terms.of_relation(fact.predicate) if terms is not None and forth else None
        if match is None:
            related[to, relation_of(fact.predicate, back=not forth), _DEFAULT] += 1
        else:
            related[to, match.term.id, match.vocabulary] += 1
    total = sum(related.values())
    ordered = sorted(related.items(), key=lambda item: (-item[1], item[0]))[:_EDGES_MAX]
    return tuple(
        Edge(identity_of_concept(view, to, WHOLE).id, relation, round(count / total, 4), vocabulary)
        for (to, relation, vocabulary), count in ordered
    )


def _supports(event: Event, concept: Concept, consulted: Consulted, known: Collection[str]) -> list[Support]:
    return [
        Support(
            tenant_id=event.tenant_id,
            record_id=concept.id,
            source_id=each.id,
            relation=Tie.SYNTHESIZED_FROM,
            weight=each.confidence,
            recorded_at=event.recorded_at,
        )
        for each in (*consulted.facts, *consulted.beliefs, *consulted.episodes)
        if each.id not in known
    ]
