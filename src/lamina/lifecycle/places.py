"""How many lifecycle streams are open, and by whom: nobody takes the places of others."""

from __future__ import annotations

from dataclasses import dataclass

from lamina import limits
from lamina.errors import Busy
from lamina.store.tallies import LocalPlaces, PlacesTaken

__all__ = ["Places", "PlacesMax"]


@dataclass(frozen=True, slots=True)
class PlacesMax:
    """How many streams there may be at once: in one process, and in all of a server of a tenant and of an actor."""

    in_all: int = limits.LIFECYCLE_STREAMS_MAX
    of_tenant: int = limits.LIFECYCLE_STREAMS_OF_TENANT_MAX
    of_actor: int = limits.LIFECYCLE_STREAMS_OF_ACTOR_MAX


class Places:
    """Counts the streams that are open, against the bounds of an actor, of a tenant and of this process."""

    def __init__(self, most: PlacesMax, taken: PlacesTaken | None = None) -> None:
        """``taken`` counts those of callers: this process's own unless given."""
        self._most = most
        self._taken = LocalPlaces() if taken is None else taken
        self._open = LocalPlaces()

    def take(self, tenant_id: str, actor: str) -> None:
        """Count a stream in; raises ``Busy`` (TOO_MANY_STREAMS) by the first bound that is reached."""
        here = [((), self._most.in_all)]
        theirs = [((tenant_id, actor), self._most.of_actor), ((tenant_id,), self._most.of_tenant)]
        full = self._taken.take(theirs)
        if full is not None:
            raise _too_many(theirs[full][1], (f"of {actor}", f"of the tenant {tenant_id}")[full])
        if self._open.take(here) is not None:
            self._taken.give([name for name, _ in theirs])
            raise _too_many(self._most.in_all, "of this server")

    def give(self, tenant_id: str, actor: str) -> None:
        """Count a stream out that ended."""
        self._open.give([()])
        self._taken.give([(tenant_id, actor), (tenant_id,)])


def _too_many(most: int, whose: str) -> Busy:
    return Busy(
        "TOO_MANY_STREAMS",
        f"{most} lifecycle streams {whose} are open",
        hint="close one, or read GET /v1/lifecycle page by page",
        details={"retry_after_s": 5, "streams_max": most},
    )
