"""What a tenant defines for itself: its words for stretches of time, its vocabularies, and which of these are active where.
Each change is an entry of the log with a place.

A definition stands from its entry until the entry that replaces or withdraws it; nothing is edited. Derived rows may go
and come back: definitions are of the log, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lamina.kernel.events import EventDraft
from lamina.kernel.time import Instant

__all__ = ["Definition", "DefinitionKind", "Definitions", "TermsLost"]

DefinitionKind = Literal[
    "temporal_phrase", "vocabulary", "active_vocabularies", "belief_rules", "calibration", "reader"
]


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


TermsLost = Callable[[Definition | None], Sequence[str]]
"""The terms that a vocabulary has no more, given what stood under its name."""


class Definitions(Protocol):
    """The definitions of each tenant."""

    def define(
        self,
        entry: EventDraft,
        definition: tuple[DefinitionKind, str],
        check: Callable[[Sequence[Definition]], None],
        *,
        lost: TermsLost | None = None,
    ) -> Definition:
        """Put an entry into the log, whose content is what the name means from there on; durable on return.

        ``check`` sees what stands of the kind, by name, in the same transaction, and refuses by raising. What stood under the name ends.
        Where a vocabulary has ``lost`` terms, an entry of its own ends the facts by these in each scope that holds some, or
        that has an event of which nothing was derived yet.
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

    def named(
        self, tenant_id: str, kind: DefinitionKind, names: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Definition]:
        """What some names mean, or meant at an instant of the log; those that mean nothing are left out."""
        ...
