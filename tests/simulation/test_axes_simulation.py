"""Lists of every layer, timelines and recall, at random places on both axes, answer what a naive memory of all versions answers:
figures of beliefs, and a tenant's own words for stretches of time, among it.

``AXES_CASES`` is how many questions are asked in all.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, CountedIds, ManualClock
from histories import Asked, FullHistory, PhraseHistory, figures
from lamina.access.policy import PolicyPermits
from lamina.errors import Invalid
from lamina.index.resident import ResidentIndexes
from lamina.kernel.defining import DEFINITIONS_SCOPE
from lamina.kernel.events import Event
from lamina.kernel.operations import Call, Principal
from lamina.kernel.records import Belief, Layer, Record
from lamina.kernel.time import SECOND_US, Axes, Interval, rfc3339
from lamina.models.counter import WordPieceCounter
from lamina.recall.layers.operations import layer_operations
from lamina.recall.operations import recall_operations
from lamina.recall.phrases import phrase_operations
from lamina.recall.recalling import Recalling
from lamina.recall.retrieve import Retriever
from lamina.store.memory import MemoryStore
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from libraries import Meanings
from policies import OpenPolicy
from told import ANA, BOB, Memory

CASES = int(os.environ.get("AXES_CASES", "250"))
PER_HISTORY = 25
DAY = 24 * 3600 * SECOND_US
EARLIEST, LATEST = NOON - 4000 * DAY, NOON + 4000 * DAY
LISTS = {
    "facts": Layer.FACTS,
    "beliefs": Layer.BELIEFS,
    "episodes": Layer.EPISODES,
    "understanding": Layer.UNDERSTANDING,
}
WORDS = ["the offsite", "fiscal two"]
QUESTION = "What does Ana like, how old is Ana and where does Ana live: Porto, Lisbon or Braga, tea or chess, 30, 31 or 32?"
NO_BOUND = {
    "max_tokens": 32_000,
    "per_layer_limits": {"facts": 100, "beliefs": 100, "events": 100, "episodes": 100, "understanding": 100},
}
SAID = [("Ana", "lives_in", ["Porto", "Lisbon", "Braga"]), ("Ana", "age", [30, 31, 32]), ("Ana", "likes", ["tea", "chess"])]  # fmt: skip


class _Life:
    """A memory that is told claims, some late, some taken back, with a naive history beside it."""

    def __init__(self, store: Store, clock: ManualClock, chance: random.Random) -> None:
        self.store, self.clock, self.chance = store, clock, chance
        self.memory = Memory(store, clock)
        self.history = FullHistory()
        self.events: list[Event] = []
        self.phrases = PhraseHistory()
        recalling = Recalling(
            store,
            Retriever(store, ResidentIndexes(store.index, Meanings.name, Meanings.dim_pooled), Meanings()),
            WordPieceCounter(),
            CountedIds(),
        )
        operations = [
            *layer_operations(store),
            *phrase_operations(store.definitions),
            *recall_operations(recalling),
        ]
        self.run = {operation.name: operation for operation in operations}

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self.clock.at += self.chance.randrange(1, 3 * DAY)
            if self.chance.random() < 0.35:
                self._word()
                self.clock.at += self.chance.randrange(1, DAY)
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

    def _word(self) -> None:
        """Give words of the tenant's own a meaning, or take it back."""
        words = self.chance.choice(WORDS)
        name = words.replace(" ", "_")
        if self.phrases.standing(words):
            self.call("temporal_phrase_remove", {"name": name}, scoped=False)
            self.phrases.withdraw(words, self._last_entry())
            return
        start = self.clock.at // SECOND_US * SECOND_US - self.chance.randrange(0, 40) * DAY
        span = Interval(start, start + self.chance.randrange(1, 30) * DAY)
        meant = [rfc3339(span.start), rfc3339(span.end)]  # type: ignore[arg-type]
        asked = {"name": name, "pattern": words, "resolves_to": {"valid_during": meant}}
        self.call("temporal_phrase_register", asked, scoped=False)
        self.phrases.define(words, span, self._last_entry())

    def _last_entry(self) -> int:
        found = self.store.log.last_recorded(TENANT, [DEFINITIONS_SCOPE])
        assert found is not None
        return found

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

    def call(self, name: str, request: dict[str, Any], *, scoped: bool = True) -> Any:
        operation = self.run[name]
        principal = Principal(tenant_id=TENANT, actor="user:ana", channel="test")
        call = Call(principal, "req_1", self.clock.at, PolicyPermits(OpenPolicy(), principal))
        given = {"scope": ALICE, **request} if scoped else request
        return operation.handler(operation.request.model_validate(given), call).result

    def figures_of(self, item: Any) -> tuple[Any, ...]:
        """The version behind an item, with what it says by the store."""
        stored = self.store.records.versions(TENANT, item.id)[item.version - 1]
        assert item.confidence == pytest.approx(stored.confidence, abs=1e-4)
        if isinstance(stored, Belief):
            said = (item.stance, item.confidence_interval.lower, item.confidence_interval.upper)
            assert said == (stored.stance, stored.lower, stored.upper)
        return item.id, item.version, figures(stored)

    def listed(self, name: str, request: dict[str, Any]) -> set[tuple[Any, ...]]:
        answered = set()
        cursor = None
        while True:
            page = self.call(name, {**request, "limit": 7, "cursor": cursor})
            answered |= {self.figures_of(item) for item in page.items}
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
            filled += _compare_timeline(life, asked, natural) + _compare_recall(life, asked, natural)
            _compare_phrase(life, asked)
            compared += 1
        store.close()
    print(f"{compared} questions compared, {filled} of their answers not empty")
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


