"""``lamina replay``: every derived layer dropped and rebuilt, to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.worker import Worker
from lamina.session.retelling import retell
from lamina.settings import Settings
from lamina.store.opening import alone, make_folder, open_store, require_store
from lamina.store.ports.jobs import Jobs
from lamina.worker_app import build_worker

__all__ = ["Replayed", "derive_all", "run_replay"]

_TELL_EVERY_S = 5.0
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many events were replayed, and how many of them failed for good."""

    events: int
    failed: int


def run_replay(settings: Settings, tell: Callable[[str], None]) -> Replayed:
    """Drop every derived row and derive it again from the log, to the end; summaries are told anew, by what models said of them. ``tell`` has lines about how far it is.

    When it is interrupted, what is left stays queued for the next worker.
    """
    require_store(settings.data)
    make_folder(settings.data)
    with alone(settings.data):
        store = open_store(settings, durable=False)
        try:
            events = store.jobs.reset()
            store.rederivation.note_all(DERIVED_BY)
            retell(store)
            failed = derive_all(store.jobs, build_worker(settings, store, replays=True), events, tell)
            return Replayed(events, failed)
        finally:
            store.close()


def derive_all(
    jobs: Jobs,
    worker: Worker,
    events: int,
    tell: Callable[[str], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Work until nothing waits, what failed and is due again in a while included; how many events failed for good."""
    left = events
    told_at = time.monotonic()
    try:
        while left:
            done = worker.step()
            if not done:
                sleep(_LOOK_S)
            if not done or time.monotonic() - told_at > _TELL_EVERY_S:
                left = _left(jobs)
            if time.monotonic() - told_at > _TELL_EVERY_S:
                told_at = time.monotonic()
                tell(f"{left} of {events} events are left")
        while worker.embed_pending():
            pass
    except BaseException:
        tell(f"stopped: the next worker derives the {_left(jobs)} events that are left")
        raise
    return jobs.backlog()["failed"]


def _left(jobs: Jobs) -> int:
    backlog = jobs.backlog()
    return backlog["pending"] + backlog["running"]
