"""What is erased is gone, what rests on it is kept as it stood, and a replay comes to the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, ManualClock, append, fact, land, vector_row
from lamina.kernel.events import Context, Directives, Origin, Party, Trust
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.upgrading import Upgrader
from lamina.pipeline.worker import Worker
from lamina.store.ports.erasing import Erased, Erasure, Tombstone
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes
from lamina.store.queries import Shown
from told import ANA, START, Memory
from upgrades import derive_anew

TEAM = Scope("org:acme/ws:atlas")
HERS = Scope("org:acme/user:ana")
VERSIONS = {"facts": "rules/1"}
TOM = Party("user:tom", "user", "Tom")


class Kept(Memory):
    """A memory, and what derives scopes of it anew."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        super().__init__(store, clock)
        self.upgrader = Upgrader(store, VERSIONS, self._worker_of, clock)
        store.rederivation.note_all(VERSIONS)

    def _worker_of(self, store: Store) -> Worker:
        deriver = Deriver(store, RulesExtractor(find_times, use_parser=False), None)
        return Worker(store, deriver, None, self.clock, "aside")

    def say(self, text: str, who: Party = ANA, scope: Scope = ALICE, into: Scope | None = None) -> str:
        self.clock.at += SECOND_US
        (event,) = append(
            self.store,
            text,
            content={"kind": "message", "role": "user", "text": text},
            observed_actor=who,
            subject=who,
            scope=scope,
            session="s-1",
            context=Context(observed_at=START),
            origin=Origin(who.id, "http", Trust.PRINCIPAL),
            caller=who.id,
            directives=Directives(consolidate_into=into),
        )
        return event.id

    def erase(self, **what: Any) -> Erased:
        given: dict[str, Any] = {"tenant_id": TENANT, "erasure_id": "erasure_1", "by_actor": "user:root"}
        return self.store.erasing.erase(Erasure(**{**given, "cascade": "redact_events", **what}))

    def settle(self) -> None:
        self.derive()
        self.upgrader.begin()
        derive_anew(self.upgrader)
        self.derive()

    def all_of(self, layer: Layer, *scopes: Scope) -> Sequence[Any]:
        from told import LATER, Axes

        query = RecordQuery(tenant_id=TENANT, layer=layer, scopes=scopes, axes=Axes(seen_at=LATER), limit=100)
        return self.store.records.query(query)


@pytest.fixture
def memory(store: Store, clock: ManualClock) -> Kept:
    return Kept(store, clock)


def words_in(memory: Kept) -> str:
    return str(list(memory.store.snapshot())) + str(memory.store.log.walk(TENANT, 0, 1000))


def test_a_redacted_event_keeps_its_place_and_its_facts_stand(memory: Kept) -> None:
    first = memory.say("I live in Leipzig, near the zoo of xyzzy.")
    memory.say("I work at Fernhill.")
    memory.say("I moved to Porto.")
    memory.settle()
    facts = {fact.id: fact for fact in memory.all_of(Layer.FACTS, ALICE)}
    before = memory.store.log.get(TENANT, [first])[first]
    erased = memory.erase(redact=[first])
    assert (erased.redacted, erased.deleted) == ([first], [])
    event = memory.store.log.get(TENANT, [first])[first]
    assert event.content == {"kind": "redacted", "original_kind": "message"}
    assert (event.position, event.recorded_at, event.observed_actor.id) == (
        before.position, before.recorded_at, before.observed_actor.id,
    )  # fmt: skip
    assert (event.redacted_by, event.excluded, event.counts) == ("erasure_1", True, True)
    assert "xyzzy" not in words_in(memory)
    memory.settle()
    assert {fact.id: fact for fact in memory.all_of(Layer.FACTS, ALICE)} == facts
    live, again = memory.replayed()
    assert live == again
    assert {fact.id: fact for fact in memory.all_of(Layer.FACTS, ALICE)} == facts


