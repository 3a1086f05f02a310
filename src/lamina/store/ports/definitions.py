"""What a tenant defines for itself, such as its words for stretches of time. Each change is an entry of the log with a place.

A definition stands from its entry until the entry that replaces or withdraws it; nothing is edited. Derived rows may go
and come back: definitions are of the log, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lamina.kernel.events import EventDraft
from lamina.kernel.time import Instant

__all__ = ["Definition", "DefinitionKind", "Definitions"]

DefinitionKind = Literal["temporal_phrase", "belief_rules", "calibration"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a name means, by the entry of the log at ``position``; ``recorded_to`` is None while it stands."""

    tenant_id: str
    kind: DefinitionKind
    name: str
    body: Mapping[str, Any]  # Any: the JSON of its kind, which the slice that owns it reads
    event_id: str
    position: int
    recorded_from: Instant
    recorded_to: Instant | None = None


class Definitions(Protocol):
    """The definitions of each tenant."""

    def define(
        self,
        entry: EventDraft,
        definition: tuple[DefinitionKind, str],
        check: Callable[[Sequence[Definition]], None],
    ) -> Definition:
        """Put an entry into the log, whose content is what the name means from there on; durable on return.

        ``check`` sees what stands of the kind, by name, in the same transaction, and refuses by raising. What stood under the name ends.
        """
        ...

    def withdraw(self, entry: EventDraft, definition: tuple[DefinitionKind, str]) -> Definition | None:
        """Put an entry into the log behind which the name means nothing; None, and no entry, where it means nothing already."""
        ...

    def held(
        self, tenant_id: str, kind: DefinitionKind, *, seen_at: Instant | None = None
    ) -> list[Definition]:
        """What stands, or stood at an instant of the log, by name."""
        ...
