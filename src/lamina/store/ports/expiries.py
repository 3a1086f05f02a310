"""Expiries: what is past its time to live, and the entries of the log that say so (decision 0052)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from lamina.kernel.events import Event
from lamina.kernel.expiry import Expiry
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["Expiries", "OldEvent", "OldRecord"]


class OldEvent(NamedTuple):
    """An event that may be over: its place, where its claims are consolidated, until when it lives by what it says itself (0 where it
    says nothing), and whether it is out of recall already."""

    id: str
    scope: Scope
    position: int
    into: Scope | None
    expires_at: Instant
    excluded: bool


class OldRecord(NamedTuple):
    """A derived record that may be over: the version that stands, by when it was recorded."""

    recorded_from: Instant
    id: str


class Expiries(Protocol):
    """Looks for what is over, by instants that the caller names, and puts it down."""

    def scopes(self, tenant_id: str, *, after: str = "", limit: int) -> list[Scope]:
        """The scopes of a tenant that were ever written to, by path, past one of them."""
        ...

    def due(
        self, tenant_id: str, now: Instant, *, after: tuple[Instant, str] = (0, ""), limit: int
    ) -> list[OldEvent]:
        """Events whose own time to live is over at ``now``, by ``expires_at`` and id, past such a pair: without those that are out of
        recall, and those of which a stage is still to be done."""
        ...

    def through(self, tenant_id: str, scope: Scope) -> int:
        """The position up to which all events of a scope are over, as its entries say; 0 where none says so."""
        ...

    def older(
        self, tenant_id: str, scope: Scope, before: Instant, *, after: int, limit: int
    ) -> list[OldEvent]:
        """The events of a scope past a position, oldest first, up to the first that was recorded at ``before`` or later or of which a stage
        is still to be done. What is out of recall, and entries of the log, are among them as ``excluded``."""
        ...

    def unrenewed(
        self,
        tenant_id: str,
        scope: Scope,
        layer: Layer,
        before: Instant,
        *,
        after: OldRecord | None = None,
        limit: int,
    ) -> list[OldRecord]:
        """The records of a layer of a scope that stand and that nothing bore out, nor changed, since ``before``; in their order, past one."""
        ...

    def is_waiting(self, tenant_id: str, scope: Scope) -> bool:
        """Whether an entry of expiry of a scope is still to be derived: what it names is still held."""
        ...

    def expire(self, tenant_id: str, scope: Scope, into: Scope | None, expiry: Expiry) -> Event | None:
        """Put an entry into the log that says that these are over, with a row of lifecycle, in one transaction; durable on return.

        Events are out of recall and lists from then on. Those that are not in the scope, are out already or have a stage to be done are
        left out; None, with nothing done, where none is left. ``into`` is where the claims of all of them are consolidated. Raises ``Conflict``
        (ERASURE_RUNNING) where the scope is being erased.
        """
        ...

    def entered(self, tenant_id: str, *, after: int) -> dict[Scope, int]:
        """The scopes with entries of expiry past a position, each with the position of its newest; as costly as there are scopes with any."""
        ...

    def entries(self, tenant_id: str, scope: Scope, *, after: int, limit: int) -> Sequence[Event]:
        """The entries of expiry of a scope past a position that have their content, in the order of the log."""
        ...
