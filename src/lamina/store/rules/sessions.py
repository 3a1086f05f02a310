"""The rule of the window: what a turn does to its session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lamina import limits
from lamina.kernel.events import Event
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.ports.sessions import End, SessionKey, Sitting

__all__ = ["Advance", "advance", "closed", "ends"]

_AHEAD_US = limits.SESSION_TURN_AHEAD_S * SECOND_US


class Advance(NamedTuple):
    """What a turn does to its session: the sitting it is in now, one that it closed, and what left a window."""

    sitting: Sitting
    closed: Sitting | None
    evicted: tuple[tuple[int, str], ...]
    """(sitting's number, event id), in the order of leaving."""


def advance(held: Sitting | None, event: Event) -> Advance:
    """What a turn does; ``held`` is the session's latest sitting."""
    assert event.session is not None, "a turn names its session"
    at = _counted_at(event)
    ended: Sitting | None = None
    evicted: list[tuple[int, str]] = []
    number = 1 if held is None else held.number + 1
    if held is not None and held.closed_at is None and held.is_over(at):
        ended = closed(held, event.recorded_at)
        evicted += [(held.number, event_id) for event_id in held.window]
        held = None
    if held is None or held.closed_at is not None:
        held = Sitting(
            place=SessionKey(event.tenant_id, event.scope, event.session),
            number=number,
            window=(),
            turns=0,
            folded=0,
            summary="",
            bridge=None,
            opened_at=event.recorded_at,
            touched_at=event.recorded_at,
            last_turn_at=at,
            last_position=event.position,
        )
    window = (*held.window, event.id)
    over = max(0, len(window) - limits.SESSION_WINDOW_TURNS)
    evicted += [(held.number, event_id) for event_id in window[:over]]
    sitting = replace(
        held,
        window=window[over:],
        turns=held.turns + 1,
        touched_at=event.recorded_at,
        last_turn_at=max(held.heard_at(at), at),
        last_position=event.position,
    )
    return Advance(sitting, ended, tuple(evicted))


def closed(sitting: Sitting, at: Instant) -> Sitting:
    """The sitting once it is over."""
    return replace(sitting, closed_at=at)


def ends(held: Sitting, turns: Sequence[Event], end: End) -> bool:
    """Whether the end of a session that was taken in ends a sitting of it. A sitting goes on in which somebody spoke
    since: an old session that is taken in late, or once more, ends nothing that is going on."""
    told_last = not {event.id for event in turns}.isdisjoint(held.window[-1:])
    latest = max(end.ended_at, *(_counted_at(event) for event in turns))
    return held.closed_at is None and told_last and held.heard_at(end.told_at) <= latest


def _counted_at(event: Event) -> Instant:
    at = event.context.observed_at
    return event.recorded_at if at - event.recorded_at > _AHEAD_US else at
