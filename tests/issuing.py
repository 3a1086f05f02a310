"""Tokens for tests: issuers with keys of their own, and every way to get a token wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyseto
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.jwk import ECKey, RSAKey
from pyseto.versions.v4 import V4Public

from given import NOON
from lamina.access.tokens.issuers import Issuer, Sources, read_issuers
from lamina.kernel.time import SECOND_US

NOW_S = NOON // SECOND_US
PASETO_ISSUER = "https://auth.acme.com/lamina"
JWT_ISSUER = "https://login.acme.com"
DATA = Path(__file__).parent / "data" / "auth"

ED25519 = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_ED25519 = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())


def claims(**more: Any) -> dict[str, Any]:
    """Claims that hold at noon; a value of None takes a claim out."""
    given = {
        "iss": PASETO_ISSUER,
        "sub": "user:alice",
        "aud": "cortexdb:tenant:acme",
        "exp": NOW_S + 3600,
        "iat": NOW_S,
        "jti": "t-1",
        **more,
    }
    return {name: value for name, value in given.items() if value is not None}


def b64(data: bytes | str) -> str:
    raw = data.encode() if isinstance(data, str) else data
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def paseto(payload: Mapping[str, Any] | bytes, key: Any = ED25519, footer: bytes = b"") -> str:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return pyseto.encode(V4Public(key), body, footer).decode()


def jwt(payload: Mapping[str, Any] | bytes, header: Mapping[str, Any] | bytes, key: Any = None) -> str:
    """A JWT signed by hand, so that it can be as wrong as it likes."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    signed = f"{b64(head)}.{b64(body)}"
    return f"{signed}.{b64(signature(signed.encode(), key or RSA))}"


def signature(message: bytes, key: Any) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(message, padding.PKCS1v15(), SHA256())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        r, s = decode_dss_signature(key.sign(message, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return bytes(key.sign(message))


def public_paserk(key: Ed25519PrivateKey = ED25519) -> str:
    return V4Public(key.public_key()).to_paserk()


def rsa_jwk(key_id: str = "rsa-1") -> dict[str, Any]:
    return {**RSAKey.import_key(RSA.public_key()).as_dict(), "kid": key_id, "use": "sig", "alg": "RS256"}


def ec_jwk(key_id: str = "ec-1") -> dict[str, Any]:
    return {**ECKey.import_key(EC.public_key()).as_dict(), "kid": key_id, "use": "sig"}


def issuers_document() -> dict[str, Any]:
    return {
        "issuers": [
            {"issuer": PASETO_ISSUER, "form": "paseto", "tenants": ["acme"], "keys": [public_paserk()]},
            {"issuer": JWT_ISSUER, "form": "jwt", "tenants": ["acme", "beta"], "keys": [rsa_jwk(), ec_jwk()]},
        ]
    }


def issuers_file(folder: Path, document: Any = None) -> Path:
    path = folder / "issuers.yaml"
    path.write_text(yaml.safe_dump(document if document is not None else issuers_document()))
    return path


def no_fetch(url: str) -> bytes:
    raise AssertionError(f"nothing fetches {url} here")


def issuers(folder: Path, document: Any = None, **sources: Any) -> Mapping[str, Issuer]:
    given = {"fetch": no_fetch, "monotonic": lambda: 0.0, **sources}
    return read_issuers(issuers_file(folder, document), Sources(**given))
