"""Public keys that verify tokens: PASERK k4.public, PEM, JWK and JWK sets. A private key is refused, not ignored.

Each key has one algorithm, chosen by its type when it is read. A token cannot ask for another: that is what rules
out algorithm confusion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyseto
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePublicKey,
    EllipticCurvePublicNumbers,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey
from pyseto.versions.v4 import V4Public

from lamina import limits
from lamina.access.tokens.wire import Algorithm, BadToken, Form, WireToken, decode_base64url, strict_json

__all__ = ["BadKey", "VerifyingKey", "jwk_key", "jwks_keys", "matching", "paserk_key", "pem_key"]

_PASERK = "k4.public."
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_RSA_EXPONENT_MIN = 65_537
# joserfc bounds a header at 512 characters; the whole token has been bounded before.
_REGISTRY = jws.JWSRegistry(
    algorithms=[Algorithm.RS256.value, Algorithm.ES256.value], strict_check_header=False
)
_REGISTRY.max_header_length = limits.TOKEN_LENGTH_MAX
_REGISTRY.max_payload_length = limits.TOKEN_LENGTH_MAX
_REGISTRY.max_signature_length = limits.TOKEN_LENGTH_MAX


class BadKey(ValueError):
    """Not a public key that verifies our tokens. Its text never holds a part of the key."""


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key, the one algorithm that it verifies, and the id that tokens name it by."""

    key_id: str | None
    algorithm: Algorithm
    _key: Any = field(repr=False)  # Any: the key type of the library that verifies

    def verified(self, token: WireToken) -> bytes:
        """The payload, if this key signed it; raises ``BadToken`` otherwise."""
        if token.algorithm is not self.algorithm:
            raise BadToken("the key is for another algorithm")
        try:
            if self.algorithm is Algorithm.V4_PUBLIC:
                payload = pyseto.decode(self._key, token.text).payload
            else:
                payload = jws.deserialize_compact(token.text, self._key, registry=_REGISTRY).payload
        except (pyseto.PysetoError, JoseError, ValueError) as error:
            raise BadToken("the signature does not hold") from error
        if payload != token.payload:
            raise BadToken("what was signed is not what was read")
        assert isinstance(payload, bytes), "it equals bytes"
        return payload


def matching(keys: Iterable[VerifyingKey], token: WireToken) -> list[VerifyingKey]:
    """The keys that may have signed a token. An id that either side leaves out matches any."""
    return [
        key
        for key in keys
        if key.algorithm is token.algorithm
        and (key.key_id is None or token.key_id is None or key.key_id == token.key_id)
    ]


def paserk_key(text: str, key_id: str | None = None) -> VerifyingKey:
    """A key of the PASERK form ``k4.public``."""
    if not text.startswith(_PASERK):
        raise BadKey("it is not a PASERK k4.public key")
    try:
        raw = decode_base64url(text.removeprefix(_PASERK))
    except BadToken as error:
        raise BadKey("it is not base64url") from error
    return _ed25519(raw, key_id)


def pem_key(text: str, key_id: str | None = None) -> VerifyingKey:
    """A key in PEM (``BEGIN PUBLIC KEY``): RSA, EC on P-256, or Ed25519."""
    if "PRIVATE" in text:
        raise BadKey("it is a private key; give the public one only")
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadKey("it is not a public key in PEM") from error
    if isinstance(key, RSAPublicKey):
        return _rsa(key.public_numbers(), key_id)
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return VerifyingKey(key_id, Algorithm.ES256, ECKey.import_key(key))
    if isinstance(key, Ed25519PublicKey):
        return _ed25519(key.public_bytes(Encoding.Raw, PublicFormat.Raw), key_id)
    raise BadKey("its type is not RSA, EC on P-256 or Ed25519")


def jwk_key(jwk: Mapping[str, Any]) -> VerifyingKey:
    """A key of RFC 7517: RSA, EC on P-256, or OKP on Ed25519, meant for signatures."""
    if jwk.get("kty") == "oct" or _PRIVATE & jwk.keys():
        raise BadKey("it holds a secret; give the public key only")
    if not _is_for_verifying(jwk):
        raise BadKey("it is not meant for signatures")
    key_id = jwk.get("kid")
    if key_id is not None and (
        not isinstance(key_id, str) or not 0 < len(key_id) <= limits.TOKEN_ID_LENGTH_MAX
    ):
        raise BadKey("its kid is not a short text")
    try:
        key = _of_type(jwk, key_id)
    except (ValueError, KeyError, TypeError) as error:
        raise error if isinstance(error, BadKey) else BadKey("its numbers are not those of a key") from error
    names = ("EdDSA", "Ed25519") if key.algorithm is Algorithm.V4_PUBLIC else (key.algorithm.value,)
    if "alg" in jwk and jwk["alg"] not in names:
        raise BadKey("its alg is another one")
    return key


