"""From the ids of an orchestrator to scopes and actors, and back.

``kernel.names`` writes those that no scope can hold.
"""

from __future__ import annotations

from lamina.kernel.names import decoded, encoded
from lamina.kernel.scopes import Scope

__all__ = ["actor_of_agent", "actor_of_user", "names_of", "scope_of", "tenant_scope"]


def scope_of(tenant: str, user: str) -> Scope:
    """Where the turns of a tenant's user are kept: ``org:<tenant>/user:<user>``."""
    return Scope.parse(f"{tenant_scope(tenant)}/user:{encoded(user)}")


def tenant_scope(tenant: str) -> Scope:
    """The scope above a tenant's users."""
    return Scope.parse(f"org:{encoded(tenant)}")


def names_of(scope: Scope) -> tuple[str, str]:
    """The tenant and user of a scope that ``scope_of`` made."""
    tenant, user = (segment.split(":", 1)[1] for segment in scope.segments)
    return decoded(tenant), decoded(user)


def actor_of_user(user: str) -> str:
    """The actor whose words a user's turn holds."""
    return f"user:{encoded(user)}"


def actor_of_agent(persona: str) -> str:
    """The actor whose words an assistant's turn holds."""
    return f"agent:{encoded(persona)}"
