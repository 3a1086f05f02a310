"""Asking a language model what a turn leaves open, behind the turn: nobody waits for it, and nothing depends on it.

A model that is down or answers what is none costs the turn attempts, as in the outbox; after the fifth it stays as the rules
read it, and the inquiry visible as failed. One that turns everything away costs nobody an attempt: inquiries wait until an
operator has acted, and health says so. An answer is recorded before anything is made of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from lamina import limits
from lamina.errors import LaminaError, Unavailable
from lamina.kernel.records import Loop
from lamina.kernel.time import SECOND_US, Clock
from lamina.models.ports import Generator
from lamina.observe.rounds import Failures, class_of, frames_of, keep_at
from lamina.pipeline.loops.answer import is_usable
from lamina.pipeline.loops.applying import EXTRACTOR
from lamina.pipeline.loops.question import BEFORE_READ, TASK, Question, plain, question_about
from lamina.session.folders import MODEL_PART, turns_all_away
from lamina.session.loops import open_loops
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry
from lamina.store.rules.attempts import OUTBOX

__all__ = ["Inquirer"]

_LOG = logging.getLogger("lamina.session")
_IDLE_S: Final = 0.2


class Inquirer:
    """Puts the open inquiries of a store to a model, and records what it answers."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        generator: Generator,
        *,
        failures: Failures | None = None,
        sleep: Callable[[float], None] = time.sleep,
        owner: str = "inquirer",
    ) -> None:
        """``owner`` names this process among those that may work on the store."""
        self._owner = owner
        self._failures = failures or Failures()
        self._store = store
        self._clock = clock
        self._generator = generator
        self._sleep = sleep
        self._asks_at = 0

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop. A round that fails is logged, and comes again."""
        keep_at(
            "asking the model",
            lambda: self.step() > 0,
            stopping,
            idle_s=_IDLE_S,
            failures=self._failures,
            sleep=self._sleep,
        )

    def step(self) -> int:
        """The next inquiry that is due; how many there were. None while the model turns everything away."""
        now = self._clock.now()
        if now < self._asks_at:
            return 0
        claimed = self._store.inquiries.claim(
            limit=1,
            lease_until=now + int(limits.OUTBOX_LEASE_S * SECOND_US),
            now=now,
            owner=self._owner,
        )
        for inquiry in claimed:
            if not self._settle(inquiry):
                return 0
        return len(claimed)

    def _settle(self, inquiry: Inquiry) -> bool:
        """Settle an inquiry, or put it off; False when nobody needs to be asked for now."""
        try:
            question = self._question(inquiry)
            if question is None:
                self._store.inquiries.drop(inquiry)
                return True
            known = self._store.model_outputs.find(inquiry.tenant_id, question.input_hash)
            output = known or self._ask(inquiry, question)
            self._store.inquiries.answer(inquiry, output, question.sources)
        except LaminaError as error:
            if turns_all_away(error):
                self._pause(inquiry, error)
                return False
            self._put_off(inquiry, f"{error.code}: {error.message}")
        except Exception as error:
            name = class_of(error)
            _LOG.error("asking about %s failed: %s\n%s", inquiry.event_id, name, frames_of(error))
            self._put_off(inquiry, name)
        return True

    def _pause(self, inquiry: Inquiry, error: LaminaError) -> None:
        """Ask nothing for a while, longer each time. The lease goes back."""
        _LOG.error("%s; questions wait", error.message)
        wait_s = self._failures.note(MODEL_PART, error)
        self._asks_at = self._clock.now() + int(wait_s * SECOND_US)
        self._store.inquiries.release([inquiry])

    def _question(self, inquiry: Inquiry) -> Question | None:
        """What to ask, with the loops that are open by now; None when the turn is gone or was cancelled."""
        tenant_id = inquiry.tenant_id
        turn = self._store.log.get(tenant_id, [inquiry.event_id]).get(inquiry.event_id)
        if turn is None or turn.excluded or inquiry.task != TASK:
            return None
        before = self._store.log.previous(turn, BEFORE_READ)
        held = open_loops(self._store.records, tenant_id, inquiry.scope)
        supports = self._store.records.supports_of(tenant_id, [loop.id for loop in held])
        resting_on = {
            loop.id: [*(s.source_id for s in supports.get(loop.id, ())), *self._worded_with(loop)]
            for loop in held
        }
        return question_about(turn, before, held, resting_on)

    def _worded_with(self, loop: Loop) -> list[str]:
        """The events beside its own whose words a model may have used for a loop."""
        if not loop.extractor.startswith(EXTRACTOR):
            return []
        opened = self._store.log.get(loop.tenant_id, [loop.event_id]).get(loop.event_id)
        if opened is None:
            return []
        return [event.id for event in self._store.log.previous(opened, BEFORE_READ)]

    def _ask(self, inquiry: Inquiry, question: Question) -> ModelOutput:
        try:
            answer = self._generator.complete(
                question.messages, tokens_max=question.tokens_max, schema=question.schema
            )
        except LaminaError as error:
            if not turns_all_away(error):
                self._failures.over(MODEL_PART)
            raise
        self._failures.over(MODEL_PART)
        if not is_usable(answer.text):
            raise Unavailable(
                "MODEL_UNAVAILABLE", "the language model gave no answer: it is not of the shape asked for"
            )
        return ModelOutput(
            tenant_id=inquiry.tenant_id,
            input_hash=question.input_hash,
            task=TASK,
            model=self._generator.name,
            text=plain(answer.text)[: limits.LOOP_ANSWER_CHARS_MAX],
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            recorded_at=self._clock.now(),
        )

    def _put_off(self, inquiry: Inquiry, error: str) -> None:
        retry_at = OUTBOX.retry_at(inquiry.attempts + 1, self._clock.now())
        self._store.inquiries.put_off(inquiry, error, retry_at=retry_at)