def test_readers_of_a_belief_see_no_event_of_the_scope_that_was_erased(memory: Kept) -> None:
    gone = memory.say("I live in Leipzig.", scope=HERS, into=TEAM)
    memory.settle()
    (belief,) = memory.all_of(Layer.BELIEFS, TEAM)

    def seen(allowed: Sequence[Scope]) -> str:
        shown = Shown(memory.store.records, TENANT, allowed.__contains__)
        front, found = {belief.id}, []
        while front:
            supports = shown.supports_of(front)
            found += [supports, shown.cited_by(front, 8), shown.sources_of(front)]
            front = {each.source_id for of in supports.values() for each in of}
        return str(found)

    assert gone not in seen([TEAM])
    assert gone in seen([TEAM, HERS])
    memory.erase(cascade="gdpr", redact=[gone], scopes=[HERS], actor="redacted:gdpr_erasure_1")
    memory.settle()
    assert [each.id for each in memory.all_of(Layer.BELIEFS, TEAM)] == [belief.id]
    assert gone not in seen([TEAM])
    assert gone in seen([TEAM, HERS])


def test_a_belief_outlives_the_scope_that_sent_it(memory: Kept) -> None:
    gone = memory.say("I live in Leipzig.", scope=HERS, into=TEAM)
    memory.say("I live in Leipzig.", who=TOM, scope=TEAM)
    memory.settle()
    beliefs = memory.all_of(Layer.BELIEFS, TEAM)
    assert beliefs
    erased = memory.erase(cascade="gdpr", redact=[gone], scopes=[HERS], actor="redacted:gdpr_erasure_1")
    assert erased.gone[Layer.FACTS]
    assert list(erased.kept) == [TEAM]
    memory.settle()
    after = {each.id: each for each in memory.all_of(Layer.BELIEFS, TEAM)}
    assert set(after) == {each.id for each in beliefs}
    live, again = memory.replayed()
    assert live == again
    assert not memory.all_of(Layer.FACTS, HERS)


def test_words_that_bear_out_what_is_frozen_stand_when_more_of_the_matter_is_erased(memory: Kept) -> None:
    first = memory.say("I like tea.", who=TOM, scope=TEAM)
    other = memory.say("I like coffee.", who=TOM, scope=TEAM)
    memory.settle()
    memory.erase(redact=[first])
    memory.settle()
    again = memory.say("I like tea.", who=TOM, scope=TEAM, into=HERS)
    memory.settle()
    (tea,) = [each for each in memory.all_of(Layer.FACTS, TEAM) if each.object.text == "tea"]
    assert tea.version == 1
    sent = memory.all_of(Layer.BELIEFS, HERS)
    assert sent
    memory.erase(erasure_id="erasure_2", redact=[other])
    memory.settle()
    assert memory.all_of(Layer.BELIEFS, HERS) == sent
    edges = [row for table, row in memory.store.snapshot() if table == "support" and row[1] == tea.id]
    assert {row[2] for row in edges} == {first, again}
    live, replayed = memory.replayed()
    assert live == replayed


def test_a_position_is_never_given_twice(memory: Kept) -> None:
    memory.say("I live in Leipzig.")
    newest = memory.say("I work at Fernhill.")
    memory.settle()
    place = memory.store.log.get(TENANT, [newest])[newest]
    number = memory.store.records.touched(TENANT, 0).number
    erased = memory.erase(cascade="gdpr", delete=[newest], scopes=[ALICE])
    assert memory.store.records.touched(TENANT, number).ids is None, "nothing that was read of it is kept"
    assert not memory.store.records.touched(TENANT, 0).ids
    assert erased.deleted == [newest]
    (later,) = append(memory.store, "tea")
    assert later.position == place.position + 1
    assert later.recorded_at > place.recorded_at
    assert memory.store.erasing.tombstone(TENANT, newest)


def test_a_cancellation_later_leaves_what_has_no_words(memory: Kept) -> None:
    first = memory.say("I live in Leipzig.")
    memory.settle()
    memory.erase(redact=[first])
    memory.settle()
    wrong = memory.say("I live in Porto.")
    memory.settle()
    memory.clock.at += SECOND_US
    memory.store.log.cancel(TENANT, wrong)
    memory.settle()
    homes = [each for each in memory.all_of(Layer.FACTS, ALICE) if each.predicate == "lives_in"]
    assert "Leipzig" in [each.object.text for each in homes]
    live, again = memory.replayed()
    assert live == again


