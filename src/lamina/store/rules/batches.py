"""Which jobs go into a batch when more are due than it holds: no scope takes more than a share of it, and scopes take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Protocol, TypeVar

from lamina import limits

__all__ = ["Queued", "ScopeKey", "ScopeRotation", "shared_batch"]

ScopeKey = tuple[str, str]
"""A tenant and a scope of it."""
_FIRST: Final = ("", "")


class Queued(Protocol):
    """A job that can run now. ``order`` is that of the log, ``alone`` says that its worker went away: it is a batch of its own."""

    @property
    def place(self) -> ScopeKey: ...

    @property
    def order(self) -> int: ...

    @property
    def alone(self) -> bool: ...


QueuedT = TypeVar("QueuedT", bound=Queued)


@dataclass(slots=True)
class ScopeRotation:
    """The scope that was served last: the next batch begins with the scopes behind it."""

    last: ScopeKey = _FIRST


def shared_batch(
    oldest: Sequence[QueuedT],
    limit: int,
    turns: ScopeRotation,
    waiting: Callable[[ScopeKey, int], Iterable[ScopeKey]],
    first_of: Callable[[ScopeKey, int], Sequence[QueuedT]],
) -> list[QueuedT]:
    """Up to ``limit`` jobs in the order of the log, of more that can run: half for the ``oldest``, the rest for the scopes in turn.

    ``waiting`` gives so many scopes behind a place with jobs that can run, ``first_of`` so many of the first jobs of one. A scope
    takes its share at most, or all of the batch where no other waits.
    """
    share = limit // limits.JOB_SHARES
    chosen: dict[int, QueuedT] = {}
    taken: Counter[ScopeKey] = Counter()

    def take(jobs: Iterable[QueuedT], room: int, share: int) -> None:
        for job in jobs:
            if len(chosen) < room and taken[job.place] < share and job.order not in chosen:
                chosen[job.order] = job
                taken[job.place] += 1

    take(oldest, limit // 2, share)
    seats = limit - len(chosen)
    found: dict[ScopeKey, None] = {}
    for start in dict.fromkeys((turns.last, _FIRST)):
        if len(found) < seats:
            found |= dict.fromkeys(place for place in waiting(start, limit) if place not in taken)
    places = list(found)[:seats]
    for number, place in enumerate(places):
        jobs = first_of(place, min(share, seats // len(places)))
        assert jobs, "a scope that waits has a job that can run"
        if jobs[0].alone and number:
            break  # it comes first next time
        turns.last = place
        if jobs[0].alone:
            return [jobs[0]]
        take(jobs, limit, share)
    take(oldest, limit, limit if len(taken) == 1 else share)
    return sorted(chosen.values(), key=attrgetter("order"))
