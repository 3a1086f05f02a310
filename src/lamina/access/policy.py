"""The policy decision: which tier allows or denies a grant to a principal.

``dev_local`` allows everything to everybody inside the one local tenant; the four tiers stand on this port.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lamina.errors import Forbidden
from lamina.kernel.operations import Grant, Principal

__all__ = ["Decision", "OpenPolicy", "Policy", "PolicyPermits"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What policy said of a grant, and which tier said it."""

    grant: Grant
    allowed: bool
    tier: str
    preset: str


class Policy(Protocol):
    """Decides grants. A capability that no tier allows is denied."""

    def decide(self, principal: Principal, grant: Grant) -> Decision:
        """The decision for one principal and one grant; it has no side effect."""
        ...


class OpenPolicy:
    """The policy of ``dev_local``: allow."""

    def decide(self, principal: Principal, grant: Grant) -> Decision:  # noqa: ARG002 - the port's shape
        """Mirrors ``Policy.decide``."""
        return Decision(grant, allowed=True, tier="deployment", preset="dev_local")


class PolicyPermits:
    """``Permits`` of one principal under one policy."""

    def __init__(self, policy: Policy, principal: Principal) -> None:
        self._policy = policy
        self._principal = principal

    def decide(self, grant: Grant) -> Decision:
        """The decision behind ``allows`` and ``require``."""
        return self._policy.decide(self._principal, grant)

    def allows(self, grant: Grant) -> bool:
        """Mirrors ``Permits.allows``."""
        return self.decide(grant).allowed

    def require(self, grant: Grant) -> None:
        """Mirrors ``Permits.require``."""
        decision = self.decide(grant)
        if not decision.allowed:
            raise Forbidden(
                "POLICY_DENIED",
                f"{grant.capability} is denied by the {decision.tier} tier",
                details={
                    "capability": str(grant.capability),
                    "denied_by_tier": decision.tier,
                    "deployment_preset": decision.preset,
                },
            )
