"""``lamina reread``: turns read again by a language model, with what that costs told before it starts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Final

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.events import Event
from lamina.kernel.time import Instant, instant
from lamina.pipeline.readings.question import TASK, is_readable
from lamina.pipeline.worker import Worker
from lamina.session.inquirer import Inquirer
from lamina.session.turn_questions import tokens_of
from lamina.settings import Settings
from lamina.store.opening import alone, open_store, require_store
from lamina.store.ports.store import Store
from lamina.store.ports.writes import inquiry_of
from lamina.worker_app import build_inquirer, build_worker

__all__ = ["Estimate", "Rereader", "price_of", "rereading", "since_of"]

_SAMPLE: Final = 64
_WALKED: Final = 500
_LOOK_S: Final = 0.2
_STILL_S_MAX: Final = 60.0
"""So long nothing is answered before the rest is left to the worker."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many turns would be asked about, and what that costs: the tokens of the questions, by the length of a sample of them, and those
    of the answers at most."""

    turns: int
    tokens_in: int
    tokens_out_max: int


class Rereader:
    """Has turns of a store read again, by the model of an inquirer."""

    def __init__(self, store: Store, worker: Worker, inquirer: Inquirer) -> None:
        self._store = store
        self._worker = worker
        self._inquirer = inquirer

    def turns(self, since: Instant, tenant_id: str | None = None) -> list[Event]:
        """The turns that a model may read, told since an instant, of a tenant or of all, in the order of the log."""
        tenants = self._store.log.tenants() if tenant_id is None else [tenant_id]
        told = (event for tenant in tenants for event in _walked(self._store, tenant))
        return [event for event in told if event.recorded_at >= since and is_readable(event)]

    def estimate(self, turns: Sequence[Event]) -> Estimate:
        """What asking about turns costs."""
        sample = turns[:: max(1, len(turns) // _SAMPLE)]
        questions = [self._inquirer.question_of(inquiry_of(turn, TASK, turn.recorded_at)) for turn in sample]
        tokens = [tokens_of(question) for question in questions if question is not None]
        mean = sum(tokens) / len(tokens) if tokens else 0.0
        return Estimate(len(turns), round(mean * len(turns)), len(turns) * limits.READING_TOKENS_MAX)

    def read(
        self,
        turns: Sequence[Event],
        now: Instant,
        told: Callable[[int], None],
        *,
        sleep: Callable[[float], None] = time.sleep,
        still_s_max: float = _STILL_S_MAX,
    ) -> int:
        """Ask about turns until every answer took effect; ``told`` has how many more are through, whenever some are. Returns how many are
        left, for the worker, where the model gives no more answers or the day's tokens are spent."""
        self._store.inquiries.ask_again([inquiry_of(turn, TASK, now) for turn in turns])
        left, moved_at = self._left(), time.monotonic()
        while left:
            self._inquirer.step()
            self._worker.drain()
            now_left = self._left()
            if now_left < left:
                told(left - now_left)
                left, moved_at = now_left, time.monotonic()
            elif time.monotonic() - moved_at > still_s_max:
                break
            else:
                sleep(_LOOK_S)
        return left

    def _left(self) -> int:
        counts = self._store.inquiries.counts()
        return counts["pending"] + counts["answered"]


@contextmanager
def rereading(settings: Settings, model: str | None) -> Iterator[Rereader]:
    """A reader of the settings' folder, which no other process has meanwhile, by their model or another one there.

    Raises ``Invalid`` (INVALID_REQUEST) where the settings name none.
    """
    if not settings.llm_url:
        raise Invalid(
            "INVALID_REQUEST",
            "there is no language model to read with",
            hint="set LAMINA_LLM_URL and LAMINA_LLM_MODEL",
        )
    chosen = settings if model is None else replace(settings, llm_model=model)
    require_store(settings.data)
    with alone(settings.data), ExitStack() as held:
        store = open_store(chosen, durable=False)
        held.callback(store.close)
        inquirer = build_inquirer(replace(chosen, llm_loops=True), store, held)
        assert inquirer is not None, "the settings name a model"
        yield Rereader(store, build_worker(chosen, store, replays=True), inquirer)


def _walked(store: Store, tenant_id: str) -> Iterator[Event]:
    after = 0
    while events := store.log.walk(tenant_id, after, _WALKED):
        yield from events
        after = events[-1].position


def since_of(text: str) -> Instant:
    """The instant that an option names: one, or the beginning of a UTC day. Raises ``Invalid`` (INVALID_REQUEST) for any other text."""
    is_day = re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None
    return instant(f"{text}T00:00:00Z" if is_day else text, field="since")


def price_of(estimate: Estimate, price: str | None) -> str:
    """What an estimate costs, in words, by the price of a million tokens of questions and of answers ("0.15,0.60"); nothing without one.
    Raises ``Invalid`` (INVALID_REQUEST) for any other text."""
    if price is None:
        return ""
    try:
        asked, answered = (float(part) for part in price.split(","))
    except ValueError as error:
        raise Invalid(
            "INVALID_REQUEST",
            "the price is no two numbers",
            hint="--price 0.15,0.60 is what a million tokens of questions and of answers cost",
            details={"price": price},
        ) from error
    least = estimate.tokens_in * asked / 1e6
    return f": {least:.2f} to {least + estimate.tokens_out_max * answered / 1e6:.2f}"
