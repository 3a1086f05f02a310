"""What language models answered, kept so that a replay reads it and asks nobody."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lamina.kernel.time import Instant
from lamina.store.ports.writes import Inquiry

__all__ = ["ModelOutput", "ModelOutputs", "Spending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """An answer. ``input_hash`` is that of everything the model was given but its name, and of the scope that it was
    asked for; ``model`` says who answered."""

    tenant_id: str
    input_hash: str
    task: str
    model: str
    text: str
    tokens_in: int
    tokens_out: int
    recorded_at: Instant


class Spending(NamedTuple):
    """What questions of a task to a model cost a tenant on a UTC day, in days since 1970."""

    tenant_id: str
    day: int
    task: str
    model: str
    asked: int
    tokens_in: int
    tokens_out: int


class ModelOutputs(Protocol):
    """Answers by the hash of their input, and what was spent on them. They may quote the events that they were made from, so they go with
    them."""

    def record(
        self,
        output: ModelOutput,
        sources: Collection[str],
        asked: Inquiry | None = None,
        worded: Collection[str] = (),
    ) -> ModelOutput:
        """Keep an answer with the ids of the events whose words the model saw; returns the one that stands, the older
        one if there is one. Durable on return.

        A model takes its time, and words may be erased meanwhile: nothing is kept once the inquiry is over for which it was ``asked``,
        or an event of ``worded`` has lost its words. What is given back stands nowhere then."""
        ...

    def find(self, tenant_id: str, input_hash: str) -> ModelOutput | None:
        """What was answered to an input, or None when it was never asked."""
        ...

    def spend(self, spending: Spending) -> None:
        """Add to what was spent, whatever the answer is worth."""
        ...

    def spent(self, tenant_id: str | None, day: int) -> list[Spending]:
        """What was spent on a day by a tenant, or by all, sorted."""
        ...

    def drop(self, tenant_id: str, input_hashes: Collection[str]) -> int:
        """Delete the answers to some inputs; returns how many there were."""
        ...

    def forget(self, tenant_id: str, event_ids: Collection[str]) -> int:
        """Delete every answer that was made from any of these events, for erasure; returns how many."""
        ...
