"""That a replay derives the same again, however events came, were cancelled or landed together."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from derivations import DAY, HOUR, MAYA, START, STORY, Derivation, every_version, tell_a_story
from given import ALICE, TENANT
from lamina.cli.replay import run_replay
from lamina.kernel.events import Directives, Event, Party, Stage
from lamina.kernel.ids import RandomIds
from lamina.kernel.scopes import Scope
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.settings import Settings
from lamina.store.ports.jobs import Job
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.sqlite import SqliteStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "conversation.jsonl"


@pytest.fixture
def lamina(tmp_path: Path) -> Iterator[Derivation]:
    derivation = Derivation(tmp_path)
    yield derivation
    derivation.store.close()


@pytest.mark.parametrize("seed", range(4))
def test_replay_equals_live(lamina: Derivation, seed: int) -> None:
    tell_a_story(lamina, seed)
    lamina.derive()
    before, after = lamina.replayed()
    assert before == after, f"seed {seed}"


def test_replay_equals_live_when_events_were_derived_as_they_came(lamina: Derivation) -> None:
    chance = random.Random(7)
    for number in range(40):
        lamina.say(chance.choice(STORY), at=START + chance.randrange(30) * DAY, session=f"s{number % 3}")
        if chance.random() < 0.4:
            lamina.derive()
    lamina.derive()
    before, after = lamina.replayed()
    assert before == after


def test_replay_equals_live_with_cancelled_events(lamina: Derivation) -> None:
    events = tell_a_story(lamina, 9)
    lamina.store.log.cancel(TENANT, events[3].id)
    lamina.derive()
    lamina.store.log.cancel(TENANT, events[5].id)
    before, after = lamina.replayed()
    assert before == after


def tell_and_take_back(lamina: Derivation, seed: int) -> None:
    """Out of order, in several scopes, derived now and then, with events that are cancelled sooner or later."""
    chance = random.Random(seed)
    scopes = [ALICE, Scope("org:acme/user:bob")]
    events: list[Event] = []
    for number in range(70):
        directives = Directives(consolidate_into=scopes[0] if chance.random() < 0.3 else None)
        events.append(
            lamina.say(
                chance.choice(STORY),
                at=START + chance.randrange(30) * 12 * HOUR,
                session=f"s{number % 3}",
                scope=chance.choice(scopes),
                directives=directives,
                observed_actor=chance.choice([MAYA, Party("user:bob", "user", "Bob")]),
            )
        )
        if chance.random() < 0.1:
            lamina.store.log.cancel(TENANT, chance.choice(events[-12:]).id)
        if chance.random() < 0.08:
            lamina.derive()
    lamina.derive()


@pytest.mark.parametrize(("seed", "counts"), [(0, (1, 2, 32)), (1, (1, 7))], ids=["0", "1"])
def test_what_is_derived_does_not_depend_on_how_many_events_land_together(
    tmp_path: Path, seed: int, counts: tuple[int, ...]
) -> None:
    snapshots = []
    for count in counts:
        lamina = Derivation(
            tmp_path / str(count), ids=RandomIds(partial(random.Random(seed).getrandbits, 64))
        )
        lamina.land_together(count)
        tell_and_take_back(lamina, seed)
        snapshots.append((count, lamina.replayed()))
        lamina.store.close()
    one_by_one = snapshots[0][1]
    for count, (live, replayed) in snapshots[1:]:
        assert live == one_by_one[0], f"seed {seed}, {count} together, live"
        assert replayed == one_by_one[1], f"seed {seed}, {count} together, in a replay"


@pytest.mark.parametrize("seed", [1, 5, 7, 10, 11, 14])
def test_replay_equals_live_when_many_events_are_cancelled_at_odd_times(tmp_path: Path, seed: int) -> None:
    lamina = Derivation(tmp_path, ids=RandomIds(partial(random.Random(seed).getrandbits, 64)))
    tell_and_take_back(lamina, seed)
    live, replayed = lamina.replayed()
    lamina.store.close()
    assert live == replayed, f"seed {seed}"


class Interrupted(Deriver):
    """Has an event cancelled while what it derived, and what was built on that, is about to land."""

    cancelled: str | None = None

    def run(self, stage: Stage, jobs: Sequence[Job]) -> Iterator[Any]:
        for group in super().run(stage, jobs):
            if stage is Stage.EXTRACTED and self.cancelled is None and len(group) > 3:
                self.cancelled = group[1][0].event.id
                self._store.log.cancel(TENANT, self.cancelled)
            yield group


@pytest.mark.parametrize("count", [4, 32])
def test_nothing_is_built_on_an_event_cancelled_while_it_was_derived(lamina: Derivation, count: int) -> None:
    extractor = RulesExtractor(find_times, use_parser=False)
    deriver = Interrupted(lamina.store, extractor, None, land_max=count)
    lamina.worker = Worker(lamina.store, deriver, None, lamina.clock, "test")
    for number, place in enumerate(("Leipzig", "Hamburg", "Lisbon", "Berlin", "Hamburg", "Porto")):
        lamina.say(f"I live in {place}.", at=START + number * DAY)
    lamina.derive()
    before, after = lamina.replayed()
    assert before == after
    chain = sorted((fact.valid_from, fact.object.text) for fact in every_version(lamina, "lives_in"))
    assert [place for _, place in dict.fromkeys(chain)] == ["Leipzig", "Lisbon", "Berlin", "Hamburg", "Porto"]


def test_stages_of_an_event_come_in_their_order(lamina: Derivation) -> None:
    events = tell_a_story(lamina)
    lamina.derive()
    for event in events:
        rows = lamina.store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event.id))
        assert [row.name for row in rows] == [stage.value for stage in Stage]
        assert [row.number for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.slow
@pytest.mark.model
def test_another_process_derives_the_same(tmp_path: Path) -> None:
    """Words in sets come in another order in each process: nothing that is derived may follow it."""
    derivation = Derivation(tmp_path)
    for number, line in enumerate(EXAMPLE.read_text(encoding="utf-8").splitlines()):
        text = json.loads(line)["content"]["text"]
        derivation.say(text, at=START + number * HOUR // 4, session=f"s{number // 12}")
    derivation.store.close()
    run_replay(Settings(data=tmp_path), lambda _: None)
    derived = snapshot_of(tmp_path)
    command = [sys.executable, "-m", "lamina", "replay", "--data", str(tmp_path)]
    own = os.environ.get("PYTHONHASHSEED")
    subprocess.run(
        command,
        env={**os.environ, "PYTHONHASHSEED": "2" if own == "1" else "1"},
        check=True,
        capture_output=True,
    )
    assert snapshot_of(tmp_path) == derived


def snapshot_of(folder: Path) -> list[tuple[str, tuple[Any, ...]]]:
    store = SqliteStore(folder, durable=False)
    try:
        return list(store.snapshot())
    finally:
        store.close()
