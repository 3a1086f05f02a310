"""A step of erasing that others write beside: they do not wait while it reads, and what they wrote is not overlooked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lamina.store.sqlite.erasing as module
from given import ALICE, BOB, TENANT, ManualClock, append, fact, land, support, text_row
from lamina.kernel.scopes import Scope
from lamina.store.ports.erasing import Erased, Erasure
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.works import is_writing

TEAM = Scope("org:acme/team:tea")


class Beside:
    """A folder in which somebody of another process writes whenever the rules have worked out a step, the first ``times`` times."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = SqliteStore(folder, durable=False, clock=ManualClock())
        self.other = SqliteStore(folder, durable=False, clock=ManualClock())
        self.writes: list[Callable[[], object]] = []
        self.locked: list[bool] = []
        rules = module.changes_of

        def worked_out(read: Any, *given: Any) -> Any:
            self.locked.append(is_writing(read._connection))
            changes = rules(read, *given)
            if self.writes:
                self.writes.pop(0)()
            return changes

        monkeypatch.setattr(module, "changes_of", worked_out)
        self.event = append(self.store, "we like tea", scope=TEAM)[0]
        stated = fact("tea", TEAM, event_id=self.event.id)
        land(
            self.store,
            Writes(
                records=[stated],
                supports=[support(stated.id, self.event.id)],
                texts=[text_row(self.event.id, "tea", TEAM)],
            ),
            scope=TEAM,
        )
        self.fact = stated.id

    def erase(self) -> Erased:
        return self.store.erasing.erase(
            Erasure(tenant_id=TENANT, erasure_id="ers_1", by_actor="user:alice", cascade="gdpr", redact=[self.event.id])
        )  # fmt: skip


@pytest.fixture(name="beside")
def _beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Beside]:
    beside = Beside(tmp_path, monkeypatch)
    yield beside
    beside.other.close()
    beside.store.close()


def test_what_others_write_of_something_else_has_nothing_worked_out_again(beside: Beside) -> None:
    beside.writes = [lambda: append(beside.other, "coffee", scope=BOB, tenant_id="other")]
    assert beside.erase().redacted == [beside.event.id]
    assert beside.locked == [False]
    assert not beside.writes


def test_what_others_write_of_the_same_is_seen(beside: Beside) -> None:
    late = fact("cake", TEAM, event_id=beside.event.id)
    beside.writes = [
        lambda: land(
            beside.other,
            Writes(records=[late], supports=[support(late.id, beside.event.id)]),
            scope=ALICE,
        )
    ]
    erased = beside.erase()
    assert beside.locked == [False, False]
    assert erased.kept == {TEAM: sorted([beside.fact, late.id])}
    assert set(beside.store.erasing.frozen_until(TENANT, [beside.fact, late.id])) == {beside.fact, late.id}


def test_an_entry_has_its_place_behind_what_came_meanwhile(beside: Beside) -> None:
    came: list[int] = []
    beside.writes = [lambda: came.append(append(beside.other, "milk", scope=BOB)[0].position)]
    (entry_id,) = beside.erase().entries
    entry = beside.store.log.get(TENANT, [entry_id])[entry_id]
    assert entry.position == came[0] + 1
    assert [event.position for event in beside.store.log.walk(TENANT, 0, 100)] == list(
        range(1, entry.position + 1)
    )
