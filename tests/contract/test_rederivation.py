"""What earlier versions derived is derived anew beside them, and a replay of the outcome changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

import vocabularies
from given import ALICE, BOB, TENANT, ManualClock, append
from lamina.kernel.events import Directives, Stage
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.rederivation import ScopeGroup
from lamina.store.ports.store import Store
from told import ANA, START, Memory
from told import BOB as BO
from upgrades import derive_anew

NOTES = Scope("org:acme/user:alice/app:notes")
OLD, NEW = {"facts": "rules/1"}, {"facts": "rules/2"}


class OlderRules(RulesExtractor):
    """An extractor that reads nothing of Hamburg, and puts another name on what it reads."""

    name = "lamina-rules/0"

    def extract(self, utterances: Any) -> Any:
        found = super().extract(utterances)
        return [
            type(each)() if "Hamburg" in utterance.text else each
            for utterance, each in zip(utterances, found, strict=True)
        ]


class Upgraded(Memory):
    """A memory that an older extractor derived, and what upgrades it."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        super().__init__(store, clock, OlderRules(find_times, use_parser=False))
        self.upgrader = Upgrader(store, NEW, self.worker_of, clock)
        store.rederivation.begin(OLD)

    def worker_of(self, store: Store) -> Worker:
        deriver = Deriver(store, RulesExtractor(find_times, use_parser=False), None)
        return Worker(store, deriver, None, self.clock, "new")

    def renew(self) -> None:
        """Today's release derives from here on."""
        self.worker = self.worker_of(self.store)


def tell_all(memory: Upgraded) -> None:
    memory.tell("I live in Leipzig.", START)
    memory.tell("I moved to Hamburg.", START + 1_000_000)
    memory.tell("I live in Rome.", START, who=BO, scope=BOB)
    wrong = memory.tell("I work at Fernhill.", START + 2_000_000)
    memory.derive()
    memory.cancel(wrong)
    memory.derive()


@pytest.fixture
def memory(store: Store, clock: ManualClock) -> Upgraded:
    made = Upgraded(store, clock)
    tell_all(made)
    return made


def rows(memory: Upgraded) -> list[Any]:
    return list(memory.store.snapshot())


def steps_until(memory: Upgraded, holds: Any) -> None:
    for _ in range(500):
        if holds():
            return
        memory.upgrader.step()
    raise AssertionError("it did not happen")


def test_a_store_that_is_current_has_nothing_to_do(memory: Upgraded) -> None:
    state = memory.store.rederivation.begin(OLD)
    assert (state.versions, state.earlier, state.scopes) == (OLD, {}, 0)
    assert memory.store.rederivation.next_group() is None


def test_other_versions_list_what_is_derived_smallest_scope_first(memory: Upgraded) -> None:
    state = memory.store.rederivation.begin(NEW)
    assert (state.versions, state.earlier) == (NEW, OLD)
    assert (state.scopes, state.events, state.derived) == (2, 5, 0)
    assert memory.store.rederivation.next_group() == ScopeGroup(TENANT, (BOB,))
    assert memory.store.rederivation.begin(NEW) == state


def test_an_upgrade_equals_a_replay_by_the_new_versions(memory: Upgraded) -> None:
    old = rows(memory)
    memory.upgrader.begin()
    derive_anew(memory.upgrader)
    memory.renew()
    memory.derive()
    upgraded, replayed = memory.replayed()
    assert upgraded == replayed
    assert upgraded != old
    assert [text for text, _, _ in memory.homes()] == ["Leipzig", "Hamburg"]
    assert memory.store.rederivation.state().scopes == 0


def test_an_upgrade_reads_by_the_vocabulary_of_then(memory: Upgraded) -> None:
    stage = {"kind": "triple", "subject": "Acme", "predicate": "stage", "object": "poc"}
    vocabularies.put(memory, vocabularies.STAGE, {"id": "tier"})
    vocabularies.activate(memory, ["sales"])
    memory.tell(stage, START + 3_000_000)
    memory.tell({**stage, "predicate": "tier"}, START + 3_000_000)
    memory.derive()
    vocabularies.put(memory, vocabularies.STAGE)
    vocabularies.activate(memory, None)
    memory.derive()
    memory.upgrader.begin()
    derive_anew(memory.upgrader)
    memory.renew()
    memory.derive()
    assert {"deal_stage", "tier", "stage"} & {fact.predicate for fact in memory.held(Layer.FACTS)} == {
        "deal_stage"
    }
    upgraded, replayed = memory.replayed()
    assert upgraded == replayed


