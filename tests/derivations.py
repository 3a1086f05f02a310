"""A store with a worker that needs no models, and words of one person to derive from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from given import ALICE, TENANT, ManualClock, append
from lamina import limits
from lamina.kernel.events import Context, Event, Party
from lamina.kernel.ids import IdSource, RandomIds
from lamina.kernel.records import Fact, Layer, Record
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes, instant
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore

__all__ = [
    "DAY",
    "HOUR",
    "MAYA",
    "START",
    "STORY",
    "Derivation",
    "append_one",
    "every_version",
    "tell_a_story",
    "values",
]

MAYA = Party("user:maya", "user", "Maya")
HOUR = 3600 * SECOND_US
DAY = 24 * HOUR
START = instant("2026-03-02T09:00:00Z")


class Derivation:
    """A store with a worker that needs no parser and no embedding model."""

    def __init__(self, folder: Path, ids: IdSource | None = None) -> None:
        self.clock = ManualClock(instant("2026-05-13T12:00:00Z"))
        self.store: Store = SqliteStore(folder, clock=self.clock, ids=ids or RandomIds(), durable=False)
        self.land_together(limits.JOB_LAND_MAX)

    def land_together(self, count: int) -> None:
        extractor = RulesExtractor(find_times, use_parser=False)
        self.deriver = Deriver(self.store, extractor, None, land_max=count)
        self.worker = Worker(self.store, self.deriver, None, self.clock, "test")

    def say(self, text: str, *, at: int = START, session: str | None = "s1", **more: Any) -> Event:
        values: dict[str, Any] = {
            "observed_actor": MAYA,
            "subject": MAYA,
            "session": session,
            "content": {"kind": "message", "role": "user", "text": text},
            "context": Context(observed_at=at),
        }
        return append_one(self.store, text, **{**values, **more})

    def derive(self) -> None:
        self.worker.drain()

    def current(self, layer: Layer, *, scope: Scope = ALICE, at: int | None = None) -> list[Record]:
        axes = Axes.at(self.clock.now() + 10_000_000 if at is None else at)
        query = RecordQuery(tenant_id=TENANT, layer=layer, scopes=[scope], axes=axes, limit=500)
        return self.store.records.query(query)

    def facts(self, predicate: str, **where: Any) -> list[Fact]:
        found = self.current(Layer.FACTS, **where)
        return [record for record in found if isinstance(record, Fact) and record.predicate == predicate]

    def replayed(self) -> tuple[list[Any], list[Any]]:
        self.derive()
        before = list(self.store.snapshot())
        self.store.jobs.reset()
        self.derive()
        return before, list(self.store.snapshot())


def append_one(store: Store, text: str, **more: Any) -> Event:
    (event,) = append(store, text, **more)
    return event


def values(facts: Sequence[Fact]) -> list[str]:
    return [fact.object.text for fact in facts]


def every_version(lamina: Derivation, predicate: str) -> list[Fact]:
    axes = Axes(seen_at=lamina.clock.now() + DAY)
    found = lamina.store.records.query(
        RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=axes, predicate=predicate, limit=500
        )
    )
    return [record for record in found if isinstance(record, Fact)]


STORY = (
    "I live in Leipzig.", "I work at Fernhill.", "I like ramen.", "I'm allergic to peanuts.", "Noor is my friend.",
    "I live in Hamburg.", "I work at Tidewater.", "I don't like ramen.", "My cat is called Biscuit.", "Thanks!",
    "I prefer tea to coffee.", "I moved to Lisbon.", "By the way, what's the weather?", "I'll send the deck by Friday.",
)  # fmt: skip


def tell_a_story(lamina: Derivation, seed: int = 1) -> list[Event]:
    chance = random.Random(seed)
    events = []
    for number in range(60):
        text = chance.choice(STORY)
        at = START + chance.randrange(40) * 12 * HOUR
        scope = chance.choice([ALICE, Scope("org:acme/user:bob"), Scope("ws:launch")])
        lamina.clock.at += chance.randrange(3) * SECOND_US
        events.append(lamina.say(text, at=at, session=f"s{number % 4}", scope=scope))
    return events
