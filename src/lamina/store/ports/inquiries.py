"""Inquiries: what a language model is asked of events, behind them.

Kept state, like the outbox: a replay leaves it, and reads from it after which event each answer took effect.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from lamina.kernel.events import Event, EventDraft
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.writes import Inquiry, Writes

__all__ = ["Inquiries", "Ready"]


class Ready(NamedTuple):
    """An answered inquiry, and the newest event of its scope that was extracted."""

    inquiry: Inquiry
    after: Event


class Inquiries(Protocol):
    """Inquiries, one after the other within a scope. They come with ``Writes``, in the transaction of their event."""

    def claim(
        self, *, limit: int, lease_until: Instant, now: Instant, owner: str, behind: str = ""
    ) -> list[Inquiry]:
        """Lease due inquiries of every tenant under one new fence: of each scope the oldest one that is open, if it is pending.
        Tenants take turns, those that come after ``behind`` first; in a tenant, what was put off stands behind what came meanwhile.

        Here and below an inquiry is as it was claimed, or found ready: nothing happens to one whose lease ended and that
        somebody else may have, as its fence tells.
        """
        ...

    def claim_behind(self, head: Inquiry, *, limit: int, now: Instant) -> list[Inquiry]:
        """Lease, under the fence of a claimed inquiry, those of its scope that come directly behind it, of its task and due, in order;
        none where the head's lease is lost."""
        ...

    def answer(
        self, inquiry: Inquiry, output: ModelOutput, sources: Collection[str], worded: Collection[str] = ()
    ) -> bool:
        """Record an answer as ``ModelOutputs.record`` does and that this inquiry has it, in one transaction; False, with
        nothing done, when it is not pending any more, its lease is lost, or an event of ``worded`` has lost its words."""
        ...

    def put_off(self, inquiry: Inquiry, error: str, *, retry_at: Instant | None) -> None:
        """Note a failed attempt at an open inquiry: due again at ``retry_at``, or failed for good and visible when None."""
        ...

    def defer(self, inquiry: Inquiry, error: str, *, retry_at: Instant) -> None:
        """Nobody could be asked: the inquiry is due again at ``retry_at``, and that was no attempt."""
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

    def enter(self, ready: Ready, entry: EventDraft) -> Event | None:
        """Put the entry at which an answer takes effect into the log, as ``EventLog.append_entry`` does, and note its place, in
        one transaction; None, with nothing done, when the inquiry is not answered any more."""
        ...

    def applied_after(self, event: Event) -> list[Inquiry]:
        """The inquiries that took effect after an event and before the next of its scope that is derived, in order."""
        ...

    def release(self, inquiries: Collection[Inquiry]) -> None:
        """Give leases back without an attempt."""
        ...

    def take_over(self) -> int:
        """For an inquirer that knows it is alone: the others are dead, so their leases end. How many."""
        ...

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Make inquiries that failed for good due again; how many."""
        ...

    def ask_again(self, inquiries: Collection[Inquiry]) -> None:
        """Have these asked, whatever became of them before; what an answer before changed stands until the next one takes effect."""
        ...

    def unsettled(self, tenant_id: str, within: Scope | None, limit: int) -> list[Inquiry]:
        """Inquiries that are open or failed, newest first."""
        ...

    def counts(self, tenant_id: str | None = None) -> dict[str, int]:
        """How many inquiries stand in each state, of one tenant or of all."""
        ...
