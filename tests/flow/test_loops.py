"""Loops are records like all others: with supports, versions, a place in recall, and the same after a replay."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from given import ALICE, NOON, TENANT, ManualClock, found_by
from lamina.kernel.events import Context, Party
from lamina.kernel.records import Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import instant, rfc3339
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.worker import Worker
from lamina.session.identity import identity_of
from lamina.session.loops import active_loops, open_loops, status_at
from talks import DAY, Talk


@pytest.fixture
def talk(tmp_path: Path):
    talk = Talk(tmp_path)
    yield talk
    talk.store.close()


@pytest.fixture
def reading(talk):
    """The talk, read with the parser: the plain rules do not know promises."""
    deriver = Deriver(talk.store, RulesExtractor(find_times), None)
    talk.worker = Worker(talk.store, deriver, None, ManualClock(NOON + DAY), "test")
    return talk


def test_a_loop_names_the_turn_that_opened_it(talk):
    event_id = talk.say("I need to book the dentist.")
    (loop,) = open_loops(talk.store.records, TENANT, ALICE)
    (support,) = talk.store.records.supports_of(TENANT, [loop.id])[loop.id]
    assert (support.source_id, support.relation) == (event_id, "opened_by")
    assert found_by(talk.store, "dentist").count(loop.id) == 1
    talk.replays()


def test_said_again_it_is_the_same_loop_and_matters_more(talk):
    talk.say("I need to book the dentist.")
    talk.say("I really have to book the dentist.")
    (loop,) = open_loops(talk.store.records, TENANT, ALICE)
    assert (loop.salience, loop.seen_at, loop.version) == (4, talk.at, 2)
    talk.replays()


def test_what_was_done_completes_it_with_the_evidence(talk):
    talk.say("I need to book the dentist. I have to call mum.")
    done = talk.say("I booked the dentist this morning.")
    assert talk.open() == ["Call mum"]
    (ended,) = [loop for loop in talk.all() if loop.status == "completed"]
    evidence = {s.source_id: s.relation for s in talk.store.records.supports_of(TENANT, [ended.id])[ended.id]}
    assert evidence[done] == "completed_by"
    assert ended.valid_to == talk.at
    talk.replays()


@pytest.mark.parametrize(
    ("opened", "ended"),
    [
        ("I'm still waiting for the landlord to reply.", "The landlord finally replied."),
        ("My laptop keeps crashing.", "The laptop works again."),
        ("I'll send the report by Friday.", "Sent the report!"),
        ("I need to call mum.", "I don't need to call mum anymore."),
        ("I need to book the dentist.", "Never mind the dentist."),
    ],
)
def test_loops_are_ended_in_many_words(talk, opened, ended):
    talk.say(opened)
    assert len(talk.open()) == 1
    talk.say(ended)
    assert talk.open() == []


def test_done_answers_what_was_just_asked(talk):
    talk.say("I need to book the dentist. I have to call mum.")
    talk.say("Did you book the dentist?", role="assistant")
    talk.say("Done!")
    assert talk.open() == ["Call mum"]


def test_habits_are_not_ended_by_doing_them(talk):
    talk.say("I go running every morning.")
    talk.say("I went running this morning.")
    assert talk.open() == ["Go running every morning"]
    talk.say("Did you go running this morning?", role="assistant")
    talk.say("Done!")
    assert talk.open() == ["Go running every morning"]


def test_a_turn_opens_three_at_most(talk):
    talk.say("I need to eat. I need to sleep. I need to pay rent. I need to call Bob.")
    assert len(talk.open()) == 3


def test_only_a_persons_own_words_in_their_own_scope_open_loops(talk):
    talk.say("I need to look that up for you.", role="assistant")
    talk.say("I need to book it.", observed_actor=Party.of("user:bob"))
    talk.say("I need to book it.", scope=Scope("project:x"))
    assert talk.open() == []


def test_an_open_loop_goes_stale_by_the_clock_that_asks(talk):
    talk.say("I must call Bob tonight. I must pay rent.")
    loops = {str(loop.object.value): loop for loop in open_loops(talk.store.records, TENANT, ALICE)}
    assert status_at(loops["Call Bob"], talk.at + DAY) == "active"
    assert status_at(loops["Call Bob"], talk.at + 4 * DAY) == "stale"
    assert status_at(loops["Pay rent"], talk.at + 20 * DAY) == "active"
    assert status_at(loops["Pay rent"], talk.at + 22 * DAY) == "needs_review"
    shown = active_loops(talk.store, TENANT, ALICE, talk.at + 22 * DAY)
    assert [(loop.text, loop.status) for loop in shown] == [("Pay rent", "needs_review")]


def test_a_loop_that_may_have_changed_is_reviewed_until_said_again_or_the_turn_is_cancelled(talk):
    nearness = Nearness(MiniLmEmbedder().pooled)
    deriver = Deriver(talk.store, RulesExtractor(find_times), None, nearness=nearness)
    talk.worker = Worker(talk.store, deriver, None, ManualClock(NOON + DAY), "test")

    def shown() -> list[tuple[str, str]]:
        found = active_loops(talk.store, TENANT, ALICE, talk.at)
        return [(loop.text, loop.status) for loop in found]

    talk.hear("I need to book the dentist.", "I have to call mum.")
    assert sorted(shown()) == [("Book the dentist", "active"), ("Call mum", "active")]
    talk.say("My plan to book the dentist changed a bit.")
    assert sorted(shown()) == [("Book the dentist", "needs_review"), ("Call mum", "active")]
    talk.say("I need to book the dentist.")
    assert sorted(shown()) == [("Book the dentist", "active"), ("Call mum", "active")]
    turn = talk.say("My plan to book the dentist changed a bit.")
    assert sorted(shown()) == [("Book the dentist", "needs_review"), ("Call mum", "active")]
    talk.store.log.cancel(TENANT, turn)
    talk.worker.drain()
    assert sorted(shown()) == [("Book the dentist", "active"), ("Call mum", "active")]
    talk.replays()


@pytest.mark.parametrize(
    ("opened", "later"),
    [
        ("I'm training for the Boston Marathon.", "I dropped out of the Boston Marathon because of my knee."),
        ("We plan to go to Italy in June.", "We cancelled the Italy trip."),
    ],
    ids=["with a fact of its own turn", "by a word of what is called off"],
)
def test_a_loop_may_have_changed_without_all_of_its_words(talk, opened, later):
    nearness = Nearness(MiniLmEmbedder().pooled)
    deriver = Deriver(talk.store, RulesExtractor(find_times), None, nearness=nearness)
    talk.worker = Worker(talk.store, deriver, None, ManualClock(NOON + DAY), "test")
    talk.hear(opened, later)
    (loop,) = active_loops(talk.store, TENANT, ALICE, talk.at)
    assert loop.status == "needs_review"
    talk.replays()


def test_the_brief_tells_the_day_and_has_what_is_due_soon_first(talk):
    talk.say("I must call Bob by Friday. I must pay rent on June 20.")
    talk.say("I have to book the flight by Thursday.")
    talk.say("I've decided to apply. I need to eat.")
    said = [(loop.text, loop.due_date) for loop in active_loops(talk.store, TENANT, ALICE, talk.at)]
    assert said[:2] == [("Book the flight", "2026-05-14"), ("Call Bob", "2026-05-15")]
    assert sorted(said[2:]) == [("Apply", None), ("Eat", None), ("Pay rent", "2026-06-20")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I need to prepare the exam by Friday.", ["Prepare the exam"] * 3),
        ("I need to book the dentist by Friday.", ["Book the dentist"] * 3),
        ("I need to pay Ana by Friday.", ["Pay Ana"] * 3),
    ],
)
def test_what_took_place_is_told_no_more_and_what_is_overdue_is(talk, said, told):
    talk.say(said)
    friday = instant("2026-05-15T12:00:00Z")
    shown = [active_loops(talk.store, TENANT, ALICE, friday + days * DAY) for days in (0, 1, 3)]
    assert [loops[0].text if loops else None for loops in shown] == told


def test_what_was_due_long_ago_presses_no_more(talk):
    talk.say("I must call Bob by Sunday.")
    talk.say("I must eat.")
    told = [
        [loop.text for loop in active_loops(talk.store, TENANT, ALICE, talk.at + days * DAY)]
        for days in (0, 5, 7)
    ]
    assert told == [["Call Bob", "Eat"], ["Call Bob", "Eat"], ["Eat", "Call Bob"]]


def test_what_only_goes_on_makes_no_beliefs_and_no_concepts_of_its_own(talk):
    talk.say("I'm working on a novel. My laptop keeps crashing. I go running every morning.")
    assert len(talk.open()) == 3
    assert {type(record).__name__ for _, record in talk.records()} <= {"Loop", "Fact"}
    told = [
        values
        for table, values in talk.store.snapshot()
        if table == "record" and values[3] == "understanding"
    ]
    assert not any(" has an open " in str(values) for values in told)


def test_identity_is_what_the_user_said_last(talk):
    talk.say("My name is Kaiser. I live in Berlin.")
    talk.say("My name is Botty. Your name is Karl. You live in Rome.", role="assistant")
    known = identity_of(talk.store.records, TENANT, ALICE, "user:alice", talk.at)
    assert (known.name, known.facts["home"]) == ("Kaiser", "Berlin")
    talk.say("I live in Hamburg.")
    assert identity_of(talk.store.records, TENANT, ALICE, "user:alice", talk.at).facts["home"] == "Hamburg"
    assert identity_of(talk.store.records, TENANT, ALICE, "user:bob", talk.at).name is None


@pytest.mark.model
@pytest.mark.parametrize(
    ("later", "key", "today", "then"),
    [
        ("I'm living in Rome for the summer.", "home", "Leeds", "Rome"),
        ("I live in Rome.", "home", "Rome", "Rome"),
    ],
)
def test_what_begins_later_is_no_identity_yet(reading, later, key, today, then):
    reading.say("I work at Google. I live in Leeds.")
    reading.say(later)
    told = [
        identity_of(reading.store.records, TENANT, ALICE, "user:alice", reading.at + days * DAY).facts[key]
        for days in (0, 300)
    ]
    assert told == [today, then]


def test_a_cancelled_turn_is_no_identity(talk):
    talk.store.log.cancel(TENANT, talk.say("My name is Kaiser."))
    assert identity_of(talk.store.records, TENANT, ALICE, "user:alice", talk.at).name is None


def promises(talk) -> list[tuple[str, int | None]]:
    found = [r for _, r in talk.records() if r.kind == "commitment"]
    return [(fact.object.text, fact.valid_to) for fact in found]


@pytest.mark.model
@pytest.mark.parametrize("ending", ["I booked the dentist.", "I don't need to book the dentist any more."])
def test_what_is_done_is_needed_no_longer(reading, ending):
    reading.say("I need to book the dentist. My sister Anna lives in Rome. I live in Porto. I work at Acme.")
    assert promises(reading) == [("Book the dentist", None)]
    assert "dentist" in understood(reading)
    done = reading.say(ending)
    assert promises(reading) == [("Book the dentist", reading.at)]
    assert "dentist" not in understood(reading)
    reading.replays()
    reading.store.log.cancel(TENANT, done)
    reading.worker.drain()
    assert promises(reading) == [("Book the dentist", None)]
    assert reading.open() == ["Book the dentist"]
    assert "dentist" in understood(reading)
    reading.replays()


@pytest.mark.model
def test_what_was_done_stays_done_when_another_word_of_it_is_cancelled(reading):
    reading.say("I need to book the dentist.")
    again = reading.say("I really need to book the dentist.")
    reading.say("I booked the dentist.")
    reading.store.log.cancel(TENANT, again)
    reading.worker.drain()
    assert [ended_at for _, ended_at in promises(reading)] == [reading.at]
    reading.replays()


@pytest.mark.model
def test_one_of_two_promises_of_a_turn_is_done(reading):
    reading.say("I need to book the dentist. I need to call my mother.")
    reading.say("I called my mother.")
    assert [(words, end is None) for words, end in sorted(promises(reading))] == [
        ("Book the dentist", True),
        ("Call my mother", False),
    ]


FEBRUARY, NOVEMBER = "2026-02-03T09:00:00Z", "2026-11-19T09:00:00Z"


@pytest.mark.model
@pytest.mark.parametrize("order", [(FEBRUARY, NOVEMBER), (NOVEMBER, FEBRUARY)], ids=["in order", "reversed"])
def test_a_promise_said_again_is_one_record_and_due_as_said_last(reading, order):
    for at in order:
        context = Context(observed_at=instant(at))
        reading.say("I need to book the dentist before Friday.", context=context)
    (loop,) = [record for _, record in reading.records() if isinstance(record, Fact)]
    assert rfc3339(loop.due_at) == "2026-11-20T00:00:00Z"
    assert loop.text.endswith("due 2026-11-19")
    assert loop.seen_at == instant(NOVEMBER)
    reading.replays()


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_day_that_is_due_does_not_depend_on_the_order_of_arrival(talk, order):
    said = (
        ("I need to book the dentist before Friday.", "2026-03-03T09:00:00Z"),
        ("I need to book the dentist before March 20.", "2026-03-04T09:00:00Z"),
        ("I need to book the dentist.", "2026-03-05T09:00:00Z"),
    )
    for text, at in (said[number] for number in order):
        talk.say(text, context=Context(observed_at=instant(at)))
    (loop,) = talk.all()
    assert rfc3339(loop.due_at) == "2026-03-20T00:00:00Z"
    assert loop.text == "Alice has an open commitment: Book the dentist, due 2026-03-19"
    talk.replays()


def understood(talk) -> str:
    from lamina.kernel.time import Axes
    from lamina.store.ports.records import RecordQuery

    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.UNDERSTANDING, scopes=[ALICE], axes=Axes(seen_at=1 << 62), limit=500
    )
    return " ".join(concept.summary for concept in talk.store.records.query(query))
