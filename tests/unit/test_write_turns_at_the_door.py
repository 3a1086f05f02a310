"""A tenant whose writes fill its places does not keep another's from theirs, nor anybody's reads."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.types import ASGIApp

from given import ManualClock
from lamina.access.principals import Credentials
from lamina.access.rules import AuditRules, RateRules
from lamina.gateway import Gateway
from lamina.http import server
from lamina.http.routes import Route
from lamina.http.turns import WriteTurns
from lamina.kernel.ids import RandomIds
from lamina.kernel.operations import Answer, Call, Effect, Operation, Principal, Tier
from lamina.kernel.wire import Request, Result
from lamina.store.memory import MemoryStore
from policies import OpenPolicy


class Tell(Request):
    what: str = ""


class Told(Result):
    what: str


class ByTenant:
    """Callers whose tenant is the name of their actor."""

    waits = False

    def identify(self, credentials: Credentials) -> Principal:
        actor = credentials.actor or "user:nobody"
        return Principal(actor.partition(":")[2], actor, "http")


class NoRules:
    def audit_rules(self, tenant_id: str) -> AuditRules:
        return AuditRules()

    def rate_rules(self, tenant_id: str, actor: str) -> RateRules:
        return RateRules()


def application_with(handler: Any, pool: ThreadPoolExecutor) -> ASGIApp:
    store = MemoryStore()
    gateway = Gateway(
        principals=ByTenant(),
        policy=OpenPolicy(),
        clock=ManualClock(),
        ids=RandomIds(),
        store=store,
        rules=NoRules(),
    )
    routes = [
        Route(
            verb,
            "/v1/told",
            Operation(
                f"told.{effect}", Tell, Told, "scope.write", effect, Tier.STABLE, handler, "", personal=True
            ),
        )
        for verb, effect in (("POST", Effect.WRITE), ("GET", Effect.READ))
    ]
    return server.create_application(gateway, routes, pool=pool)


async def call(application: ASGIApp, tenant: str, verb: str = "POST") -> str:
    sent: list[Any] = []
    headers = [(b"content-type", b"application/json"), (b"x-cortex-actor", f"user:{tenant}".encode())]
    scope = {"type": "http", "method": verb, "path": "/v1/told", "headers": headers, "query_string": b""}

    async def receive() -> dict[str, Any]:
        body = json.dumps({"what": tenant}).encode() if verb == "POST" else b""
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    await application(scope, receive, send)
    assert sent[0]["status"] == 200, sent
    return str(json.loads(sent[1]["body"])["what"])


def test_a_tenants_long_writes_stand_in_nobody_elses_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WriteTurns", lambda: WriteTurns(of_tenant=1, places=2))
    go, running = threading.Event(), threading.Semaphore(0)

    def handle(request: Tell, given: Call) -> Answer:
        if given.principal.tenant_id == "acme" and request.what:
            running.release()
            go.wait(300)
        return Answer(Told(what=request.what or "read"))

    async def story(pool: ThreadPoolExecutor) -> None:
        application = application_with(handle, pool)
        theirs = [asyncio.ensure_future(call(application, "acme")) for _ in range(5)]
        while not running.acquire(blocking=False):
            await asyncio.sleep(0)
        assert await call(application, "globex") == "globex"
        assert await call(application, "acme", "GET") == "read"
        assert not any(each.done() for each in theirs)
        assert not running.acquire(blocking=False), "the others hold no thread"
        go.set()
        assert await asyncio.gather(*theirs) == ["acme"] * 5

    with ThreadPoolExecutor(8) as pool:
        asyncio.run(story(pool))
