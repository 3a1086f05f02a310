"""Random conversations with a model that fails, lies and comes late: both engines agree, and a replay agrees with them."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from given import ALICE, BOB, NOON, TENANT, CountedIds, ManualClock, append
from lamina.errors import Invalid, Unavailable
from lamina.kernel.events import Context, Party
from lamina.kernel.records import LoopType
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.models.ports import ChatMessage, Generated
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.readings.question import TASK
from lamina.pipeline.worker import Worker
from lamina.session.inquirer import Inquirer
from lamina.session.loops import open_loops
from lamina.store.memory import MemoryStore
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from modelled import found

STEPS = 150
SEEDS = [int(os.environ["SIMULATION_SEED"])] if "SIMULATION_SEED" in os.environ else [1, 4]
EXTRACTOR = RulesExtractor(find_times, use_parser=False)
PLACES = [(TENANT, ALICE, "user:alice"), (TENANT, BOB, "user:bob"), ("other", ALICE, "user:alice")]
SAYINGS = [
    "I need to book the dentist.",
    "The dentist thing and the boiler are hanging over me until Friday.",
    "My passport and the boiler, what a mess.",
    "I booked the dentist.",
    "Never mind the boiler.",
    "The boiler works again.",
    "I go running every morning.",
    "I really must renew my passport next week.",
    "Lovely weather today, isn't it?",
    "Done!",
]


class Oracle:
    """Answers by the input and the seed alone, so that both engines hear the same; some of it is nonsense."""

    name = "oracle"

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.status = "up"

    def complete(
        self, messages: Sequence[ChatMessage], *, tokens_max: int, schema: Mapping[str, Any] | None = None
    ) -> Generated:
        if self.status == "down":
            raise Unavailable("MODEL_UNAVAILABLE", "down")
        if self.status == "refuses":
            raise Invalid("MODEL_REFUSED", "no")
        if self.status == "turns all away":
            raise Invalid("MODEL_MISCONFIGURED", "no")
        told = json.loads(messages[-1].text)
        chance = random.Random(f"{self.seed} {messages[-1].text}")
        return Generated(self._answer(told, chance))

    def _answer(self, told: dict[str, Any], chance: random.Random) -> str:
        if "turns" in told:
            asked = [(each["n"], {**told, "turn": each["text"]}) for each in told["turns"] if "n" in each]
            return json.dumps(
                {"turns": [{"n": n, **json.loads(self._whole(each, chance))} for n, each in asked]}
            )
        return self._whole(told, chance)[: chance.choice([None, None, None, None, -40, 0])]

    def _whole(self, told: dict[str, Any], chance: random.Random) -> str:
        words = told["turn"].split()

        def part(most: int) -> str:
            start = chance.randrange(len(words))
            return " ".join(words[start : start + chance.randint(1, most)])

        def pointed() -> list[dict[str, str]]:
            shown = [loop for loop in told["open"] if chance.random() < 0.3]
            return [{"ref": loop["ref"], "quote": part(9)} for loop in shown]

        new = [
            {"type": chance.choice(list(LoopType)), "text": part(4), "quote": part(9), "when": part(2)}
            for _ in range(chance.randint(0, 6))
        ]
        return found(*new, reinforced=pointed(), completed=pointed(), dropped=pointed()[:1])


class Simulation:
    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.clock = ManualClock()
        self.at = NOON
        self.oracle = Oracle(seed)
        self.stores: list[Store] = [
            SqliteStore(folder, clock=self.clock, ids=CountedIds(), durable=False),
            MemoryStore(clock=self.clock, ids=CountedIds()),
        ]
        self.workers = [self.working(store, asks=TASK) for store in self.stores]
        self.inquirers = [Inquirer(store, self.clock, self.oracle) for store in self.stores]
        self.said: list[tuple[str, str]] = []

    def working(self, store: Store, **more: Any) -> Worker:
        return Worker(store, Deriver(store, EXTRACTOR, None, **more), None, self.clock, "simulated")

    def step(self) -> None:
        acts = [self.say, self.derive, self.ask, self.wait, self.cancel, self.fail, self.die, self.revive]
        self.random.choices(acts, [10, 6, 6, 2, 1, 1, 1, 1])[0]()

    def say(self) -> None:
        self.clock.at += self.random.choice([0, 0, 1, SECOND_US])
        self.at += self.random.choice([0, SECOND_US, 90 * SECOND_US])
        tenant, scope, who = self.random.choice(PLACES)
        role = self.random.choice(["user", "user", "user", "assistant"])
        party = Party.of(who if role == "user" else "agent:p")
        text = self.random.choice(SAYINGS)
        more: dict[str, Any] = {
            "tenant_id": tenant,
            "scope": scope,
            "observed_actor": party,
            "subject": party,
            "session": "s",
            "content": {"kind": "message", "role": role, "text": text},
            "context": Context(observed_at=self.at - self.random.choice([0, 0, 0, 60 * SECOND_US])),
        }
        events = [append(store, text, **more)[0] for store in self.stores]
        assert events[0] == events[1]
        self.said.append((tenant, events[0].id))

    def derive(self) -> None:
        whole = self.random.random() < 0.5
        for worker in self.workers:
            if whole:
                worker.drain()
            else:
                worker.step()

    def ask(self) -> None:
        assert len({inquirer.step() for inquirer in self.inquirers}) == 1

    def wait(self) -> None:
        self.clock.at += self.random.choice([1, 6, 60]) * SECOND_US

    def cancel(self) -> None:
        if self.said:
            tenant, event_id = self.random.choice(self.said[-8:])
            dropped = [store.log.cancel(tenant, event_id) for store in self.stores]
            assert dropped[0] == dropped[1]

    def fail(self) -> None:
        self.oracle.status = self.random.choice(["up", "up", "down", "refuses", "turns all away"])

    def die(self) -> None:
        """Somebody leased what is due, and is gone; sometimes another worker knows that."""
        now, alone = self.clock.at, self.random.random() < 0.5
        for store in self.stores:
            store.inquiries.claim(limit=2, lease_until=now + 60 * SECOND_US, now=now, owner="dead")
            if alone:
                store.inquiries.take_over()

    def revive(self) -> None:
        revived = {store.inquiries.revive(TENANT, Scope("org:acme")) for store in self.stores}
        assert len(revived) == 1

    def finish(self) -> None:
        self.oracle.status = "up"
        for _ in range(400):
            self.clock.at += 61 * SECOND_US
            self.derive()
            self.ask()
        for worker in self.workers:
            worker.drain()

    def agree(self) -> None:
        one, other = (sorted(store.snapshot(), key=repr) for store in self.stores)
        assert one == other
        counts = [store.inquiries.counts() for store in self.stores]
        assert counts[0] == counts[1]

    def replay(self) -> None:
        self.oracle.seed += 1
        for store, worker in zip(self.stores, self.workers, strict=True):
            worker.drain()
            before = list(store.snapshot())
            store.jobs.reset()
            self.working(store).drain()
            assert list(store.snapshot()) == before

    def bounded(self) -> None:
        for store in self.stores:
            for tenant, scope, _ in PLACES:
                loops = open_loops(store.records, tenant, scope)
                opened = Counter(loop.event_id for loop in loops)
                assert max(opened.values(), default=0) <= 3
                assert all((loop.tenant_id, loop.scope) == (tenant, scope) for loop in loops)


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_take_effect_once_and_a_replay_finds_the_same(seed: int, tmp_path: Path) -> None:
    simulation = Simulation(seed, tmp_path)
    for _ in range(STEPS):
        simulation.step()
        simulation.bounded()
    simulation.replay()  # with answers that wait and questions that are open
    simulation.finish()
    simulation.agree()
    simulation.replay()
    simulation.agree()
    counts = simulation.stores[0].inquiries.counts()
    assert counts["applied"] > 10
    assert counts["pending"] == counts["answered"] == 0
    made = [
        row for table, row in simulation.stores[0].snapshot() if table == "record" and "oracle" in str(row)
    ]
    assert made
    for store in simulation.stores:
        store.close()
