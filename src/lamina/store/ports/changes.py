"""Who is told that something was committed, by any process over the same place."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Changes", "Follower"]


class Follower(Protocol):
    """One who follows what is committed. ``wait`` belongs to one thread, ``close`` to any."""

    def wait(self, timeout_s: float) -> frozenset[str]:
        """The tenants that have lifecycle rows which came since the last wait, or since this began to follow.

        Returns at once where there are some, else with the next commit. It is empty when what was committed is no row of a
        lifecycle, such as a policy, when time is up, and once it is closed: whoever depends on anything else looks for
        it. A tenant may be named again without a new row, and is never left out. Raises ``Unavailable`` (WAL_UNAVAILABLE)
        when the store cannot be asked; what came meanwhile is told by the next wait.
        """
        ...

    def close(self) -> None:
        """Follow no more; a wait that runs ends."""
        ...


class Changes(Protocol):
    """What was committed, as it is committed."""

    def follow(self) -> Follower:
        """A follower from now on. Nothing is looked for while there is none."""
        ...