def test_until_a_scope_is_done_its_readers_see_the_old_rows(memory: Upgraded) -> None:
    old = rows(memory)
    memory.upgrader.begin()
    rederivation = memory.store.rederivation
    while rederivation.state().scopes == 2:
        assert rows(memory) == old
        memory.upgrader.step()
    assert [text for text, _, _ in memory.homes()] == ["Leipzig"]  # the larger scope still waits


def test_what_is_told_meanwhile_is_derived_on_top(memory: Upgraded) -> None:
    memory.upgrader.begin()
    steps_until(memory, lambda: memory.store.rederivation.state().scopes == 1)
    memory.renew()
    memory.upgrader.step()
    memory.tell("I live in Porto.", START + 9_000_000)
    memory.derive()
    assert "Porto" in [text for text, _, _ in memory.homes()]
    derive_anew(memory.upgrader)
    memory.derive()
    upgraded, replayed = memory.replayed()
    assert upgraded == replayed
    assert [text for text, _, _ in memory.homes()] == ["Leipzig", "Hamburg", "Porto"]


def test_a_cancellation_meanwhile_begins_the_scope_anew(memory: Upgraded) -> None:
    moved = memory.tell("I live in Porto.", START + 9_000_000)
    memory.derive()
    memory.upgrader.begin()
    steps_until(memory, lambda: memory.store.rederivation.state().scopes == 1)
    memory.upgrader.step()
    memory.cancel(moved)
    memory.renew()
    memory.derive()
    memory.clock.at += 60_000_000
    for _ in range(60):
        memory.upgrader.step()
        memory.derive()
        memory.clock.at += 2_000_000
    assert memory.store.rederivation.state().scopes == 0
    upgraded, replayed = memory.replayed()
    assert upgraded == replayed
    assert "Porto" not in [text for text, _, _ in memory.homes()]


def test_scopes_that_make_beliefs_in_each_other_go_together(memory: Upgraded) -> None:
    memory.tell("I like tea.", START, scope=NOTES)
    into = Directives(consolidate_into=ALICE)
    append(memory.store, "I live in Leipzig.", scope=NOTES, observed_actor=ANA, subject=ANA, directives=into)
    memory.derive()
    memory.upgrader.begin()
    groups = []
    while (group := memory.store.rederivation.next_group()) is not None:
        if group not in groups:
            groups.append(group)
        memory.upgrader.step()
    assert groups == [ScopeGroup(TENANT, (BOB,)), ScopeGroup(TENANT, (ALICE, NOTES))]
    memory.renew()
    memory.derive()
    upgraded, replayed = memory.replayed()
    assert upgraded == replayed


def test_what_had_failed_for_good_is_told_once_it_is_derived(memory: Upgraded) -> None:
    event = memory.tell("I like tea.", START + 5_000_000)
    (job,) = memory.store.jobs.claim(Stage.EXTRACTED, limit=9, lease_until=1 << 60, now=1 << 59, owner="x")
    memory.store.jobs.fail(job, "broken", retry_at=None)
    memory.upgrader.begin()
    derive_anew(memory.upgrader)
    assert memory.store.jobs.of_event(TENANT, event.id) == []
    told = memory.store.lifecycle.query(LifecycleQuery(tenant_id=TENANT, event_id=event.id))
    assert [row.name for row in told] == [stage.value for stage in Stage]
    memory.renew()
    upgraded, replayed = memory.replayed()
    assert upgraded == replayed


def test_a_replay_leaves_nothing_to_derive_anew(memory: Upgraded) -> None:
    memory.store.rederivation.begin(NEW)
    memory.store.rederivation.note_all(NEW)
    assert memory.store.rederivation.next_group() is None
    assert memory.store.rederivation.begin(NEW).scopes == 0
