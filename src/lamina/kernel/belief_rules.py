"""What a tenant lays down for its beliefs: below which confidence one is deleted, and how often one is revised (seed 002, 7.4).

A change is an entry of the log, so that what is derived at a place in the log follows the rules of then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from lamina import limits
from lamina.kernel.time import HOUR_US, Instant, duration_us

__all__ = ["BELIEF_RULES", "CONFIDENCE_FLOOR", "BeliefRules"]

BELIEF_RULES: Final[tuple[Literal["belief_rules"], str]] = ("belief_rules", "beliefs")
"""Kind and name of the definition."""

CONFIDENCE_FLOOR: Final = 0.3


@dataclass(frozen=True, slots=True)
class BeliefRules:
    """``confidence_floor`` in 0..1. A revision comes ``cooldown`` (ISO 8601) after the one before, and at most
    ``revisions_per_hour`` come in an hour; None is without limit.

    They delay revisions, never figures: what a belief says is always drawn from all its evidence. A change that comes too early
    waits, and the next revision has it.
    """

    confidence_floor: float = CONFIDENCE_FLOOR
    cooldown: str = "PT0S"
    revisions_per_hour: int | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:  # Any: values of a policy document, or of a definition
        """The rules behind their names, each at its default where nothing is said."""
        per_hour = said.get("beliefs.max_revisions_per_hour")
        return cls(
            float(said.get("tenant.confidence_floor", CONFIDENCE_FLOOR)),
            str(said.get("beliefs.cooldown", "PT0S")),
            None if per_hour is None else int(per_hour),
        )

    def said(self) -> dict[str, float | str | int]:
        """The rules by the names that a policy document gives them; ``of`` reads them."""
        named: dict[str, float | str | int] = {
            "tenant.confidence_floor": self.confidence_floor,
            "beliefs.cooldown": self.cooldown,
        }
        if self.revisions_per_hour is not None:
            named["beliefs.max_revisions_per_hour"] = self.revisions_per_hour
        return named

    def next_at(self, revised_at: Sequence[Instant]) -> Instant:
        """From when on the next revision may come; ``revised_at`` are the last ones, at least one."""
        waits_until = revised_at[-1] + duration_us(self.cooldown)
        count = self.revisions_per_hour
        if count is not None and len(revised_at) >= count:
            waits_until = max(waits_until, revised_at[-count] + HOUR_US)
        return waits_until

    def revised(self, before: Sequence[Instant], waits: bool, at: Instant) -> tuple[tuple[Instant, ...], int]:
        """The last revisions once something changed at ``at``, and how many were added; ``waits`` says that a change waited before."""
        found, added = list(before), 0
        if waits and (due := self.next_at(found)) < at:
            found.append(due)
            added += 1
        if self.next_at(found) <= at:
            found.append(at)
            added += 1
        return tuple(found[-limits.REVISIONS_PER_HOUR_MAX :]), added
