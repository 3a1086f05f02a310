"""How many lifecycle streams are open, and by whom: nobody takes the places of others."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from lamina import limits
from lamina.errors import Busy

__all__ = ["Places", "PlacesMax"]


@dataclass(frozen=True, slots=True)
class PlacesMax:
    """How many streams there may be at once, of one process: in all, of a tenant, of an actor."""

    in_all: int = limits.LIFECYCLE_STREAMS_MAX
    of_tenant: int = limits.LIFECYCLE_STREAMS_OF_TENANT_MAX
    of_actor: int = limits.LIFECYCLE_STREAMS_OF_ACTOR_MAX


class Places:
    """The places of streams."""

    def __init__(self, most: PlacesMax) -> None:
        self._most = most
        # Re-entrant: a stream that is collected gives its place back on whatever thread is just allocating.
        self._lock = threading.RLock()
        self._taken: Counter[tuple[str, ...]] = Counter()

    def take(self, tenant_id: str, actor: str) -> None:
        """Count a stream in; raises ``Busy`` (TOO_MANY_STREAMS) by the first bound that is reached."""
        with self._lock:
            counted = _counted(tenant_id, actor)
            most = self._most.of_actor, self._most.of_tenant, self._most.in_all
            whose = f"of {actor}", f"of the tenant {tenant_id}", "of this server"
            for held, bound, owner in zip(counted, most, whose, strict=True):
                if self._taken[held] >= bound:
                    raise _too_many(bound, owner)
            for held in counted:
                self._taken[held] += 1

    def give(self, tenant_id: str, actor: str) -> None:
        """Count a stream out."""
        with self._lock:
            for held in _counted(tenant_id, actor):
                self._taken[held] -= 1
                if not self._taken[held]:
                    del self._taken[held]


def _counted(tenant_id: str, actor: str) -> tuple[tuple[str, ...], ...]:
    return (tenant_id, actor), (tenant_id,), ()


def _too_many(most: int, whose: str) -> Busy:
    return Busy(
        "TOO_MANY_STREAMS",
        f"{most} lifecycle streams {whose} are open",
        hint="close one, or read GET /v1/lifecycle page by page",
        details={"retry_after_s": 5, "streams_max": most},
    )
