"""Random operations against two engines: the same answers, and at the end the same rows."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from given import (
    ALICE,
    BOB,
    NOON,
    TENANT,
    CountedIds,
    ManualClock,
    belief,
    concept,
    draft,
    episode,
    fact,
    found_by,
    key,
    support,
    text_row,
    vector_row,
)
from lamina.errors import LaminaError
from lamina.kernel.events import Context, Stage
from lamina.kernel.records import Entity, Layer, Mention, Record
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes, Interval
from lamina.store.memory import MemoryStore
from lamina.store.ports.index import TextRow
from lamina.store.ports.jobs import Job
from lamina.store.ports.lifecycle import LifecycleDraft, LifecycleQuery
from lamina.store.ports.log import Capture, EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Closing, Writes
from lamina.store.sqlite import SqliteStore

STEPS = 260
# Two of these end right after a reset, with no rows. SIMULATION_SEED=N runs another.
SEEDS = (
    [int(os.environ["SIMULATION_SEED"])]
    if "SIMULATION_SEED" in os.environ
    else [1, 2, 3, 105, 107, 49460665, 273997158]
)
TENANTS = [TENANT, "other"]
SCOPES = [ALICE, BOB, Scope("org:acme"), Scope("org:acm")]
WORDS = ["tea", "cup", "lisbon", "c++", "naïve"]
MAKERS: list[Callable[..., Record]] = [fact, belief, episode, concept]


class Simulation:
    """One run: a seed decides every operation, both engines are asked, and answers are compared."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.clock = ManualClock()
        self.stores: list[Store] = [
            SqliteStore(folder, clock=self.clock, ids=CountedIds(), durable=False),
            MemoryStore(clock=self.clock, ids=CountedIds()),
        ]
        self.claimed: list[Job] = []
        self.events: list[tuple[str, str]] = []
        self.records: list[Record] = []

    def both(self, ask: Callable[[Store], Any]) -> Any:
        answers = []
        for store in self.stores:
            try:
                answers.append(ask(store))
            except LaminaError as error:
                answers.append((type(error), error.code))
        assert answers[0] == answers[1]
        return answers[0]

    def step(self) -> None:
        act = self.random.choices(
            [self.append, self.claim, self.finish, self.fail, self.cancel, self.tick, self.rarely],
            [6, 6, 6, 1, 1, 3, 1],
        )[0]
        act()
        self.look()

    def append(self) -> None:
        captures = []
        for _ in range(self.random.randint(1, 4)):
            given = draft(
                self.random.choice(WORDS),
                self.random.choice(SCOPES),
                tenant_id=self.random.choice(TENANTS),
                session=self.random.choice([None, "s-1", "s-2"]),
                context=Context(observed_at=NOON + self.random.randint(-9, 9)),
                batch_id=self.random.choice([None, "batch_1"]),
            )
            used = self.random.choice([None, None, key(self.random.choice("abcdefghij"), given.tenant_id)])
            captures.append(Capture(given, used, self.random.choice(["x", "x", "x", "x", "y"])))
        # An engine need not make the event of a new entry before somebody asks for it.
        answer = self.both(lambda store: [(each.event, each.replayed) for each in store.log.append(captures)])
        if isinstance(answer, list):
            self.events += [(event.tenant_id, event.id) for event, replayed in answer if not replayed]

    def claim(self) -> None:
        stage, limit = self.random.choice(list(Stage)[1:]), self.random.randint(1, 6)
        until = self.clock.at + self.random.choice([0, 5, 30]) * SECOND_US
        self.claimed += self.both(
            lambda store: store.jobs.claim(
                stage, limit=limit, lease_until=until, now=self.clock.at, owner=str(limit)
            )
        )

    def finish(self) -> None:
        self.random.shuffle(self.claimed)
        ended, self.claimed = self.claimed[:4], self.claimed[4:]
        results = [(job, self.writes(job)) for job in ended]
        self.both(lambda store: store.jobs.finish(results))

    def fail(self) -> None:
        if self.claimed:
            job = self.claimed.pop()
            retry_at = self.random.choice([None, self.clock.at + 5 * SECOND_US])
            self.both(lambda store: store.jobs.fail(job, "boom", retry_at=retry_at))

    def cancel(self) -> None:
        if self.events:
            tenant_id, event_id = self.random.choice(self.events)
            tenant_id = self.random.choice([tenant_id] * 9 + ["nobody"])
            self.both(lambda store: store.log.cancel(tenant_id, event_id))

    def tick(self) -> None:
        self.clock.at += self.random.choice([-SECOND_US, 0, 1, SECOND_US, 10 * SECOND_US])

    def rarely(self) -> None:
        act = self.random.randint(0, 7)
        if act == 0:
            self.both(lambda store: store.jobs.reset())
        elif act <= 3:
            self.both(lambda store: store.jobs.release("3"))
        elif act == 4:
            self.both(lambda store: store.jobs.take_over(self.clock.at))
        elif act == 5:
            self.both(lambda store: store.jobs.retry_failed())
        else:
            places = self.both(lambda store: store.index.unembedded(3))
            vectors = [vector_row(record_id, tenant_id=tenant_id) for tenant_id, record_id in places]
            self.both(lambda store: store.index.embed(vectors))

    def writes(self, job: Job) -> Writes:
        event, tenant_id = job.event, job.event.tenant_id
        made = self.record(job)
        sources = [event.id, *(record.id for record in self.records if record.tenant_id == tenant_id)]
        old = self.random.choice([*self.records, made])
        row = LifecycleDraft(
            tenant_id=tenant_id, name=job.stage, scope=event.scope, payload={}, event_id=event.id
        )
        self.records.append(made)
        return Writes(
            records=[made],
            closings=[Closing(old.tenant_id, old.id, old.version, event.recorded_at, made.id)],
            supports=[
                support(made.id, source, tenant_id=tenant_id, place=self.random.randint(0, 2))
                for source in self.random.sample(sources, min(2, len(sources)))
            ],
            entities=[Entity(tenant_id=tenant_id, id=f"ent_{len(old.id)}", normalised_name="al", type="x")],
            mentions=[
                Mention(
                    tenant_id=tenant_id,
                    entity_id="ent_1",
                    scope=event.scope,
                    event_id=event.id,
                    position=event.position,
                    surface=self.random.choice(["Al", "Ali"]),
                )
            ],
            texts=[self.text(made.id, job), self.text(event.id, job)],
            vectors=[vector_row(made.id, event.scope, tenant_id=tenant_id)],
            lifecycle=[row],
        )

    def record(self, job: Job) -> Record:
        at = job.event.recorded_at
        return self.random.choice(MAKERS)(
            self.random.choice(WORDS),
            tenant_id=job.event.tenant_id,
            scope=job.event.scope,
            version=self.random.randint(1, 3),
            position=job.event.position,
            confidence=self.random.choice([0.1, 0.5, 1.0]),
            valid_from=at + self.random.randint(-3, 3),
            valid_to=self.random.choice([None, at + 4]),
            recorded_from=at,
        )

    def text(self, record_id: str, job: Job) -> TextRow:
        words = " ".join(self.random.choices(WORDS, k=3))
        wants = self.random.random() < 0.2
        return text_row(record_id, words, job.event.scope, tenant_id=job.event.tenant_id, wants_vector=wants)

    def look(self) -> None:
        """Ask one random question of each port."""
        tenant_id = self.random.choice(TENANTS)
        scopes = self.random.sample(SCOPES, self.random.randint(0, len(SCOPES)))
        scope, word, layer = (
            self.random.choice(SCOPES), self.random.choice(WORDS), self.random.choice(list(Layer)[1:]),
        )  # fmt: skip
        for question in (
            self.about_events(tenant_id, scopes),
            self.about_records(tenant_id, scopes, layer),
            self.about_lifecycle(tenant_id, scopes),
            lambda store: sorted(found_by(store, word, scopes=scopes, tenant_id=tenant_id)),
            lambda store: [row._replace(row=0) for row in store.index.texts_after(tenant_id, scope, 0, 9999)],
            lambda store: store.jobs.backlog(),
            lambda store: store.scopes.below(tenant_id, scope, 3),
            lambda store: store.log.count(tenant_id, scopes),
            lambda store: store.index.changes(tenant_id, scope),
        ):
            self.both(question)

    def about_events(self, tenant_id: str, scopes: list[Scope]) -> Callable[[Store], Any]:
        query = EventQuery(
            tenant_id=tenant_id,
            scopes=scopes,
            session=self.random.choice([None, "s-1"]),
            observed_from=self.random.choice([None, NOON]),
            after=self.random.choice([None, 5]),
            ascending=self.random.random() < 0.5,
            with_excluded=self.random.random() < 0.5,
            limit=self.random.randint(1, 20),
        )
        return lambda store: store.log.query(query)

    def about_records(self, tenant_id: str, scopes: list[Scope], layer: Layer) -> Callable[[Store], Any]:
        at = self.clock.at + self.random.randint(-9, 9)
        query = RecordQuery(
            tenant_id=tenant_id,
            layer=layer,
            scopes=scopes,
            axes=Axes(
                seen_at=at + self.random.choice([0, SECOND_US]),
                valid_at=self.random.choice([None, at]),
                valid_during=self.random.choice([None, Interval(at, None), Interval(None, at)]),
                recorded_during=self.random.choice([None, Interval(NOON, at)]),
                superseded=self.random.random() < 0.5,
            ),
            claim_key=self.random.choice([None, None, fact().claim_key]),
            min_confidence=self.random.choice([0.0, 0.5]),
            with_excluded=self.random.random() < 0.5,
            limit=self.random.randint(1, 20),
        )
        return lambda store: store.records.query(query)

    def about_lifecycle(self, tenant_id: str, scopes: list[Scope]) -> Callable[[Store], Any]:
        query = LifecycleQuery(
            tenant_id=tenant_id,
            scopes=self.random.choice([None, scopes]),
            within=self.random.choice([None, Scope("org:acme")]),
            job_id=self.random.choice([None, "batch_1"]),
            after=self.random.choice([0, 9]),
            limit=self.random.randint(1, 20),
        )
        return lambda store: store.lifecycle.query(query)


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_give_the_same_answers_and_end_with_the_same_rows(seed: int, tmp_path: Path) -> None:
    simulation = Simulation(seed, tmp_path)
    for _ in range(STEPS):
        simulation.step()
    simulation.both(lambda store: list(store.snapshot()))
    assert simulation.records, "the run derived nothing, so it showed nothing"
    for store in simulation.stores:
        store.close()
