"""Asking a language model to word numbered lines, and recording what it says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lamina.errors import Invalid
from lamina.kernel.time import Clock
from lamina.models import wording_bounds
from lamina.models.cited_text import SCHEMA, CitedQuestion, cited_sentences
from lamina.models.ports import Generator
from lamina.session.spending import day_of
from lamina.store.ports.model_outputs import ModelOutput, Spending
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry

__all__ = ["CitedAsker"]

_CHARS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class CitedAsker:
    """Asks for the sentences of a question, and counts what that costs."""

    store: Store
    clock: Clock
    generator: Generator

    def ask(self, tenant_id: str, question: CitedQuestion) -> ModelOutput:
        """The model's answer, not recorded yet; its tokens are counted whatever it is worth. Raises what the model raises, and ``Invalid``
        (MODEL_UNREADABLE) where the answer is none."""
        now, name = self.clock.now(), self.generator.name
        answer = self.generator.complete(
            question.messages, tokens_max=wording_bounds.CITED_TOKENS_MAX, schema=SCHEMA
        )
        asked = sum(len(message.text) for message in question.messages)
        tokens = (
            answer.tokens_in or asked // _CHARS_A_TOKEN,
            answer.tokens_out or len(answer.text) // _CHARS_A_TOKEN,
        )
        self.store.model_outputs.spend(Spending(tenant_id, day_of(now), question.task, name, 1, *tokens))
        if answer.cut_off or cited_sentences(answer.text, question.lines) is None:
            raise Invalid("MODEL_UNREADABLE", "the language model's answer is not of the shape asked for")
        return ModelOutput(
            tenant_id=tenant_id,
            input_hash=question.input_hash,
            task=question.task,
            model=name,
            text=answer.text[: wording_bounds.CITED_ANSWER_CHARS_MAX],
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            recorded_at=now,
        )

    def recorded(self, inquiry: Inquiry, question: CitedQuestion, sources: Collection[str]) -> ModelOutput:
        """What was answered to a question once, else what the model answers now for an inquiry, with the events that it was shown; that
        is kept while these have their words. Raises as ``ask``."""
        tenant_id = inquiry.tenant_id
        known = self.store.model_outputs.find(tenant_id, question.input_hash)
        if known is not None:
            return known
        worded = self.worded(tenant_id, sources)
        return self.store.model_outputs.record(self.ask(tenant_id, question), sources, inquiry, worded)

    def worded(self, tenant_id: str, event_ids: Collection[str]) -> list[str]:
        """Those of some events that have their words: asked before a model is, since it takes its time."""
        events = self.store.log.get(tenant_id, event_ids)
        return [key for key, event in events.items() if event.redacted_by is None]
