"""From a header to a principal: every fault has its code, and of two faults the earlier step answers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from given import NOON, CountedIds, ManualClock
from issuing import (
    EC,
    ED25519,
    JWT_ISSUER,
    NOW_S,
    OTHER_ED25519,
    PASETO_ISSUER,
    b64,
    claims,
    issuers,
    jwt,
    paseto,
    public_paserk,
)
from lamina.access.principals import Credentials
from lamina.access.tokens.verifier import SignedPrincipals
from lamina.errors import Unauthenticated, outcome_of
from lamina.kernel.ids import Prefix
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.kernel.tokens import ScopeLimit, TokenFacts
from lamina.store.memory import MemoryStore
from lamina.store.ports.revocations import Revocation

DAY_S = 24 * 3600


class Door:
    """Shows tokens to the principals of two issuers at noon."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(clock=self.clock, ids=CountedIds())
        self.principals = SignedPrincipals(issuers(folder), self.store.revocations, self.clock)

    def identify(self, token: str, actor: str | None = "user:alice") -> Principal:
        return self.principals.identify(Credentials("http", f"Bearer {token}", actor))

    def refusal(self, token: str, actor: str | None = "user:alice") -> Unauthenticated:
        with pytest.raises(Unauthenticated) as caught:
            self.identify(token, actor)
        return caught.value

    def revoke(self, jti: str = "t-1", issuer: str | None = PASETO_ISSUER, tenant_id: str = "acme") -> None:
        self.store.revocations.add(
            Revocation(
                tenant_id=tenant_id,
                issuer=issuer,
                jti=jti,
                id=CountedIds().stamped(Prefix.TOKEN, NOON),
                expires_at=NOON + DAY_S * SECOND_US,
                reason=None,
                revoked_by="user:root",
                revoked_at=NOON,
            )
        )


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def test_a_paseto_token_tells_who_calls(door: Door) -> None:
    facts = TokenFacts("t-1", PASETO_ISSUER, NOW_S + 3600)
    assert door.identify(paseto(claims())) == Principal("acme", "user:alice", "http", facts)


@pytest.mark.parametrize(
    ("header", "key"),
    [({"alg": "RS256", "kid": "rsa-1"}, None), ({"alg": "ES256"}, EC), ({"alg": "RS256"}, None)],
)
def test_a_jwt_tells_who_calls(door: Door, header: dict[str, Any], key: Any) -> None:
    said = claims(
        iss=JWT_ISSUER, aud=["https://api.acme.com", "cortexdb:tenant:beta"], sub="agent:planner_v3"
    )
    principal = door.identify(jwt(said, header, key), "agent:planner_v3")
    assert (principal.tenant_id, principal.actor) == ("beta", "agent:planner_v3")
    assert principal.token == TokenFacts("t-1", JWT_ISSUER, NOW_S + 3600)


def test_the_sample_of_the_contract_is_narrowed(door: Door) -> None:
    said = claims(
        deployment="cloud_shared_saas",
        caps=["scope.write", "scope.read.local", "scope.read.holistic", "lifecycle.subscribe"],
        scopes=["scope.write:org:acme/dept:eng/*", "scope.read.holistic:org:acme"],
    )
    token = door.identify(paseto(said)).token
    assert token is not None
    assert token.caps == {"scope.write", "scope.read.local", "scope.read.holistic", "lifecycle.subscribe"}
    assert token.scopes == (
        ScopeLimit("scope.write", Scope("org:acme/dept:eng"), below=True),
        ScopeLimit("scope.read.holistic", Scope("org:acme"), below=False),
    )


def test_no_caps_narrow_nothing_and_empty_caps_leave_nothing(door: Door) -> None:
    assert door.identify(paseto(claims())).token.caps is None  # type: ignore[union-attr]
    assert door.identify(paseto(claims(caps=[]))).token.caps == frozenset()  # type: ignore[union-attr]


# ---- the table of 4.3


@dataclass(frozen=True)
class Fault:
    """Something wrong with a call: other claims, another signature or header, another revocation."""

    step: int
    code: str
    claims: dict[str, Any] = field(default_factory=dict)
    key: Any = ED25519
    actor: str | None = "user:alice"
    revoked: bool = False

    def __str__(self) -> str:
        return f"{self.code}-{'-'.join(self.claims) or self.actor}"


