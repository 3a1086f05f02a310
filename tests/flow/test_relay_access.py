"""Callers with Relay tokens: who gets in, what they may, and what stays closed to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from capsules import body, later
from given import NOON, CountedIds, ManualClock
from lamina import limits
from lamina.access.policy import PolicyPermits
from lamina.access.presets import load_preset
from lamina.access.principals import Credentials
from lamina.access.relay_tokens import (
    ByForm,
    RelayPermits,
    RelayPrincipals,
    issue,
    owner_grant,
    without_narrowing,
)
from lamina.access.tiers import TieredPolicy
from lamina.access.tokens.narrowing import token_allows
from lamina.app import build_server
from lamina.errors import Forbidden, Invalid, Unauthenticated
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.relay import TEMPLATES, RelayGrant
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.registry import PolicyRow
from policies import OpenPolicy


class Peers:
    """A store with tokens, and callers who show them."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(clock=self.clock)
        self.principals = RelayPrincipals(self.store.relay_tokens, self.clock)
        self.ids = CountedIds()

    def token(self, grant: RelayGrant, peer_id: str = "bo", **more: Any) -> str:
        given = {"tenant_id": "acme", "peer_id": peer_id, "grant": grant}
        return issue(self.store.relay_tokens, self.ids, self.clock.now(), **{**given, **more})

    def caller(self, token: str, actor: str | None = None) -> Principal:
        return self.principals.identify(Credentials("http", f"Bearer {token}", actor))

    def permits(self, principal: Principal) -> RelayPermits:
        store = self.store
        policy = TieredPolicy(load_preset("on_prem_enterprise"), store.registry, token_allows=token_allows)
        return RelayPermits(principal, PolicyPermits(policy, without_narrowing(principal)))


@pytest.fixture
def peers() -> Peers:
    return Peers()


def test_a_token_says_who_calls_and_only_its_hash_is_kept(peers: Peers) -> None:
    text = peers.token(TEMPLATES["collaboration_peer"])
    principal = peers.caller(text)
    assert (principal.tenant_id, principal.actor) == ("acme", "agent:bo")
    assert len(text) == 44
    assert text.startswith("cgr_")
    assert text not in repr(peers.store.relay_tokens.listed("acme"))


def test_tokens_that_do_not_hold_are_refused(peers: Peers) -> None:
    text = peers.token(owner_grant(), expires_at=NOON + 10 * SECOND_US)
    (kept,) = peers.store.relay_tokens.listed("acme")
    refusals = []
    for act in (
        lambda: peers.caller("cgr_unknown"),
        lambda: peers.caller(kept.sha256),
        lambda: peers.caller(text, actor="user:alice"),
        lambda: setattr(peers.clock, "at", NOON + 10 * SECOND_US) or peers.caller(text),
        lambda: peers.store.relay_tokens.revoke("acme", kept.id, NOON, None) and peers.caller(text),
    ):
        with pytest.raises(Unauthenticated) as caught:
            act()
        refusals.append(caught.value.code)
    unknown = "INVALID_TOKEN_SIGNATURE"
    assert refusals == [unknown, unknown, "ACTOR_MISMATCH", "EXPIRED_TOKEN", "REVOKED_TOKEN"]


@pytest.mark.parametrize(
    "more",
    [
        {"peer_id": "a/b"},
        {"peer_id": ""},
        {"grant": RelayGrant(frozenset({"read:everything"}))},
        {"grant": RelayGrant(frozenset(), frozenset({"../x"}))},
        {"grant": RelayGrant(frozenset(), frozenset(), frozenset({""}))},
    ],
)
def test_a_grant_of_what_is_not_there_is_not_issued(peers: Peers, more: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match="INVALID_GRANT"):
        peers.token(**{"grant": RelayGrant(), **more})


def test_slashes_at_the_end_of_a_namespace_do_not_matter(peers: Peers) -> None:
    text = peers.token(RelayGrant(frozenset({"read:files"}), frozenset({"memory/notes/"})))
    assert peers.permits(peers.caller(text)).allows("read:files", "read", "memory/notes/a")