def _is_for_verifying(jwk: Mapping[str, Any]) -> bool:
    operations = jwk.get("key_ops", ["verify"])
    return jwk.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations


def _of_type(jwk: Mapping[str, Any], key_id: str | None) -> VerifyingKey:
    kind, curve = jwk.get("kty"), jwk.get("crv")
    if kind == "RSA":
        return _rsa(RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"])), key_id)
    if (kind, curve) == ("EC", "P-256"):
        point = EllipticCurvePublicNumbers(_number(jwk["x"]), _number(jwk["y"]), SECP256R1())
        return VerifyingKey(key_id, Algorithm.ES256, ECKey.import_key(point.public_key()))
    if (kind, curve) == ("OKP", "Ed25519"):
        return _ed25519(decode_base64url(jwk["x"]), key_id)
    raise BadKey("its type is not RSA, EC on P-256 or OKP on Ed25519")


def _number(text: str) -> int:
    return int.from_bytes(decode_base64url(text), "big")


def _rsa(numbers: RSAPublicNumbers, key_id: str | None) -> VerifyingKey:
    bits = numbers.n.bit_length()
    if not limits.RSA_KEY_BITS_MIN <= bits <= limits.RSA_KEY_BITS_MAX:
        raise BadKey(
            f"its size is {bits} bits; {limits.RSA_KEY_BITS_MIN} to {limits.RSA_KEY_BITS_MAX} are accepted"
        )
    if not _RSA_EXPONENT_MIN <= numbers.e < 1 << 32 or numbers.e % 2 == 0:
        raise BadKey(f"its public exponent is not {_RSA_EXPONENT_MIN} or a larger odd one")
    if _is_roca(numbers.n):
        raise BadKey("it was made by a generator that is broken (CVE-2017-15361)")
    return VerifyingKey(key_id, Algorithm.RS256, RSAKey.import_key(numbers.public_key()))


def _ed25519(raw: bytes, key_id: str | None) -> VerifyingKey:
    try:
        key = V4Public(Ed25519PublicKey.from_public_bytes(raw))
    except ValueError as error:
        raise BadKey("it is not an Ed25519 key of 32 bytes") from error
    return VerifyingKey(key_id, Algorithm.V4_PUBLIC, key)


_ROCA_PRIMES = (11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157)


def _is_roca(modulus: int) -> bool:
    """Nemec and others, "The Return of Coppersmith's Attack" (2017), section 2: such a modulus is a power of 65537
    modulo every small prime. A sound one passes by chance about once in 2**27.
    """
    return all(modulus % prime in {pow(65_537, n, prime) for n in range(prime)} for prime in _ROCA_PRIMES)


def jwks_keys(document: bytes, form: Form) -> Sequence[VerifyingKey]:
    """The keys of a JWK set that verify tokens of one form.

    Keys for other uses are left out. A set that is malformed, holds a secret, names two keys alike or has too
    many is refused whole: whoever publishes it has lost track of it.
    """
    if len(document) > limits.JWKS_BYTES_MAX:
        raise BadKey(f"the set is larger than {limits.JWKS_BYTES_MAX} bytes")
    try:
        listed = strict_json(document).get("keys")
    except BadToken as error:
        raise BadKey("the set is not JSON") from error
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise BadKey("the set has no list of keys")
    if any(item.get("kty") == "oct" or _PRIVATE & item.keys() for item in listed):
        raise BadKey("the set holds a secret")
    named = [item["kid"] for item in listed if "kid" in item]
    if len({str(name) for name in named}) != len(named):
        raise BadKey("two keys of the set have the same kid")
    if len(listed) > limits.ISSUER_KEYS_MAX:
        raise BadKey(f"the set has more than {limits.ISSUER_KEYS_MAX} keys")
    return [key for key in _usable(listed) if key.algorithm.form is form]


def _usable(listed: Iterable[Mapping[str, Any]]) -> list[VerifyingKey]:
    found = []
    for item in listed:
        try:
            found.append(jwk_key(item))
        except BadKey:
            continue  # for encryption, of another type, or too weak
    return found