@pytest.mark.parametrize(("erased", "cancelled"), list(itertools.permutations(range(3), 2)))
def test_a_cancellation_later_brings_nothing_back_that_erased_words_ended(
    memory: Kept, erased: int, cancelled: int
) -> None:
    homes = ("Leipzig", "Porto", "Bergen")
    told = []
    for home in homes:
        told.append(memory.say(f"I live in {home}."))
        memory.settle()
    memory.erase(redact=[told[erased]])
    memory.settle()
    memory.clock.at += SECOND_US
    memory.store.log.cancel(TENANT, told[cancelled])
    memory.settle()
    held = [each for each in memory.all_of(Layer.FACTS, ALICE) if each.predicate == "lives_in"]
    last = [home for number, home in enumerate(homes) if number != cancelled][-1]
    assert [each.object.text for each in held if each.valid_to is None and not each.excluded] == [last]
    live, again = memory.replayed()
    assert live == again


def test_a_belief_without_words_is_demoted_and_comes_back_with_new_ones(memory: Kept) -> None:
    first = memory.say("I live in Leipzig.")
    memory.settle()
    (before,) = memory.all_of(Layer.BELIEFS, ALICE)
    erased = memory.erase(redact=[first], factor=0.5, floor=0.1)
    assert erased.demoted == [before.id]
    (lowered,) = memory.all_of(Layer.BELIEFS, ALICE)
    assert (lowered.confidence, lowered.stance, lowered.version) == (
        round(before.confidence / 2, 4), "uncertain", before.version + 1,
    )  # fmt: skip
    memory.settle()
    memory.say("I live in Leipzig.")
    memory.settle()
    (risen,) = [each for each in memory.all_of(Layer.BELIEFS, ALICE) if each.id == before.id]
    assert risen.demoted_by is None
    assert risen.confidence > lowered.confidence
    live, again = memory.replayed()
    assert live == again


def test_a_belief_below_the_floor_is_gone(memory: Kept) -> None:
    first = memory.say("I live in Leipzig.")
    memory.settle()
    (before,) = memory.all_of(Layer.BELIEFS, ALICE)
    erased = memory.erase(redact=[first], factor=0.1)
    assert erased.gone[Layer.BELIEFS] == [before.id]
    memory.settle()
    assert memory.all_of(Layer.BELIEFS, ALICE) == []
    stone = memory.store.erasing.tombstone(TENANT, before.id)
    assert stone is not None
    assert stone.scope == ALICE
    live, again = memory.replayed()
    assert live == again


def test_what_is_forgotten_comes_back_by_a_replay_and_by_nothing_else(memory: Kept) -> None:
    memory.say("I live in Leipzig.")
    other = memory.say("I work at Fernhill.")
    memory.settle()
    (fact,) = [each for each in memory.all_of(Layer.FACTS, ALICE) if each.predicate == "lives_in"]
    memory.erase(cascade="derived_only", records=[fact.id])
    memory.erase(redact=[other])  # the scope is derived anew by this
    memory.settle()
    assert fact.id not in [each.id for each in memory.all_of(Layer.FACTS, ALICE)]
    assert memory.store.erasing.tombstone(TENANT, fact.id)
    memory.replayed()
    assert fact.id in [each.id for each in memory.all_of(Layer.FACTS, ALICE)]
    assert memory.store.erasing.tombstone(TENANT, fact.id) is None


@pytest.mark.parametrize("cascade", ["derived_only", "redact_events"])
def test_what_is_told_again_after_it_was_forgotten_is_forgotten_no_more(memory: Kept, cascade: str) -> None:
    """Once what derived its scope anew took it away again, as if nobody had said it since."""
    layers = (Layer.FACTS, Layer.BELIEFS, Layer.UNDERSTANDING)

    def held() -> dict[Layer, int]:
        return {layer: len(memory.all_of(layer, ALICE)) for layer in layers}

    said = ("I live in Leipzig.", "I work at Fernhill.", "I like tea.")
    told = [memory.say(each) for each in said]
    memory.settle()
    gone = [each.id for layer in layers for each in memory.all_of(layer, ALICE)]
    memory.erase(cascade=cascade, records=gone, redact=told if cascade == "redact_events" else [])
    memory.settle()
    assert not any(held().values())
    for each in said:
        memory.say(each)
    other = memory.say("Thank you very much.")
    memory.derive()
    told_again = held()
    assert all(told_again.values())
    memory.erase(redact=[other])  # the scope is derived anew by this
    memory.settle()
    assert held() == told_again