FAULTS = [
    Fault(1, "INVALID_TOKEN_SIGNATURE", key=OTHER_ED25519),
    Fault(2, "UNKNOWN_ISSUER", {"iss": "https://evil.example"}),
    Fault(3, "WRONG_TENANT", {"aud": "cortexdb:tenant:other"}),
    Fault(4, "EXPIRED_TOKEN", {"exp": NOW_S}),
    Fault(4, "TOKEN_NOT_YET_VALID", {"iat": NOW_S + 61}),
    Fault(4, "TOKEN_NOT_YET_VALID", {"nbf": NOW_S + 61}),
    Fault(4, "TOKEN_LIFETIME_TOO_LONG", {"iat": NOW_S - DAY_S}),
    Fault(5, "INVALID_TOKEN_CLAIMS", {"jti": None}),
    Fault(5, "REVOKED_TOKEN", revoked=True),
    Fault(6, "INVALID_TOKEN_CLAIMS", {"sub": "alice"}),
    Fault(6, "ACTOR_MISMATCH", actor="user:bob"),
    Fault(6, "ACTOR_MISMATCH", actor=None),
    Fault(7, "INVALID_TOKEN_CLAIMS", {"caps": ["scope.*"]}),
]


def refused_for(door: Door, *faults: Fault) -> Unauthenticated:
    said = claims()
    for fault in faults:
        said |= fault.claims
    if any(fault.revoked for fault in faults):
        door.revoke()
    key = next((fault.key for fault in faults if fault.key is not ED25519), ED25519)
    actor = next((fault.actor for fault in faults if fault.actor != "user:alice"), "user:alice")
    return door.refusal(
        paseto({name: value for name, value in said.items() if value is not None}, key), actor
    )


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_has_its_code_and_says_what_helps(door: Door, fault: Fault) -> None:
    error = refused_for(door, fault)
    assert error.code == fault.code
    assert outcome_of(error).status == 401
    assert error.hint
    assert not error.retriable


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (first, second)
        for first, second in combinations(FAULTS, 2)
        if first.step < second.step and not (first.claims.keys() & second.claims.keys())
    ],
    ids=lambda fault: str(fault),
)
def test_of_two_faults_the_earlier_step_answers(door: Door, first: Fault, second: Fault) -> None:
    assert refused_for(door, first, second).code == first.code


# ---- claims


@pytest.mark.parametrize(
    "audience",
    [None, "", "acme", "cortexdb:tenant:", "cortexdb:tenant:a/b", "cortexdb:tenant:*", "cortexdb:tenant:ACME",
     "lamina:tenant:acme", "cortexdb:tenant:acme ", "cortexdb:tenant:acme\n", 7, {}, [], ["acme"],
     ["cortexdb:tenant:acme", "cortexdb:tenant:beta"], "cortexdb:tenant:beta"],
    ids=repr,
)  # fmt: skip
def test_the_audience_is_one_tenant_that_the_issuer_speaks_for(door: Door, audience: Any) -> None:
    assert door.refusal(paseto(claims(aud=audience))).code == "WRONG_TENANT"


@pytest.mark.parametrize(
    ("name", "value"),
    [("exp", None), ("iat", None), ("exp", "1715836800"), ("exp", True), ("iat", -1), ("exp", 1e300), ("iat", []),
     ("nbf", "now"), ("jti", ""), ("jti", 7), ("jti", "x" * 300), ("jti", "a\nb"), ("sub", None), ("sub", "user:"),
     ("sub", "root:x"), ("sub", "user:a b"), ("sub", ["user:alice"]), ("sub", "user:" + "a" * 300),
     ("caps", "scope.write"), ("caps", [1]), ("caps", ["*"]), ("caps", ["scope.read.*"]), ("caps", ["Scope.Write"]),
     ("scopes", "scope.write:org:acme/*"), ("scopes", ["scope.write"]), ("scopes", ["scope.write:"]),
     ("scopes", ["scope.write:*"]), ("scopes", ["scope.*:org:acme/*"]), ("scopes", ["scope.write:org:acme/**"]),
     ("scopes", ["scope.write:org:acme/*/user:x"]), ("scopes", ["scope.write:/*"]), ("scopes", [None])],
    ids=repr,
)  # fmt: skip
def test_a_claim_of_another_shape_is_refused_and_named(door: Door, name: str, value: Any) -> None:
    error = door.refusal(paseto(claims(**{name: value})))
    assert error.code == "INVALID_TOKEN_CLAIMS"
    assert error.details["claim"] == name


def test_a_service_account_may_hold_a_token_for_thirty_days(door: Door) -> None:
    said = claims(sub="service:importer_v1", exp=NOW_S + 30 * DAY_S)
    assert door.identify(paseto(said), "service:importer_v1").actor == "service:importer_v1"
    too_long = paseto({**said, "exp": NOW_S + 30 * DAY_S + 1})
    assert door.refusal(too_long, "service:importer_v1").code == "TOKEN_LIFETIME_TOO_LONG"


def test_a_day_is_not_too_long_and_a_minute_of_skew_is_forgiven(door: Door) -> None:
    door.identify(paseto(claims(exp=NOW_S + DAY_S)))
    door.identify(paseto(claims(iat=NOW_S + 60)))
    door.identify(paseto(claims(exp=NOW_S + 1)))


