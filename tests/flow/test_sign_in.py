"""Signed callers over HTTP: who gets in, what a token leaves them, and how it is taken back."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from given import NOON, ManualClock
from issuing import EC, JWT_ISSUER, NOW_S, OTHER_ED25519, PASETO_ISSUER, claims, issuers_file, jwt, paseto
from lamina.app import build_server
from lamina.errors import Invalid, Unsupported
from lamina.http.errors import error_response
from lamina.kernel.capabilities import Capability
from lamina.kernel.time import SECOND_US
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore

ALICE = "org:acme/user:alice"
ROOT = "user:root"


class Signed:
    """A server of a preset that takes signed tokens."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.folder = folder
        self.store = SqliteStore(folder, clock=self.clock, durable=False)
        settings = Settings(
            preset="on_prem_enterprise", issuers=issuers_file(folder), data=folder, operators=f"acme/{ROOT}"
        )
        self.server = build_server(settings, store=self.store, clock=self.clock)

    def close(self) -> None:
        self.server.pool.shutdown()
        self.server.close()

    def call(
        self, verb: str, path: str, token: str | None, actor: str | None = "user:alice", **more: Any
    ) -> httpx.Response:
        headers = list(more.pop("headers", []))
        headers += [("Authorization", f"Bearer {token}")] if token is not None else []
        headers += [("X-Cortex-Actor", actor)] if actor is not None else []

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            async with httpx.AsyncClient(transport=transport, base_url="https://memory.acme.com") as client:
                return await client.request(verb, path, headers=headers, **more)

        return asyncio.run(send())

    def code(self, *args: Any, **more: Any) -> tuple[int, str]:
        response = self.call(*args, **more)
        return response.status_code, response.json()["error_code"]

    def write(self, token: str, scope: str = ALICE, actor: str = "user:alice") -> httpx.Response:
        body = {
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": "tea at five"},
            "context": {"observed_at": "2026-05-13T12:00:00Z"},
            "idempotency_key": scope[-60:],
        }
        response = self.call("POST", "/v1/experience", token, actor, json=body)
        assert response.status_code in (202, 403), response.text
        return response


@pytest.fixture
def signed(tmp_path: Path) -> Iterator[Signed]:
    server = Signed(tmp_path)
    yield server
    server.close()


def test_who_am_i(signed: Signed) -> None:
    response = signed.call("GET", "/v1/auth/whoami", paseto(claims()))
    assert response.status_code == 200, response.text
    allowed = signed.call("GET", "/v1/policy/effective", paseto(claims())).json()["allowed"]
    assert "scope.write" in allowed
    assert "admin.flush" not in allowed
    assert response.json() == {
        "caller": "user:alice",
        "tenant_id": "acme",
        "deployment_preset": "on_prem_enterprise",
        "token": {"jti": "t-1", "iss": PASETO_ISSUER, "exp": NOW_S + 3600},
        "effective_capabilities": [str(item) for item in Capability if item in allowed],
    }


def test_a_token_that_was_taken_back_stays_so_though_the_clock_was_ahead_for_a_while(signed: Signed) -> None:
    day = 24 * 3600
    lasting = paseto(claims(sub="service:import", jti="t-lost", exp=NOW_S + 30 * day))
    root = paseto(claims(sub=ROOT, jti="t-root"))
    assert signed.call("POST", "/v1/auth/revoke", root, ROOT, json={"jti": "t-lost"}).status_code == 204
    signed.clock.at = NOON + 31 * day * SECOND_US
    begun = NOW_S + 30 * day
    later = paseto(claims(sub="service:import", jti="t-later", iat=begun, exp=begun + 2 * day))
    assert (
        signed.call("POST", "/v1/auth/revoke", later, "service:import", json={"jti": "t-later"}).status_code
        == 204
    )
    signed.clock.at = NOON + 29 * day * SECOND_US
    assert signed.code("GET", "/v1/auth/whoami", lasting, "service:import") == (401, "REVOKED_TOKEN")


