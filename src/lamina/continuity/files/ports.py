"""What finds documents by words and by meaning; the wiring gives it."""

from __future__ import annotations

from typing import Protocol

from lamina.index.documents import Coverage, FoundDocument, Passing

__all__ = ["Finder"]


class Finder(Protocol):
    """The index that recall uses, over the documents of Relay."""

    def find(self, tenant_id: str, query: str, limit: int, passing: Passing) -> list[FoundDocument]:
        """The best documents among those that pass, best first."""
        ...

    def coverage(self, tenant_id: str) -> Coverage:
        """How far the index is behind the documents."""
        ...
