"""Tokens as they arrive: what is taken for one, and what never is."""

from __future__ import annotations

import json

import pytest

from issuing import b64, claims, jwt, paseto
from lamina import limits
from lamina.access.principals import Credentials
from lamina.access.tokens.wire import Algorithm, BadToken, bearer, decode_base64url, read_token, strict_json
from lamina.errors import Unauthenticated
from tables import every_row

RS256 = {"alg": "RS256", "typ": "JWT", "kid": "rsa-1"}


@pytest.mark.parametrize("header", [None, "", "   "])
def test_without_a_header_the_token_is_missing(header: str | None) -> None:
    with pytest.raises(Unauthenticated) as caught:
        bearer(header)
    assert caught.value.code == "MISSING_TOKEN"
    assert caught.value.hint


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "Bearer a, Bearer b", "Bearer é"]
)
def test_another_header_holds_no_token(header: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        bearer(header)
    assert caught.value.code == "INVALID_TOKEN_SIGNATURE"


def test_a_token_is_bounded_before_anything_reads_it() -> None:
    assert bearer("bearer " + "a" * limits.TOKEN_LENGTH_MAX) == "a" * limits.TOKEN_LENGTH_MAX
    with pytest.raises(Unauthenticated):
        bearer("Bearer " + "a" * (limits.TOKEN_LENGTH_MAX + 1))
    with pytest.raises(BadToken, match="too long"):
        read_token("a" * (limits.TOKEN_LENGTH_MAX + 1))


def test_the_form_says_which_algorithm_verifies() -> None:
    assert read_token(paseto(claims(), footer=b'{"kid":"k"}')).key_id == "k"
    assert read_token(paseto(claims(), footer=b"free text")).key_id is None
    assert read_token(paseto(claims())).algorithm is Algorithm.V4_PUBLIC
    token = read_token(jwt(claims(), RS256))
    assert (token.algorithm, token.key_id) == (Algorithm.RS256, "rsa-1")
    assert token.claimed_issuer() == claims()["iss"]


@every_row(
    "text",
    ["", ".", "..", "a.b", "v4.public.", "v4.local." + "A" * 200, "v3.public." + "A" * 200, "v4.public.AAAA",
     "v4.public." + "A" * 86, "v4.public." + "A" * 200 + ".", "V4.public." + "A" * 200, "opaque-relay-token"],
)  # fmt: skip
def test_every_other_form_is_refused(text: str) -> None:
    with pytest.raises(BadToken):
        read_token(text)


@every_row(
    "alg",
    ["none", "None", "", "HS256", "HS512", "PS256", "RS384", "ES384", "ES512", "EdDSA", None, 1, ["RS256"]],
)
def test_every_other_algorithm_is_refused(alg: object) -> None:
    with pytest.raises(BadToken, match="algorithm"):
        read_token(jwt(claims(), {"alg": alg}))


@pytest.mark.parametrize("name", ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc"])
def test_a_header_that_brings_its_own_rules_is_refused(name: str) -> None:
    with pytest.raises(BadToken, match=name):
        read_token(jwt(claims(), {**RS256, name: []}))


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "application/at+jwt"])
def test_access_and_id_tokens_are_taken(kind: str) -> None:
    assert read_token(jwt(claims(), {**RS256, "typ": kind})).algorithm is Algorithm.RS256


@pytest.mark.parametrize("kind", ["logout+jwt", "dpop+jwt", "secevent+jwt", 1, ""])
def test_tokens_for_other_uses_are_refused(kind: object) -> None:
    with pytest.raises(BadToken, match="kind"):
        read_token(jwt(claims(), {**RS256, "typ": kind}))


@every_row(
    "data",
    [b"[]", b"1", b"", b"{", b'{"a":1,"a":2}', b'{"x":{"a":1,"a":1}}', b'{"a":NaN}', b'{"a":-Infinity}', b"\xff",
     b"[" * 8000, b'{"a":' * 5000, b'{"a":' + b"9" * 6000 + b"}", b"\xef\xbb\xbf{}"],
    ids=range(13),
)  # fmt: skip
def test_only_a_plain_object_is_json_here(data: bytes) -> None:
    with pytest.raises(BadToken):
        strict_json(data)


def test_a_repeated_key_of_the_header_is_refused() -> None:
    with pytest.raises(BadToken):
        read_token(jwt(claims(), b'{"alg":"HS256","alg":"RS256"}'))


@pytest.mark.parametrize("text", ["A", "AB=", "AB==", "A+", "A/", "AA A", "AB", "é"])
def test_base64url_has_one_spelling(text: str) -> None:
    with pytest.raises(BadToken):
        decode_base64url(text)


def test_no_token_shows_in_a_repr() -> None:
    text = paseto(claims())
    shown = repr(read_token(text)) + repr(Credentials("http", f"Bearer {text}", "user:alice"))
    assert text not in shown
    assert "jti" not in shown
    assert b64(json.dumps(claims()))[:20] not in shown
