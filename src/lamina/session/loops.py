"""Open loops as the clock of the caller sees them. Reading them changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from lamina.kernel.records import LOOPS_OPEN, Horizon, Layer, Loop
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import HOUR_US, Instant, rfc3339, rfc3339_or_none
from lamina.language.quarantine import quarantine_of_words
from lamina.pipeline.loops.meaning import is_appointment
from lamina.recall.changed import changes_of
from lamina.session.identity import EVERYTHING
from lamina.store.ports.records import RecordQuery, Records
from lamina.store.ports.store import Store
from lamina.types.sessions import ActiveLoop, LoopInFull

__all__ = [
    "BRIEF_LOOPS_MAX",
    "active_loops",
    "in_doubt",
    "in_full",
    "loop_row",
    "open_loops",
    "shown",
    "status_at",
]

BRIEF_LOOPS_MAX: Final = 5
_READ_MAX: Final = 200
_TOOK_PLACE_US: Final = 24 * HOUR_US
_DUE_SINCE_US: Final = 24 * HOUR_US
_DUE_WITHIN_US: Final = 7 * 24 * HOUR_US
_STALE_AFTER: Final[Mapping[Horizon, tuple[str, int]]] = {
    "today": ("stale", 48 * HOUR_US),
    "this_week": ("stale", 10 * 24 * HOUR_US),
    "ongoing": ("needs_review", 21 * 24 * HOUR_US),
}


def in_doubt(store: Store, tenant_id: str, loops: Sequence[Loop]) -> frozenset[str]:
    """The ids of those loops of whose matter a later turn spoke with a sign of change, though nobody read there that they are over."""
    marked = store.records.supports_related(tenant_id, [loop.id for loop in loops], Tie.MAY_CHANGE)
    return frozenset(changes_of(store.log, tenant_id, loops, marked).marks)


def status_at(loop: Loop, now: Instant, doubted: Collection[str] = ()) -> str:
    """The status of a loop: an active one that nobody spoke of for long, and whose day is past, is stale or to be
    reviewed, and so is one of the ``doubted``. What took place on its day is stale the day after, unless somebody speaks of it again."""
    if loop.status != "active":
        return loop.status.value
    if (
        loop.due_at is not None
        and now - loop.last_at > _TOOK_PLACE_US
        and is_appointment(str(loop.object.value))
    ):
        return "stale"
    status, after_us = _STALE_AFTER[loop.horizon]
    if now - loop.last_at > after_us:
        return status
    return "needs_review" if loop.id in doubted else "active"


def open_loops(records: Records, tenant_id: str, scope: Scope) -> list[Loop]:
    """The loops of a scope that nothing has ended, those spoken of last first."""
    query = RecordQuery(
        tenant_id=tenant_id,
        layer=Layer.FACTS,
        scopes=[scope],
        axes=EVERYTHING,
        topic=LOOPS_OPEN,
        limit=_READ_MAX,
    )
    found = [record for record in records.query(query) if isinstance(record, Loop)]
    return sorted(found, key=lambda loop: (-loop.seen_at, -loop.salience, loop.id))


def active_loops(
    store: Store, tenant_id: str, scope: Scope, now: Instant, *, with_quarantined: bool = False
) -> list[ActiveLoop]:
    """The few loops for a brief, active or to be reviewed: what is due within a week, or was since yesterday, before the rest. Those
    with a secret in their words are left out, unless ``with_quarantined``."""
    since = {
        horizon: now - after_us for horizon, (status, after_us) in _STALE_AFTER.items() if status == "stale"
    }
    due = (now - _DUE_SINCE_US, now + _DUE_WITHIN_US)
    found = store.records.spoken_of(
        tenant_id, scope, since, due=due, read=_READ_MAX, limit=2 * BRIEF_LOOPS_MAX
    )
    doubted = in_doubt(store, tenant_id, found)
    told = [shown(loop, now, doubted) for loop in found]
    shown_too = [loop for loop in told if with_quarantined or not quarantine_of_words(loop.text)]
    return [loop for loop in shown_too if loop.status != "stale"][:BRIEF_LOOPS_MAX]


def shown(loop: Loop, now: Instant, doubted: Collection[str] = ()) -> ActiveLoop:
    """A loop as the brief shows it."""
    return ActiveLoop(
        id=loop.id,
        type=loop.predicate,
        status=status_at(loop, now, doubted),
        text=str(loop.object.value),
        salience=loop.salience,
        due_date=loop.due_day,
    )


def in_full(loop: Loop, now: Instant, doubted: Collection[str]) -> LoopInFull:
    """A loop as a list of them shows it."""
    return LoopInFull(
        **dict(shown(loop, now, doubted)),
        confidence=loop.confidence,
        time_horizon=loop.horizon,
        source_event_id=loop.event_id,
        created_at=loop.valid_from,
        last_seen_at=loop.seen_at,
        completed_at=loop.valid_to,
    )


def loop_row(loop: Loop, now: Instant, doubted: Collection[str]) -> dict[str, Any]:
    """A loop as a row, for those who look behind the scenes."""
    return {
        "id": loop.id,
        "type": loop.predicate,
        "status": status_at(loop, now, doubted),
        "text": str(loop.object.value),
        "confidence": loop.confidence,
        "salience": loop.salience,
        "time_horizon": loop.horizon,
        "due_date": loop.due_day,
        "source_event_id": loop.event_id,
        "created_at": rfc3339(loop.valid_from),
        "last_seen_at": rfc3339(loop.seen_at),
        "completed_at": rfc3339_or_none(loop.valid_to),
    }
