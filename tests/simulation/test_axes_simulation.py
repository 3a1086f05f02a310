"""Lists of every layer, at random places on both axes, answer what a naive memory of all versions answers.

``AXES_CASES`` is how many questions are asked in all.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, CountedIds, ManualClock
from histories import Asked, FullHistory, figures
from lamina.access.policy import OpenPolicy, PolicyPermits
from lamina.kernel.events import Event
from lamina.kernel.operations import Call, Principal
from lamina.kernel.records import Layer, Record
from lamina.kernel.time import SECOND_US, Axes, Interval, rfc3339
from lamina.recall.layers.operations import layer_operations
from lamina.store.memory import MemoryStore
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from told import ANA, BOB, Memory

CASES = int(os.environ.get("AXES_CASES", "250"))
PER_HISTORY = 25
DAY = 24 * 3600 * SECOND_US
LISTS = {
    "facts": Layer.FACTS,
    "beliefs": Layer.BELIEFS,
    "episodes": Layer.EPISODES,
    "understanding": Layer.UNDERSTANDING,
}
SAID = [("Ana", "lives_in", ["Porto", "Lisbon", "Braga"]), ("Ana", "age", [30, 31, 32]), ("Ana", "likes", ["tea", "chess"])]  # fmt: skip


class _Life:
    """A memory that is told claims, some late, some taken back, with a naive history beside it."""

    def __init__(self, store: Store, clock: ManualClock, chance: random.Random) -> None:
        self.store, self.clock, self.chance = store, clock, chance
        self.memory = Memory(store, clock)
        self.history = FullHistory()
        self.events: list[Event] = []
        self.run = {operation.name: operation for operation in layer_operations(store)}

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self.clock.at += self.chance.randrange(1, 3 * DAY)
            subject, predicate, values = self.chance.choice(SAID)
            value = (
                self.chance.choice([*values, None])
                if self.chance.random() < 0.2
                else self.chance.choice(values)
            )
            observed_at = self.clock.at - self.chance.choice([0, 0, DAY, 20 * DAY])
            content = {"kind": "triple", "subject": subject, "predicate": predicate, "object": value}
            event = self.memory.tell(content, observed_at, self.chance.choice([ANA, ANA, BOB]))
            self.events.append(event)
            self.memory.derive()
            self.history.note(self._standing(), event.recorded_at)

    def _standing(self) -> list[Record]:
        """The newest version of each record that nothing has ended, without a word about the past."""
        found = []
        for layer in LISTS.values():
            axes = Axes(seen_at=1 << 60)
            query = RecordQuery(tenant_id=TENANT, layer=layer, scopes=[ALICE], axes=axes, limit=500)
            found += self.store.records.query(query)
        return found

    def asked(self) -> Asked:
        chance = self.chance
        return Asked(
            as_of=self._moment() if chance.random() < 0.5 else None,
            valid_during=self._span() if chance.random() < 0.5 else None,
            recorded_during=self._span() if chance.random() < 0.4 else None,
            include_superseded=chance.random() < 0.5,
        )

    def _moment(self) -> int:
        event = self.chance.choice(self.events)
        return self.chance.choice([event.recorded_at, event.context.observed_at]) + self.chance.choice(
            [-1, 0, 1, DAY // 2]
        )

    def _span(self) -> Interval:
        first, last = sorted((self._moment(), self._moment()))
        span = Interval(first, last if last > first else first + 1)
        return self.chance.choice([span, span, Interval(span.start), Interval(None, span.end)])

    def call(self, name: str, request: dict[str, Any]) -> Any:
        operation = self.run[name]
        principal = Principal(tenant_id=TENANT, actor="user:ana", channel="test")
        call = Call(principal, "req_1", self.clock.at, PolicyPermits(OpenPolicy(), principal))
        return operation.handler(operation.request.model_validate({"scope": ALICE, **request}), call).result

    def listed(self, name: str, request: dict[str, Any]) -> set[tuple[Any, ...]]:
        answered = set()
        cursor = None
        while True:
            page = self.call(name, {**request, "limit": 7, "cursor": cursor})
            for item in page.items:
                stored = self.store.records.versions(TENANT, item.id)[item.version - 1]
                answered.add((item.id, item.version, figures(stored)))
                assert item.confidence == pytest.approx(stored.confidence, abs=1e-4)
            cursor = page.next_cursor
            if cursor is None:
                return answered


def _words(asked: Asked, *, natural: bool) -> dict[str, Any]:
    words: dict[str, Any] = {"include_superseded": asked.include_superseded}
    if asked.as_of is not None:
        words["as_of"] = rfc3339(asked.as_of)
    for name in ("valid_during", "recorded_during"):
        span: Interval | None = getattr(asked, name)
        if span is not None:
            words[name] = "..".join("" if at is None else rfc3339(at) for at in (span.start, span.end))
    if natural:
        del words["valid_during"]
        words["natural"] = "last 10 days"
        words["reference_date"] = rfc3339(asked.valid_during.end)  # type: ignore[union-attr]
    return words


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
def test_lists_answer_what_a_full_history_does(engine: str, tmp_path: Path) -> None:
    compared = filled = 0
    for seed in range(max(1, CASES // PER_HISTORY // 2)):
        chance, clock = random.Random(f"{engine} {seed}"), ManualClock(NOON)
        store: Store
        if engine == "memory":
            store = MemoryStore(clock=clock, ids=CountedIds())
        else:
            store = SqliteStore(tmp_path / str(seed), clock=clock, ids=CountedIds(), durable=False)
        life = _Life(store, clock, chance)
        life.live(chance.randrange(4, 11))
        for _ in range(PER_HISTORY):
            asked, natural = life.asked(), chance.random() < 0.2
            if natural:
                end = life._moment() // SECOND_US * SECOND_US
                asked = Asked(
                    asked.as_of,
                    Interval(end - 10 * DAY, end),
                    asked.recorded_during,
                    asked.include_superseded,
                )
            for name, layer in LISTS.items():
                expected = life.history.answer(layer, asked, clock.at)
                assert life.listed(name, _words(asked, natural=natural)) == expected, (seed, name, asked)
                filled += bool(expected)
            _compare_events(life, asked, natural)
            compared += 1
        store.close()
    assert compared >= CASES // 2 // PER_HISTORY * PER_HISTORY
    assert filled > compared


def _compare_events(life: _Life, asked: Asked, natural: bool) -> None:
    """Events are recorded once and have no validity."""
    seen = life.clock.at if asked.as_of is None else asked.as_of
    known = [event for event in life.events if event.recorded_at <= seen]
    if asked.recorded_during is not None:
        start, end = asked.recorded_during.start, asked.recorded_during.end
        known = [
            e
            for e in known
            if (start is None or e.recorded_at >= start) and (end is None or e.recorded_at < end)
        ]
    page = life.call("events", {**_words(asked, natural=natural), "limit": 50})
    assert [item.id for item in page.items] == [event.id for event in reversed(known)]
