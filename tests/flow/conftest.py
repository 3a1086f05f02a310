"""A server over a store of its own, with a clock and a policy that the test owns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

import given
from lamina.access.policy import Decision
from lamina.app import build_server
from lamina.kernel.events import Context, Directives, Event, EventDraft, Origin, Party, Stage, Trust
from lamina.kernel.ids import Prefix, RandomIds, derived_id
from lamina.kernel.operations import Grant, Principal
from lamina.kernel.records import (
    Belief,
    Concept,
    Entity,
    Episode,
    Fact,
    ObjectValue,
    Stance,
    Subject,
    Support,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import instant
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from policies import OpenPolicy
from streaming import open_stream
from told import Memory

TENANT = "acme"
ALICE = Scope("org:acme/user:alice")
CARRIER = Scope("system:carrier")
NOON = instant("2026-05-13T12:00:00Z")
ACME = Subject("ent_acme", "Acme Corp")


class ManualClock:
    """Stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> int:
        return self.at


class Denials(OpenPolicy):
    """Allows everything but what a test denies: a capability on a scope, or on all of them."""

    def __init__(self) -> None:
        self.denied: set[tuple[str, str | None]] = set()

    def deny(self, capability: str, scope: str | None = None) -> None:
        self.denied.add((capability, scope))

    def decide(self, principal: Principal, grant: Grant) -> Decision:
        named = {(str(grant.capability), grant.scope), (str(grant.capability), None)}
        return Decision(grant, allowed=not named & self.denied, tier="scope", preset="dev_local")