def test_the_audit_log_names_the_token_and_what_it_took_back(signed: Signed) -> None:
    assert signed.write(paseto(claims(caps=["scope.write"]))).status_code == 202
    assert signed.call("POST", "/v1/auth/revoke", paseto(claims()), json={"jti": "t-1"}).status_code == 204
    rows = signed.call("GET", "/v1/audit", paseto(claims(jti="t-2"))).json()["items"]
    assert [(row["capability"], row["token_jti"], row["response_status"]) for row in rows] == [
        ("auth.revoke", "t-1", 204),
        ("scope.write", "t-1", 202),
    ]


def test_a_token_without_the_capability_is_denied_in_the_name_of_the_token_and_audited(
    signed: Signed,
) -> None:
    denied = signed.write(paseto(claims(caps=["audit.read"])))
    assert (denied.status_code, denied.json()["details"]["denied_by_tier"]) == (403, "token")
    (row,) = signed.call("GET", "/v1/audit", paseto(claims())).json()["items"]
    assert (row["decision"], row["decided_by_tier"], row["token_jti"]) == ("deny", "token", "t-1")


def test_whoami_shows_what_the_token_leaves(signed: Signed) -> None:
    narrowed = claims(caps=["scope.write", "audit.read"], scopes=["audit.read:org:acme/*"])
    shown = signed.call("GET", "/v1/auth/whoami", paseto(narrowed)).json()
    assert shown["effective_capabilities"] == ["scope.write", "audit.read"]


def test_a_jwt_of_another_tenant_writes_and_reads_there_only(signed: Signed) -> None:
    token = jwt(claims(iss=JWT_ISSUER, aud="cortexdb:tenant:beta"), {"alg": "ES256", "kid": "ec-1"}, EC)
    event_id = signed.write(token).json()["event_id"]
    assert signed.call("GET", f"/v1/events/{event_id}", token).status_code == 200
    assert signed.code("GET", f"/v1/events/{event_id}", paseto(claims())) == (404, "NOT_FOUND")
    [tenant] = signed.store.log.tenants()
    assert tenant == "beta"


