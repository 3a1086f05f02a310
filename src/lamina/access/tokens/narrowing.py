"""What a token leaves of what policy allows (seed 002, 4.2, 4.4 and 5.1.1). It takes away and never gives."""

from __future__ import annotations

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Grant, Principal

__all__ = ["token_allows"]

_NOT_FOR_SERVICES = "forget.gdpr"
_ASKED_AGAIN = frozenset(
    {
        Capability.SCOPE_READ_LOCAL,
        Capability.SCOPE_WRITE,
        Capability.UNDERSTANDING_READ,
        Capability.LIFECYCLE_SUBSCRIBE,
    }
)
"""Operations on an id ask for these without a scope, and once they know the scope they ask again."""


def token_allows(principal: Principal, grant: Grant) -> bool:
    """Whether the caller's token leaves them a grant; True for callers without a token.

    A capability that ``caps`` does not list is gone. One that ``scopes`` names is left on the scopes of its entries
    only; a grant of it that is bound to no scope is gone too, unless operations ask again with one. Nothing in a token is a wildcard: ``scope.read.*``
    in ``caps`` would name a capability of that spelling. Service accounts never erase for good (4.4).
    """
    token = principal.token
    if token is None:
        return True
    capability = str(grant.capability)
    if principal.actor.startswith("service:") and f"{capability}.".startswith(f"{_NOT_FOR_SERVICES}."):
        return False
    if token.caps is not None and capability not in token.caps:
        return False
    limits = [limit for limit in token.scopes if limit.capability == capability]
    if not limits:
        return True
    if grant.scope is None:
        return capability in _ASKED_AGAIN
    return any(limit.covers(grant.scope) for limit in limits)
