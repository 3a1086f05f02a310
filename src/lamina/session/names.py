"""From the ids of an orchestrator to scopes and actors, and back.

An id that a scope can hold stays as it is; any other is written as ``b64-`` and the base64url of its UTF-8 bytes. Ids
that begin so themselves are written that way too, so that no two ids ever meet.
"""

from __future__ import annotations

import base64
import re
from typing import Final

from lamina.kernel.scopes import Scope

__all__ = ["actor_of_agent", "actor_of_user", "decoded", "encoded", "names_of", "scope_of", "tenant_scope"]

_MARK: Final = "b64-"
_PLAIN = re.compile(r"[A-Za-z0-9_\-]+", re.ASCII)


def encoded(name: str) -> str:
    """An id as a part of a scope.

    >>> encoded("user_1"), encoded("ana@example.org")
    ('user_1', 'b64-YW5hQGV4YW1wbGUub3Jn')
    """
    if _PLAIN.fullmatch(name) and not name.startswith(_MARK):
        return name
    return _MARK + base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def decoded(part: str) -> str:
    """The id behind a part of a scope that ``encoded`` wrote."""
    if not part.startswith(_MARK):
        return part
    text = part.removeprefix(_MARK)
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


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