def test_an_event_that_others_rest_on_keeps_its_place_whatever_was_counted(memory: Kept) -> None:
    gone = memory.say("I live in Leipzig.", scope=HERS, into=TEAM)
    memory.settle()
    beliefs = {each.id for each in memory.all_of(Layer.BELIEFS, TEAM)}
    assert beliefs
    erased = memory.erase(cascade="gdpr", delete=[gone], scopes=[HERS], actor="redacted:gdpr_1", floor=0.0)
    assert (erased.deleted, erased.redacted) == ([], [gone])
    memory.settle()
    assert {each.id for each in memory.all_of(Layer.BELIEFS, TEAM)} == beliefs
    assert memory.store.log.get(TENANT, [gone])[gone].observed_actor.id == "redacted:gdpr_1"
    kept = memory.store.log.get(TENANT, [gone])[gone]
    who = {kept.caller, kept.observed_actor.id, kept.subject.id, kept.origin.principal}
    assert who == {"redacted:gdpr_1"}


@pytest.mark.parametrize("how", ["redact", "delete"])
def test_vectors_of_words_that_went_while_they_were_made_are_not_kept(memory: Kept, how: str) -> None:
    """A worker reads words, makes vectors of them for seconds, and comes back after they were erased."""
    gone, stays = memory.say("I live in Leipzig."), memory.say("I work at Fernhill.")
    memory.derive()
    memory.erase(**{how: [gone]})
    memory.store.index.embed([vector_row(gone), vector_row(stays)])
    rows = memory.store.index.vectors_after(TENANT, ALICE, "m", 0, 10)
    assert [record_id for _, record_id, _ in rows] == [stays]


def test_a_mark_stands_for_what_is_not_there(store: Store) -> None:
    there, absent = fact("there"), fact("absent")
    land(store, Writes(records=[there]))
    stones = [
        Tombstone(
            tenant_id=TENANT,
            id=each.id,
            layer=Layer.FACTS,
            scope=ALICE,
            cascade="derived_only",
            erasure_id="e",
            audit_id=None,
            erased_at=NOON,
        )
        for each in (there, absent)
    ]
    before = list(store.snapshot())
    store.erasing.mark(stones)
    assert [store.erasing.tombstone(TENANT, each.id) for each in (there, absent)] == [None, stones[1]]
    assert store.erasing.tombstone("other", absent.id) is None
    assert list(store.snapshot()) == before
    store.jobs.reset()
    assert store.erasing.tombstone(TENANT, absent.id) is None, "a replay brings back"


def test_a_standing_fact_that_is_forgotten_while_its_scope_is_derived_anew_is_told_by_nothing(
    memory: Kept,
) -> None:
    wordless = memory.say("I live in Leipzig.")
    memory.say("I work at Fernhill.")
    memory.settle()
    memory.erase(redact=[wordless])
    memory.settle()
    (home,) = [fact for fact in memory.all_of(Layer.FACTS, ALICE) if "Leipzig" in fact.text]
    memory.store.rederivation.ask(TENANT, [ALICE])
    group = memory.store.rederivation.next_group()
    assert group is not None
    aside = memory.store.rederivation.aside(group)
    worker = memory._worker_of(aside)
    while worker.step():
        pass
    aside.close()
    memory.erase(erasure_id="erasure_2", records=[home.id])
    assert not memory.store.rederivation.swap(group)
    memory.clock.at += 60 * SECOND_US
    memory.settle()
    assert "Leipzig" not in str(
        [*memory.all_of(Layer.FACTS, ALICE), *memory.all_of(Layer.UNDERSTANDING, ALICE)]
    )
    live, again = memory.replayed()
    assert live == again
