"""Who am I, and take this token back: seed 002, 8.16."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.kernel.tokens import TokenFacts
from lamina.kernel.wire import Nothing, Request, Result, Text
from lamina.store.ports.revocations import Revocation, Revocations

__all__ = ["token_operations"]

_KEPT_S = 2 * limits.SERVICE_TOKEN_LIFETIME_S_MAX + limits.TOKEN_CLOCK_SKEW_S
"""No token that holds today, whatever its issuer, holds longer than one lifetime. The other is for a clock that is wrong for a while:
who takes a token back shows one that holds, so the clock that forgets old entries then is ahead by less than that."""


class RevokeRequest(Request):
    """A token by its ``jti``. Without ``iss`` it is taken back from every issuer of the tenant.

    A caller who is neither an operator nor an administrator of the tenant names the token they come with.
    """

    jti: Annotated[Text, Field(min_length=1, max_length=limits.TOKEN_ID_LENGTH_MAX)]
    iss: Annotated[Text, Field(min_length=1, max_length=limits.TOKEN_ID_LENGTH_MAX)] | None = None
    reason: Annotated[Text, Field(max_length=limits.REVOCATION_REASON_LENGTH_MAX)] | None = None


class WhoamiRequest(Request):
    """Nothing to ask."""


class TokenView(Result):
    """The token of a call; ``exp`` in Unix seconds."""

    jti: str
    iss: str
    exp: int


class Whoami(Result):
    """The caller as the server knows them. ``token`` is null for callers that need none."""

    caller: str
    tenant_id: str
    deployment_preset: str
    token: TokenView | None
    effective_capabilities: list[str]


class _Tokens:
    def __init__(self, revocations: Revocations, ids: IdSource, preset: str) -> None:
        self._revocations = revocations
        self._ids = ids
        self._preset = preset

    def revoke(self, request: RevokeRequest, call: Call) -> Answer:
        own = call.principal.token if _is_own(request, call.principal.token) else None
        if own is None:
            # Whoever may name any id can fill the list with ids that nobody issued, so policy lets few.
            call.permits.require(Grant(Capability.AUTH_REVOKE))
        # A holder takes back their own token and no other of that id, which another issuer may have given too.
        issuer = request.iss if own is None else own.iss
        self._revocations.add(
            Revocation(
                tenant_id=call.principal.tenant_id,
                issuer=issuer,
                jti=request.jti,
                id=self._ids.stamped(Prefix.TOKEN, call.now),
                expires_at=call.now + _KEPT_S * SECOND_US,
                reason=request.reason,
                revoked_by=call.principal.actor,
                revoked_at=call.now,
            )
        )
        return Answer(None)

    def whoami(self, request: WhoamiRequest, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        token = call.principal.token
        return Answer(
            Whoami(
                caller=call.principal.actor,
                tenant_id=call.principal.tenant_id,
                deployment_preset=self._preset,
                token=None if token is None else TokenView(jti=token.jti, iss=token.iss, exp=token.exp),
                effective_capabilities=[str(item) for item in Capability if _holds(call, item)],
            )
        )


def _is_own(request: RevokeRequest, token: TokenFacts | None) -> bool:
    return token is not None and request.jti == token.jti and request.iss in (None, token.iss)


def _holds(call: Call, capability: Capability) -> bool:
    """Whether the caller holds a capability at all, be it on the scopes of their token only."""
    limited = call.principal.token.scopes if call.principal.token else ()
    scopes: list[Scope | None] = [limit.scope for limit in limited if limit.capability == capability]
    return any(call.permits.allows(Grant(capability, scope)) for scope in scopes or [None])


def token_operations(revocations: Revocations, ids: IdSource, preset: str) -> list[Operation[Any]]:
    """The operations on the caller's own token, and on others' for operators and administrators of the tenant."""
    tokens = _Tokens(revocations, ids, preset)
    return [
        Operation(
            name="auth_revoke",
            request=RevokeRequest,
            result=Nothing,
            capability=Capability.AUTH_REVOKE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            handler=tokens.revoke,
            summary="Take a token back: one's own, or as an operator or administrator any; it holds no more at once.",
            answers=(204,),
            personal=True,
            commits_with=204,
        ),
        Operation(
            name="auth_whoami",
            request=WhoamiRequest,
            result=Whoami,
            capability="",
            effect=Effect.READ,
            tier=Tier.STABLE,
            handler=tokens.whoami,
            summary="Who the caller is, and what they may do here.",
            personal=True,
        ),
    ]
