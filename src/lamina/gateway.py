"""The one path from a door to a slice: who calls, may they, run it, say how it went.

A door hands over an operation, its parsed request and what the caller showed. Nothing else in Lamina identifies
callers or decides grants, so no door can forget to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lamina import limits
from lamina.access.policy import Policy, PolicyPermits
from lamina.access.principals import Credentials, Principals
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Grant, Operation, Principal
from lamina.kernel.time import Clock

__all__ = ["Gateway", "Inbound", "Reply"]

_REQUEST_ID = re.compile(r"[A-Za-z0-9_\-.:]+")


@dataclass(frozen=True, slots=True)
class Inbound:
    """What a door knows of a call besides its request."""

    credentials: Credentials
    request_id: str
    body: bytes = b"null"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a door sends back: the answer, and the headers of seed 002, 6.8 that only the gateway knows."""

    answer: Answer
    headers: Mapping[str, str] = field(default_factory=dict)


class Gateway:
    """Runs operations for callers."""

    def __init__(self, *, principals: Principals, policy: Policy, clock: Clock, ids: IdSource) -> None:
        self._principals = principals
        self._policy = policy
        self._clock = clock
        self._ids = ids

    def request_id(self, offered: str | None) -> str:
        """The caller's own request id where it is fit to be echoed, else a new one."""
        if offered and len(offered) <= limits.REQUEST_ID_LENGTH_MAX and _REQUEST_ID.fullmatch(offered):
            return offered
        return self._ids.stamped(Prefix.REQUEST, self._clock.now())

    @property
    def identifying_waits(self) -> bool:
        """Whether ``identify`` may wait for a disk or another machine: then it has no place on an event loop."""
        return self._principals.waits

    def identify(self, inbound: Inbound, operation: Operation[Any]) -> Principal:
        """The caller, nobody of an open operation; raises ``Unauthenticated``. Doors call it before they read a body."""
        if operation.open:
            return Principal(tenant_id="", actor="", channel=inbound.credentials.channel)
        return self._principals.identify(inbound.credentials)

    def execute(
        self, operation: Operation[Any], request: Any, inbound: Inbound, principal: Principal
    ) -> Reply:
        """Check every grant that the operation names, then run its handler."""
        permits = PolicyPermits(self._policy, principal)
        grants: Sequence[Grant] = ()
        if not operation.open:
            grants = operation.grants(request, principal)
            if not grants and not operation.personal:
                grants = [Grant(operation.capability)]
        for grant in grants:
            permits.require(grant)
        call = Call(
            principal=principal,
            request_id=inbound.request_id,
            now=self._clock.now(),
            permits=permits,
            body=inbound.body,
        )
        answer = operation.handler(request, call)
        headers: dict[str, str] = {}
        if grants:
            decision = permits.decide(grants[0])
            headers["X-Cortex-Policy"] = (
                f"tier={decision.tier}; decision=allow; capability={grants[0].capability}"
            )
        if answer.replayed:
            headers["X-Cortex-Replay"] = "true"
        if answer.warnings:
            headers["X-Cortex-Warning"] = ", ".join(answer.warnings)
        return Reply(answer, headers)