def test_refusals_say_scope_or_namespace(peers: Peers) -> None:
    permits = peers.permits(peers.caller(peers.token(TEMPLATES["collaboration_peer"])))
    permits.require("read:files", "read", "tasks/open/1.json")
    permits.require("write:projects", "write", "tasks/open/1.json")
    permits.require(None)
    for asked, code, message in [
        (("write:journal", "write", "journal/x"), "MISSING_SCOPE", "Missing scope: write:journal"),
        (("admin:peers",), "MISSING_SCOPE", "Missing scope: admin:peers"),
        (
            ("read:files", "read", "memory//continuity/x"),
            "NAMESPACE_DENIED",
            "Read path namespace not allowed: memory/continuity/x",
        ),
        (("write:projects", "write", "../x"), "NAMESPACE_DENIED", "Write path namespace not allowed: ../x"),
    ]:
        with pytest.raises(Forbidden) as caught:
            permits.require(*asked)
        assert (caught.value.code, caught.value.message) == (code, message)
        assert not permits.allows(*asked)


def test_the_owner_may_everything_of_relay_and_an_untrusted_peer_nothing(peers: Peers) -> None:
    permits = peers.permits(peers.caller(peers.token(owner_grant(), "owner")))
    assert permits.admin
    assert permits.peer_id == "owner"
    permits.require("admin:peers", "write", "memory/continuity/x")
    text = peers.token(owner_grant(), "eve")
    key, kept = next((k, t) for k, t in peers.store._memory.tables.relay_tokens.items() if t.peer_id == "eve")
    peers.store._memory.tables.relay_tokens[key] = type(kept)(
        **{name: getattr(kept, name) for name in kept.__slots__ if name != "trust"}, trust="untrusted"
    )
    held = peers.permits(peers.caller(text))
    assert not held.allows("read:files", "read", "memory/a")


def test_a_policy_that_denies_the_actor_holds_for_its_token(peers: Peers) -> None:
    permits = peers.permits(peers.caller(peers.token(owner_grant())))
    permits.require("write:projects", "write", "tasks/a")
    document = {"deny": ["scope.write"]}
    row = PolicyRow(
        tenant_id="acme", tier="actor", target="agent:bo", document=document, set_by="user:root", set_at=NOON
    )
    peers.store.registry.put_document(row)
    permits = peers.permits(peers.caller(peers.token(owner_grant())))
    with pytest.raises(Forbidden, match="POLICY_DENIED"):
        permits.require("write:projects", "write", "tasks/a")
    permits.require("read:files", "read", "tasks/a")


def test_callers_without_a_relay_token_hold_what_policy_says_of_the_scope() -> None:
    principal = Principal("acme", "user:alice", "http")
    permits = RelayPermits(principal, PolicyPermits(OpenPolicy(), principal))
    permits.require("write:journal", "write", "journal/x")
    permits.require("admin:peers", "read", "peers/registry.json")
    assert not permits.allows("read:files", "read", "../x")
    assert permits.peer_id == "user:alice"


# ---- over HTTP


@pytest.fixture
def world(make_world: Any) -> Any:
    return make_world()


def bearer(world: Any, grant: RelayGrant) -> dict[str, str]:
    text = issue(world.store.relay_tokens, RandomIds(), NOON, tenant_id="acme", peer_id="bo", grant=grant)
    return {"Authorization": f"bearer {text}"}


def test_a_token_calls_over_http(world: Any) -> None:
    shown = world.call("GET", "/v1/auth/whoami", headers=bearer(world, owner_grant())).json()
    assert (shown["caller"], shown["token"]["iss"]) == ("agent:bo", "relay")


def test_reminders_are_shown_to_those_who_may_read_the_schedule(world: Any) -> None:
    reminder = {
        "kind": "reminder",
        "title": "SECRET",
        "due_at": rfc3339(NOON + 3600 * SECOND_US),
        "subject_kind": "thread",
        "subject_id": "pub",
    }
    assert world.call("POST", "/v1/schedule/items", body=reminder).status_code == 201
    asked = {"task": "x", "subject_kind": "thread", "subject_id": "pub"}

    def block(grant: RelayGrant) -> Any:
        answer = world.call("POST", "/v1/context/retrieve", body=asked, headers=bearer(world, grant))
        assert answer.status_code == 200, answer.text
        return answer.json()["bundle"]["schedule_context"]

    shown = block(owner_grant())
    assert [item["title"] for item in shown["upcoming"]["items"]] == ["SECRET"]
    search = RelayGrant(frozenset({"search"}), frozenset({"*"}))
    elsewhere = RelayGrant(frozenset({"search", "read:files"}), frozenset({"messages"}))
    for grant in (search, elsewhere):
        hidden = block(grant)
        assert hidden["warnings"] == ["schedule_db_unavailable"]
        assert (hidden["due"]["items"], hidden["upcoming"]["items"]) == ([], [])
        assert "SECRET" not in str(hidden)


