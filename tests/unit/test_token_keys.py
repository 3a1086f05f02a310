"""Keys and signatures, by the public vectors: PASETO v4, PASERK k4, Wycheproof, RFC 7520."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from issuing import DATA, EC, ED25519, RSA, b64, claims, ec_jwk, jwt, paseto, public_paserk, rsa_jwk
from lamina.access.tokens.keys import BadKey, VerifyingKey, jwk_key, jwks_keys, matching, paserk_key, pem_key
from lamina.access.tokens.wire import Algorithm, BadToken, Form, read_token
from tables import every_row


def vectors(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / name).read_text())["tests"]


def verified(text: str, key: VerifyingKey) -> bytes:
    return key.verified(read_token(text))


# ---- PASETO and PASERK

PASETO = [case for case in vectors("paseto/v4.json") if "public-key" in case]
PASERK = vectors("paseto/k4.public.json")


@pytest.mark.parametrize("case", PASETO, ids=lambda case: case["name"])
def test_paseto_v4_public_vectors(case: dict[str, Any]) -> None:
    key = paserk_key("k4.public." + b64(bytes.fromhex(case["public-key"])))
    if (
        case["expect-fail"] or case["implicit-assertion"]
    ):  # we use no implicit assertion, so such a token is not for us
        with pytest.raises(BadToken):
            verified(case["token"], key)
    else:
        assert verified(case["token"], key).decode() == case["payload"]


@every_row(
    "case", [case for case in vectors("paseto/v4.json") if case not in PASETO], ids=lambda case: case["name"]
)
def test_no_other_paseto_is_taken(case: dict[str, Any]) -> None:
    with pytest.raises(BadToken):
        verified(case["token"], paserk_key(public_paserk()))


def test_there_are_vectors_of_both_kinds() -> None:
    assert [case["name"] for case in PASETO] == ["4-S-1", "4-S-2", "4-S-3", "4-F-1"]


@pytest.mark.parametrize("case", PASERK, ids=lambda case: case["name"])
def test_paserk_k4_public_vectors(case: dict[str, Any]) -> None:
    if case["expect-fail"]:
        with pytest.raises(BadKey):
            paserk_key("k4.public." + b64(bytes.fromhex(case["key"])))
    else:
        assert paserk_key(case["paserk"]).algorithm is Algorithm.V4_PUBLIC


@pytest.mark.parametrize("name", ["k4.secret", "k4.pid"])
def test_no_other_paserk_is_a_public_key(name: str) -> None:
    for case in vectors(f"paseto/{name}.json"):
        if case["paserk"]:
            with pytest.raises(BadKey):
                paserk_key(case["paserk"])


# ---- JOSE


def groups(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / "wycheproof" / name).read_text())["testGroups"]


def signature_cases() -> list[Any]:
    return [
        pytest.param(group.get("public"), case, id=f"{group['comment']}-{case['tcId']}")
        for group in groups("json_web_signature_test.json")
        for case in group["tests"]
    ]


def takes(jwk: dict[str, Any] | None, text: str) -> bool:
    """Whether a token verifies under a key that has been read as an issuer's key is; a shared secret is none."""
    try:
        verified(text, jwk_key(jwk or {"kty": "oct"}))
    except (BadKey, BadToken):
        return False
    return True


# Valid by Wycheproof, and no token to us.
NOT_TAKEN = {259: "an empty payload has no claims"}


@every_row(("public", "case"), signature_cases())
def test_wycheproof_signatures(public: dict[str, Any] | None, case: dict[str, Any]) -> None:
    ours = public is not None and public.get("alg") in ("RS256", "ES256")
    expected = ours and case["result"] == "valid" and case["tcId"] not in NOT_TAKEN
    assert takes(public, case["jws"]) == expected


def key_cases() -> list[Any]:
    return [
        pytest.param(group.get("public"), case, id=f"{group['comment']}-{case['tcId']}")
        for group in groups("json_web_key_test.json")
        for case in group["tests"]
    ]


@every_row(("public", "case"), key_cases())
def test_wycheproof_key_sets(public: dict[str, Any] | None, case: dict[str, Any]) -> None:
    try:
        keys = jwks_keys(json.dumps(public).encode(), Form.JWT) if public else []
        token = read_token(case["jws"])
        for key in matching(keys, token):
            key.verified(token)
        taken = bool(matching(keys, token))
    except (BadKey, BadToken):
        taken = False
    assert taken == (case["result"] == "valid" and public is not None)


def cookbook(name: str) -> dict[str, Any]:
    return json.loads((DATA / "jose" / name).read_text())


def test_rfc_7520_rsa_signature() -> None:
    example = cookbook("jws/4_1.rsa_v15_signature.json")
    key = jwk_key(cookbook("jwk/3_3.rsa_public_key.json"))
    assert verified(example["output"]["compact"], key).decode() == example["input"]["payload"]


@pytest.mark.parametrize(
    "name", ["4_2.rsa-pss_signature", "4_3.ecdsa_signature", "4_4.hmac-sha2_integrity_protection"]
)
def test_rfc_7520_other_algorithms_are_refused(name: str) -> None:
    with pytest.raises(BadToken, match="algorithm"):
        read_token(cookbook(f"jws/{name}.json")["output"]["compact"])


@pytest.mark.parametrize(
    "name",
    ["3_1.ec_public_key", "3_2.ec_private_key", "3_4.rsa_private_key", "3_5.symmetric_key_mac_computation"],
)
def test_rfc_7520_keys_that_are_not_ours_are_refused(name: str) -> None:
    with pytest.raises(BadKey):
        jwk_key(cookbook(f"jwk/{name}.json"))


