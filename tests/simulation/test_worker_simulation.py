"""Several workers derive one log together, in any interleaving: what they leave is what one leaves who derives it alone.

The gate tries a few logs; ``WORKER_CASES=500`` tries so many, ``SIMULATION_SEED`` begins at another seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from given import TENANT, ManualClock, append, draft
from lamina.kernel.events import Context, Directives, Event, Origin, Party, Stage, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver, Landing
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.store.memory import MemoryStore
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from told import DAY, START, Memory

CASES = int(os.environ.get("WORKER_CASES", "6"))
FIRST_SEED = int(os.environ.get("SIMULATION_SEED", "1")) * 1_000_000
ON_SQLITE_OF = 3
"""One log of so many is derived in SQLite."""
EVENTS = 24
ANA, BOB, TEAM = Scope("user:ana"), Scope("user:bob"), Scope("ws:kite")
SPEAKERS = [Party("user:ana", "user", "Ana"), Party("user:bob", "user", "Bob")]
SAID = ["I live in Oslo.", "I live in Turku.", "I work at Acme.", "My sister is Ida.", "I bought a bicycle."]
STAGES = [stage for stage in Stage if stage is not Stage.CAPTURED]


class Hand:
    """One of several workers, which is given its steps: a claim, or the landing of what it claimed."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name
        self._deriver = Deriver(store, RulesExtractor(find_times, use_parser=False), None, land_max=3)
        self._at_work: Iterator[Sequence[Landing]] = iter(())

    def step(self, stage: Stage, now: int, limit: int) -> None:
        landings = next(self._at_work, None)
        if landings is not None:
            assert self._store.jobs.finish(landings) == len(landings)
            return
        lease = now + 3600 * SECOND_US
        jobs = self._store.jobs.claim(stage, limit=limit, lease_until=lease, now=now, owner=self._name)
        if jobs:
            self._at_work = self._deriver.run(stage, jobs)


def say(memory: Memory, chance: random.Random, number: int) -> Event:
    who = chance.choice(SPEAKERS)
    fact = {"kind": "triple", "subject": chance.choice(["Ana", "Kite", "Acme"])}
    fact |= {"predicate": chance.choice(["seats", "lives_in"]), "object": chance.choice([3, 7, "Graz"])}
    text = chance.choice(SAID)
    memory.clock.at += SECOND_US
    values = {
        "scope": chance.choice([ANA, BOB, TEAM]),
        "observed_actor": who,
        "subject": who,
        "session": f"s{number // 6}",
        "context": Context(observed_at=START + chance.randrange(40) * DAY),
        "directives": Directives(consolidate_into=TEAM if chance.random() < 0.4 else None),
        "origin": Origin(who.id, "http", Trust.PRINCIPAL),
    }
    if chance.random() < 0.4:
        return memory.store.log.append([Capture(draft(content=fact, **values))])[0].event
    (event,) = append(memory.store, text, content={"kind": "message", "role": "user", "text": text}, **values)
    return event


def derive_together(memory: Memory, hands: Sequence[Hand], chance: random.Random) -> None:
    while sum(memory.store.jobs.backlog().values()):
        now = memory.clock.at
        chance.choice(hands).step(chance.choice(STAGES), now, chance.choice([1, 2, 5]))


def test_several_workers_leave_what_one_leaves(tmp_path: Path) -> None:
    print(f"{CASES} logs from seed {FIRST_SEED}")
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        chance = random.Random(seed)
        clock, ids = ManualClock(START + 60 * DAY), RandomIds(partial(chance.getrandbits, 62))
        on_disk = seed % ON_SQLITE_OF == 0
        store: Store = (
            SqliteStore(tmp_path / str(seed), clock=clock, ids=ids, durable=False)
            if on_disk
            else MemoryStore(clock=clock, ids=ids)
        )
        memory = Memory(store, clock)
        hands = [Hand(store, name) for name in ("one", "two", "three")]
        events: list[Event] = []
        for number in range(EVENTS):
            events.append(say(memory, chance, number))
            if chance.random() < 0.08:
                store.log.cancel(TENANT, chance.choice(events).id)
            if chance.random() < 0.2:
                derive_together(memory, hands, chance)
        derive_together(memory, hands, chance)
        together, alone = memory.replayed()
        store.close()
        assert together == alone, f"seed {seed}"
