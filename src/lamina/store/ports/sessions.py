"""Sessions: sittings with their windows, and the outbox of the turns that left them.

A session is a view over the log: its turns are events, and the store keeps which of them stand in the window, which
left it, and what was told of those that did. A *sitting* is a stretch of a session that no long gap interrupts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from lamina import limits
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Instant, waits
from lamina.store.ports.log import Appended, Capture
from lamina.store.ports.writes import Inquiry

__all__ = [
    "End",
    "Fold",
    "OutboxRow",
    "OutboxState",
    "Reworded",
    "SessionKey",
    "Sessions",
    "Sitting",
    "Wording",
]

OutboxState = Literal["pending", "sent", "failed"]

_GAP_US = limits.SESSION_GAP_S * SECOND_US


class SessionKey(NamedTuple):
    """Which session: two tenants, or two users of one, may use the same id."""

    tenant_id: str
    scope: Scope
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """A stretch of a session.

    ``window`` names the events of its newest turns, oldest first, at most ``limits.SESSION_WINDOW_TURNS``; it stays
    when the sitting is closed, and then all of them have left it. ``folded`` of the ``turns`` are in ``summary``.
    ``last_turn_at`` is the latest of the times that its turns count at, ``touched_at`` when the newest was recorded.
    ``worded`` is the summary as a language model words it, as far as it got; None where nothing waits for one. ``revision`` counts the
    changes of the summary.
    """

    place: SessionKey
    number: int
    window: tuple[str, ...]
    turns: int
    folded: int
    summary: str
    bridge: str | None
    opened_at: Instant
    touched_at: Instant
    last_turn_at: Instant
    last_position: int
    closed_at: Instant | None = None
    worded: str | None = None
    revision: int = 0

    @property
    def buffered(self) -> tuple[str, ...]:
        """The events that stand in the window now: none once the sitting is closed."""
        return self.window if self.closed_at is None else ()

    @property
    def unfolded(self) -> tuple[str, ...]:
        """The events among the newest that the summary does not tell of yet."""
        return self.window[max(0, len(self.window) - (self.turns - self.folded)) :]

    def heard_at(self, at: Instant) -> Instant:
        """When its last turn was, for one who stands at ``at``.

        A last turn dated more than a gap after that comes of a wrong clock, and counts at most as late as it was
        recorded: otherwise no later turn would be late enough to end the sitting.
        """
        ahead = self.last_turn_at - at > _GAP_US
        return min(self.last_turn_at, self.touched_at) if ahead else self.last_turn_at

    def is_over(self, at: Instant) -> bool:
        """Whether it is closed, or a turn at ``at`` would close it."""
        return self.closed_at is not None or at - self.heard_at(at) > _GAP_US

    @property
    def lags(self) -> bool:
        """Whether turns left the window that the summary does not tell of yet."""
        return self.folded < self.turns - len(self.buffered)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A turn that left its window, until everything behind the two calls has had it.

    ``failed`` is for good; a pending row that was tried before has a ``next_attempt_at``.
    """

    id: int
    place: SessionKey
    sitting: int
    event_id: str
    state: OutboxState = "pending"
    attempts: int = 0
    next_attempt_at: Instant | None = None
    lease_until: Instant | None = None
    last_error: str | None = None
    folded_at: Instant | None = None
    sent_at: Instant | None = None
    created_at: Instant
    lease_owner: str | None = None
    fence: int = 0
    """The number of its lease, 0 while nobody has it."""

    def is_due(self, now: Instant) -> bool:
        """Whether nothing but an earlier row of its session keeps it from being claimed."""
        return not waits(self.lease_until or 0, now) and not waits(self.next_attempt_at or 0, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """The next turns of a sitting, claimed under ``fence`` and folded: ``summary`` tells of them too. ``bridge`` once nothing is left to fold.

    ``sent`` says that nobody else waits for them. ``revision`` is that of the sitting whose summary was folded on. A language
    model is asked ``inquiries`` to word it behind that, one for each turn; without them the summary stands.
    """

    place: SessionKey
    number: int
    ids: tuple[int, ...]
    fence: int
    summary: str
    bridge: str | None
    at: Instant
    sent: bool
    revision: int
    inquiries: tuple[Inquiry, ...] = ()


@dataclass(frozen=True, slots=True)
class Wording:
    """A sitting, and those of its folded turns that wait for a model's words: events in the order of leaving, at most
    ``limits.SESSION_WORDING_READ_MAX`` and one."""

    sitting: Sitting
    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """The turn of an inquiry, in a model's words: ``worded`` tells of it after those before it, None when no turn waits behind it.
    ``summary`` and ``bridge`` stay as they are where they are None. ``sitting`` is as it was read."""

    sitting: Sitting
    inquiry: Inquiry
    worded: str | None
    summary: str | None
    bridge: str | None


class End(NamedTuple):
    """That a session was over at ``ended_at``, as was told at ``told_at``."""

    ended_at: Instant
    told_at: Instant


class Sessions(Protocol):
    """Sittings with their windows, and the outbox of the turns that left them."""

    def take(self, turns: Sequence[Capture], *, end: End | None = None) -> list[Appended]:
        """Append turns as ``EventLog.append`` does, and move each session's window, in one transaction.

        Every draft names its session. A turn that comes more than ``limits.SESSION_GAP_S`` after the last closes
        the sitting and opens the next; a turn too many puts the oldest into the outbox. A replayed capture moves
        nothing. With ``end`` the sitting of the turns, all of one session, is closed where no other turn came after
        them and none is of a later time than ``end`` and they.
        """
        ...

    def sitting(self, place: SessionKey, number: int | None = None) -> Sitting | None:
        """A sitting of a session, the latest unless its number is given; None when there is none."""
        ...

    def newest(self, tenant_id: str, scope: Scope, limit: int) -> list[Sitting]:
        """The sittings of a scope, those with the newest turns first."""
        ...

    def close(
        self, place: SessionKey, at: Instant, *, untouched_since: Instant | None = None
    ) -> Sitting | None:
        """Close the open sitting of a session, its whole window going into the outbox; None when none is open.

        With ``untouched_since`` only when no turn was recorded since then.
        """
        ...

    def idle(self, before: Instant, limit: int) -> list[SessionKey]:
        """Sessions of every tenant with an open sitting and no turn since ``before``, longest first."""
        ...

    def claim(self, *, limit: int, lease_until: Instant, now: Instant, owner: str) -> list[OutboxRow]:
        """Lease up to ``limit`` due rows of every tenant under one new fence, sessions by their first row, at most
        ``limits.OUTBOX_SESSION_ROWS_MAX`` of each. Within a session nothing overtakes."""
        ...

    def fold(self, fold: Fold) -> bool:
        """Land a fold, and with it that its rows are folded; False, with nothing done, if one of them is already
        or is not held under the fence any more, or if the summary has changed since."""
        ...

    def left(self, tenant_id: str, event_id: str) -> Sitting | None:
        """The sitting whose window an event has left, None when it left none."""
        ...

    def wording(self, tenant_id: str, event_id: str) -> Wording | None:
        """The sitting whose window an event has left; None when it left none, or its summary stands as rules made it."""
        ...

    def reword(self, reworded: Reworded) -> bool:
        """Land a model's words and end the inquiry; False, with nothing done, if that is not held under its fence any more, or if the
        summary has changed since the sitting was read."""
        ...

    def walk(self, after: Sitting | None, limit: int) -> list[Sitting]:
        """The sittings of every tenant in a fixed order, from behind one on."""
        ...

    def folded(self, place: SessionKey, number: int) -> list[str]:
        """The events that the summary of a sitting tells of, in the order in which they left its window."""
        ...

    def retell(self, sitting: Sitting, summary: str, bridge: str | None) -> bool:
        """Put other words in the place of the summary and, where given, of the bridge; False, with nothing done, if the summary has
        changed since the sitting was read."""
        ...

    def unfolded(self, place: SessionKey, number: int, limit: int) -> list[str]:
        """The newest events that left a sitting's window and that its summary does not tell of yet, oldest first."""
        ...

    def sent(self, rows: Collection[OutboxRow], at: Instant) -> None:
        """Everybody has had these rows. Here and below, rows are as they were claimed: one that is gone meanwhile, or whose
        lease ended and that somebody else may have, as its fence tells, is left alone."""
        ...

    def put_off(self, row: OutboxRow, error: str, *, retry_at: Instant | None, failed: bool) -> None:
        """Note a failed attempt: due again at ``retry_at``, or failed for good and visible. Its lease ends."""
        ...

    def release(self, rows: Collection[OutboxRow]) -> None:
        """Give leases back without an attempt."""
        ...

    def take_over(self) -> int:
        """For a drain that knows it is alone: the others are dead, so their leases end. How many."""
        ...

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Make rows that failed for good due again; how many."""
        ...

    def outbox(self, tenant_id: str, within: Scope | None, limit: int) -> list[OutboxRow]:
        """Rows that are pending or failed, newest first."""
        ...
