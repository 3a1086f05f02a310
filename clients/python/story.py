"""What a program does with the client, against a server that runs: `scripts/client` has it run where only the client is installed.

    python story.py http://127.0.0.1:8700

Everything in the distribution is imported, each kind of call is made once, and what comes back is looked at. Prints one line.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import sys
import time
from datetime import UTC, datetime

import httpx
import pydantic

import lamina
from lamina import AsyncClient, Client
from lamina.errors import Invalid, NotFound, Unavailable
from lamina.kernel.views import FactView
from lamina.types.recall import Pack


def main(url: str) -> None:
    started = time.perf_counter()
    modules = [found.name for found in pkgutil.walk_packages(lamina.__path__, "lamina.")]
    for name in modules:
        importlib.import_module(name)
    imported_s = time.perf_counter() - started
    actor = f"user:story{time.time_ns()}"
    with Client(url, actor=actor).allow_unstable() as client:
        writes(client)
        reads(client)
        turns(client)
        errors(client)
    asyncio.run(awaited(url, actor))
    print(
        f"Python {sys.version.split()[0]}, pydantic {pydantic.VERSION}, httpx {httpx.__version__}: "
        f"{len(modules)} modules in {imported_s:.2f} s, the story holds"
    )


def writes(client: Client) -> None:
    """One experience, a batch, one that is cancelled; each under its key once."""
    said = "I moved to Lisbon last week, and I'm allergic to peanuts."
    now = datetime.now(UTC)
    stored = client.experience(said, wait="consolidated", observed_at=now, idempotency_key="story-1")
    again = client.experience(said, wait="consolidated", observed_at=now, idempotency_key="story-1")
    assert again.event_id == stored.event_id
    assert client.by_idempotency_key("story-1").event_id == stored.event_id
    batch = client.experience_bulk(
        ["My cat is called Toffee.", "My sister Ines lives in Porto."], wait="consolidated"
    )
    assert batch.accepted == 2
    gone = client.experience("I work at Fernhill.")
    assert client.cancel(gone.event_id).event_id == gone.event_id
    assert "captured" in client.lifecycle_of(stored.event_id).stages_completed
    assert client.lifecycle_page(event_id=stored.event_id).items


def reads(client: Client) -> None:
    """Recall at once and in parts, the layers, and why."""
    pack = client.recall("Where do I live?", include=["facts", "events"])
    assert isinstance(pack, Pack)
    assert "Lisbon" in pack.context_block
    parts = [type(chunk).__name__ for chunk in client.recall_stream("Where do I live?")]
    assert parts[0] == "PlanChunk"
    assert parts[-1] == "DoneChunk"
    facts = list(client.facts.iterate())
    assert all(isinstance(fact, FactView) for fact in facts)
    home = next(fact for fact in facts if "Lisbon" in fact.text)
    assert client.facts.get(home.id).supports
    assert client.why(home.id).support_graph
    assert client.beliefs.list().items
    assert client.episodes.list() is not None
    assert client.understanding.coverage() is not None
    assert client.events.list(limit=1).items[0].scope.startswith("user:story")


def turns(client: Client) -> None:
    """A chat's turn, a capsule, how the server is."""
    who = {"tenant_id": "home", "user_id": "story", "persona_id": "chat", "session_id": "monday"}
    client.ingest("user", "What is left to do?", **who)
    assert client.brief("What is left to do?", mode="session_start", **who).working_memory
    assert client.close_session(**who).closed
    assert client.health().worker is not None
    assert client.version().version == lamina.__version__


def errors(client: Client) -> None:
    """Each in its class, with its code and what helps."""
    for call, kind in (
        (lambda: client.facts.get("fact_01a201da-0675-7347-af43-563b403313d7"), NotFound),
        (lambda: client.recall(""), Invalid),
        (lambda: client.recall("x", wrong=1), Invalid),
        (lambda: Client("http://127.0.0.1:1", retries=0).version(), Unavailable),
    ):
        raised = None
        try:
            call()
        except kind as error:
            raised = error
        assert raised is not None, f"no {kind.__name__}"
        assert raised.code
        assert raised.hint


async def awaited(url: str, actor: str) -> None:
    """The same, awaited."""
    async with AsyncClient(url, actor=actor).allow_unstable() as client:
        assert "Toffee" in (await client.recall("What is my cat called?")).context_block
        assert [chunk async for chunk in client.recall_stream("What is my cat called?")]
        assert [fact async for fact in client.facts.iterate()]


if __name__ == "__main__":
    main(sys.argv[1])
