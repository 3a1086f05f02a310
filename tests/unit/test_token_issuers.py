"""Whom the server believes: the issuers file, and key sets that are read again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest

from issuing import (
    EC,
    JWT_ISSUER,
    claims,
    ec_jwk,
    issuers,
    issuers_document,
    issuers_file,
    jwt,
    paseto,
    public_paserk,
    rsa_jwk,
)
from lamina import limits
from lamina.access.tokens.issuers import Sources, read_issuers
from lamina.access.tokens.jwks import RenewedKeys
from lamina.access.tokens.verifier import TokenVerifier
from lamina.access.tokens.wire import Form, read_token
from lamina.errors import Invalid, Unauthenticated, Unsupported

RS = jwt(claims(iss=JWT_ISSUER), {"alg": "RS256", "kid": "rsa-1"})
ES = jwt(claims(iss=JWT_ISSUER), {"alg": "ES256", "kid": "ec-1"}, EC)


# ---- the file


def entry(**more: Any) -> dict[str, Any]:
    given = {"issuer": "https://x", "form": "paseto", "tenants": ["acme"], "keys": [public_paserk()], **more}
    return {"issuers": [{name: value for name, value in given.items() if value is not None}]}


def test_issuers_are_read_from_yaml_and_json(tmp_path: Path) -> None:
    assert set(issuers(tmp_path)) == {item["issuer"] for item in issuers_document()["issuers"]}
    path = tmp_path / "issuers.json"
    path.write_text(json.dumps(issuers_document()))
    assert read_issuers(path, Sources(lambda _: b"", lambda: 0.0)).keys() == issuers(tmp_path).keys()


@pytest.mark.parametrize("document", [None, {"issuers": []}])
def test_without_an_issuer_nobody_could_sign_in(tmp_path: Path, document: Any) -> None:
    path = None if document is None else issuers_file(tmp_path, document)
    with pytest.raises(Unsupported) as caught:
        read_issuers(path, Sources(lambda _: b"", lambda: 0.0))
    assert caught.value.code == "PRESET_NEEDS_KEYS"


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"issuer": []},
        {"issuers": [1]},
        entry(tenants=[]),
        entry(tenants=None),
        entry(tenants=["a/b"]),
        entry(tenants=["acme\n"]),
        entry(form="jwe"),
        entry(keys=[]),
        entry(keys=None),
        entry(keys=["k4.secret.AAAA"]),
        entry(keys=[rsa_jwk()]),
        entry(keys=[{"paserk": public_paserk(), "pem": "x"}]),
        entry(keys=[{"paserk": public_paserk(), "other": "x"}]),
        entry(keys=[{"kid": "x"}]),
        entry(jwks_url="https://x/jwks"),
        entry(keys=None, jwks_url="http://auth.example.com/jwks"),
        entry(keys=None, jwks_url="file:///etc/passwd"),
        entry(keys=None, jwks_url="https://user:secret@x/jwks"),
        entry(keys=None, jwks_url="https://"),
        entry(keys=None, jwks_url="https://[x/jwks"),
        entry(keys=None, jwks_file="missing.json"),
        entry(claims={"iss": "x"}),
        entry(claims={"sub": ""}),
        entry(extra=1),
        {"issuers": entry()["issuers"] * 2},
    ],
    ids=range(26),
)
def test_a_file_that_is_not_understood_stops_the_start(tmp_path: Path, document: Any) -> None:
    with pytest.raises(Invalid) as caught:
        issuers(tmp_path, document)
    assert caught.value.code == "INVALID_ISSUERS"
    assert "issuers.yaml" in caught.value.message
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("text", ["{", "issuers: [", "\x00", "!!python/object:os.system {}", "[" * 1200])
def test_a_file_that_is_no_yaml_stops_the_start(tmp_path: Path, text: str) -> None:
    path = tmp_path / "issuers.yaml"
    path.write_text(text)
    with pytest.raises(Invalid):
        read_issuers(path, Sources(lambda _: b"", lambda: 0.0))


def test_a_key_may_have_an_id(tmp_path: Path) -> None:
    document = entry(keys=[{"paserk": public_paserk(), "kid": "main"}])
    [issuer] = issuers(tmp_path, document).values()
    assert [key.key_id for key in issuer.keys.known()] == ["main"]


def test_loopback_may_be_asked_without_tls(tmp_path: Path) -> None:
    for host in ("127.0.0.1:9", "localhost", "[::1]:9"):
        issuers(tmp_path, entry(form="jwt", keys=None, jwks_url=f"http://{host}/jwks"))


# ---- key sets


class Published:
    """A key set that a test changes, with a clock."""

    def __init__(self) -> None:
        self.listed = [rsa_jwk()]
        self.at = 1000.0
        self.asked = 0
        self.failing: Exception | None = None
        self.source = RenewedKeys(JWT_ISSUER, Form.JWT, self.fetch, lambda: self.at)

    def fetch(self) -> bytes:
        self.asked += 1
        if self.failing is not None:
            raise self.failing
        return json.dumps({"keys": self.listed}).encode()

    def finds(self, text: str) -> bool:
        return bool(self.source.candidates(read_token(text)))

    def settled(self) -> int:
        """How often it was asked, once nothing asks any more."""
        for thread in threading.enumerate():
            if thread.name == "lamina-jwks":
                thread.join(300)
        return self.asked


@pytest.fixture
def published() -> Published:
    return Published()


def test_a_set_is_read_once_and_kept(published: Published) -> None:
    assert [published.finds(RS) for _ in range(3)] == [True] * 3
    assert published.settled() == 1


def test_an_unknown_key_id_asks_again_but_not_before_the_interval_is_over(published: Published) -> None:
    assert not published.finds(ES)
    published.listed.append(ec_jwk())
    assert not published.finds(ES)
    assert published.settled() == 1
    published.at += limits.JWKS_INTERVAL_S
    assert published.finds(ES)
    assert published.settled() == 2


def test_a_set_is_renewed_beside_the_requests_before_its_time_is_over(published: Published) -> None:
    published.finds(RS)
    published.at += limits.JWKS_RENEW_S + 1
    published.listed = [ec_jwk()]
    assert published.finds(RS)
    assert published.settled() == 2
    assert not published.finds(RS)


def test_a_set_that_cannot_be_renewed_is_trusted_until_its_time_is_over(published: Published) -> None:
    published.finds(RS)
    published.failing = OSError("down")
    published.at += limits.JWKS_TTL_S - 1
    assert published.finds(RS)
    published.settled()
    published.at += 2
    assert not published.finds(RS)
    assert published.source.known() == ()
    published.failing = None
    published.at += limits.JWKS_INTERVAL_S
    assert published.finds(RS)


@pytest.mark.parametrize("failing", [OSError("down"), ValueError("x"), RuntimeError("y")])
def test_an_issuer_that_cannot_be_reached_lets_nobody_in(
    published: Published, failing: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    published.failing = failing
    assert not published.finds(RS)
    assert not published.finds(RS)
    assert published.settled() == 1
    assert JWT_ISSUER in caplog.text


def test_a_set_that_turns_bad_does_not_replace_the_good_one(published: Published) -> None:
    published.finds(RS)
    published.listed = [{"kty": "oct", "k": "AAAA", "kid": "rsa-1"}]
    published.at += limits.JWKS_RENEW_S + 1
    published.finds(RS)
    published.settled()
    assert published.finds(RS)


def test_callers_share_one_reading_and_wait_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JWKS_WAIT_S", 0.05)
    go, asked = threading.Event(), []

    def slow() -> bytes:
        asked.append(1)
        go.wait(300)
        return json.dumps({"keys": [rsa_jwk()]}).encode()

    source = RenewedKeys(JWT_ISSUER, Form.JWT, slow, lambda: 0.0)
    assert not source.candidates(read_token(RS))
    assert not source.candidates(read_token(RS))
    assert len(asked) == 1
    monkeypatch.setattr(limits, "JWKS_WAIT_S", 10.0)
    waiting = threading.Thread(target=go.set)
    waiting.start()
    assert source.candidates(read_token(RS))
    waiting.join()


def test_a_slow_issuer_holds_few_callers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names it needs no token that holds, and every one who waits has a thread."""
    monkeypatch.setattr(limits, "JWKS_WAITING_MAX", 2)
    monkeypatch.setattr(limits, "JWKS_WAIT_S", 300.0)
    go, reading = threading.Event(), threading.Event()

    def slow() -> bytes:
        reading.set()
        go.wait(300)
        return json.dumps({"keys": [rsa_jwk()]}).encode()

    source = RenewedKeys(JWT_ISSUER, Form.JWT, slow, lambda: 0.0)
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(source.candidates, read_token(RS)) for _ in range(3)]
        assert reading.wait(300)
        first = next(as_completed(asked, 300))
        assert not first.result(), "the third is told at once"
        go.set()
        assert [bool(each.result(300)) for each in asked if each is not first] == [True, True]


