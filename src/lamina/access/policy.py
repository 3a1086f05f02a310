"""What a policy decision is, and the permits of one caller over it: the one place where slices learn who may what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lamina.errors import Forbidden
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Permits, Principal
from lamina.kernel.scopes import Scope

__all__ = ["Decider", "Decision", "Policy", "PolicyPermits"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What policy said of a grant, and which tier said it.

    Of a denial ``grant`` is the capability that is missing, which may be another than the one asked for: writing
    above one's level misses ``scope.write.elevated``. ``code`` is the error it becomes.
    """

    grant: Grant
    allowed: bool
    tier: str
    preset: str
    code: str = "POLICY_DENIED"
    remediation: str | None = None


class Decider(Protocol):
    """Policy as it stood at one moment."""

    def decide(self, principal: Principal, grant: Grant) -> Decision:
        """The decision for one principal and one grant; it has no side effect. Silence means no."""
        ...

    def above(self, principal: Principal, scope: Scope) -> Sequence[Scope]:
        """The further scopes that a holistic read of a scope walks."""
        ...


class Policy(Protocol):
    """Policy as it stands now: what was decided a moment ago may be decided otherwise."""

    def current(self) -> Decider:
        """Policy as it stands now; a call decides everything by one of these."""
        ...


class PolicyPermits:
    """``Permits`` of one principal, under policy as it stood when they were made.

    ``identify`` tells who the caller is by now; where it is left out nothing can change about that.
    """

    def __init__(
        self, policy: Policy, principal: Principal, identify: Callable[[], Principal] | None = None
    ) -> None:
        self._policy = policy
        self._decider = policy.current()
        self._principal = principal
        self._identify = identify

    def decide(self, grant: Grant) -> Decision:
        """The decision behind ``allows`` and ``require``."""
        return self._decider.decide(self._principal, grant)

    def allows(self, grant: Grant) -> bool:
        """Mirrors ``Permits.allows``."""
        return self.decide(grant).allowed

    def require(self, grant: Grant) -> None:
        """Mirrors ``Permits.require``."""
        self.granted(grant)

    def granted(self, grant: Grant) -> Decision:
        """The decision that allows a grant; raises ``Forbidden`` as ``require`` does."""
        decision = self.decide(grant)
        if not decision.allowed:
            raise _forbidden(decision)
        return decision

    def reason(self, grant: Grant) -> str | None:
        """Mirrors ``Permits.reason``."""
        decision = self.decide(grant)
        return None if decision.allowed else f"{decision.code}: {_words(decision)}"

    def tier_of(self, grant: Grant) -> str:
        """Mirrors ``Permits.tier_of``."""
        return self.decide(grant).tier

    def above(self, scope: Scope) -> Sequence[Scope]:
        """Mirrors ``Permits.above``."""
        return self._decider.above(self._principal, scope)

    def denials(self, scope: Scope | None) -> Mapping[str, str]:
        """Mirrors ``Permits.denials``."""
        decided = {each: self.decide(Grant(each, scope)) for each in Capability}
        return {each.value: decision.tier for each, decision in decided.items() if not decision.allowed}

    def renewed(self) -> Permits:
        """Mirrors ``Permits.renewed``."""
        principal = self._principal if self._identify is None else self._identify()
        known = (self._principal.tenant_id, self._principal.actor)
        assert (principal.tenant_id, principal.actor) == known, (
            "a token names one caller for as long as it holds"
        )
        return PolicyPermits(self._policy, principal, self._identify)


def _words(decision: Decision) -> str:
    denied = f"{decision.grant.capability} is denied by the {decision.tier} tier"
    return f"{denied} to who is no member of the scope" if decision.code == "NOT_A_MEMBER" else denied


def _forbidden(decision: Decision) -> Forbidden:
    details = {
        "capability": str(decision.grant.capability),
        "denied_by_tier": decision.tier,
        "deployment_preset": decision.preset,
    }
    if decision.remediation:
        details["remediation"] = decision.remediation
    # As the hint too: answers in the style of Relay have no details.
    hint = decision.remediation
    if decision.code == "NOT_A_MEMBER":
        return Forbidden("NOT_A_MEMBER", _words(decision), hint=hint, details=details)
    return Forbidden("POLICY_DENIED", _words(decision), hint=hint, details=details)
