"""The scopes that exist, because something was written there or somebody registered them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["ScopeRow", "Scopes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """A scope that something was written to, or that was registered."""

    tenant_id: str
    path: Scope
    auto_provisioned: bool
    created_by: str
    created_at: Instant
    pruned: bool = False
    """Left out of lists and descents until somebody writes there. Its memory is there, and its creator's."""


class Scopes(Protocol):
    """The scopes that exist."""

    def get(self, tenant_id: str, path: Scope) -> ScopeRow | None:
        """The scope's row, or None when nothing was ever written there."""
        ...

    def below(
        self, tenant_id: str, path: Scope, limit: int, *, seen_at: Instant | None = None
    ) -> list[Scope]:
        """Existing scopes at or under a path that were not pruned, sorted, at most ``limit``; those that were there at an instant."""
        ...
