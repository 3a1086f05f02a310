"""Random histories: what is answered as of an instant is what was answered then, whatever was written since."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from given import NOON, CountedIds, ManualClock
from lamina.app import Server, build_server
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.settings import Settings
from lamina.store.memory import MemoryStore
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

pytestmark = pytest.mark.model

SEEDS = [int(os.environ["SIMULATION_SEED"])] if "SIMULATION_SEED" in os.environ else [1, 2]
TURNS, LATER = 12, 12
DAY = 86_400 * SECOND_US
HOUR = 3600 * SECOND_US
TEAM, ZED, DESK = "org:acme", "org:acme/user:zed", "org:acme/user:zed/app:desk"
HEADERS = {"X-Cortex-Actor": "user:zed"}
SPEAKERS = ["zed", "ann", "tim"]
NEWCOMERS = ["bob", "zora"]
SAYINGS = [
    "I live in Lisbon.",
    "I moved to Porto.",
    "I live in Turku.",
    "I work with Bob.",
    "I do not work with Bob.",
    "Zed works with Bob.",
    "Tim owns a boat.",
    "Tim does not own a boat.",
    "I work at Acme.",
    "I work at Globex.",
    "Ann likes tea.",
    "Ann does not like tea.",
    "I need to call Bob on Friday.",
    "I called Bob.",
    "We sailed to Madeira with the boat.",
    "Ann baked a cake for my birthday yesterday.",
]
NEWS = [
    *SAYINGS,
    "The boat is a submarine that Ann sails.",
    "Zora owns a boat.",
    "Bob likes tea and cake.",
    "Zed lives in Quito.",
]
REGRETTED = ["I live in Quetzalberg.", "Ann owns a Quetzalmobile.", "Bob works at Quetzalco."]
QUESTIONS = [
    "Who lives in Quetzalberg?",
    "Who owns a boat?",
    "Where does Zed live?",
    "What does Ann like?",
    "What happened yesterday?",
    "What does Zora say of the submarine?",
    "Porto",
    "boat cake tea",
]
LAYERS = ["events", "episodes", "facts", "beliefs", "understanding"]


@dataclass
class Memory:
    """A server on a clock of the test, and its worker."""

    store: Store
    clock: ManualClock
    server: Server
    worker: Worker
    loop: asyncio.Runner
    told: int = 0

    def asked(self, verb: str, path: str, **asked: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(verb, path, headers=HEADERS, **asked)

        return self.loop.run(send())

    def tell(self, draw: random.Random, text: str, speakers: Sequence[str]) -> str:
        self.told += 1
        self.clock.at += draw.randint(1, 90) * 60 * SECOND_US
        speaker = draw.choice(speakers)
        # Some is told late: it was seen days before.
        seen_at = self.clock.at - draw.choice([0, 0, 0, HOUR, 2 * DAY])
        scope = draw.choice([ZED, ZED, ZED, DESK, TEAM])
        into = None if scope == TEAM else draw.choice([None, TEAM])
        body = {
            "scope": scope,
            "modality": "conversation",
            "observed_actor": {
                "id": f"user:{speaker}",
                "name": speaker.title(),
                "session": draw.choice("mn"),
            },
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": rfc3339(seen_at)},
            "idempotency_key": f"turn-{self.told}",
            "directives": {"consolidate_into": into} if into else {},
        }
        answer = self.asked("POST", "/v1/experience", json=body)
        assert answer.status_code == 202, answer.text
        self.worker.drain()
        event_id: str = answer.json()["event_id"]
        return event_id

    def cancel(self, event_id: str) -> None:
        self.clock.at += HOUR
        answer = self.asked("POST", f"/v1/lifecycle/memory-event/{event_id}/cancel", json={})
        assert answer.status_code == 200, answer.text
        self.worker.drain()

    def get(self, path: str, **params: Any) -> Any:
        answer = self.asked("GET", path, params={k: v for k, v in params.items() if v is not None})
        return {"status": answer.status_code, **answer.json()}

    def recall(self, query: str, view: str, temporal: Mapping[str, Any]) -> Any:
        body = {"scope": ZED, "query": query, "include": LAYERS, "view": view, "diagnostics": "full"}
        answer = self.asked("POST", "/v1/recall", json={**body, "temporal": temporal})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def answers(self, as_of: str | None, known: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Every door that knows ``as_of``, asked about everything that was known."""
        found: dict[str, Any] = {}
        for layer in LAYERS:
            for view in ("local", "holistic", "descend"):
                page = self.get(f"/v1/{layer}", scope=ZED, view=view, as_of=as_of, limit=1000, depth=None)
                found[f"{layer} {view}"] = page
        found["superseded"] = self.get(
            "/v1/facts", scope=ZED, as_of=as_of, include_superseded="true", limit=1000
        )
        found["related"] = self.get("/v1/understanding", scope=ZED, as_of=as_of, depth=3, limit=1000)
        for predicate, subject in [
            ("lives_in", "Zed"),
            ("works_with", "Zed"),
            ("owns", "Tim"),
            ("owns", "Bob"),
        ]:
            path = "/v1/facts/timeline"
            found[f"timeline {subject} {predicate}"] = self.get(
                path, scope=ZED, subject=subject, predicate=predicate, as_of=as_of
            )
        for layer, ids in known.items():
            for each in ids:
                if layer != "events":
                    found[each] = self.get(f"/v1/{layer}/{each}", as_of=as_of)
                if layer == "beliefs":
                    found[f"why {each}"] = self.get("/v1/beliefs/why", belief_id=each, as_of=as_of)
        for place, question in enumerate(QUESTIONS):
            for view in ("local", "holistic", "descend", "structured", "raw")[place % 2 :: 2]:
                pack = self.recall(question, view, {} if as_of is None else {"as_of": as_of})
                found[f"{view} {question}"] = pack
        return {name: plain(answer) for name, answer in found.items()}

    def known(self) -> dict[str, list[str]]:
        def page(layer: str, view: str) -> list[str]:
            return [
                item["id"] for item in self.get(f"/v1/{layer}", scope=ZED, view=view, limit=1000)["items"]
            ]

        return {layer: page(layer, "holistic") for layer in LAYERS}


