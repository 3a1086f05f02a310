"""The part of a brief that is always there: a few indexed reads of local state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant, duration_text
from lamina.language.quarantine import quarantine_of, withheld
from lamina.session.folding import bridge_text, fold_turns, said_of
from lamina.store.ports.sessions import SessionKey, Sitting
from lamina.store.ports.store import Store
from lamina.types.sessions import TemporalAuthority, WorkingTurn

__all__ = ["SessionState", "SessionStates"]

_SITTINGS_READ: Final = 8
_READS_MAX: Final = 8
"""Of a sitting that moves on while it is read."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Where a session stands: its window and its summary."""

    sitting: Sitting | None
    turns: Sequence[WorkingTurn]
    summary: str
    last: Sitting | None
    """Where the user was last heard of: here, or in another session."""

    def authority(self, now: Instant) -> TemporalAuthority:
        """The clock of the answer."""
        last = None if self.last is None else self.last.heard_at(now)
        return TemporalAuthority(
            now=now,
            last_interaction_time=last,
            time_since_last_interaction=None if last is None else duration_text(now - last),
        )

    def starts(self, now: Instant) -> bool:
        """Whether a turn now would begin a session or come after a gap."""
        return self.sitting is None or self.sitting.is_over(now)


class SessionStates:
    """Reads sessions of the log."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def state(
        self, tenant_id: str, scope: Scope, session: str | None, *, with_quarantined: bool = False
    ) -> SessionState:
        """A session as it stands. One without turns knows when its user was last heard of in another. Of a turn that is quarantined
        only that there is one is shown, unless ``with_quarantined``."""
        sitting = None
        if session is not None:
            sitting = self._store.sessions.sitting(SessionKey(tenant_id, scope, session))
        if sitting is None:
            newest = self._store.sessions.newest(tenant_id, scope, 1)
            return SessionState(None, (), "", newest[0] if newest else None)
        sitting, summary = self.told(sitting)
        events = self.events(tenant_id, sitting.buffered)
        turns = [_turn(event, with_quarantined=with_quarantined) for event in events]
        return SessionState(sitting, turns, summary, sitting)

    def bridge(self, tenant_id: str, scope: Scope, now: Instant) -> str:
        """What to know of the user's last sitting that is over; empty when there is none.

        Written when the sitting was closed and folded. Before that it is worded here, of the summary and the turns
        that it does not tell of yet: a bridge does not wait for anybody.
        """
        for sitting in self._store.sessions.newest(tenant_id, scope, _SITTINGS_READ):
            if sitting.is_over(now):
                return self.bridge_of(sitting)
        return ""

    def bridge_of(self, sitting: Sitting) -> str:
        """What to know of a sitting that is over."""
        if sitting.bridge is not None:
            return sitting.bridge
        sitting, untold = self._untold(sitting)
        if sitting.bridge is not None:
            return sitting.bridge
        left = [*untold, *self.events(sitting.place.tenant_id, sitting.buffered)]
        return bridge_text(sitting.summary, map(said_of, left))

    def told(self, sitting: Sitting) -> tuple[Sitting, str]:
        """A sitting, and what is told of the turns that left its window, both as of one moment. Turns that are not folded yet, for a
        moment or while no worker runs, are told by rules, the newest ``limits.SESSION_UNFOLDED_READ_MAX`` of them."""
        sitting, untold = self._untold(sitting)
        return sitting, fold_turns(sitting.summary, map(said_of, untold))

    def _untold(self, sitting: Sitting) -> tuple[Sitting, list[Event]]:
        """A sitting, and the turns that left its window and that its summary does not tell of, without those that were cancelled.

        Others write beside. A turn that was folded between the two reads would stand nowhere, and one that left the window twice; so
        the sitting is read again until it stands as it did before the turns were read.
        """
        left: list[str] = []
        for _ in range(_READS_MAX):
            if not sitting.lags:
                return sitting, []
            left = self._store.sessions.unfolded(
                sitting.place, sitting.number, limits.SESSION_UNFOLDED_READ_MAX
            )
            again = self._store.sessions.sitting(sitting.place, sitting.number)
            if again is None or again == sitting:
                break
            sitting = again
        return sitting, self.events(sitting.place.tenant_id, left)

    def events(self, tenant_id: str, event_ids: Sequence[str]) -> list[Event]:
        """The events of a window, in its order, without those that were cancelled or are gone."""
        found = self._store.log.get(tenant_id, event_ids)
        return [found[key] for key in event_ids if key in found and not found[key].excluded]


def _turn(event: Event, *, with_quarantined: bool) -> WorkingTurn:
    role = event.content.get("role")
    reasons = () if with_quarantined else quarantine_of(event)
    text = withheld(reasons) if reasons else text_of(event.content)
    return WorkingTurn(role=str(role), text=text, timestamp=event.context.observed_at)
