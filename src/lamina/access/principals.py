"""From what a door received to a principal.

In ``dev_local`` callers are unsigned: ``X-Cortex-Actor`` names them, and the server listens on loopback only. Every
other preset takes signed tokens: ``tokens/verifier.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol

from lamina import limits
from lamina.errors import Invalid, Unauthenticated
from lamina.kernel.operations import Principal
from lamina.settings import Settings

__all__ = ["ACTOR", "Credentials", "Principals", "UnsignedPrincipals"]

ACTOR = re.compile(r"(user|agent|service|system):[A-Za-z0-9_\-.@+]+")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a caller showed: the ``Authorization`` header, the claimed actor, and the door they came through."""

    channel: str
    authorization: str | None = field(default=None, repr=False)
    actor: str | None = None


class Principals(Protocol):
    """Tells who a caller is. ``waits`` says that telling may take a disk or another machine."""

    @property
    def waits(self) -> bool:
        """Whether ``identify`` may block."""
        ...

    def identify(self, credentials: Credentials) -> Principal:
        """The principal behind credentials; raises ``Unauthenticated``, ``Invalid`` (INVALID_ACTOR) for a name that is none, and what a store
        or another machine raises that has to be asked, ``Unavailable`` among it."""
        ...


class UnsignedPrincipals:
    """The identities of ``dev_local``: whoever the caller says, inside one tenant."""

    waits = False

    def __init__(self, settings: Settings) -> None:
        assert settings.preset == "dev_local", "every other preset takes signed tokens"
        self._settings = settings

    def identify(self, credentials: Credentials) -> Principal:
        """Mirrors ``Principals.identify``; a token is refused, since nothing here can verify one."""
        if credentials.authorization is not None:
            raise Unauthenticated(
                "INVALID_TOKEN_SIGNATURE",
                "this server has no issuer keys, so no token can be verified",
                hint="in dev_local leave Authorization out and name the actor in X-Cortex-Actor",
            )
        actor = credentials.actor or self._settings.actor
        if len(actor) > limits.ACTOR_LENGTH_MAX or not ACTOR.fullmatch(actor):
            raise Invalid(
                "INVALID_ACTOR",
                f"X-Cortex-Actor {actor[:64]!r} is not type:id",
                hint="types are user, agent, service and system; for example user:alice",
            )
        return Principal(tenant_id=self._settings.tenant, actor=actor, channel=credentials.channel)
