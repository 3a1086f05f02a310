"""What a language model is asked of a turn that it reads, and what that may cost.

A question shows what came before the turn and what is open by now. The first one by another model, in other words or for another shape is
preceded by an entry of the log, at which that version of the task begins.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.defining import definition_by
from lamina.kernel.events import Event
from lamina.kernel.records import Loop
from lamina.kernel.time import FOREVER, Clock
from lamina.models.ports import Generated, Generator
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.readings.answer import READER, is_usable
from lamina.pipeline.readings.question import TASK, ShownBeside, TurnQuestion, question_about, version_of
from lamina.pipeline.readings.quoting import plain
from lamina.pipeline.readings.shape import SCHEMA
from lamina.pipeline.readings.shared import SHARED_SCHEMA, answers_to, hash_for, shared_question
from lamina.session.loops import open_loops
from lamina.session.spending import day_of
from lamina.session.tier_one import SessionStates
from lamina.store.ports.log import EventQuery
from lamina.store.ports.model_outputs import ModelOutput, Spending
from lamina.store.ports.sessions import SessionKey
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry
from lamina.store.vocabularies import active_terms

__all__ = ["SharedTurns", "TurnQuestions", "tokens_of"]

_BEGINS: Final[tuple[Literal["reader"], str]] = ("reader", TASK)
_ACTOR: Final = "system:worker"
_CHARS_A_TOKEN: Final = 4


class SharedTurns(NamedTuple):
    """A question about several turns."""

    question: TurnQuestion
    turns: tuple[Event, ...]


class TurnQuestions:
    """Asks a model about the turns of a store."""

    def __init__(self, store: Store, clock: Clock, generator: Generator) -> None:
        self._store = store
        self._clock = clock
        self._generator = generator
        self._states = SessionStates(store)
        self._begun: set[str] = set()
        self._lock = threading.Lock()

    def question(self, inquiry: Inquiry) -> TurnQuestion | None:
        """What to ask, with what is open by now; None when the turn is gone or was cancelled."""
        turn = self._store.log.get(inquiry.tenant_id, [inquiry.event_id]).get(inquiry.event_id)
        if turn is None or turn.excluded:
            return None
        return question_about(turn, self._shown(turn), self._generator.name)

    def shared(self, inquiries: Sequence[Inquiry]) -> SharedTurns | None:
        """What to ask of several turns together; None where they do not follow each other in one session, or one of them is gone."""
        ids = [inquiry.event_id for inquiry in inquiries]
        found = self._store.log.get(inquiries[0].tenant_id, ids)
        turns = [found[each] for each in ids if each in found and not found[each].excluded]
        if len(turns) < len(ids) or len({turn.session for turn in turns}) > 1 or turns[0].session is None:
            return None
        last = turns[-1]
        earlier = self._store.log.previous(last, limits.READING_SHARED_SPAN_MAX)
        conversation = [*(each for each in earlier if each.position >= turns[0].position), last]
        if conversation[0].id != turns[0].id:
            return None
        question = shared_question(turns, conversation, self._shown(turns[0]), self._generator.name)
        return SharedTurns(question, tuple(turns))

    def answers(self, shared: SharedTurns) -> Mapping[str, ModelOutput] | None:
        """Ask about several turns; the answer to each, by its event. None where the model told nothing by turns. Raises as ``answer``."""
        question, turns = shared
        tenant_id = turns[0].tenant_id
        answer = self._asked(tenant_id, question, SHARED_SCHEMA, len(turns) * limits.READING_TOKENS_MAX)
        texts = None if answer.cut_off else answers_to(answer.text, turns)
        if texts is None:
            return None
        tokens_in, tokens_out = _tokens(question, answer)
        return {
            turn.id: self._output(
                turn.tenant_id,
                hash_for(question, turn),
                question.version,
                Generated(texts[turn.id], tokens_in // len(turns), tokens_out // len(turns)),
            )
            for turn in turns
            if turn.id in texts
        }

    def answer(self, inquiry: Inquiry, question: TurnQuestion) -> ModelOutput:
        """Ask. Raises what the model raises, and ``Invalid`` (MODEL_UNREADABLE) where its answer is none."""
        answer = self._asked(inquiry.tenant_id, question, SCHEMA, limits.READING_TOKENS_MAX)
        if answer.cut_off or not is_usable(answer.text):
            raise Invalid("MODEL_UNREADABLE", "the language model's answer is not of the shape asked for")
        tokens_in, tokens_out = _tokens(question, answer)
        counted = Generated(answer.text, tokens_in, tokens_out)
        return self._output(inquiry.tenant_id, question.input_hash, question.version, counted)

    def _asked(
        self, tenant_id: str, question: TurnQuestion, schema: Mapping[str, Any], tokens_max: int
    ) -> Generated:
        """What the model said, whose tokens are counted whatever it is worth."""
        self._begin(tenant_id)
        answer = self._generator.complete(question.messages, tokens_max=tokens_max, schema=schema)
        tokens = _tokens(question, answer)
        day = day_of(self._clock.now())
        self._store.model_outputs.spend(Spending(tenant_id, day, TASK, self._generator.name, 1, *tokens))
        return answer

    def _output(self, tenant_id: str, input_hash: str, version: str, answer: Generated) -> ModelOutput:
        return ModelOutput(
            tenant_id=tenant_id,
            input_hash=input_hash,
            task=version,
            model=self._generator.name,
            text=plain(answer.text)[: limits.READING_ANSWER_CHARS_MAX],
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            recorded_at=self._clock.now(),
        )

    def _shown(self, turn: Event) -> ShownBeside:
        """What a turn is shown with, as it is now."""
        held = open_loops(self._store.records, turn.tenant_id, turn.scope)
        summary, summed_up = self._summary(turn)
        return ShownBeside(
            before=self._store.log.previous(turn, limits.READING_BEFORE),
            summary=summary,
            summed_up=summed_up,
            open=held,
            resting_on=self._resting_on(turn.tenant_id, held),
            predicates=self._predicates(turn),
        )

    def _begin(self, tenant_id: str) -> None:
        """Put down where this version of the task begins, unless it has."""
        with self._lock:
            if tenant_id in self._begun:
                return
            version = version_of(self._generator.name)
            kind, name = _BEGINS
            held = self._store.definitions.named(tenant_id, kind, [name]).get(name)
            if held is None or held.body.get("version") != version:
                said = {"kind": kind, "version": version, "reader": READER}
                entry = definition_by(tenant_id, _ACTOR, said, self._clock.now())
                self._store.definitions.define(entry, _BEGINS, lambda standing: None)  # noqa: ARG005 - the port's shape
            self._begun.add(tenant_id)

    def _summary(self, turn: Event) -> tuple[str, Sequence[str]]:
        """What is told of the turns of the sitting that left its window, and which these are; nothing where they are too many to be
        named as what an answer was made from."""
        if turn.session is None:
            return "", ()
        sitting = self._store.sessions.sitting(SessionKey(turn.tenant_id, turn.scope, turn.session))
        summary = "" if sitting is None else self._states.told(sitting)[1]
        if sitting is None or not summary:
            return "", ()
        told = EventQuery(
            tenant_id=turn.tenant_id,
            scopes=[turn.scope],
            session=turn.session,
            with_excluded=True,
            limit=limits.READING_SUMMARY_TURNS_MAX + 1,
        )
        events = self._store.log.query(told)
        return (summary, [each.id for each in events]) if len(events) < told.limit else ("", ())

    def _resting_on(self, tenant_id: str, held: Sequence[Loop]) -> dict[str, list[str]]:
        """The events whose words may be in loops: those that each rests on, and those that a model was shown with these."""
        supports = self._store.records.supports_of(tenant_id, [loop.id for loop in held])
        found: dict[str, list[str]] = {}
        for loop in held:
            found[loop.id] = [each.source_id for each in supports.get(loop.id, ())]
            if loop.extractor.startswith("lamina-rules/") or loop.extractor.startswith("lamina-loops/"):
                continue
            opened = self._store.log.get(tenant_id, [loop.event_id]).get(loop.event_id)
            if opened is not None:
                found[loop.id] += [
                    each.id for each in self._store.log.previous(opened, limits.READING_BEFORE)
                ]
        return found

    def _predicates(self, turn: Event) -> list[str]:
        """The predicates of the scope's vocabulary, else those that rules know."""
        terms = active_terms(self._store.definitions, turn.tenant_id, turn.scope, seen_at=FOREVER)
        return terms.predicates or [
            name for name, each in PREDICATES.items() if each.kind not in ("event", "plan", "commitment")
        ]


def tokens_of(question: TurnQuestion) -> int:
    """How many tokens a question has, by the length of its words."""
    return sum(len(message.text) for message in question.messages) // _CHARS_A_TOKEN


def _tokens(question: TurnQuestion, answer: Generated) -> tuple[int, int]:
    """What was spent, by the model's own count or, where it has none, by the length of the words."""
    return answer.tokens_in or tokens_of(question), answer.tokens_out or len(answer.text) // _CHARS_A_TOKEN
