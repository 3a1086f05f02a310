"""Random operations on scheduled items: both engines and a plain model give the same answers."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from given import NOON
from lamina.errors import LaminaError
from lamina.store.memory import MemoryStore
from lamina.store.ports.schedule import ItemEnding, ItemQuery, ItemSubject, Schedule, ScheduleItem
from lamina.store.sqlite import SqliteStore

STEPS = 400
# SIMULATION_SEED=N runs another.
SEEDS = [int(os.environ["SIMULATION_SEED"])] if "SIMULATION_SEED" in os.environ else [1, 2, 3, 4]
TENANTS = ["acme", "other"]
STATUSES = ["pending", "acknowledged", "done", "retired"]
SUBJECTS = [None, *(ItemSubject(kind, name) for kind in ("task", "thread", "user") for name in "xy")]


class Model:
    """The rules in the fewest words: one list of items, looked through from its begin to its end."""

    def __init__(self) -> None:
        self.items: list[ScheduleItem] = []

    def create(self, item: ScheduleItem) -> Any:
        known = [each for each in self.items if each.tenant_id == item.tenant_id]
        by_key = [
            each for each in known if item.idempotency_key and each.idempotency_key == item.idempotency_key
        ]
        by_id = [each for each in known if each.schedule_id == item.schedule_id]
        for met, code in ((by_key, "IDEMPOTENCY_KEY_CONFLICT"), (by_id, "SCHEDULE_ID_CONFLICT")):
            if met:
                return (met[0], False) if met[0].identity_hash == item.identity_hash else code
        self.items.append(item)
        return item, True

    def replace(self, item: ScheduleItem, expected_version: int) -> Any:
        for place, each in enumerate(self.items):
            same = (each.tenant_id, each.schedule_id) == (item.tenant_id, item.schedule_id)
            if same and each.version == expected_version:
                self.items[place] = item
                return None
        return "SCHEDULE_VERSION_CONFLICT"

    def query(self, query: ItemQuery) -> Any:
        found = [each for each in self.items if each.tenant_id == query.tenant_id]
        found = [each for each in found if each.status in query.statuses]
        if query.due_after is not None:
            found = [each for each in found if each.due_at > query.due_after]
        if query.due_until is not None:
            found = [each for each in found if each.due_at <= query.due_until]
        for name in ("task_id", "thread_id", "subject"):
            if getattr(query, name) is not None:
                found = [each for each in found if getattr(each, name) == getattr(query, name)]
        found.sort(key=lambda each: (each.due_at, each.schedule_id))
        return found[query.offset : query.offset + query.limit], len(found)

    def pending_about(
        self, tenant_id: str, subject: ItemSubject, after: int | None, until: int, limit: int
    ) -> Any:
        links = {"task": "task_id", "thread": "thread_id"}
        found = [
            each
            for each in self.query(ItemQuery(tenant_id=tenant_id, statuses=["pending"], limit=10_000))[0]
            if (after is None or after < each.due_at)
            and each.due_at <= until
            and (
                each.subject == subject
                or (subject.kind in links and getattr(each, links[subject.kind]) == subject.id)
            )
        ]
        return found[:limit]


class Simulation:
    """One run: a seed decides every operation, and the answers are compared."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.model = Model()
        self.stores = [SqliteStore(folder, durable=False), MemoryStore()]

    def agree(self, wanted: Any, ask: Callable[[Schedule], Any]) -> None:
        for store in self.stores:
            try:
                answer = ask(store.schedule)
            except LaminaError as error:
                answer = error.code
            assert answer == wanted, type(store).__name__

    def pick(self, *values: Any) -> Any:
        return self.random.choice(values)

    def item(self) -> ScheduleItem:
        identity = self.pick("p", "q", "r")
        return ScheduleItem(
            tenant_id=self.pick(*TENANTS),
            schedule_id=f"sched_{self.random.randint(1, 12)}",
            kind="reminder",
            status="pending",
            title=identity,
            note=self.pick(None, ""),
            due_at=NOON + self.random.randint(-5, 5),
            task_id=self.pick(None, "x", "y"),
            thread_id=self.pick(None, "x", "y"),
            subject=self.pick(*SUBJECTS),
            idempotency_key=self.pick(None, None, "k-1", "k-2"),
            metadata="{}",
            identity=identity,
            identity_hash=identity,
            version=1,
            created_at=NOON,
            created_by="user:alice",
            updated_at=NOON,
            updated_by="user:alice",
        )

    def create(self) -> None:
        item = self.item()

        def ask(schedule: Schedule) -> Any:
            created = schedule.create(item)
            return created.item, created.created

        self.agree(self.model.create(item), ask)

    def change(self) -> None:
        if not self.model.items:
            return
        known = self.pick(*self.model.items)
        expected = known.version + self.pick(0, 0, 0, -1, 1)
        status = self.pick(*STATUSES)
        ending = None if status == "pending" else ItemEnding(NOON, "user:bob", self.pick(None, "why"))
        changed = replace(
            known,
            status=status,
            ending=ending,
            subject=self.pick(*SUBJECTS),
            due_at=NOON + self.random.randint(-5, 5),
            version=expected + 1,
        )
        wanted = self.model.replace(changed, expected)
        self.agree(wanted, lambda schedule: schedule.replace(changed, expected_version=expected))

    def look(self) -> None:
        query = ItemQuery(
            tenant_id=self.pick(*TENANTS),
            statuses=self.random.sample(STATUSES, self.random.randint(0, 4)),  # type: ignore[arg-type]
            due_after=self.pick(None, NOON - 2, NOON),
            due_until=self.pick(None, NOON, NOON + 2),
            task_id=self.pick(None, None, "x"),
            thread_id=self.pick(None, None, "x"),
            subject=self.pick(*SUBJECTS),
            limit=self.random.randint(1, 5),
            offset=self.random.randint(0, 3),
        )

        def ask(schedule: Schedule) -> Any:
            page = schedule.query(query)
            return page.items, page.total

        self.agree(self.model.query(query), ask)
        subject, tenant_id = self.pick(*SUBJECTS[1:]), self.pick(*TENANTS)
        after, until = self.pick(None, NOON - 2, NOON), NOON + self.random.randint(-2, 5)
        limit = self.random.randint(0, 4)
        self.agree(
            self.model.pending_about(tenant_id, subject, after, until, limit),
            lambda schedule: schedule.pending_about(
                tenant_id, subject, after=after, until=until, limit=limit
            ),
        )

    def close(self) -> None:
        for store in self.stores:
            store.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_and_model_agree(seed: int, tmp_path: Path) -> None:
    run = Simulation(seed, tmp_path)
    for _ in range(STEPS):
        run.random.choice([run.create, run.change, run.look])()
    assert len(run.model.items) > 10
    run.close()
