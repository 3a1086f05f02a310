"""What language models answered, kept so that a replay reads it and asks nobody."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.time import Instant

__all__ = ["ModelOutput", "ModelOutputs"]


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


class ModelOutputs(Protocol):
    """Answers by the hash of their input. They may quote the events that they were made from, so they go with them."""

    def record(self, output: ModelOutput, sources: Collection[str]) -> ModelOutput:
        """Keep an answer with the ids of the events whose words the model saw; returns the one that stands, the older
        one if there is one. Durable on return."""
        ...

    def find(self, tenant_id: str, input_hash: str) -> ModelOutput | None:
        """What was answered to an input, or None when it was never asked."""
        ...

    def forget(self, tenant_id: str, event_ids: Collection[str]) -> int:
        """Delete every answer that was made from any of these events, for erasure; returns how many."""
        ...
