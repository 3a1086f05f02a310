"""A policy for tests that are about something else."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.access.policy import Decider, Decision
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.scopes import Scope

__all__ = ["OpenPolicy"]


class OpenPolicy:
    """Allows everything."""

    def current(self) -> Decider:
        """Mirrors ``Policy.current``."""
        return self

    def decide(self, principal: Principal, grant: Grant) -> Decision:
        """Mirrors ``Decider.decide``."""
        return Decision(grant, allowed=True, tier="deployment", preset="dev_local")

    def above(self, principal: Principal, scope: Scope) -> Sequence[Scope]:
        """Mirrors ``Decider.above``."""
        return scope.ancestors()