def test_without_keys_the_answer_says_that_it_is_not_the_token(tmp_path: Path) -> None:
    def down(url: str) -> bytes:
        raise OSError("down")

    known = issuers(
        tmp_path, entry(issuer=JWT_ISSUER, form="jwt", keys=None, jwks_url="https://x/jwks"), fetch=down
    )
    with pytest.raises(Unauthenticated) as caught:
        TokenVerifier(known).verified(RS)
    assert caught.value.code == "ISSUER_KEYS_UNAVAILABLE"


def test_tokens_of_unknown_issuers_make_nobody_fetch(tmp_path: Path) -> None:
    known = issuers(tmp_path, entry(issuer="https://other", form="jwt", keys=None, jwks_url="https://x/jwks"))
    with pytest.raises(Unauthenticated) as caught:
        TokenVerifier(known).verified(RS)
    assert caught.value.code == "INVALID_TOKEN_SIGNATURE"


def test_a_verified_token_is_remembered_no_longer_than_its_key_is_trusted(tmp_path: Path) -> None:
    at, listed, asked = [0.0], [rsa_jwk()], []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return json.dumps({"keys": listed}).encode()

    document = entry(issuer=JWT_ISSUER, form="jwt", keys=None, jwks_url="https://x/jwks")
    verifier = TokenVerifier(issuers(tmp_path, document, fetch=fetch, monotonic=lambda: at[0]))
    first = verifier.verified(RS)
    assert verifier.verified(RS) is first
    listed[:] = [ec_jwk()]
    at[0] += limits.JWKS_TTL_S
    with pytest.raises(Unauthenticated):
        verifier.verified(RS)
    assert len(asked) == 2


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOKENS_REMEMBERED_MAX", 3)
    verifier = TokenVerifier(issuers(tmp_path))
    for number in range(10):
        verifier.verified(paseto(claims(jti=str(number))))
        assert len(verifier._remembered) <= 3
    assert not any(b"v4" in key for key in verifier._remembered)


def test_a_set_in_a_file_is_read_again_too(tmp_path: Path) -> None:
    at = [0.0]
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [rsa_jwk()]}))
    clock: Callable[[], float] = lambda: at[0]  # noqa: E731
    known = issuers(
        tmp_path, entry(issuer=JWT_ISSUER, form="jwt", keys=None, jwks_file="keys.json"), monotonic=clock
    )
    verifier = TokenVerifier(known)
    assert verifier.verified(RS).claims["sub"] == "user:alice"
    file.write_text(json.dumps({"keys": [ec_jwk()]}))
    at[0] += limits.JWKS_TTL_S
    assert TokenVerifier(known).verified(ES).claims["sub"] == "user:alice"
    with pytest.raises(Unauthenticated):
        TokenVerifier(known).verified(RS)
