"""Streams whose caller's token ends while they are open: they end with it, in every process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from given import ManualClock
from issuing import NOW_S, claims, issuers_file, paseto
from lamina.access.policy import PolicyPermits
from lamina.access.principals import Credentials
from lamina.access.relay_tokens import RelayPrincipals, issue, owner_grant
from lamina.app import build_server
from lamina.errors import Unauthenticated
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Grant
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.time import SECOND_US
from lamina.settings import Settings
from lamina.store.sqlite import SqliteStore
from policies import OpenPolicy
from streaming import open_stream, parsed

ALICE = "org:acme/user:alice"


class Signed:
    """A server process of a preset that takes signed tokens."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self.clock = clock
        self.store = SqliteStore(folder, clock=clock, durable=False)
        settings = Settings(
            preset="on_prem_enterprise",
            issuers=issuers_file(folder),
            data=folder,
            operators="acme/user:alice",  # who may take tokens back
        )
        self.server = build_server(settings, store=self.store, clock=clock)
        self._keys = 0

    async def call(
        self, verb: str, path: str, token: str, actor: str = "user:alice", **more: Any
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}", "X-Cortex-Actor": actor}
        transport = httpx.ASGITransport(self.server.application)
        async with httpx.AsyncClient(transport=transport, base_url="https://memory.acme.com") as client:
            return await client.request(verb, path, headers=headers, **more)

    async def write(self, scope: str = ALICE) -> None:
        self._keys += 1
        body = {
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": "tea at five"},
            "context": {"observed_at": "2026-05-13T12:00:00Z"},
            "idempotency_key": f"key-{self._keys}",
        }
        response = await self.call("POST", "/v1/experience", paseto(claims(jti="writer")), json=body)
        assert response.status_code == 202, response.text

    @asynccontextmanager
    async def stream(self, token: str, query: str = "") -> AsyncIterator[asyncio.Queue[str]]:
        headers = {"Authorization": f"Bearer {token}", "X-Cortex-Actor": "user:alice"}
        async with open_stream(self.server.application, query, headers) as blocks:
            yield blocks


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[Signed]]:
    """Two servers over one folder."""
    clock = ManualClock()
    both = [Signed(tmp_path, clock) for _ in range(2)]
    yield both
    for each in both:
        each.server.pool.shutdown()
        each.server.close()


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 300))


async def ended(blocks: asyncio.Queue[str], code: str) -> None:
    """The stream says why it ends, and ends."""
    _, event, data = parsed(await blocks.get())
    assert event == "policy_revoked"
    assert data["reason"].startswith(f"{code}: ")
    assert await blocks.get() == ""


@pytest.mark.parametrize("revoking", [0, 1])
def test_a_revoked_token_ends_its_streams_in_every_process_at_once(
    processes: list[Signed], revoking: int
) -> None:
    here = processes[0]

    async def story() -> None:
        async with here.stream(paseto(claims(jti="lost"))) as blocks, here.stream(paseto(claims())) as other:
            await here.write()
            assert parsed(await blocks.get())[1] == parsed(await other.get())[1] == "captured"
            revoked = await processes[revoking].call(
                "POST", "/v1/auth/revoke", paseto(claims()), json={"jti": "lost"}
            )
            assert revoked.status_code == 204
            await ended(blocks, "REVOKED_TOKEN")
            await here.write()
            assert parsed(await other.get())[1] == "captured"

    run(story())


def test_what_is_written_after_a_revocation_is_not_streamed(processes: list[Signed]) -> None:
    here, there = processes

    async def story() -> None:
        async with here.stream(paseto(claims(jti="lost"))) as blocks:
            await there.call("POST", "/v1/auth/revoke", paseto(claims()), json={"jti": "lost"})
            await there.write()
            await ended(blocks, "REVOKED_TOKEN")

    run(story())


def test_a_token_that_expires_ends_its_stream_before_the_next_event(processes: list[Signed]) -> None:
    here = processes[0]

    async def story() -> None:
        async with here.stream(paseto(claims(exp=NOW_S + 4))) as blocks:
            here.clock.at += 3 * SECOND_US
            await here.write()
            assert parsed(await blocks.get())[1] == "captured"
            here.clock.at += 1 * SECOND_US
            await here.write()
            await ended(blocks, "EXPIRED_TOKEN")

    run(story())


def test_a_quiet_stream_ends_when_its_token_expires(processes: list[Signed]) -> None:
    here = processes[0]

    async def story() -> None:
        async with here.stream(paseto(claims(exp=NOW_S + 1))) as blocks:
            await asyncio.sleep(0.2)
            assert blocks.empty()
            here.clock.at += 1 * SECOND_US
            await ended(blocks, "EXPIRED_TOKEN")

    run(story())


def test_a_relay_token_follows_nothing_and_its_permits_end_with_it(processes: list[Signed]) -> None:
    here, there = processes
    clock, tokens = here.clock, here.store.relay_tokens
    whose = {"tenant_id": "acme", "peer_id": "scout", "grant": owner_grant()}
    text = issue(tokens, RandomIds(), clock.now(), expires_at=clock.now() + 60 * SECOND_US, **whose)  # type: ignore[arg-type]
    other = issue(tokens, RandomIds(), clock.now() + 1, **whose)  # type: ignore[arg-type]
    assert asyncio.run(here.call("GET", "/v1/lifecycle/stream", text, "agent:scout")).status_code == 403
    held = {each: permits_of(here, each) for each in (text, other)}
    assert held[text].renewed().allows(Grant(Capability.SCOPE_READ_LOCAL, RELAY_SCOPE))
    there.store.relay_tokens.revoke("acme", tokens.listed("acme")[0].id, clock.now(), None)
    clock.at += 60 * SECOND_US
    for each, code in ((text, "EXPIRED_TOKEN"), (other, "REVOKED_TOKEN")):
        with pytest.raises(Unauthenticated) as caught:
            held[each].renewed()
        assert caught.value.code == code


def permits_of(here: Signed, token: str) -> PolicyPermits:
    principals, shown = (
        RelayPrincipals(here.store.relay_tokens, here.clock),
        Credentials("http", f"Bearer {token}"),
    )
    return PolicyPermits(OpenPolicy(), principals.identify(shown), lambda: principals.identify(shown))


def test_a_stream_resumed_with_another_token_shows_what_that_one_may_see(processes: list[Signed]) -> None:
    here = processes[0]
    narrow = paseto(
        claims(
            jti="narrow",
            scopes=[f"scope.read.local:{ALICE}", "lifecycle.subscribe:org:acme/*"],
        )
    )

    async def story() -> None:
        await here.write("org:acme/team:first")
        page = await here.call("GET", "/v1/lifecycle", paseto(claims()))
        (seen,) = page.json()["items"]
        await here.write("org:acme/user:bob")
        await here.write(ALICE)
        query = f"scope=org:acme&since_lifecycle_id={seen['lifecycle_id']}"
        async with here.stream(narrow, query) as blocks:
            assert parsed(await blocks.get())[2]["scope"] == ALICE
            assert blocks.empty()

    run(story())
