"""A person's own memory over HTTP with signed callers: nobody else takes it, shuts them out of it or reads it, whatever they wrote first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from given import ManualClock
from issuing import claims, issuers_file, paseto
from lamina.app import build_server
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

ANA, BOB, HELPER, ADMIN = "user:ana", "user:bob", "agent:helper", "user:admin"
ABOVE, OWN, BELOW = "org:acme", "org:acme/user:ana", "org:acme/user:ana/project:p"
SECRET = "My PIN is Mooncalfy."
PRESETS = ("on_prem_enterprise", "cloud_shared_saas")


class Signed:
    """A server that takes signed tokens."""

    def __init__(self, folder: Path, engine: str, preset: str) -> None:
        clock = ManualClock()
        store: Store = (
            MemoryStore(clock=clock)
            if engine == "memory"
            else SqliteStore(folder, clock=clock, durable=False)
        )
        settings = Settings(
            preset=preset,
            issuers=issuers_file(folder),
            data=folder,
            operators=f"acme/{ADMIN}",
            enable_experimental=True,
        )
        self.server = build_server(settings, store=store, clock=clock)
        self._keys = 0

    def close(self) -> None:
        self.server.pool.shutdown()
        self.server.close()

    def call(self, who: str, verb: str, url: str, body: Any = None, /, **query: Any) -> httpx.Response:
        token = paseto(claims(sub=who, jti=f"t-{who}"))
        headers = {"Authorization": f"Bearer {token}", "X-Cortex-Actor": who}

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            async with httpx.AsyncClient(transport=transport, base_url="https://memory.acme.com") as client:
                return await client.request(verb, url, json=body, params=query or None, headers=headers)

        return asyncio.run(send())

    def write(self, who: str, scope: str, text: str = "hello") -> int:
        self._keys += 1
        body = {
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": "2026-05-13T12:00:00Z"},
            "idempotency_key": f"key-{self._keys}",
        }
        return self.call(who, "POST", "/v1/experience", body).status_code

    def register(self, who: str, path: str, **roles: str) -> int:
        members = [{"actor": f"user:{name}", "role": role} for name, role in roles.items()]
        body = {"path": path, "members": members or [{"actor": who, "role": "owner"}]}
        return self.call(who, "POST", "/v1/scopes", body).status_code

    def read(self, who: str, scope: str) -> int:
        return self.call(who, "GET", "/v1/events", scope=scope).status_code

    def shown(self, who: str) -> str:
        """All that somebody is shown by asking everywhere for what Ana said."""
        asked = [
            self.call(who, "GET", "/v1/events", scope=scope, view=view)
            for scope in (ABOVE, OWN, BELOW)
            for view in ("local", "holistic", "descend")
        ]
        asked += [
            self.call(who, "POST", "/v1/recall", {"scope": scope, "query": "which PIN", "view": view})
            for scope in (ABOVE, BELOW)
            for view in ("holistic", "descend")
        ]
        return " ".join(each.text for each in asked)


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=PRESETS)
def here(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> Iterator[Signed]:
    server = Signed(tmp_path, engine, request.param)
    yield server
    server.close()


def takes_nothing(here: Signed, who: str = BOB) -> None:
    """Tries all that there is to try, and looks that Ana's memory is hers afterwards."""
    tried = [
        here.register(who, path) for path in (ABOVE, OWN, BELOW, f"{BELOW}/team:t", f"{OWN}/project:new")
    ]
    members = {"members": [{"actor": who, "role": "owner"}]}
    for path in (ABOVE, OWN, BELOW):
        tried += [
            here.call(who, "PUT", "/v1/scopes/members", members, path=path).status_code,
            here.call(who, "PUT", "/v1/policy/scope", {"deny": ["scope.read.local"]}, path=path).status_code,
            here.call(who, "DELETE", "/v1/scopes", path=path).status_code,
        ]
    for document in ({"administrators": [who]}, {"defaults": {"user_memory.open": True}}):
        tried.append(here.call(who, "PUT", "/v1/policy/tenant/acme", document).status_code)
    tried.append(here.call(who, "POST", "/v1/scopes/prune", {"older_than": "P1D"}).status_code)
    assert tried == [403] * len(tried)
    assert [here.read(who, path) for path in (OWN, BELOW)] == [403] * 2
    assert "Mooncalfy" not in here.shown(who)
    assert [here.read(ANA, path) for path in (OWN, BELOW)] == [200] * 2
    assert "Mooncalfy" in here.shown(ANA)
    assert [here.write(ANA, path) for path in (OWN, BELOW, f"{OWN}/project:new")] == [202] * 3


@pytest.mark.parametrize("before", [[], [ABOVE], [OWN, BELOW], [BELOW, OWN, ABOVE]], ids=" ".join)
@pytest.mark.parametrize("after", [[], [BELOW, ABOVE]], ids=" ".join)
def test_whatever_another_person_wrote_first_a_memory_stays_with_its_person(
    here: Signed, before: list[str], after: list[str]
) -> None:
    for path in before:
        assert here.write(BOB, path) in (202, 403)
    assert [here.write(ANA, path, SECRET) for path in (OWN, BELOW)] == [202] * 2
    for path in after:
        assert here.write(BOB, path) in (202, 403)
    assert here.write(BOB, ABOVE) in (202, 403)
    takes_nothing(here)
    assert here.register(ANA, OWN, ana="owner") == 201
    assert [here.read(who, BELOW) for who in (ANA, BOB, HELPER)] == [200, 403, 403]


def test_a_person_who_has_not_come_yet_is_nobody_elses_to_begin(here: Signed) -> None:
    for path in (BELOW, OWN):
        here.write(BOB, path)
        assert here.register(BOB, path) == 403
        assert here.read(BOB, path) == 403
    assert here.register(BOB, f"{OWN}/project:other", bob="owner", ana="reader") == 403
    assert [here.write(ANA, path, SECRET) for path in (BELOW, OWN)] == [202] * 2
    assert here.write(BOB, ABOVE) in (202, 403)
    takes_nothing(here)


def test_agents_go_on_serving_a_person_and_shut_nobody_out_of_what_they_did_not_begin(here: Signed) -> None:
    assert here.write(ANA, OWN, SECRET) == 202
    assert here.read(HELPER, OWN) == 200
    assert [here.register(HELPER, path) for path in (OWN, ABOVE)] == [403] * 2
    assert here.write(HELPER, BELOW) == 202
    assert here.read(ANA, BELOW) == 200
    assert here.write(ANA, BELOW) == 202
    assert here.register(ANA, OWN) == 201


def test_an_administrator_of_the_tenant_registers_and_members_have_their_rights(here: Signed) -> None:
    assert here.write(ANA, OWN, SECRET) == 202
    assert here.register(ADMIN, ABOVE, admin="owner", ana="writer", bob="reader") == 201
    assert [here.read(who, OWN) for who in (ANA, BOB, HELPER, "user:cy")] == [200, 200, 403, 403]
    assert here.register(BOB, OWN) == 403


def test_a_tenant_opens_the_memories_of_its_people_to_be_read_and_no_more(here: Signed) -> None:
    assert here.write(ANA, OWN, SECRET) == 202
    opened = {"administrators": [ADMIN], "defaults": {"user_memory.open": True}}
    assert here.call(ADMIN, "PUT", "/v1/policy/tenant/acme", opened).status_code == 200
    assert here.read(BOB, OWN) == 200
    assert here.write(BOB, ABOVE) == 202
    assert [here.register(BOB, path) for path in (ABOVE, OWN, BELOW)] == [403] * 3
