"""A token as it arrives: bounded, decoded strictly, and told apart by its form. Nothing here is verified yet.

PASETO v4.public begins with its version and purpose; a JWT is three base64url parts whose first is a JSON header.
Every other form (v4.local, other versions, JSON serialisation, encrypted JWTs) is no token.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lamina import limits
from lamina.errors import Unauthenticated

__all__ = [
    "Algorithm",
    "BadToken",
    "Form",
    "WireToken",
    "bearer",
    "decode_base64url",
    "read_token",
    "strict_json",
]

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/=-]+)")
_PASETO = re.compile(r"v4\.public\.([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_-]+))?")
_JWT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
_ED25519_SIGNATURE_BYTES = 64

# RFC 7515, 4.1: these would let a token bring its own key or its own rules. No issuer of ours needs them.
_HEADERS_REFUSED = frozenset({"jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk"})
_TYPES = frozenset({"jwt", "at+jwt"})


class BadToken(ValueError):
    """Not a token, or not one that may be believed. Its text never holds a part of the token."""


class Form(StrEnum):
    """How a token is written. An issuer speaks one of them."""

    PASETO = "paseto"
    JWT = "jwt"


class Algorithm(StrEnum):
    """The signatures that are accepted: asymmetric ones only (seed 002, 4.1). A key belongs to exactly one."""

    V4_PUBLIC = "v4.public"
    RS256 = "RS256"
    ES256 = "ES256"

    @property
    def form(self) -> Form:
        """The form of the tokens that it signs."""
        return Form.PASETO if self is Algorithm.V4_PUBLIC else Form.JWT


@dataclass(frozen=True, slots=True)
class WireToken:
    """A token that is well formed: what it claims to be signed with, and what it claims to say."""

    text: str = field(repr=False)
    algorithm: Algorithm
    key_id: str | None
    payload: bytes = field(repr=False)

    def claimed_issuer(self) -> str | None:
        """Whose key to try. Unverified: it chooses a key and decides nothing else."""
        issuer = strict_json(self.payload).get("iss")
        return issuer if isinstance(issuer, str) else None


def bearer(authorization: str | None) -> str:
    """The token of an ``Authorization`` header; raises ``Unauthenticated`` (MISSING_TOKEN) when it has none."""
    if authorization is None or not authorization.strip():
        raise Unauthenticated(
            "MISSING_TOKEN", "there is no Authorization header", hint="send Authorization: Bearer <token>"
        )
    found = _BEARER.fullmatch(authorization)
    if found is None or len(found[1]) > limits.TOKEN_LENGTH_MAX:
        raise Unauthenticated(
            "INVALID_TOKEN_SIGNATURE",
            "the Authorization header holds no token that could be verified",
            hint=f"send Authorization: Bearer <token>, with a token of at most {limits.TOKEN_LENGTH_MAX} characters",
        )
    return found[1]


def read_token(text: str) -> WireToken:
    """A token by its form; raises ``BadToken``."""
    if len(text) > limits.TOKEN_LENGTH_MAX:
        raise BadToken("it is too long")
    if text.startswith("v4.public."):
        return _read_paseto(text)
    return _read_jwt(text)


def _read_paseto(text: str) -> WireToken:
    parts = _PASETO.fullmatch(text)
    if parts is None:
        raise BadToken("it is not a PASETO v4.public token")
    body = decode_base64url(parts[1])
    if len(body) <= _ED25519_SIGNATURE_BYTES:
        raise BadToken("it has no payload")
    footer = decode_base64url(parts[2]) if parts[2] else b""
    return WireToken(text, Algorithm.V4_PUBLIC, _footer_key_id(footer), body[:-_ED25519_SIGNATURE_BYTES])


def _footer_key_id(footer: bytes) -> str | None:
    """The ``kid`` of a JSON footer. A footer is free text, so another one just names no key."""
    try:
        return _text_or_none(strict_json(footer), "kid") if footer.startswith(b"{") else None
    except BadToken:
        return None


def _read_jwt(text: str) -> WireToken:
    parts = _JWT.fullmatch(text)
    if parts is None:
        raise BadToken("it is neither a PASETO v4.public token nor a signed JWT")
    header = strict_json(decode_base64url(parts[1]))
    refused = sorted(_HEADERS_REFUSED & header.keys())
    if refused:
        raise BadToken(f"its header has {refused[0]}, which is not accepted")
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in _TYPES:
        raise BadToken("its header says that it is another kind of token")
    algorithm = header.get("alg")
    if algorithm not in (Algorithm.RS256.value, Algorithm.ES256.value):
        raise BadToken("its algorithm is not RS256 or ES256")
    decode_base64url(parts[3])
    payload = decode_base64url(parts[2])
    return WireToken(text, Algorithm(algorithm), _text_or_none(header, "kid"), payload)


def _text_or_none(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= limits.TOKEN_ID_LENGTH_MAX:
        raise BadToken(f"its {name} is not a short text")
    return value


def decode_base64url(text: str) -> bytes:
    """Bytes of unpadded base64url in its one canonical spelling (RFC 4648, 3.5); raises ``BadToken``."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadToken("a part is not base64url") from error
    if base64.urlsafe_b64encode(data).rstrip(b"=") != text.encode():
        raise BadToken("a part is not canonical base64url")
    return data


def strict_json(data: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8 without repeated keys, NaN or infinities; raises ``BadToken``.

    Two readers of a repeated key may take different values: what was checked must be what is used.
    """
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadToken("a part is not a plain JSON object") from error
    if not isinstance(value, dict):
        raise BadToken("a part is not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise BadToken("a key is repeated")
    return values


def _no_constant(name: str) -> Any:
    raise BadToken(f"{name} is not JSON")
