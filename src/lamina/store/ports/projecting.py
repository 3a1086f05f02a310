"""What an engine's documents need of whoever turns their rows into commits of a repository, wherever that happens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from lamina.store.ports.documents import Commit, Landed

__all__ = ["Projecting"]


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
