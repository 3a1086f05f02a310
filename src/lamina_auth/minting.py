"""Signing a token: the claims of seed 002, 4.2, checked as the server will check them."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import pyseto

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.scopes import Scope
from lamina_auth.ledger import IssuedToken, Ledger

__all__ = ["Order", "jwk_set", "mint", "seconds", "signed_anew"]

_ACTOR = re.compile(r"(user|agent|service|system):[A-Za-z0-9_\-.@+]+")
_TENANT = re.compile(rf"[A-Za-z0-9_\-]{{1,{limits.TENANT_LENGTH_MAX}}}")
_CAPABILITY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_TTL = re.compile(r"(\d{1,7})([smhd])")
_TAKING_BACK_S = 60
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A token that somebody asks for. None for ``caps`` and ``scopes`` narrows nothing."""

    sub: str
    tenant: str
    ttl_s: int
    caps: Sequence[str] | None = None
    scopes: Sequence[str] | None = None


def mint(ledger: Ledger, order: Order, now: int) -> str:
    """A signed token, noted in the ledger before it is given out."""
    _check(order)
    jti = str(uuid.uuid4())
    key_id, token = _signed(ledger, order, jti, now)
    ledger.remember(
        IssuedToken(
            jti=jti,
            key_id=key_id,
            sub=order.sub,
            tenant=order.tenant,
            caps=None if order.caps is None else ",".join(order.caps),
            scopes=None if order.scopes is None else ",".join(order.scopes),
            issued_at=now,
            expires_at=now + order.ttl_s,
        )
    )
    return token


def signed_anew(ledger: Ledger, token: IssuedToken, now: int) -> str:
    """An issued token once more, for a minute and without any capability: enough for its holder to take it back.

    The server lets a caller who is no operator name the id that they come with, so the issuer comes with this one.
    """
    order = Order(sub=token.sub, tenant=token.tenant, ttl_s=_TAKING_BACK_S, caps=[])
    return _signed(ledger, order, token.jti, now)[1]


def _signed(ledger: Ledger, order: Order, jti: str, now: int) -> tuple[str, str]:
    key, secret = ledger.signing_key()
    claims: dict[str, object] = {
        "iss": ledger.issuer,
        "sub": order.sub,
        "aud": f"cortexdb:tenant:{order.tenant}",
        "exp": now + order.ttl_s,
        "iat": now,
        "jti": jti,
    }
    for name, listed in (("caps", order.caps), ("scopes", order.scopes)):
        if listed is not None:
            claims[name] = list(listed)
    footer = json.dumps({"kid": key.id}).encode()
    return key.id, pyseto.encode(secret, json.dumps(claims).encode(), footer).decode()


def _check(order: Order) -> None:
    longest = limits.TOKEN_LIFETIME_S_MAX
    if order.sub.startswith("service:"):
        longest = limits.SERVICE_TOKEN_LIFETIME_S_MAX
    _require(bool(_ACTOR.fullmatch(order.sub)), "sub", "type:id with the type user, agent, service or system")
    _require(bool(_TENANT.fullmatch(order.tenant)), "tenant", "letters, digits, - and _")
    _require(0 < order.ttl_s <= longest, "ttl", f"at most {longest // 3600} hours for {order.sub}")
    for item in order.caps or ():
        _require(bool(_CAPABILITY.fullmatch(item)), "caps", "names of capabilities, without wildcards")
    for item in order.scopes or ():
        capability, _, path = item.partition(":")
        _require(bool(_CAPABILITY.fullmatch(capability)), "scopes", "capability:path or capability:path/*")
        Scope.parse(path.removesuffix("/*"))


def _require(holds: bool, name: str, accepted: str) -> None:
    if not holds:
        raise Invalid("INVALID_ORDER", f"--{name} is not accepted", hint=f"accepted: {accepted}")


def seconds(text: str) -> int:
    """How long ``90s``, ``15m``, ``12h`` or ``30d`` is."""
    found = _TTL.fullmatch(text)
    if found is None:
        raise Invalid("INVALID_ORDER", "--ttl is not a duration", hint="for example 15m, 12h or 30d")
    return int(found[1]) * _UNITS[found[2]]


def jwk_set(ledger: Ledger) -> str:
    """The public keys as a JWK set (RFC 7517, RFC 8037): a PASERK ``k4.public`` is the same text as the ``x`` of a JWK."""
    keys = [
        {
            "kty": "OKP",
            "crv": "Ed25519",
            "use": "sig",
            "kid": key.id,
            "x": key.public.removeprefix("k4.public."),
        }
        for key in ledger.published()
    ]
    return json.dumps({"keys": keys}, indent=2)