def plain(value: Any) -> Any:
    """An answer without what the contract makes different in every call."""
    if isinstance(value, dict):
        gone = {"request_id", "pack_id", "elapsed_ms", "time_ms", "cpu_ms", "next_cursor"}
        return {key: plain(each) for key, each in value.items() if key not in gone}
    return [plain(each) for each in value] if isinstance(value, list) else value


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from differences(before.get(key), after.get(key), f"{path}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif before != after:
        yield f"{path}: {before!r:.300} became {after!r:.300}"


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    clock, ids = ManualClock(), CountedIds()
    store: Store
    if request.param == "memory":
        store = MemoryStore(clock=clock, ids=ids)
    else:
        store = SqliteStore(tmp_path, clock=clock, ids=ids, durable=False)
    settings = Settings(tenant="acme", data=tmp_path, workers=0)
    server = build_server(settings, store=store, clock=clock)
    embedder = MiniLmEmbedder()
    extractor = RulesExtractor(find_times)
    worker = Worker(store, Deriver(store, extractor, embedder), embedder, clock, "test")
    with asyncio.Runner() as loop:
        yield Memory(store, clock, server, worker, loop)
    server.close()


@pytest.mark.parametrize(
    ("memory", "seed"), [*(("sqlite", seed) for seed in SEEDS), ("memory", SEEDS[0])], indirect=["memory"]
)
def test_what_is_answered_as_of_an_instant_is_what_was_answered_then(memory: Memory, seed: int) -> None:
    draw = random.Random(seed)
    assert memory.clock.at == NOON
    for _ in range(TURNS):
        memory.tell(draw, draw.choice(SAYINGS), SPEAKERS)
    memory.clock.at += 10 * SECOND_US
    then, known = rfc3339(memory.clock.at), memory.known()
    at_the_time = memory.answers(None, known)
    assert list(differences(at_the_time, memory.answers(then, known))) == [], (
        f"seed {seed}, before anything else"
    )
    memory.clock.at += DAY
    for _ in range(LATER):
        memory.tell(draw, draw.choice(NEWS), SPEAKERS + NEWCOMERS)
    assert list(differences(at_the_time, memory.answers(then, known))) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_what_was_cancelled_since_is_in_no_answer_as_of_an_earlier_instant(memory: Memory, seed: int) -> None:
    draw = random.Random(seed)
    gone = []
    for number in range(TURNS):
        memory.tell(draw, draw.choice(SAYINGS), SPEAKERS)
        if number % 4 == 1:
            gone.append(memory.tell(draw, draw.choice(REGRETTED), SPEAKERS))
    memory.clock.at += 10 * SECOND_US
    then, known = rfc3339(memory.clock.at), memory.known()
    at_the_time = memory.answers(None, known)
    assert "Quetzal" in str(at_the_time["facts holistic"]), f"seed {seed}"
    memory.clock.at += DAY
    for event_id in gone:
        memory.cancel(event_id)
    for _ in range(LATER):
        memory.tell(draw, draw.choice(NEWS), SPEAKERS + NEWCOMERS)
    answers = memory.answers(then, known)
    told = {name for name, answer in answers.items() if "quetzal" in str({**answer, "query": ""}).casefold()}
    # Who holds its id still reads a record, marked as kept out, as without ``as_of``.
    read = {name for name in told if answers[name].get("belief", answers[name]).get("excluded_from_recall")}
    assert told - read == set(), f"seed {seed}"
    # What does not rest on it is told as it was: the fact, the event, its place in the list.
    for name in ("events descend", "facts descend", "superseded"):
        rested = [item for item in at_the_time[name]["items"] if not _names(item, gone)]
        assert list(differences(rested, answers[name]["items"])) == [], f"seed {seed}"


def _names(item: Any, gone: Sequence[str]) -> bool:
    return item["id"] in gone or not set(gone).isdisjoint(item.get("supports", ()))
