"""What an engine's documents need of whoever turns their rows into commits of a repository, wherever that happens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, Protocol

from lamina.errors import Unavailable
from lamina.store.ports.documents import Commit, Landed

__all__ = ["KEPT", "Projecting", "kept", "out_of_reach"]

KEPT: Final = "REPOSITORY_UNAVAILABLE"
"""A write that failed only after it had landed."""


class Projecting(Protocol):
    """What turns rows into commits of a repository."""

    def claim(self) -> None:
        """Nothing when this process may write documents; raises ``Unavailable`` (DOCUMENTS_IN_USE)."""
        ...

    def rebuild(self, tenant_ids: Collection[str]) -> None:
        """Build repositories anew from their rows, behind the writes; raises ``Unavailable`` (DOCUMENTS_IN_USE)."""
        ...

    def rewrite(self, tenant_id: str) -> None:
        """Have a repository made without what was erased, behind the writes where somebody makes commits, else here and now.

        Nobody is kept from making commits afterwards. Raises ``Unavailable`` (DOCUMENTS_IN_USE) where another process makes them
        that does not take orders: it looks for itself.
        """
        ...

    def recover(self) -> None:
        """Finish what a crash left; nothing where another process may write."""
        ...

    def stand(self, commits: Sequence[Landed]) -> list[str]:
        """The hashes of commits, once they stand in their repositories; raises ``Unavailable`` (REPOSITORY_UNAVAILABLE)."""
        ...

    def head(self, tenant_id: str) -> Commit | None:
        """The newest commit that was made here, where its row may not say so yet."""
        ...

    def behind(self) -> int:
        """How many tenants' repositories lack something that is in their rows."""
        ...

    def close(self) -> None:
        """Finish what waits, then stop."""
        ...


def kept(reason: str) -> Unavailable:
    """The refusal of a write whose rows have landed: whoever makes it again makes another."""
    return Unavailable(
        KEPT,
        f"the write is kept, but its commit could not be made: {reason}",
        hint="check the disk; the commit is made by itself once that works",
    )


def out_of_reach(reason: str, hint: str = "check the disk, then retry") -> Unavailable:
    """The refusal of a write of which nothing has landed."""
    return Unavailable("WAL_UNAVAILABLE", f"the documents cannot be reached: {reason}", hint=hint)