class World:
    """A server, and short ways to put things into its store."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.clock = ManualClock()
        self.policy = Denials()
        self.store = SqliteStore(folder, clock=self.clock, durable=False)
        # A brief waits for what it is to bring to mind, however busy the machine is.
        chosen = Settings(tenant=TENANT, **{"data": folder, "brief_deadline_ms": 10_000, **settings})
        self.server = build_server(chosen, store=self.store, clock=self.clock, policy=self.policy)
        self.feed = self.server.feed
        self.application: ASGIApp = self.server.application

    def close(self) -> None:
        self.server.pool.shutdown()
        self.server.close()

    # ---- over HTTP

    def call(
        self,
        verb: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        body: Any = None,
        **params: Any,
    ) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(verb, path, params=params or None, headers=headers, json=body)

        return asyncio.run(send())

    def get(self, path: str, **params: Any) -> Any:
        response = self.call("GET", path, **params)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        response = self.call("POST", path, body=body)
        assert response.status_code in (200, 202), response.text
        return response

    def ids(self, path: str, **params: Any) -> list[str]:
        return [item["id"] for item in self.get(path, **{"scope": ALICE, **params})["items"]]

    def refused(self, path: str, **params: Any) -> tuple[int, str]:
        response = self.call("GET", path, **params)
        return response.status_code, response.json()["error_code"]

    @asynccontextmanager
    async def stream(
        self, query: str = "", headers: dict[str, str] | None = None
    ) -> AsyncIterator[asyncio.Queue[str]]:
        """An open lifecycle stream: its blocks, one by one; the last is empty. Begins once it is subscribed."""
        async with open_stream(self.application, query, headers or {}) as blocks:
            yield blocks

    # ---- into the store

    def event(self, text: str = "hello", scope: str = ALICE, **more: Any) -> Event:
        context = {"observed_at": self.clock.at, **more.pop("context", {})}
        actor = more.pop("actor", "user:alice")
        values: dict[str, Any] = {
            "tenant_id": TENANT,
            "scope": Scope(scope),
            "caller": "user:local",
            "observed_actor": Party.of(actor),
            "subject": Party.of(actor),
            "session": None,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": Context(**context),
            "directives": Directives(),
            "origin": Origin("user:local", "http", Trust.PRINCIPAL),
            **more,
        }
        return self.store.log.append([Capture(EventDraft(**values))])[0].event

    def land(self, *records: Any, **more: Any) -> None:
        """Put derived rows, as the end of the job of an event that nobody looks at."""
        event = self.event("carrier", CARRIER)
        jobs = self._claim(Stage.EXTRACTED)
        writes = Writes(records=list(records), **more)
        self.store.jobs.finish([(job, writes) for job in jobs if job.event.id == event.id])
        self.store.jobs.release("test")

    def advance(self, event: Event, *stages: Stage, **writes: Any) -> None:
        """Bring an event through stages; ``writes`` land with the first."""
        for stage in stages:
            row = LifecycleDraft(
                tenant_id=TENANT, name=stage.value, scope=event.scope, payload={}, event_id=event.id
            )
            done = [
                (job, Writes(lifecycle=[row], **writes))
                for job in self._claim(stage)
                if job.event.id == event.id
            ]
            assert done, f"{stage} is not due"
            self.store.jobs.finish(done)
            self.store.jobs.release("test")
            writes = {}

    def _claim(self, stage: Stage) -> list[Any]:
        return self.store.jobs.claim(
            stage, limit=1000, lease_until=self.clock.at + 1, now=self.clock.at, owner="test"
        )

    # ---- values

    def id(self, prefix: Prefix, name: str) -> str:
        return derived_id(prefix, NOON, name)

    def fact(self, name: str = "stage", **more: Any) -> Fact:
        return Fact(**{**self._claimed(Prefix.FACT, name), **_FACT, **more})

    def belief(self, name: str = "renews", **more: Any) -> Belief:
        return Belief(**{**self._claimed(Prefix.BELIEF, name), **_BELIEF, **more})

    def episode(self, name: str = "deal", **more: Any) -> Episode:
        return Episode(**{**self._common(Prefix.EPISODE, name), **_EPISODE, "name": name, **more})

    def concept(self, name: str = "sales", **more: Any) -> Concept:
        return Concept(**{**self._common(Prefix.CONCEPT, name), **_CONCEPT, "name": name, **more})

    def support(self, record_id: str, source_id: str, **more: Any) -> Support:
        values = {"tenant_id": TENANT, "relation": Tie.EXTRACTED_FROM, "recorded_at": NOON}
        return Support(record_id=record_id, source_id=source_id, **{**values, **more})

    def entity(self, name: str = "acme corp", entity_id: str = ACME.id) -> Entity:
        return Entity(tenant_id=TENANT, id=entity_id, normalised_name=name, type="organisation")

    def _common(self, prefix: Prefix, name: str) -> dict[str, Any]:
        return {
            "tenant_id": TENANT,
            "id": self.id(prefix, name),
            "scope": ALICE,
            "version": 1,
            "position": 1,
            "confidence": 0.9,
            "valid_from": NOON,
            "valid_to": None,
            "recorded_from": NOON,
        }

    def _claimed(self, prefix: Prefix, name: str) -> dict[str, Any]:
        return self._common(prefix, name) | {
            "subject": ACME,
            "predicate": "deal_stage",
            "object": ObjectValue("literal", "poc", "string"),
            "negated": False,
        }


_FACT: dict[str, Any] = {
    "event_id": derived_id(Prefix.EVENT, NOON, "source"),
    "text": "Acme Corp is at the stage poc.",
    "kind": "state",
    "external": False,
    "extractor": "lamina-rules/1",
    "slot": None,
}
_BELIEF: dict[str, Any] = {
    "stance": Stance.SUPPORTED,
    "external": False,
    "alpha": 3.0,
    "beta": 1.0,
    "lower": 0.48,
    "upper": 0.97,
    "revision_count": 0,
}
_EPISODE: dict[str, Any] = {
    "session": "s-1",
    "summary": "A deal is closed.",
    "started_at": NOON,
    "ended_at": NOON,
    "size": 2,
    "sealed": False,
    "actors": ("user:alice",),
    "centrality": 0.5,
}
_CONCEPT: dict[str, Any] = {
    "topic": "sales_process",
    "summary": "How deals go.",
    "stance": Stance.SUPPORTED,
    "synthesizer": "lamina-concepts/1",
    "consulted": 3,
    "available": 4,
}


@pytest.fixture(scope="session")
def world_in() -> type[World]:
    """Makes a world in a folder, for a module to share; who makes it closes it."""
    return World


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes a world with settings of its own."""
    worlds: list[World] = []

    def make(**settings: Any) -> World:
        worlds.append(World(tmp_path / f"world-{len(worlds)}" if worlds else tmp_path, **settings))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world()


@pytest.fixture
def at(world: World) -> Callable[[str], int]:
    """Set the clock to an instant, and give it."""

    def move(text: str) -> int:
        world.clock.at = instant(text)
        return world.clock.at

    return move


@pytest.fixture(params=["sqlite", "memory"])
def make_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Makes memories over stores of one engine after the other, each with the extractor that it is given."""
    stores: list[Store] = []

    def make(extractor: RulesExtractor | None = None, nearness: Nearness | None = None) -> Memory:
        clock = given.ManualClock(NOON)
        store: Store
        if request.param == "sqlite":
            folder = tmp_path / "memories" / str(len(stores))
            store = SqliteStore(folder, clock=clock, ids=RandomIds(), durable=False)
        else:
            store = MemoryStore(clock=clock, ids=RandomIds())
        stores.append(store)
        return Memory(store, clock, extractor, nearness)

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory()
