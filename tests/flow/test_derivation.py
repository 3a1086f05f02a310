"""What derivation makes of experiences."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from derivations import DAY, HOUR, START, Derivation, every_version, tell_a_story, values
from given import ALICE, TENANT, draft, found_by
from lamina import limits
from lamina.kernel.events import Context, Directives
from lamina.kernel.records import Belief, Concept, Episode, Fact, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import Extraction, Utterance
from lamina.pipeline.worker import Worker
from lamina.recall.wording import without_cancelled
from lamina.store.ports.log import Capture, EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from told import Memory


@pytest.fixture
def lamina(tmp_path: Path) -> Iterator[Derivation]:
    derivation = Derivation(tmp_path)
    yield derivation
    derivation.store.close()


def test_a_newer_value_supersedes_the_older_one(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", at=START)
    lamina.say("I live in Hamburg.", at=START + 30 * DAY)
    lamina.derive()
    assert values(lamina.facts("lives_in")) == ["Hamburg"]


def test_the_superseded_value_is_what_held_before(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", at=START)
    lamina.say("I live in Hamburg.", at=START + 30 * DAY)
    lamina.derive()
    axes = Axes(seen_at=lamina.clock.now() + DAY, valid_at=START + DAY)
    found = lamina.store.records.query(
        RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=axes, predicate="lives_in")
    )
    assert [record.object.text for record in found if isinstance(record, Fact)] == ["Leipzig"]


def test_a_late_arrival_finds_its_place_in_valid_time(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", at=START)
    lamina.say("I live in Hamburg.", at=START + 60 * DAY)
    lamina.say("I live in Berlin.", at=START + 30 * DAY)
    lamina.derive()
    assert values(lamina.facts("lives_in")) == ["Hamburg"]
    latest = lamina.store.records.query(
        RecordQuery(
            tenant_id=TENANT,
            layer=Layer.FACTS,
            scopes=[ALICE],
            axes=Axes(seen_at=lamina.clock.now() + DAY),
            predicate="lives_in",
        )
    )
    chain = sorted((r.valid_from, r.valid_to, r.object.text) for r in latest if isinstance(r, Fact))
    assert chain == [
        (START, START + 30 * DAY, "Leipzig"),
        (START + 30 * DAY, START + 60 * DAY, "Berlin"),
        (START + 60 * DAY, None, "Hamburg"),
    ]


def test_the_order_of_arrival_does_not_change_what_is_held(tmp_path: Path) -> None:
    places = [("Leipzig", 0), ("Berlin", 30), ("Hamburg", 60), ("Berlin", 90)]
    outcomes = set()
    for seed in range(6):
        lamina = Derivation(tmp_path / str(seed))
        for place, days in random.Random(seed).sample(places, len(places)):
            lamina.say(f"I live in {place}.", at=START + days * DAY)
        lamina.derive()
        latest = {fact.id: fact for fact in every_version(lamina, "lives_in")}
        outcomes.add(tuple(sorted((f.valid_from, f.valid_to or 0, f.object.text) for f in latest.values())))
        lamina.store.close()
    assert len(outcomes) == 1, "seeds 0 to 5 left different histories"


def test_saying_it_again_adds_support_and_no_fact(lamina: Derivation) -> None:
    first = lamina.say("I live in Leipzig.", at=START)
    again = lamina.say("I live in Leipzig.", at=START + DAY)
    lamina.derive()
    (fact,) = lamina.facts("lives_in")
    supports = lamina.store.records.supports_of(TENANT, [fact.id])[fact.id]
    assert {support.source_id for support in supports} == {first.id, again.id}


def test_a_repetition_by_the_same_actor_does_not_raise_a_belief(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", at=START)
    lamina.derive()
    (once,) = [b for b in lamina.current(Layer.BELIEFS) if isinstance(b, Belief)]
    lamina.say("I live in Leipzig.", at=START + DAY)
    lamina.derive()
    (twice,) = [b for b in lamina.current(Layer.BELIEFS) if isinstance(b, Belief)]
    assert twice.confidence == once.confidence


def believed(lamina: Derivation, at: int) -> dict[str, Stance]:
    """What is believed of the home to hold at an instant, as seen now."""
    axes = Axes(seen_at=lamina.clock.now() + DAY, valid_at=at)
    query = RecordQuery(tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[ALICE], axes=axes)
    return {b.object.text: b.stance for b in lamina.store.records.query(query) if isinstance(b, Belief)}


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 1, 0)], ids=["in order", "late", "backwards"])
def test_a_claim_that_comes_back_is_believed_again(lamina: Derivation, order: tuple[int, ...]) -> None:
    said = [("Leipzig", START), ("Hamburg", START + 30 * DAY), ("Leipzig", START + 60 * DAY)]
    for city, at in (said[number] for number in order):
        lamina.say(f"I live in {city}.", at=at)
    lamina.derive()
    held = {"first": START + DAY, "then": START + 31 * DAY, "again": START + 61 * DAY}
    assert {when: list(believed(lamina, at)) for when, at in held.items()} == {
        "first": ["Leipzig"],
        "then": ["Hamburg"],
        "again": ["Leipzig"],
    }
    assert believed(lamina, held["again"])["Leipzig"] is Stance.SUPPORTED
    before, after = lamina.replayed()
    assert before == after


def test_a_belief_with_a_time_to_live_ends(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", directives=Directives(belief_ttl_us=10 * DAY))
    lamina.derive()
    assert lamina.current(Layer.BELIEFS, at=lamina.clock.now() + HOUR) == []
    (belief,) = lamina.store.records.query(
        RecordQuery(
            tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[ALICE], axes=Axes(seen_at=lamina.clock.now() + DAY)
        )
    )
    assert belief.valid_to == START + 10 * DAY


def test_directives_say_what_is_derived(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", directives=Directives(extract=()))
    lamina.derive()
    assert [layer for layer in (Layer.FACTS, Layer.BELIEFS, Layer.EPISODES) if lamina.current(layer)] == []


def test_words_of_which_nobody_wants_facts_are_not_read(lamina: Derivation) -> None:
    read: list[str] = []

    class Watched(RulesExtractor):
        def extract(self, utterances: Sequence[Utterance]) -> list[Extraction]:
            read.extend(utterance.text for utterance in utterances)
            return super().extract(utterances)

    deriver = Deriver(lamina.store, Watched(find_times, use_parser=False), None)
    lamina.say("I live in Leipzig.", directives=Directives(extract=()))
    lamina.say("I live in Kiel.", directives=Directives(extract=("entities",)))
    lamina.say("I live in Bonn.")
    Worker(lamina.store, deriver, None, lamina.clock, "test").drain()
    assert read == ["I live in Kiel.", "I live in Bonn."]
    assert values(lamina.facts("lives_in")) == ["Bonn"]


def test_facts_below_the_floor_are_dropped(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig.", directives=Directives(confidence_floor=0.99))
    lamina.derive()
    assert lamina.facts("lives_in") == []


def test_beliefs_consolidate_into_another_scope(lamina: Derivation) -> None:
    team = Scope("ws:launch")
    lamina.say("I live in Leipzig.", directives=Directives(consolidate_into=team))
    lamina.derive()
    assert [b.object.text for b in lamina.current(Layer.BELIEFS, scope=team) if isinstance(b, Belief)] == [
        "Leipzig"
    ]


def test_a_gap_lays_an_episode_to_rest_and_a_week_seals_it(lamina: Derivation) -> None:
    for minute in (0, 5, 10):
        lamina.say("We talk about the launch plan.", at=START + minute * 60 * SECOND_US)
    lamina.say("Good evening.", at=START + 5 * HOUR, session="s2")
    lamina.derive()
    assert states(lamina) == [(1, False, False), (3, False, True)]
    lamina.say("We talk about the launch plan.", at=START + 8 * 24 * HOUR, session="s3")
    lamina.derive()
    assert states(lamina) == [(1, False, False), (1, True, False), (3, True, False)]


def test_an_episode_spans_the_sessions_of_one_matter(lamina: Derivation) -> None:
    lamina.say("The launch plan needs a budget.", at=START)
    lamina.say("Bread recipes need rye.", at=START + HOUR, session="s2")
    lamina.say("Back to the launch plan and its budget.", at=START + 26 * HOUR, session="s3")
    lamina.say("Monday then.", at=START + 26 * HOUR + SECOND_US, session="s3")
    lamina.say("Good evening.", at=START + 50 * HOUR, session="s4")
    lamina.derive()
    assert states(lamina) == [(1, False, False), (1, False, True), (3, False, True)]
    live, again = lamina.replayed()
    assert again == live


def test_neither_a_late_word_of_a_long_text_nor_one_of_every_talk_goes_on_with_an_episode(
    lamina: Derivation,
) -> None:
    lamina.say("The launch plan needs a budget.", at=START)
    long = "Rye bread rises slowly. Feed the starter. Fold the dough. Its budget is small. No launch plan needs one."
    lamina.say(long, at=START + HOUR, session="s2")
    lamina.say("Last week was a great and lovely time.", at=START + 2 * HOUR, session="s3")
    lamina.say("Next week will be a great and lovely time.", at=START + 3 * HOUR, session="s4")
    lamina.derive()
    assert [size for size, _, _ in states(lamina)] == [1, 1, 1, 1]


def test_a_turn_goes_on_with_the_episode_of_what_it_says_it_follows(lamina: Derivation) -> None:
    first = lamina.say("The launch plan needs a budget.", at=START)
    lamina.say("Bread recipes need rye.", at=START + HOUR, session="s2")
    lamina.say(
        "Agreed.", session="s3", context=Context(observed_at=START + 2 * HOUR, preceded_by=(first.id,))
    )
    lamina.derive()
    assert states(lamina) == [(1, False, True), (2, False, False)]


def test_no_more_episodes_rest_than_a_turn_is_compared_with(lamina: Derivation) -> None:
    for number in range(limits.EPISODES_RESTING_MAX + 3):
        lamina.say(f"Matter{number} and topic{number}.", at=START + number * HOUR, session=f"s{number}")
    lamina.derive()
    assert sum(resting for _, _, resting in states(lamina)) == limits.EPISODES_RESTING_MAX


def states(lamina: Derivation) -> list[tuple[int, bool, bool]]:
    """Of each episode its size, and whether it is sealed or rests."""
    found = [e for e in lamina.current(Layer.EPISODES) if isinstance(e, Episode)]
    return sorted((e.size, e.sealed, e.resting) for e in found)


def test_an_episode_never_grows_past_its_bound(lamina: Derivation) -> None:
    for number in range(limits.EPISODE_EVENTS_MAX + 3):
        lamina.say(f"Item {number} of the list.", at=START + number * SECOND_US)
    lamina.derive()
    sizes = [e.size for e in lamina.current(Layer.EPISODES) if isinstance(e, Episode)]
    assert sorted(sizes) == [3, limits.EPISODE_EVENTS_MAX]


def test_understanding_rests_on_facts_and_what_is_believed_of_them(lamina: Derivation) -> None:
    for text in (
        "I live in Leipzig.",
        "I work at Fernhill.",
        "I am allergic to peanuts.",
        "My name is Maya Lind.",
    ):
        lamina.say(text)
    lamina.derive()
    concepts = [c for c in lamina.current(Layer.UNDERSTANDING) if isinstance(c, Concept)]
    (entity,) = [c for c in concepts if c.topic == "entity"]
    supports = lamina.store.records.supports_of(TENANT, [entity.id])[entity.id]
    assert entity.summary.count(".") >= 3
    assert all(support.source_id.startswith(("fact_", "belief_")) for support in supports)


def test_nothing_is_claimed_without_support(lamina: Derivation) -> None:
    tell_a_story(lamina)
    lamina.derive()
    for layer in (Layer.FACTS, Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING):
        for record in lamina.current(layer):
            assert events_below(lamina.store, record.id), f"{record.id} rests on no event"


def events_below(store: Store, record_id: str) -> set[str]:
    found: set[str] = set()
    front = [record_id]
    while front:
        supports = store.records.supports_of(TENANT, front)
        sources = {support.source_id for below in supports.values() for support in below}
        found |= {source for source in sources if source.startswith("evt_")}
        front = [source for source in sources if not source.startswith("evt_")]
    return found


def test_a_stated_triple_is_its_own_fact(lamina: Derivation) -> None:
    content = {"kind": "triple", "subject": "Acme Corp", "predicate": "seat count", "object": 200}
    lamina.store.log.append([Capture(draft(content=content))])
    lamina.derive()
    (fact,) = lamina.facts("seat_count")
    assert (fact.subject.name, fact.object.value, fact.object.datatype) == ("Acme Corp", 200, "integer")


def test_an_unknown_modality_is_kept_and_indexed_but_not_read_for_facts(lamina: Derivation) -> None:
    event = lamina.say("I live in Leipzig.", modality="telemetry.v2")
    lamina.derive()
    assert lamina.facts("lives_in") == []
    assert event.id in found_by(lamina.store, "leipzig")
    (kept,) = lamina.store.log.query(EventQuery(tenant_id=TENANT, scopes=[ALICE]))
    assert kept.modality == "telemetry.v2"


def words_shown(lamina: Derivation) -> str:
    records = [*lamina.current(Layer.EPISODES), *lamina.current(Layer.UNDERSTANDING)]
    shown = without_cancelled(lamina.store, TENANT, records)
    return " ".join(f"{r.name} {r.summary}" for r in shown if isinstance(r, Episode | Concept))


def test_words_of_a_cancelled_event_are_shown_by_nothing_composed_from_it(lamina: Derivation) -> None:
    lamina.say("I live in Leipzig. I work at Fernhill. I like chess.")
    gone = lamina.say("I am allergic to cashews.")
    lamina.derive()
    assert "cashews" in words_shown(lamina)
    lamina.store.log.cancel(TENANT, gone.id)
    assert "cashews" not in words_shown(lamina)
    lamina.say("I have a cat named Biscuit.")
    lamina.derive()
    assert "cashews" not in words_shown(lamina)
    assert "Biscuit" in words_shown(lamina)
    assert "Leipzig" in words_shown(lamina)


def test_an_episode_is_read_again_whose_turns_are_forgotten_one_by_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once reading one again forgot the next, which was a KeyError in every try."""
    monkeypatch.setattr(limits, "PHRASES_KEPT_MAX", 2)
    turns = [
        memory.tell(f"I like {thing}.", START + at) for at, thing in enumerate(("tea", "ramen", "chess"))
    ]
    memory.derive()
    turns.append(memory.tell("I like boats.", START + 9))
    memory.derive()
    (episode,) = memory.held(Layer.EPISODES)
    supports = memory.store.records.supports_of(TENANT, [episode.id])[episode.id]
    assert {each.source_id for each in supports} == {each.id for each in turns}
