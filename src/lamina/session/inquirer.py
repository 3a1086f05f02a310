"""Asking a language model behind the turns: what one says, how a summary or a bridge tells of it, and what concepts and beliefs come to. Nobody
waits for it, and nothing depends on it.

A model that is away costs nobody an attempt: everything waits, and health says so. A question that fails while others are answered
has attempts, as in the outbox; after the fifth a turn stays as the rules read it, and its inquiry visible as failed, and a summary as
the rules word it. An answer that is none is not asked for again, unchanged. An answer is recorded before anything is made of it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from lamina import limits
from lamina.errors import LaminaError, Unavailable
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.models.belief_words import TASK as BELIEFS
from lamina.models.ports import Generator
from lamina.observe.rounds import Failures, class_of, frames_of, keep_at
from lamina.pipeline.concept_words import TASK as CONCEPTS
from lamina.pipeline.readings.question import TASK as READS
from lamina.pipeline.readings.question import TurnQuestion
from lamina.session.breaker import Breaker, is_away
from lamina.session.bridging import Bridging
from lamina.session.cited_asking import CitedAsker
from lamina.session.folders import GeneratingFolder, TurnFolder
from lamina.session.record_questions import RecordQuestions
from lamina.session.spending import Budget
from lamina.session.turn_questions import TurnQuestions
from lamina.session.wording import Rewording
from lamina.store.ports.store import Store
from lamina.store.ports.writes import BRIDGE, FOLD, Inquiry
from lamina.store.rules.attempts import OUTBOX
from lamina.store.rules.erasures import place_that_erases

__all__ = ["Inquirer"]

_LOG = logging.getLogger("lamina.session")
_IDLE_S: Final = 0.2
_UNREADABLE_KEPT_MAX: Final = 10_000
_ALONE_US: Final = 600 * SECOND_US
_ERASED_AGAIN_US: Final = 30 * SECOND_US
_SPENT: Final = "the day's tokens are spent"


class Inquirer:
    """Puts the open inquiries of a store to a model, and records what it answers. Any number of threads may ``run`` it together."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        generator: Generator,
        *,
        folder: TurnFolder | None = None,
        failures: Failures | None = None,
        sleep: Callable[[float], None] = time.sleep,
        owner: str = "inquirer",
        reads_turns: bool = True,
        tokens_per_day: int = 0,
        timeout_s: float = limits.OUTBOX_ROW_S,
        at_once: int = 1,
    ) -> None:
        """``owner`` names this process among those that may work on the store, ``at_once`` is how many threads run this, and
        ``timeout_s`` how long the model has for an answer. Without ``reads_turns`` it is not asked what turns say; all but summaries cost a tenant at
        most ``tokens_per_day``, 0 for no bound."""
        self._failures = failures or Failures()
        self._store = store
        self._clock = clock
        self._generator = generator
        self._sleep = sleep
        self._owner = owner
        self._reads_turns = reads_turns
        self._turns = TurnQuestions(store, clock, generator)
        self._budget = Budget(store, clock, tokens_per_day)
        self._asker = asker = CitedAsker(store, clock, generator)
        records = RecordQuestions(store, asker)
        self._worders: Mapping[str, Callable[[Inquiry], bool]] = {
            BRIDGE: Bridging(store, asker).settle,
            CONCEPTS: records.settle_concepts,
            BELIEFS: records.settle_beliefs,
        }
        self._alone_until: Instant = 0
        self._unreadable: dict[int, Inquiry] = {}
        self._asked_again: set[int] = set()
        self._lease_us = int((timeout_s + limits.LLM_LEASE_MARGIN_S) * SECOND_US)
        self._idle_s = _IDLE_S * at_once
        self._breaker = Breaker(clock, self._failures)
        self._rewording = Rewording(store, folder or GeneratingFolder(generator, self._failures), clock)
        self._lock = threading.Lock()
        self._served = ""

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop. A round that fails is logged, and comes again."""
        keep_at(
            "asking the model",
            lambda: self.step() > 0,
            stopping,
            idle_s=self._idle_s,
            failures=self._failures,
            sleep=self._sleep,
        )

    def step(self) -> int:
        """The next inquiry that is due; how many there were. None while the model is away."""
        if not self._breaker.admits():
            return 0
        try:
            claimed = self._claimed()
            for inquiry in claimed:
                self._settle(inquiry)
            return len(claimed)
        finally:
            self._breaker.left()

    def question_of(self, inquiry: Inquiry) -> TurnQuestion | None:
        """What would be asked of a turn now; None when it is gone or was cancelled."""
        return self._turns.question(inquiry)

    def _claimed(self) -> list[Inquiry]:
        now = self._clock.now()
        with self._lock:
            claimed = self._store.inquiries.claim(
                limit=1, lease_until=now + self._lease_us, now=now, owner=self._owner, behind=self._served
            )
            self._served = claimed[-1].tenant_id if claimed else ""
            return claimed

    def _settle(self, inquiry: Inquiry) -> None:
        """Settle an inquiry, or put it off."""
        try:
            if self._is_being_erased(inquiry):
                # Should the erasure be cancelled, it is asked; otherwise it goes with its turn.
                again_at = self._clock.now() + _ERASED_AGAIN_US
                self._store.inquiries.defer(inquiry, "its memory is being erased", retry_at=again_at)
            elif inquiry.task == FOLD:
                if self._rewording.settle(inquiry):
                    self._breaker.answered()
            elif inquiry.task == READS and self._reads_turns:
                self._read(inquiry)
            elif inquiry.task in self._worders:
                self._word(inquiry)
            else:
                self._store.inquiries.drop(inquiry)  # nobody reads turns, or the task is an earlier release's
        except LaminaError as error:
            if is_away(error):
                self._wait(inquiry, error)
            elif isinstance(error, Unavailable):
                raise  # the store is away, for everybody
            elif error.retriable:
                self._put_off(inquiry, f"{error.code}: {error.message}")  # ours, as when the store fails
            else:
                self._breaker.answered()
                self._give_up(inquiry, f"{error.code}: {error.message}")
        except Exception as error:
            name = class_of(error)
            _LOG.error("asking about %s failed: %s\n%s", inquiry.event_id, name, frames_of(error))
            self._put_off(inquiry, name)

    def _is_being_erased(self, inquiry: Inquiry) -> bool:
        """Whether a running erasure takes the turn of an inquiry: words that are to go leave for no model."""
        places = self._store.erasures.places(inquiry.tenant_id)
        turn = (
            self._store.log.get(inquiry.tenant_id, [inquiry.event_id]).get(inquiry.event_id)
            if places
            else None
        )
        return turn is not None and place_that_erases(places, turn) is not None

    def _wait(self, inquiry: Inquiry, error: LaminaError) -> None:
        """Nobody is asked for a while. The question has an attempt only where the model answered others meanwhile."""
        told = f"{error.code}: {error.message}"
        again_at = self._breaker.failed(error)
        if error.code == "MODEL_UNAVAILABLE" and self._breaker.blames(inquiry.id):
            self._put_off(inquiry, told)
        else:
            self._store.inquiries.defer(inquiry, told, retry_at=again_at)

    def _word(self, inquiry: Inquiry) -> None:
        """Have the model word what rules have worded, or wait for the next day where the tenant's tokens of this one are spent."""
        again_at = self._budget.again_at(inquiry.tenant_id)
        if again_at is not None:
            self._store.inquiries.defer(inquiry, _SPENT, retry_at=again_at)
        elif self._worders[inquiry.task](inquiry):
            self._breaker.answered()
            self._ask_unreadable_again()

    def _read(self, inquiry: Inquiry) -> None:
        """Have the model read a turn, with those that wait behind it where there are some, or wait for the next day where the tenant's
        tokens of this one are spent."""
        if not self._read_together(inquiry):
            self._read_alone(inquiry)

    def _read_together(self, head: Inquiry) -> bool:
        """Have several turns that wait read by one question; whether the first of them was."""
        now = self._clock.now()
        if head.attempts or now < self._alone_until or self._budget.again_at(head.tenant_id) is not None:
            return False
        behind = self._store.inquiries.claim_behind(head, limit=limits.READING_SHARED_MAX - 1, now=now)
        waiting, answered = [head, *behind], list[Inquiry]()
        try:
            apart = len(waiting) < limits.READING_SHARED_FROM or any(map(self._is_being_erased, behind))
            shared = None if apart else self._turns.shared(waiting)
            if shared is None:
                return False
            sources = shared.question.sources
            worded = self._asker.worded(head.tenant_id, sources)
            if self._turns.shared(waiting) != shared:
                return False  # it shows words that went before these were looked up
            answers = self._turns.answers(shared)
            if (
                answers is None
            ):  # a model that does not answer by turns is asked about each alone, for a while
                self._alone_until = now + _ALONE_US
                return False
            self._breaker.answered()
            for inquiry in waiting:
                output = answers.get(inquiry.event_id)
                if output is None or not self._store.inquiries.answer(inquiry, output, sources, worded):
                    break  # in a scope one is answered after the other
                answered.append(inquiry)
            return head in answered
        except LaminaError:
            self._alone_until = now + _ALONE_US
            raise
        finally:
            self._store.inquiries.release([each for each in behind if each not in answered])

    def _read_alone(self, inquiry: Inquiry) -> None:
        question = self._turns.question(inquiry)
        if question is None:
            self._store.inquiries.drop(inquiry)
            return
        worded = self._asker.worded(inquiry.tenant_id, question.sources)
        if self._turns.question(inquiry) != question:
            # It shows words that went before these were looked up, and would be answered by them.
            self._store.inquiries.release([inquiry])
            return
        output = self._store.model_outputs.find(inquiry.tenant_id, question.input_hash)
        if output is None:
            again_at = self._budget.again_at(inquiry.tenant_id)
            if again_at is not None:
                self._store.inquiries.defer(inquiry, _SPENT, retry_at=again_at)
                return
            output = self._turns.answer(inquiry, question)
            self._breaker.answered()
        if self._store.inquiries.answer(inquiry, output, question.sources, worded):
            self._ask_unreadable_again()
        else:
            self._store.inquiries.release([inquiry])

    def _ask_unreadable_again(self) -> None:
        """A model that gives answers again is asked once more about the turns of which it gave none."""
        with self._lock:
            waiting, self._unreadable = self._unreadable, {}
            self._asked_again |= set(waiting)
        for tenant_id, scope in sorted({(each.tenant_id, each.scope) for each in waiting.values()}):
            self._store.inquiries.revive(tenant_id, scope)

    def _put_off(self, inquiry: Inquiry, error: str) -> None:
        retry_at = OUTBOX.retry_at(inquiry.attempts + 1, self._clock.now())
        if retry_at is None:
            self._give_up(inquiry, error)
        else:
            self._store.inquiries.put_off(inquiry, error, retry_at=retry_at)

    def _give_up(self, inquiry: Inquiry, error: str) -> None:
        """A question that is not asked again: a summary has the rules' words, and an inquiry about a turn failed for good."""
        if inquiry.task == FOLD:
            self._rewording.settle(inquiry, by_rules=True)
        else:
            self._store.inquiries.put_off(inquiry, error, retry_at=None)
            with self._lock:
                if inquiry.id not in self._asked_again:
                    self._unreadable[inquiry.id] = inquiry
                    while len(self._unreadable) > _UNREADABLE_KEPT_MAX:
                        del self._unreadable[next(iter(self._unreadable))]