OPEN = re.compile(
    r"/v1/admin/version|/\.well-known/(mcp|cognirelay)\.json|/health|/capabilities|/v1/contracts|/v1/governance/policy"
    r"|/v1/(capabilities|manifest|discovery|help)(/.*)?"
)
REFUSED = {
    "no token": (None, "user:alice", "MISSING_TOKEN"),
    "garbage": ("garbage", "user:alice", "INVALID_TOKEN_SIGNATURE"),
    "another key": (paseto(claims(), OTHER_ED25519), "user:alice", "INVALID_TOKEN_SIGNATURE"),
    "none": ("eyJhbGciOiJub25lIn0.e30.", "user:alice", "INVALID_TOKEN_SIGNATURE"),
    "unknown issuer": (paseto(claims(iss="https://x")), "user:alice", "UNKNOWN_ISSUER"),
    "wrong tenant": (paseto(claims(aud="cortexdb:tenant:beta")), "user:alice", "WRONG_TENANT"),
    "expired": (paseto(claims(exp=NOW_S)), "user:alice", "EXPIRED_TOKEN"),
    "wrong actor": (paseto(claims()), "user:bob", "ACTOR_MISMATCH"),
    "no actor": (paseto(claims()), None, "ACTOR_MISMATCH"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_every_route_but_the_open_ones_asks_who_calls(signed: Signed, case: str) -> None:
    token, actor, code = REFUSED[case]
    for row in signed.server.routes:
        assert row.operation.open == bool(OPEN.fullmatch(row.path)), row.path
        verb, path = row.verb, row.path.replace("{", "").replace("}", "")
        response = signed.call(verb, path, token, actor)
        if row.operation.open:
            # Help has no page for an id that is no id; it says so to anybody.
            assert response.status_code == (400 if "{" in row.path else 200)
            continue
        assert (response.status_code, response.json()["error_code"]) == (401, code), path
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert token is None or token not in response.text
        if row.errors is not error_response:
            continue
        assert response.json()["details"]["hint"]
        assert response.json()["retriable"] is False


@pytest.mark.parametrize("name", ["Authorization", "X-Cortex-Actor"])
def test_a_header_sent_twice_is_refused(signed: Signed, name: str) -> None:
    token = paseto(claims())
    again = {"Authorization": f"Bearer {token}", "X-Cortex-Actor": "user:alice"}[name]
    response = signed.call("GET", "/v1/auth/whoami", token, headers=[(name, again)])
    assert response.status_code == 401


def test_a_narrowed_token_is_denied_in_its_own_name(signed: Signed) -> None:
    reader = paseto(claims(caps=["scope.read.local"]))
    response = signed.write(reader)
    assert response.status_code == 403
    assert response.json()["error_code"] == "POLICY_DENIED"
    assert response.json()["details"]["denied_by_tier"] == "token"
    assert response.json()["details"]["capability"] == "scope.write"


def test_a_token_bound_to_scopes_stays_inside_them_by_id_too(signed: Signed) -> None:
    everything, bound = paseto(claims()), paseto(claims(scopes=["scope.read.local:org:acme/user:alice/*"]))
    inside = signed.write(everything).json()["event_id"]
    outside = signed.write(everything, "org:acme/team:x").json()["event_id"]
    assert signed.call("GET", f"/v1/events/{inside}", bound).status_code == 200
    assert signed.code("GET", f"/v1/events/{outside}", bound) == (404, "NOT_FOUND")


def test_a_revoked_token_holds_no_more_and_others_do(signed: Signed) -> None:
    root, other = paseto(claims(sub=ROOT, jti="r-1")), paseto(claims(jti="t-2"))
    assert signed.call("GET", "/v1/auth/whoami", other).status_code == 200
    response = signed.call("POST", "/v1/auth/revoke", root, ROOT, json={"jti": "t-2", "reason": "rotated"})
    assert (response.status_code, response.content) == (204, b"")
    assert signed.code("GET", "/v1/auth/whoami", other) == (401, "REVOKED_TOKEN")
    assert signed.call("GET", "/v1/auth/whoami", paseto(claims())).status_code == 200


def test_a_member_takes_back_no_token_of_others_and_none_that_nobody_issued(signed: Signed) -> None:
    mine = paseto(claims())
    for jti in (
        "r-1",
        "made-up",
        "t-2",
    ):  # the last is of the same person: the server cannot tell whose an id is
        assert signed.code("POST", "/v1/auth/revoke", mine, json={"jti": jti}) == (403, "POLICY_DENIED")
        assert not signed.store.revocations.is_revoked("acme", PASETO_ISSUER, jti)
    assert "auth.revoke" not in signed.call("GET", "/v1/auth/whoami", mine).json()["effective_capabilities"]


def test_an_administrator_of_the_tenant_takes_back_any_token_of_it(signed: Signed) -> None:
    root, alice = paseto(claims(sub=ROOT, jti="r-1")), paseto(claims())
    document = {"administrators": ["user:alice"]}
    assert signed.call("PUT", "/v1/policy/tenant/acme", root, ROOT, json=document).status_code == 200
    assert signed.call("POST", "/v1/auth/revoke", alice, json={"jti": "lost"}).status_code == 204
    assert signed.store.revocations.is_revoked("acme", PASETO_ISSUER, "lost")
    narrow = paseto(claims(jti="t-3", caps=["scope.write"]))
    assert signed.code("POST", "/v1/auth/revoke", narrow, json={"jti": "r-1"}) == (403, "POLICY_DENIED")


def test_others_rows_show_members_no_token_ids(signed: Signed) -> None:
    root, mine = paseto(claims(sub=ROOT, jti="r-1")), paseto(claims())
    assert signed.write(root, "org:acme", ROOT).status_code == 202
    for token, actor, shown in ((mine, "user:alice", None), (root, ROOT, "r-1")):
        query = {"actor": ROOT, "capability": "scope.write"}
        (row,) = signed.call("GET", "/v1/audit", token, actor, params=query).json()["items"]
        assert row["token_jti"] == shown
        assert signed.call("GET", f"/v1/audit/{row['id']}", token, actor).json()["token_jti"] == shown


def test_a_holder_takes_back_their_own_token_without_a_capability(signed: Signed) -> None:
    poor = paseto(claims(caps=[]))
    assert signed.code("POST", "/v1/auth/revoke", poor, json={"jti": "t-2"}) == (403, "POLICY_DENIED")
    assert signed.code("POST", "/v1/auth/revoke", poor, json={"jti": "t-1", "iss": JWT_ISSUER}) == (
        403,
        "POLICY_DENIED",
    )
    assert signed.call("POST", "/v1/auth/revoke", poor, json={"jti": "t-1"}).status_code == 204
    assert signed.code("GET", "/v1/auth/whoami", poor) == (401, "REVOKED_TOKEN")
    assert not signed.store.revocations.is_revoked("acme", JWT_ISSUER, "t-1")


def test_nobody_revokes_in_another_tenant(signed: Signed) -> None:
    beta = jwt(claims(iss=JWT_ISSUER, aud="cortexdb:tenant:beta"), {"alg": "RS256"})
    assert signed.call("POST", "/v1/auth/revoke", beta, json={"jti": "t-1"}).status_code == 204
    assert signed.call("GET", "/v1/auth/whoami", paseto(claims())).status_code == 200


def test_a_revocation_outlives_every_token_that_holds_today(signed: Signed) -> None:
    service = claims(sub="service:importer", exp=NOW_S + 30 * 86_400, jti="s-1")
    signed.call("POST", "/v1/auth/revoke", paseto(claims(sub=ROOT)), ROOT, json={"jti": "s-1"})
    signed.clock.at = NOON + (30 * 86_400 - 1) * SECOND_US
    signed.store.revocations.prune(signed.clock.at)
    assert signed.code("GET", "/v1/auth/whoami", paseto(service), "service:importer") == (
        401,
        "REVOKED_TOKEN",
    )


@pytest.mark.parametrize("body", [{}, {"jti": ""}, {"jti": 7}, {"jti": "x" * 300}, {"jti": "x", "exp": 1}])
def test_a_revocation_without_a_token_id_is_refused(signed: Signed, body: dict[str, Any]) -> None:
    response = signed.call("POST", "/v1/auth/revoke", paseto(claims()), json=body)
    assert response.status_code in (400, 422)


def test_a_revocation_counts_in_every_process_from_its_commit_on(signed: Signed) -> None:
    other = Signed(signed.folder)
    token = paseto(claims())
    assert other.call("GET", "/v1/auth/whoami", token).status_code == 200
    signed.call("POST", "/v1/auth/revoke", token, json={"jti": "t-1"})
    assert other.code("GET", "/v1/auth/whoami", token) == (401, "REVOKED_TOKEN")
    other.close()


def test_a_server_that_nobody_could_sign_in_to_does_not_start(tmp_path: Path) -> None:
    for preset in ("on_prem_enterprise", "cloud_private", "cloud_shared_saas"):
        with pytest.raises(Unsupported) as caught:
            build_server(Settings(preset=preset, data=tmp_path / "data"))
        assert caught.value.code == "PRESET_NEEDS_KEYS"
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"issuers": [{"issuer": "x"}]}))
    with pytest.raises(Invalid):
        build_server(Settings(preset="cloud_private", data=tmp_path / "data", issuers=broken))
    assert not (tmp_path / "data").exists()


def test_dev_local_takes_no_token_and_says_who_calls(world: Any) -> None:
    shown = world.get("/v1/auth/whoami")
    assert (shown["caller"], shown["token"], shown["deployment_preset"]) == ("user:local", None, "dev_local")
    response = world.call("GET", "/v1/auth/whoami", headers={"Authorization": "Bearer x"})
    assert response.json()["error_code"] == "INVALID_TOKEN_SIGNATURE"
