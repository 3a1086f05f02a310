"""What a verified token says besides who calls: facts that policy, audit and revocation read."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.kernel.relay import RelayGrant
from lamina.kernel.scopes import Scope

__all__ = ["ScopeLimit", "TokenFacts"]


@dataclass(frozen=True, slots=True)
class ScopeLimit:
    """One entry of a token's ``scopes``: a capability is held on this scope, and below it when ``below``."""

    capability: str
    scope: Scope
    below: bool

    def covers(self, scope: Scope) -> bool:
        """Whether the entry allows the capability on ``scope``."""
        return self.scope.contains(scope) if self.below else scope == self.scope


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """A token that was verified. It can only narrow what policy allows, never widen it.

    ``exp`` is in Unix seconds, as in the token. ``caps`` None means that the token does not narrow capabilities;
    empty means none. ``scopes`` restrict the capabilities that they name, and no other. ``relay`` is what an opaque
    token of a Relay peer grants.
    """

    jti: str
    iss: str
    exp: int
    caps: frozenset[str] | None = None
    scopes: tuple[ScopeLimit, ...] = ()
    relay: RelayGrant | None = None
