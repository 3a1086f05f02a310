"""What a language model is asked of the concepts and the beliefs that an event changed, behind it.

Only what still stands as the event left it is asked about: what a later event changed has a question of its own. An answer about
concepts takes effect at an entry of the log (``pipeline/concept_words.py``), one about a belief wherever somebody asks why it is held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from lamina import limits
from lamina.kernel.records import Belief, Concept, Layer, Record, layer_of
from lamina.kernel.time import Axes
from lamina.models import wording_bounds
from lamina.models.belief_words import question_about_belief
from lamina.models.cited_text import CitedQuestion
from lamina.pipeline.concept_words import TASK as CONCEPTS
from lamina.pipeline.concept_words import answers_text, input_hash_of, question_about_concept
from lamina.session.cited_asking import CitedAsker
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry

__all__ = ["RecordQuestions"]

_READ_MAX: Final = 4 * wording_bounds.WORDED_PER_EVENT_MAX


@dataclass(frozen=True, slots=True)
class RecordQuestions:
    """Has a model word what events changed in a store."""

    store: Store
    asker: CitedAsker

    def settle_concepts(self, inquiry: Inquiry) -> bool:
        """Have the concepts worded that the event of an inquiry changed. Whether the model was asked; raises what it raises."""
        questions: dict[str, CitedQuestion] = {}
        for concept in self._changed(inquiry, Layer.UNDERSTANDING):
            if isinstance(concept, Concept) and concept.worded_from is None:
                question = question_about_concept(concept, self._facts(inquiry.tenant_id, concept.inputs))
                if question is not None and len(questions) < wording_bounds.WORDED_PER_EVENT_MAX:
                    questions[concept.id] = question
        if not questions:
            self.store.inquiries.drop(inquiry)
            return False
        input_hash = input_hash_of(inquiry.scope, questions)
        sources = self._sources(inquiry.tenant_id, questions.values())
        worded = self.asker.worded(inquiry.tenant_id, sources)
        known = self.store.model_outputs.find(inquiry.tenant_id, input_hash)
        output = known or self._asked(inquiry, input_hash, questions)
        if not self.store.inquiries.answer(inquiry, output, sources, worded):
            self.store.inquiries.release([inquiry])
        return known is None

    def settle_beliefs(self, inquiry: Inquiry) -> bool:
        """Have it worded why the beliefs are held that the event of an inquiry changed. Whether the model was asked; raises what it raises."""
        asked = 0
        for belief in self._changed(inquiry, Layer.BELIEFS):
            if not isinstance(belief, Belief) or asked == wording_bounds.WORDED_PER_EVENT_MAX:
                continue
            question = question_about_belief(self.store, belief)
            if question is None or self.store.model_outputs.find(inquiry.tenant_id, question.input_hash):
                continue
            self.asker.recorded(inquiry, question, self._sources(inquiry.tenant_id, [question]))
            asked += 1
        self.store.inquiries.drop(inquiry)
        return asked > 0

    def _asked(
        self, inquiry: Inquiry, input_hash: str, questions: Mapping[str, CitedQuestion]
    ) -> ModelOutput:
        """The answers about several concepts, as one."""
        answers = {key: self.asker.ask(inquiry.tenant_id, each) for key, each in questions.items()}
        return replace(
            next(iter(answers.values())),
            input_hash=input_hash,
            task=CONCEPTS,
            text=answers_text(questions, {key: each.text for key, each in answers.items()}),
            tokens_in=sum(each.tokens_in for each in answers.values()),
            tokens_out=sum(each.tokens_out for each in answers.values()),
        )

    def _changed(self, inquiry: Inquiry, layer: Layer) -> list[Record]:
        """The records of a layer that an event changed and nothing changed since, in the order of their ids."""
        event = self.store.log.get(inquiry.tenant_id, [inquiry.event_id]).get(inquiry.event_id)
        if event is None:
            return []
        query = RecordQuery(
            tenant_id=inquiry.tenant_id,
            layer=layer,
            scopes=[inquiry.scope],
            axes=Axes(seen_at=event.recorded_at),
            limit=_READ_MAX,
        )
        then = [each for each in self.store.records.query(query) if each.recorded_from == event.recorded_at]
        now = self.store.records.get(inquiry.tenant_id, [each.id for each in then])
        return sorted((each for each in then if _is_same(each, now.get(each.id))), key=lambda each: each.id)

    def _facts(self, tenant_id: str, record_ids: Iterable[str]) -> dict[str, Record]:
        return dict(
            self.store.records.get(tenant_id, [each for each in record_ids if layer_of(each) is Layer.FACTS])
        )

    def _sources(self, tenant_id: str, questions: Collection[CitedQuestion]) -> list[str]:
        """The events whose words may be in lines: those that the facts rest on, and those before them, by whose words a fact may name somebody."""
        ids = {line.id for question in questions for line in question.lines}
        supports = self.store.records.supports_of(tenant_id, sorted(ids))
        rested = ids | {each.source_id for found in supports.values() for each in found}
        events = self.store.log.get(tenant_id, sorted(rested))
        before = {
            each.id
            for event in events.values()
            for each in self.store.log.previous(event, limits.READING_BEFORE)
        }
        return sorted({*events, *before})


def _is_same(then: Record, now: Record | None) -> bool:
    return now is not None and now.version == then.version and now.recorded_to is None
