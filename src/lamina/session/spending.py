"""The budget of a tenant's questions to language models, in tokens for each UTC day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lamina.kernel.time import DAY_US, Clock, Instant
from lamina.models.belief_words import TASK as BELIEFS
from lamina.pipeline.concept_words import TASK as CONCEPTS
from lamina.pipeline.readings.question import TASK as READS
from lamina.store.ports.store import Store
from lamina.store.ports.writes import BRIDGE

__all__ = ["Budget", "day_of"]

_BOUNDED: Final = frozenset({READS, CONCEPTS, BELIEFS, BRIDGE})
"""The tasks that share a tenant's tokens of a day. Summaries are not among them: each of their questions is short."""


def day_of(at: Instant) -> int:
    """The UTC day of an instant, in days since 1970."""
    return at // DAY_US


@dataclass(frozen=True, slots=True)
class Budget:
    """What questions may cost each tenant on a UTC day: ``tokens_per_day``, 0 for no bound."""

    store: Store
    clock: Clock
    tokens_per_day: int = 0

    def again_at(self, tenant_id: str) -> Instant | None:
        """When a tenant may be asked for again where the tokens of the day are spent; None where some are left."""
        if not self.tokens_per_day:
            return None
        today = day_of(self.clock.now())
        spent = self.store.model_outputs.spent(tenant_id, today)
        if (
            sum(each.tokens_in + each.tokens_out for each in spent if each.task in _BOUNDED)
            < self.tokens_per_day
        ):
            return None
        return (today + 1) * DAY_US