def _compare_timeline(life: _Life, asked: Asked, natural: bool) -> bool:
    subject, predicate, _ = life.chance.choice(SAID)
    words = _words(asked, natural=natural)
    entries = life.call("facts_timeline", {**words, "subject": subject, "predicate": predicate}).timeline
    answered = []
    for entry in entries:
        stored = life.store.records.versions(TENANT, entry.fact_id)[entry.version - 1]
        assert (entry.recorded_from, entry.confidence) == (stored.recorded_from, stored.confidence)
        assert entry.valid_to == stored.valid_to or stored.valid_to is None
        answered.append((entry.valid_from, entry.fact_id, entry.version, figures(stored)))
    assert [each[0] for each in answered] == sorted(each[0] for each in answered)
    expected = life.history.timeline((subject, predicate), asked, life.clock.at)
    if asked.valid_during is not None and asked.include_superseded:
        assert set(answered) <= set(expected), (predicate, asked)
        now = life.clock.at
        answered, expected = (
            [each for each in found if not life.history.open_once((each[1], each[2]), now, asked)]
            for found in (answered, expected)
        )
    assert sorted(answered) == expected, (predicate, asked)
    return bool(expected)


def _compare_recall(life: _Life, asked: Asked, natural: bool) -> bool:
    """All the claims about whom the question names are there, and nothing of any layer that a reader of then would not see."""
    words = _words(asked, natural=natural)
    temporal = {"include_superseded": asked.include_superseded}
    temporal |= {name: words[name] for name in ("as_of", "natural", "reference_date") if name in words}
    for name in ("valid_during", "recorded_during"):
        span: Interval | None = getattr(asked, name)
        if name in words and span is not None:
            temporal[name] = [
                rfc3339(EARLIEST if span.start is None else span.start),
                rfc3339(LATEST if span.end is None else span.end),
            ]  # type: ignore[assignment]
    body = {"query": QUESTION, "temporal": temporal, "budgets": NO_BOUND, "view": "local"}
    layers = life.call("recall", body).layers
    for name, layer in LISTS.items():
        answered = {life.figures_of(item) for item in getattr(layers, name)}
        expected = life.history.recalled(layer, asked, life.clock.at)
        if layer in (Layer.FACTS, Layer.BELIEFS):
            assert answered == expected, (name, asked)
        else:
            assert answered <= expected, (name, asked)
    return bool(layers.facts)


def _compare_phrase(life: _Life, asked: Asked) -> None:
    """Words of the tenant's own mean to a reader what they meant then, or nothing."""
    words = life.chance.choice(WORDS)
    ends = [] if asked.as_of is None else [asked.as_of]
    if asked.recorded_during is not None and asked.recorded_during.end is not None:
        ends.append(asked.recorded_during.end - 1)
    meant = life.phrases.meant(words, min(ends, default=None))
    request = {**_words(replace(asked, valid_during=None), natural=False), "natural": words}
    if meant is None:
        with pytest.raises(Invalid) as refused:
            life.call("beliefs", request)
        assert refused.value.code == "UNPARSEABLE_TEMPORAL"
        return
    expected = life.history.answer(Layer.BELIEFS, replace(asked, valid_during=meant), life.clock.at)
    assert life.listed("beliefs", request) == expected, (words, asked)