def held(peers: Peers, grant: RelayGrant, scope: str = "app:relay") -> set[str]:
    """The capabilities that a token of a grant leaves outside of Relay's own operations."""
    principal = peers.caller(peers.token(grant))
    return {str(each) for each in Capability if token_allows(principal, Grant(each, Scope(scope)))}


def test_only_a_token_of_every_folder_reads_and_writes_the_one_scope_elsewhere(peers: Peers) -> None:
    everywhere = frozenset({"*"})
    assert held(peers, owner_grant()) == {"scope.read.local", "scope.write"}
    assert held(peers, TEMPLATES["collaboration_peer"]) == set()
    assert held(peers, RelayGrant(frozenset({"read:files"}), everywhere, everywhere)) == {"scope.read.local"}
    for part in ("search", "read:index"):
        assert held(peers, RelayGrant(frozenset({part}), everywhere, everywhere)) == set()
    assert held(peers, RelayGrant(frozenset({"write:projects"}), everywhere, everywhere)) == set()
    assert held(peers, RelayGrant(frozenset({"read:files"}))) == set()
    assert held(peers, RelayGrant()) == set()
    for scope in ("org:acme", "app:relay/user:x", "app:relayx"):
        assert held(peers, owner_grant(), scope) == set()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Calls to a server with the policy of its preset, by a token of every folder with these rights."""
    server = build_server(Settings(data=tmp_path, tenant="acme"), store=MemoryStore())
    client = TestClient(server.application, "http://localhost")
    everywhere = frozenset({"*"})

    def call(rights: str, verb: str, path: str, body: Any = None) -> Any:
        grant = RelayGrant(frozenset(rights.split()), everywhere, everywhere)
        text = issue(
            server.store.relay_tokens, RandomIds(), NOON, tenant_id="acme", peer_id="bo", grant=grant
        )
        return client.request(verb, path, json=body, headers={"Authorization": f"Bearer {text}"})

    yield call
    server.close()


@pytest.mark.parametrize("rights", ["read:index", "search", "read:index search"])
@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("GET", "/v1/read?path=memory/diary.md", None),
        ("GET", "/v1/events?scope=app:relay", None),
        ("POST", "/v1/recall", {"scope": "app:relay", "query": "who sleeps", "view": "local"}),
    ],
)
def test_who_may_not_read_files_reads_no_document_by_its_event(
    guarded: Callable[..., Any], rights: str, verb: str, path: str, body: Any
) -> None:
    written = {"path": "memory/diary.md", "content": "The otter sleeps at noon."}
    assert guarded("write:journal write:projects", "POST", "/v1/write", written).status_code == 200
    allowed = guarded("read:files", verb, path, body)
    assert allowed.status_code == 200, allowed.text
    refused = guarded(rights, verb, path, body)
    assert (refused.status_code, "otter" in refused.text) == (403, False)


def test_health_is_open_and_names_the_newest_commit(world: Any) -> None:
    shown = world.call("GET", "/health", headers={"Authorization": "Bearer nonsense"}).json()
    assert list(shown) == [
        "ok", "status", "service", "version", "contract_version", "git_initialized", "latest_commit",
        "signed_ingress_required", "time",
    ]  # fmt: skip
    assert (shown["ok"], shown["status"], shown["service"]) == (True, "healthy", "lamina")
    assert shown["latest_commit"] is None
    assert shown["time"] == "2026-05-13T12:00:00Z"
    change = Change("a", ChangeKind.PUT, b"1")
    write = Write(tenant_id="acme", author="agent:bo", message="m", changes=[change])
    (written,) = world.store.documents.write([write])
    assert world.call("GET", "/health").json()["latest_commit"] == written.commit.sha


def test_health_tells_that_the_disk_refuses_writes(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.store.upkeep, "refuses", lambda: True)
    shown = world.call("GET", "/health")
    assert (shown.status_code, shown.json()["ok"], shown.json()["status"]) == (200, False, "degraded")


def test_the_first_start_of_dev_local_makes_the_owner_a_token_once(tmp_path: Path) -> None:
    server = build_server(Settings(data=tmp_path), store=MemoryStore())
    text = server.first_token()
    assert text is not None
    principal = ByForm(None, RelayPrincipals(server.store.relay_tokens, ManualClock())).identify(  # type: ignore[arg-type]
        Credentials("http", f"Bearer {text}")
    )
    assert principal.actor == "agent:owner"
    assert server.first_token() is None
    server.close()


ABOUT = {"subject_kind": "thread", "subject_id": "launch"}


def _token(world: Any, peer_id: str, grant: RelayGrant) -> dict[str, str]:
    given = {"tenant_id": "acme", "peer_id": peer_id, "grant": grant}
    return {
        "Authorization": f"Bearer {issue(world.store.relay_tokens, RandomIds(), world.clock.now(), **given)}"
    }


def _details(world: Any, actor: str) -> list[Any]:
    world.store.audit.flush()
    rows = world.get("/v1/audit", actor=actor)["items"]
    return [row.get("detail") for row in reversed(rows)]


def test_the_audit_row_says_what_an_administrator_was_let_through_to(world: Any) -> None:
    narrow = RelayGrant(frozenset({"admin:peers", "read:files"}), frozenset({"tasks"}), frozenset())
    admin, owner = _token(world, "admin", narrow), _token(world, "owner", owner_grant())
    path = "memory/continuity/thread-launch.json"
    for headers in (admin, owner):
        sent = ABOUT | {"capsule": body(updated_at=later(headers is owner))}
        assert world.call("POST", "/v1/continuity/upsert", body=sent, headers=headers).status_code == 200
        assert world.call("POST", "/v1/continuity/read", body=ABOUT, headers=headers).status_code == 200
    pepper = world.store.peppers.current("acme")
    hidden = {name: pepper.hash(name.encode()) for name in (path, "thread:launch")}
    assert _details(world, "agent:admin") == [
        {
            "admin_bypass": [
                {"kind": "scope", "required": "write:projects"},
                {"kind": "namespace", "mode": "write", "path": hidden[path]},
            ]
        },
        {
            "admin_bypass": [{"kind": "namespace", "mode": "read", "path": hidden[path]}],
            "subjects": [hidden["thread:launch"]],
        },
    ]
    assert _details(world, "agent:owner") == [None, {"subjects": [hidden["thread:launch"]]}]


def test_what_was_passed_over_is_named_once_and_only_so_often(peers: Peers) -> None:
    grant = RelayGrant(frozenset({"admin:peers"}))
    principal, noted = peers.caller(peers.token(grant)), dict[str, list[Any]]()
    permits = RelayPermits(principal, PolicyPermits(OpenPolicy(), without_narrowing(principal)), noted)
    for _ in range(2):
        for number in range(99):
            assert permits.allows("read:files", "read", f"notes/{number}")
    assert len(noted["admin_bypass"]) == limits.AUDIT_BYPASSES_MAX
    assert noted["admin_bypass"][:2] == [
        {"kind": "scope", "required": "read:files"},
        {"kind": "namespace", "mode": "read", "path": "notes/0"},
    ]


def test_what_was_read_of_late_is_known_after_a_restart(make_world: Any, tmp_path: Path) -> None:
    first = make_world()
    first.post("/v1/continuity/upsert", ABOUT | {"capsule": body()})
    other = {"subject_kind": "thread", "subject_id": "Other One"}
    first.post("/v1/continuity/upsert", other | {"capsule": body(subject_id="Other One")})
    first.post("/v1/continuity/read", other)
    first.post("/v1/context/retrieve", {"task": "launch"} | ABOUT)
    first.close()
    second = type(first)(tmp_path)

    def used() -> list[str]:
        planned = second.post("/v1/continuity/refresh/plan", {"include_healthy": True}).json()
        return [row["subject_id"] for row in planned["candidates"] if "recently_used" in row["reason_codes"]]

    second.clock.at = first.clock.at + 6 * 86_400 * SECOND_US
    assert used() == ["Other One", "launch"]
    second.clock.at += 86_400 * SECOND_US + 1
    assert used() == []
    second.close()