@pytest.mark.parametrize(
    "issuer", [None, 7, "", "https://auth.acme.com/lamina/", ["https://auth.acme.com/lamina"]]
)
def test_an_issuer_is_spelt_exactly(door: Door, issuer: Any) -> None:
    assert door.refusal(paseto(claims(iss=issuer))).code == "UNKNOWN_ISSUER"


def test_an_issuer_speaks_in_its_own_form_and_with_its_own_keys(door: Door) -> None:
    assert door.refusal(paseto(claims(iss=JWT_ISSUER))).code == "INVALID_TOKEN_SIGNATURE"
    assert door.refusal(jwt(claims(), {"alg": "RS256"})).code == "INVALID_TOKEN_SIGNATURE"
    assert (
        door.refusal(jwt(claims(iss=JWT_ISSUER), {"alg": "RS256", "kid": "ec-1"})).code
        == "INVALID_TOKEN_SIGNATURE"
    )
    repeated = json.dumps(claims())[:-1] + ',"iss":"https://evil.example"}'
    assert door.refusal(paseto(repeated.encode())).code == "INVALID_TOKEN_SIGNATURE"


def test_an_unknown_issuer_is_told_apart_only_when_a_key_of_ours_signed(door: Door) -> None:
    said = claims(iss="https://evil.example")
    assert door.refusal(paseto(said, OTHER_ED25519)).code == "INVALID_TOKEN_SIGNATURE"
    assert door.refusal(paseto(said)).code == "UNKNOWN_ISSUER"


def test_a_revocation_is_of_a_tenant_and_of_one_issuer_or_of_all(door: Door) -> None:
    ours = paseto(claims())
    door.identify(ours)
    door.revoke(tenant_id="beta")
    door.revoke(issuer=JWT_ISSUER)
    door.identify(ours)
    door.revoke(issuer=None)
    assert door.refusal(ours).code == "REVOKED_TOKEN"


def test_claims_are_taken_from_where_the_issuer_puts_them(tmp_path: Path) -> None:
    document = {
        "issuers": [
            {
                "issuer": PASETO_ISSUER,
                "form": "paseto",
                "tenants": ["*"],
                "keys": [public_paserk()],
                "claims": {"sub": "actor", "jti": "uti"},
            }
        ]
    }
    store = MemoryStore()
    principals = SignedPrincipals(issuers(tmp_path, document), store.revocations, ManualClock())
    token = paseto(claims(sub="00u1", actor="user:alice", jti=None, uti="u-1", aud="cortexdb:tenant:any"))
    principal = principals.identify(Credentials("http", f"Bearer {token}", "user:alice"))
    assert (principal.tenant_id, principal.actor, principal.token.jti) == ("any", "user:alice", "u-1")  # type: ignore[union-attr]


# ---- whatever arrives

FRAGMENT = st.one_of(
    st.text(max_size=40),
    st.binary(max_size=120).map(b64),
    st.sampled_from(
        ["v4.public.", "v4.local.", ".", "Bearer ", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJSUzI1NiJ9", "\x00"]
    ),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
SAID = st.dictionaries(
    st.sampled_from(["iss", "sub", "aud", "exp", "iat", "nbf", "jti", "caps", "scopes", "x"]),
    JSON,
    max_size=9,
)
ONCE = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def only_unauthenticated(act: Callable[[], object]) -> None:
    with contextlib.suppress(Unauthenticated):
        act()


@ONCE
@given(st.lists(FRAGMENT, max_size=6).map("".join), st.booleans())
def test_garbage_is_refused_and_nothing_else_happens(door: Door, text: str, prefixed: bool) -> None:
    shown = Credentials("http", f"Bearer {text}" if prefixed else text, "user:alice")
    only_unauthenticated(lambda: door.principals.identify(shown))


@ONCE
@given(SAID)
def test_strange_claims_with_a_sound_signature_are_refused_and_nothing_else_happens(
    door: Door, said: dict[str, Any]
) -> None:
    only_unauthenticated(lambda: door.identify(paseto({**claims(), **said})))


@ONCE
@given(
    st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "jwk", "x"]), JSON, max_size=5),
    st.binary(max_size=64),
)
def test_strange_headers_are_refused_and_nothing_else_happens(
    door: Door, header: dict[str, Any], signed: bytes
) -> None:
    text = f"{b64(json.dumps({'alg': 'RS256', **header}))}.{b64(json.dumps(claims(iss=JWT_ISSUER)))}.{b64(signed)}"
    only_unauthenticated(lambda: door.identify(text))


def test_no_refusal_quotes_the_token(door: Door) -> None:
    for fault in FAULTS:
        error = refused_for(door, fault)
        shown = f"{error!r} {error} {error.details}"
        assert "t-1" not in shown
        assert "v4.public.ey" not in shown
        assert "evil" not in shown
