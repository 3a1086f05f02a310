"""What a verified token says, judged claim by claim (seed 002, 4.2). Each function is one step of 4.3."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from lamina import limits
from lamina.access.principals import ACTOR
from lamina.access.tokens.issuers import TENANT_PATTERN, Issuer
from lamina.errors import Invalid, Unauthenticated
from lamina.kernel.scopes import Scope
from lamina.kernel.tokens import ScopeLimit

__all__ = [
    "Claims",
    "TokenClaims",
    "actor_of",
    "caps_of",
    "check_times",
    "expiry_of",
    "id_of",
    "scopes_of",
    "tenant_of",
]

_AUDIENCE = "cortexdb:tenant:"
_TENANT = re.compile(TENANT_PATTERN)
_CAPABILITY = re.compile(r"[a-z][a-z0-9_]{0,63}(\.[a-z0-9_]{1,64}){1,7}")
_INSTANT_S_MAX = 1 << 40

Claims = Mapping[str, Any]
"""A token's claims under our names."""

_UnixSeconds = Annotated[float, Field(ge=0, lt=_INSTANT_S_MAX, json_schema_extra={"type": "number"})]


class TokenClaims(BaseModel):
    """What a token must and may say (seed 002, 4.2); other claims are not looked at.

    The functions below judge claims and name what is wrong; this is the shape of those that pass, published as
    ``token_claims.schema.json``.
    """

    model_config = ConfigDict(extra="allow")

    iss: Annotated[str, Field(min_length=1, description="Who issued the token; on the deployment's list.")]
    sub: Annotated[str, Field(pattern=f"^{ACTOR.pattern}$", max_length=limits.ACTOR_LENGTH_MAX)]
    aud: Annotated[
        str | list[str], Field(description=f"{_AUDIENCE}<id>, once among the audiences named here.")
    ]
    exp: Annotated[
        _UnixSeconds, Field(description="At most 24 hours after iat, 30 days for service accounts.")
    ]
    iat: _UnixSeconds
    nbf: _UnixSeconds | None = None
    jti: Annotated[str, Field(min_length=1, max_length=limits.TOKEN_ID_LENGTH_MAX)]
    deployment: Annotated[Any, Field(description="A hint; nothing hangs on it.")] = None
    caps: Annotated[
        list[Annotated[str, Field(pattern=f"^{_CAPABILITY.pattern}$")]] | None,
        Field(description="The capabilities that the token is narrowed to. No wildcards."),
    ] = None
    scopes: Annotated[
        list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]*:[a-z][a-z0-9_]*:.+$")]] | None,
        Field(description="capability:path for one scope, capability:path/* for it and all below it."),
    ] = None


def tenant_of(claims: Claims, issuer: Issuer) -> str:
    """The one tenant that ``aud`` names, if the issuer may speak for it; raises WRONG_TENANT."""
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    tenants = [
        item.removeprefix(_AUDIENCE) for item in named if isinstance(item, str) and item.startswith(_AUDIENCE)
    ]
    if len(tenants) != 1 or not _TENANT.fullmatch(tenants[0]) or not issuer.speaks_for(tenants[0]):
        raise Unauthenticated(
            "WRONG_TENANT",
            "the audience of the token is not one tenant of this deployment that its issuer speaks for",
            hint=f"aud is {_AUDIENCE}<id>, once, and the issuer's entry lists that tenant",
        )
    return tenants[0]


def check_times(claims: Claims, now_s: float) -> None:
    """That the token holds at ``now_s`` and not for too long; raises EXPIRED_TOKEN and others."""
    expires, issued = _seconds(claims, "exp"), _seconds(claims, "iat")
    if expires <= now_s:
        raise Unauthenticated("EXPIRED_TOKEN", "the token has expired", hint="ask its issuer for a new one")
    begins = [issued, _seconds(claims, "nbf")] if "nbf" in claims else [issued]
    if max(begins) > now_s + limits.TOKEN_CLOCK_SKEW_S:
        raise Unauthenticated(
            "TOKEN_NOT_YET_VALID",
            "the token was issued in the future",
            hint="the clocks of the issuer and of this server differ by more than a minute",
        )
    longest = limits.TOKEN_LIFETIME_S_MAX
    if str(claims.get("sub")).startswith("service:"):
        longest = limits.SERVICE_TOKEN_LIFETIME_S_MAX
    if expires - issued > longest:
        raise Unauthenticated(
            "TOKEN_LIFETIME_TOO_LONG",
            f"the token is issued for longer than {longest // 3600} hours",
            hint="24 hours for users and agents, 30 days for service accounts",
        )


def expiry_of(claims: Claims) -> int:
    """``exp`` in whole seconds."""
    return math.floor(_seconds(claims, "exp"))


def _seconds(claims: Claims, name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _INSTANT_S_MAX:
        raise _invalid(name, "is not a Unix time in seconds")
    return value


def id_of(claims: Claims) -> str:
    """``jti``: printable, since it is listed, logged and compared."""
    value = claims.get("jti")
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= limits.TOKEN_ID_LENGTH_MAX
        or not value.isprintable()
    ):
        raise _invalid("jti", "is not a short text")
    return value


def actor_of(claims: Claims, asserted: str | None) -> str:
    """``sub``, if the caller says so too: one token, one identity per call (seed 002, 4.1)."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or len(subject) > limits.ACTOR_LENGTH_MAX or not ACTOR.fullmatch(subject):
        raise _invalid("sub", "is not type:id, with the type user, agent, service or system")
    if asserted != subject:
        raise Unauthenticated(
            "ACTOR_MISMATCH",
            "X-Cortex-Actor does not name the subject of the token"
            if asserted
            else "X-Cortex-Actor is missing",
            hint="send X-Cortex-Actor with exactly the sub of the token, for example user:alice",
        )
    return subject


def caps_of(claims: Claims) -> frozenset[str] | None:
    """``caps``: the capabilities that the token is narrowed to, None when it is not. No wildcards."""
    if claims.get("caps") is None:
        return None
    return frozenset(_capability("caps", item) for item in _texts(claims, "caps"))


def scopes_of(claims: Claims) -> tuple[ScopeLimit, ...]:
    """``scopes``: ``capability:path`` for one scope, ``capability:path/*`` for it and all below it."""
    if claims.get("scopes") is None:
        return ()
    return tuple(_scope_limit(item) for item in _texts(claims, "scopes"))


def _scope_limit(text: str) -> ScopeLimit:
    capability, _, path = text.partition(":")
    below = path.endswith("/*")
    try:
        return ScopeLimit(_capability("scopes", capability), Scope.parse(path.removesuffix("/*")), below)
    except Invalid:
        raise _invalid("scopes", "has an entry that is not capability:path or capability:path/*") from None


def _texts(claims: Claims, name: str) -> list[str]:
    value = claims[name]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _invalid(name, "is not a list of texts")
    return value


def _capability(name: str, text: str) -> str:
    if not _CAPABILITY.fullmatch(text):
        raise _invalid(name, "names something that is no capability; wildcards are for policies only")
    return text


def _invalid(name: str, reason: str) -> Unauthenticated:
    return Unauthenticated(
        "INVALID_TOKEN_CLAIMS",
        f"the claim {name} {reason}",
        hint="iss, sub, aud, exp, iat and jti are required; caps and scopes are optional",
        details={"claim": name},
    )
