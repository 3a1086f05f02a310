"""The log: what is appended to it, and how it is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lamina.kernel.events import Event, EventDraft, Stage
from lamina.kernel.operations import Posted
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey

__all__ = ["Appended", "AppendedOnce", "Capture", "EventLog", "EventQuery"]


class Capture(NamedTuple):
    """One draft for the log, with the key under which a repetition is recognised."""

    draft: EventDraft
    key: IdempotencyKey | None = None
    body_hash: str = ""


class Appended(NamedTuple):
    """What the log did with a capture: where it stands, new or as it was stored the first time. ``draft`` is the event itself where it was."""

    draft: EventDraft
    event_id: str
    position: int
    recorded_at: Instant
    replayed: bool

    @classmethod
    def of(cls, event: Event, *, replayed: bool) -> Appended:
        """That of an event that is at hand."""
        return cls(event, event.id, event.position, event.recorded_at, replayed)

    @property
    def event(self) -> Event:
        """The event; of a new one it is made for who asks, since a batch has a thousand that nobody asks for."""
        if isinstance(self.draft, Event):
            return self.draft
        return Event.placed(self.draft, self.event_id, self.position, self.recorded_at)


@dataclass(frozen=True, slots=True)
class AppendedOnce:
    """The entry that stands under a key, and what was appended with it: nothing where it stood before."""

    entry: IdempotencyEntry
    appended: Sequence[Appended]
    replayed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Which events a list wants; None means any. Newest first unless ``ascending``.

    ``after`` is the position to go on from. Cancelled events are left out unless ``with_excluded``.
    """

    tenant_id: str
    scopes: Collection[Scope]
    observed_from: Instant | None = None
    observed_to: Instant | None = None
    recorded_from: Instant | None = None
    recorded_to: Instant | None = None
    observed_actor: str | None = None
    session: str | None = None
    modality: str | None = None
    after: int | None = None
    ascending: bool = False
    with_excluded: bool = False
    limit: int = 50


class EventLog(Protocol):
    """The append-only truth. Positions count per tenant and become visible in order."""

    def append(self, captures: Sequence[Capture]) -> list[Appended]:
        """Put drafts into the log, with their ``captured`` lifecycle rows and first jobs, all or none.

        Durable on return. A capture whose key is known within 24 hours is not stored again when its body hash
        agrees, and raises ``Conflict`` (IDEMPOTENCY_CONFLICT) for the whole call when it does not.
        """
        ...

    def post(self, capture: Capture) -> Posted:
        """``append`` of one draft that does not wait, and is still to be sent: it comes to a list of one ``Appended``."""
        ...

    def append_once(self, captures: Sequence[Capture], entry: IdempotencyEntry) -> AppendedOnce:
        """``append``, and keep an entry under its key in the same transaction, unless one is known within 24 hours.

        Then nothing is stored, and the older entry stands: of calls at once, in whichever processes, one is first.
        Raises ``Conflict`` (IDEMPOTENCY_CONFLICT) when the body hash of that one is another.
        """
        ...

    def append_entry(self, draft: EventDraft) -> Event:
        """Put an entry that nobody told (``Event.is_entry``) into the log, with its ``captured`` lifecycle row and first job. No list
        shows it. Durable on return."""
        ...

    def get(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Event]:
        """The events of those ids that exist; cancelled ones too."""
        ...

    def query(self, query: EventQuery) -> list[Event]:
        """The events that a query wants, by position."""
        ...

    def previous(self, event: Event, limit: int) -> list[Event]:
        """Up to ``limit`` events of the same scope and session before this one in the log, oldest first."""
        ...

    def walk(self, tenant_id: str, after: int, limit: int) -> list[Event]:
        """The tenant's events past a position, in order, cancelled ones too: for replay and export."""
        ...

    def feedback(self, tenant_id: str, limit: int) -> list[Event]:
        """The tenant's newest events of modality ``feedback``, newest first, without cancelled ones."""
        ...

    def tenants(self) -> list[str]:
        """The tenants that have events, sorted."""
        ...

    def last_recorded(self, tenant_id: str, scopes: Collection[Scope] | None) -> Instant | None:
        """When the newest event of those scopes, or of all the tenant's, was recorded, a cancelled one too; None where there is
        none."""
        ...

    def told_last(self, limit: int) -> list[tuple[str, Scope]]:
        """The tenants and scopes of the newest ``limit`` events of all tenants, each once, that of the newest first."""
        ...

    def senders_into(self, tenant_id: str, into: Scope) -> list[Scope]:
        """The other scopes with events that are consolidated into a scope, sorted."""
        ...

    def count(self, tenant_id: str, scopes: Collection[Scope], *, seen_at: Instant | None = None) -> int:
        """How many events those scopes hold, or held at an instant, without those that are cancelled by now."""
        ...

    def cancel(self, tenant_id: str, event_id: str) -> tuple[Stage, ...]:
        """Drop the event's queued stages and exclude it and what rests on it alone; the dropped stages.

        What a sitting tells of turns that left its window starts over where this was one of them: its summary is
        empty, its bridge is gone, and its turns are to be folded anew. Where derivation had begun, the cancellation
        becomes an entry of the log, excluded as the event is, and is derived in its turn.
        """
        ...
