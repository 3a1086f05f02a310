"""A server whose callers are whoever the test says, of whichever tenant, under any preset."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from given import ManualClock
from lamina.access.principals import Credentials
from lamina.access.relay_tokens import RelayPrincipals
from lamina.app import build_server
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Principal
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.store import Store

ROOT = "user:root"


class Believed:
    """Takes ``X-Cortex-Actor`` and, as the tenant, ``Authorization`` for what they say; Relay's tokens are looked up."""

    waits = False

    def __init__(self, relay: RelayPrincipals | None = None) -> None:
        self._relay = relay

    def identify(self, credentials: Credentials) -> Principal:
        if self._relay and (credentials.authorization or "").startswith("Bearer cgr_"):
            return self._relay.identify(credentials)
        tenant_id = (credentials.authorization or "Bearer acme").removeprefix("Bearer ")
        return Principal(tenant_id, credentials.actor or "user:alice", credentials.channel)


class Neighbours:
    """One server, many actors. ``user:root`` of ``acme`` operates it."""

    def __init__(
        self,
        preset: str = "on_prem_enterprise",
        store: Store | None = None,
        *,
        clock: ManualClock | None = None,
        ids: IdSource | None = None,
        experimental: bool = True,
        **settings: Any,
    ) -> None:
        self.clock = clock or ManualClock()
        self.store = store or MemoryStore(clock=self.clock)
        chosen = Settings(
            preset=preset, operators=f"acme/{ROOT}", enable_experimental=experimental, **settings
        )
        callers = Believed(RelayPrincipals(self.store.relay_tokens, self.clock))
        self.server = build_server(chosen, store=self.store, clock=self.clock, ids=ids, principals=callers)
        self._keys = 0

    def call(
        self,
        verb: str,
        url: str,
        body: Any = None,
        /,
        *,
        by: str = "user:alice",
        tenant: str = "acme",
        **query: Any,
    ) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            headers = {"X-Cortex-Actor": by, "Authorization": f"Bearer {tenant}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(verb, url, json=body, params=query or None, headers=headers)

        return asyncio.run(send())

    def said(self, verb: str, url: str, body: Any = None, /, **more: Any) -> Any:
        """The answer's body; what went wrong fails the test."""
        response = self.call(verb, url, body, **more)
        assert response.status_code < 300, response.text
        return response.json()

    def code(self, verb: str, url: str, body: Any = None, /, **more: Any) -> int | str:
        """The status of a success, the error code of a failure."""
        response = self.call(verb, url, body, **more)
        return response.status_code if response.status_code < 300 else response.json()["error_code"]

    def write(self, scope: str, text: str = "hello", **more: Any) -> httpx.Response:
        return self.call("POST", "/v1/experience", self.envelope(scope, text), **more)

    def envelope(self, scope: str, text: str = "hello", **more: Any) -> dict[str, Any]:
        self._keys += 1
        return {
            "scope": scope,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": "2026-05-13T12:00:00Z"},
            "idempotency_key": f"key-{self._keys}",
            **more,
        }

    def register(self, path: str, *, by: str = "user:alice", policies: Any = None, **roles: str) -> Any:
        members = [{"actor": f"user:{name}", "role": role} for name, role in roles.items()]
        body = {"path": path, "members": members, "policies": policies or {}}
        return self.said("POST", "/v1/scopes", body, by=by)

    def know(self, **levels: str) -> None:
        """Write the registry of peers: how far each is trusted, by id."""
        registry = {"peers": {name: {"trust_level": level} for name, level in levels.items()}}
        change = Change("peers/registry.json", ChangeKind.PUT, json.dumps(registry).encode())
        write = Write(tenant_id="acme", author=ROOT, message="peers", changes=[change])
        self.store.documents.write([write])

    def close(self) -> None:
        self.server.pool.shutdown()
        self.server.close()
