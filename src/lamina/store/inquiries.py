"""What the rest of Lamina asks of a store about inquiries: what a language model is asked of events, behind them.

Kept state, like the outbox: a replay leaves it, and reads from it after which event each answer took effect.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from lamina.kernel.events import Event
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.model_outputs import ModelOutput

if TYPE_CHECKING:  # ports are made of the values below
    from lamina.store.ports import Writes

__all__ = ["Inquiries", "Inquiry", "InquiryState", "Ready"]

InquiryState = Literal["pending", "answered", "applied", "failed", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question about one event. None of its words are kept here: they are the event's, and the answer's.

    It is open while ``pending`` or ``answered``. ``failed`` is for good until it is revived; ``dropped`` is for good.
    An ``applied`` one took effect at ``applied_at``, directly after the event of its scope at ``applied_after`` and
    ``applied_order`` others.
    """

    tenant_id: str
    event_id: str
    task: str
    scope: Scope
    position: int
    created_at: Instant
    id: int = 0
    state: InquiryState = "pending"
    attempts: int = 0
    next_attempt_at: Instant | None = None
    lease_until: Instant | None = None
    last_error: str | None = None
    input_hash: str | None = None
    applied_after: int | None = None
    applied_order: int | None = None
    applied_at: Instant | None = None

    def is_due(self, now: Instant) -> bool:
        """Whether nothing but an earlier one of its scope keeps it from being claimed."""
        return max(self.next_attempt_at or 0, self.lease_until or 0) <= now


class Ready(NamedTuple):
    """An answered inquiry, and the newest event of its scope that was extracted."""

    inquiry: Inquiry
    after: Event


class Inquiries(Protocol):
    """Inquiries, one after the other within a scope. They come with ``Writes``, in the transaction of their event."""

    def claim(self, *, limit: int, lease_until: Instant, now: Instant) -> list[Inquiry]:
        """Lease due inquiries of every tenant: of each scope the oldest one that is open, if it is pending."""
        ...

    def answer(self, inquiry: Inquiry, output: ModelOutput, sources: Collection[str]) -> bool:
        """Record an answer as ``ModelOutputs.record`` does and that this inquiry has it, in one transaction; False, with
        nothing done, when it is not pending any more."""
        ...

    def put_off(self, inquiry: Inquiry, error: str, *, retry_at: Instant | None) -> None:
        """Note a failed attempt at an open inquiry: due again at ``retry_at``, or failed for good and visible when None."""
        ...

    def drop(self, inquiry: Inquiry) -> None:
        """Nobody needs an answer to an open inquiry any more."""
        ...

    def ready(self, limit: int) -> list[Ready]:
        """Answered inquiries whose answers can take effect now: nothing of their scope is left to extract."""
        ...

    def apply(self, ready: Ready, at: Instant, writes: Writes) -> bool:
        """Land what an answer changes and note after which event, in one transaction; False, with nothing done, when it
        is not answered any more or something of the scope was captured or extracted since ``ready``."""
        ...

    def applied_after(self, event: Event) -> list[Inquiry]:
        """The inquiries that took effect after an event and before the next of its scope that is derived, in order."""
        ...

    def release(self) -> None:
        """Give every lease back, for a worker that knows it is alone."""
        ...

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Make inquiries that failed for good due again; how many."""
        ...

    def unsettled(self, tenant_id: str, within: Scope | None, limit: int) -> list[Inquiry]:
        """Inquiries that are open or failed, newest first."""
        ...

    def forget(self, tenant_id: str, event_ids: Collection[str]) -> int:
        """Delete every inquiry about any of these events, for erasure; returns how many. Their answers are for
        ``ModelOutputs.forget``."""
        ...

    def counts(self, tenant_id: str | None = None) -> dict[str, int]:
        """How many inquiries stand in each state, of one tenant or of all."""
        ...