# ---- confusion

RSA_PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def test_a_public_key_is_no_shared_secret() -> None:
    signed = b64('{"alg":"HS256"}') + "." + b64(json.dumps(claims()))
    forged = f"{signed}.{b64(hmac.new(RSA_PEM, signed.encode(), hashlib.sha256).digest())}"
    with pytest.raises(BadToken):
        verified(forged, pem_key(RSA_PEM.decode()))


def test_a_token_without_a_signature_is_refused() -> None:
    body = b64('{"alg":"RS256"}') + "." + b64(json.dumps(claims())) + "."
    with pytest.raises(BadToken):
        read_token(body)
    with pytest.raises(BadToken):
        verified(body + "AA", jwk_key(rsa_jwk()))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (jwt(claims(), {"alg": "ES256"}, EC), rsa_jwk()),
        (jwt(claims(), {"alg": "RS256"}), ec_jwk()),
        (jwt(claims(), {"alg": "ES256"}, RSA), ec_jwk()),
        (jwt(claims(), {"alg": "RS256"}, EC), rsa_jwk()),
        (jwt(claims(), {"alg": "RS256"}, ED25519), rsa_jwk()),
        (paseto(claims()), rsa_jwk()),
    ],
    ids=[
        "es-under-rsa",
        "rs-under-ec",
        "rs-called-es",
        "es-called-rs",
        "eddsa-called-rs",
        "paseto-under-rsa",
    ],
)
def test_a_key_verifies_its_own_algorithm_only(text: str, key: dict[str, Any]) -> None:
    with pytest.raises(BadToken):
        verified(text, jwk_key(key))


def test_both_algorithms_verify_under_their_own_key() -> None:
    assert json.loads(verified(jwt(claims(), {"alg": "RS256"}), jwk_key(rsa_jwk()))) == claims()
    assert json.loads(verified(jwt(claims(), {"alg": "ES256"}, EC), jwk_key(ec_jwk()))) == claims()


@pytest.mark.parametrize("flip", [12, 60, -3, -90])
def test_a_changed_character_is_noticed(flip: int) -> None:
    for text, key in (
        (paseto(claims()), paserk_key(public_paserk())),
        (jwt(claims(), {"alg": "RS256"}), jwk_key(rsa_jwk())),
    ):
        at = flip % len(text)
        changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
        with pytest.raises(BadToken):
            verified(changed, key)


# ---- keys as operators write them


def pem(key: Any) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def test_a_key_is_read_from_pem() -> None:
    assert pem_key(RSA_PEM.decode(), "k").algorithm is Algorithm.RS256
    assert pem_key(pem(EC.public_key())).algorithm is Algorithm.ES256
    assert json.loads(verified(paseto(claims()), pem_key(pem(ED25519.public_key())))) == claims()


def test_a_paseto_key_may_stand_in_a_jwk() -> None:
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": public_paserk().removeprefix("k4.public."), "alg": "EdDSA"}
    assert json.loads(verified(paseto(claims()), jwk_key(jwk))) == claims()


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        pem(rsa.generate_private_key(65537, 1024).public_key()),
        pem(rsa.generate_private_key(3, 2048).public_key()),
        pem(ec.generate_private_key(ec.SECP384R1()).public_key()),
        pem(ed448.Ed448PrivateKey.generate().public_key()),
    ],
    ids=["garbage", "private", "small", "exponent-3", "p-384", "ed448"],
)
def test_other_keys_are_refused_without_being_shown(text: str) -> None:
    with pytest.raises(BadKey) as caught:
        pem_key(text)
    assert text.splitlines()[1] not in str(caught.value)


@every_row(
    "change",
    [{"d": "AQAB"}, {"use": "enc"}, {"key_ops": ["sign"]}, {"alg": "RS512"}, {"alg": "ES256"}, {"alg": []}, {"alg": None}, {"n": "AQAB"}, {"n": 5},
     {"e": "AQ"}, {"kty": "oct"}, {"kty": "EC"}, {"kid": 7}, {"kid": ""}, {"n": "not base64!"}],
    ids=str,
)  # fmt: skip
def test_a_jwk_for_something_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadKey):
        jwk_key({**rsa_jwk(), **change})


@every_row(
    "document",
    [b"", b"{}", b"[]", b'{"keys":{}}', b'{"keys":[1]}', b'{"keys":[{"kty":"oct","k":"AAAA"}]}',
     json.dumps({"keys": [rsa_jwk("a"), ec_jwk("a")]}).encode(),
     json.dumps({"keys": [{**rsa_jwk(), "d": "AQAB"}]}).encode(),
     json.dumps({"keys": [rsa_jwk(str(n)) for n in range(40)]}).encode(), b" " * 300_000],
    ids=["empty", "no-keys", "list", "no-list", "no-objects", "symmetric", "same-kid", "private", "many", "large"],
)  # fmt: skip
def test_a_set_that_cannot_be_trusted_is_refused_whole(document: bytes) -> None:
    with pytest.raises(BadKey):
        jwks_keys(document, Form.JWT)


def test_keys_for_other_uses_are_left_out_of_a_set() -> None:
    listed = [
        rsa_jwk("a"),
        {**rsa_jwk("b"), "use": "enc"},
        {"kty": "EC", "crv": "P-521", "kid": "c"},
        ec_jwk("d"),
    ]
    keys = jwks_keys(json.dumps({"keys": listed}).encode(), Form.JWT)
    assert [key.key_id for key in keys] == ["a", "d"]


def test_no_key_shows_in_a_repr() -> None:
    assert public_paserk()[12:] not in repr(paserk_key(public_paserk()))
