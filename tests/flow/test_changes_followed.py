"""What somebody plans and has a day for follows what they say later: moved, given up, done."""

from __future__ import annotations

from pathlib import Path

import pytest

from given import TENANT, ManualClock
from lamina.kernel.records import Fact, Loop
from lamina.kernel.time import rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from talks import DAY, NOON, Talk

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def reader():
    return RulesExtractor(find_times)


@pytest.fixture
def talk(tmp_path: Path, reader):
    talk = Talk(tmp_path)
    deriver = Deriver(talk.store, reader, None)
    talk.worker = Worker(talk.store, deriver, None, ManualClock(NOON + DAY), "test")
    yield talk
    talk.store.close()


def facts(talk) -> list[Fact]:
    return [r for _, r in talk.records() if isinstance(r, Fact) and not isinstance(r, Loop)]


def standing(talk, word: str) -> list[str]:
    """What is held of something, and is not over."""
    held = [fact for fact in facts(talk) if word in fact.text and not fact.negated]
    return [fact.text for fact in held if fact.valid_to is None or fact.valid_to > talk.at]


def days(talk, word: str) -> list[str]:
    return [rfc3339(fact.valid_from)[:16] for fact in facts(talk) if word in fact.text]


MIA = "Mia has an appointment with Dr. Brandt on 23 May at 3:30 pm."
MOVING = "We are moving to Emmendingen on 28 May."
BASIC = "I want to downgrade to Basic."
GYM = "I want to cancel my gym membership."


@pytest.mark.parametrize(
    ("turns", "word", "day"),
    [
        ((MIA, "Mia's appointment is now on 24 May at 8:15 am."), "appointment", "2026-05-24T08:15"),
        (
            (MIA, "Dr. Brandt's office called: Mia's appointment is now on 24 May at 8:15 am."),
            "appointment",
            "2026-05-24T08:15",
        ),
        ((MIA, "The appointment with Dr. Brandt moved to 25 May."), "appointment", "2026-05-25T00:00"),
        ((MIA, "They've rescheduled Mia's appointment to 25 May."), "appointment", "2026-05-25T00:00"),
        ((MOVING, "The move is now on 30 May."), "Emmendingen", "2026-05-30T00:00"),
        ((MOVING, "Sorry, I meant 29 May."), "Emmendingen", "2026-05-29T00:00"),
    ],
    ids=str,
)
def test_what_has_a_day_is_on_the_day_told_last(talk, turns, word, day):
    talk.hear(*turns)
    assert days(talk, word) == [day]
    talk.replays()


def test_other_days_leave_it_on_its_own(talk):
    talk.hear(MIA, MOVING, "Thanks.", "Ok.")
    for turn in (
        "Tom's appointment is now on 24 May at 8:15 am.",
        "The concert is now on 24 May.",
        "Is Mia's appointment now on 24 May?",
        "Mia's appointment might be moved to 24 May.",
        "A: Mia's appointment is now on 24 May.",
        "My appointment is now on 24 May.",
        "The moving boxes arrive on 30 May.",
        "Sorry, I meant 29 May.",
        "Mia's appointment can wait until 30 May.",
    ):
        talk.hear(turn)
        assert days(talk, "Mia has") == ["2026-05-23T15:30"], turn
        assert days(talk, "plans to move") == ["2026-05-28T00:00"], turn


def test_of_two_appointments_neither_moves(talk):
    talk.hear(MIA, "Mia has an appointment with Dr. Wolf on 26 May.", "Mia's appointment is now on 24 May.")
    assert sorted(day[:10] for day in days(talk, "Mia")) == ["2026-05-23", "2026-05-26"]


@pytest.mark.parametrize(
    ("turns", "word"),
    [
        ((MOVING, "We decided not to move to Emmendingen."), "plans to"),
        ((MIA, "Mia's appointment is cancelled."), "Mia has"),
        ((MIA, "The appointment with Dr. Brandt was cancelled."), "Mia has"),
        ((BASIC, "I don't want to downgrade to Basic anymore."), "downgrade"),
        (("I want to buy a kayak.", "I bought a kayak."), "wants to buy"),
    ],
    ids=str,
)
def test_what_is_given_up_or_done_stands_no_more(talk, turns, word):
    talk.hear(*turns[:-1])
    assert standing(talk, word)
    last = talk.say(turns[-1])
    assert standing(talk, word) == []
    talk.replays()
    talk.store.log.cancel(TENANT, last)
    talk.worker.drain()
    assert standing(talk, word)


LEAVE_IT = [
    (
        MOVING,
        "Emmendingen",
        "We're not moving the sofa after all.",
        "Tom is not moving to Emmendingen after all.",
        "Ana says we're not moving after all.",
        "We're not moving fast.",
        "If we're not moving after all I'll tell you.",
        "A: You're not moving to Emmendingen after all.",
    ),
    (
        MIA,
        "appointment",
        "Mia's piano lesson is cancelled.",
        "Tom's appointment is cancelled.",
        "Was Mia's appointment cancelled?",
    ),
    ("I want to call Ben.", "call", "Please don't call me.", "Don't call us after all."),
    ("I want to talk to the manager.", "talk", "Don't talk to me."),
    (BASIC, "downgrade", "Don't charge me.", "I'd like to keep the invoice."),
    (GYM, "cancel", "I'd like to keep my locker.", "Don't cancel my newsletter.", "I'll keep you posted."),
    ("I want to buy a kayak.", "kayak", "I bought a kayak paddle for my cousin."),
]


@pytest.mark.parametrize("turns", LEAVE_IT, ids=lambda turns: turns[0])
def test_other_words_leave_it_standing(talk, turns):
    first, word, *others = turns
    talk.hear(first)
    held = standing(talk, word)
    assert held
    for other in others:
        talk.hear(other)
        assert set(held) <= set(standing(talk, word)), other


def test_a_plan_given_up_stood_from_when_it_was_told(talk):
    talk.hear(MOVING)
    told = talk.at
    talk.hear("We decided not to move to Emmendingen.")
    (plan,) = [fact for fact in facts(talk) if fact.predicate == "plans_to"]
    assert (plan.valid_from, plan.valid_to) == (told, talk.at)


def test_a_day_comes_back_when_the_turn_that_moved_it_is_cancelled(talk):
    talk.hear(MIA)
    moved = talk.say("Mia's appointment is now on 24 May at 8:15 am.")
    again = talk.say("Mia's appointment is now on 26 May at 9 am.")
    talk.store.log.cancel(TENANT, again)
    talk.worker.drain()
    assert days(talk, "Mia") == ["2026-05-24T08:15"]
    talk.store.log.cancel(TENANT, moved)
    talk.worker.drain()
    assert days(talk, "Mia") == ["2026-05-23T15:30"]


def test_what_has_to_be_done_now_is_not_over_a_moment_later(talk):
    talk.hear("Anna has to measure the kitchen now.", "I need to mow the lawn by tomorrow.", "Thanks.")
    assert standing(talk, "measure") == ["Anna needs to measure the kitchen"]
    talk.at += 3 * DAY
    assert standing(talk, "measure")
    assert standing(talk, "mow") == []


def test_what_is_denied_later_ends_there(talk):
    talk.hear("I bought a bike.", "I did not buy a bike after all.")
    (denial,) = [fact for fact in facts(talk) if fact.negated]
    (denied,) = [fact for fact in facts(talk) if not fact.negated]
    assert (denied.superseded_by, denied.valid_to) == (denial.id, denial.valid_from)
    assert denial.supersedes == denied.id
    talk.replays()


def test_what_had_its_day_and_is_denied_never_was(talk):
    talk.hear("I went to Paris in March.")
    (denied,) = facts(talk)
    talk.hear("I did not go to Paris in March.")
    (denial,) = facts(talk)
    assert (denial.negated, denial.supersedes) == (True, denied.id)
    (then,) = talk.store.records.get(TENANT, [denied.id], seen_at=denied.recorded_from).values()
    assert then.text == denied.text
    talk.replays()


def test_a_denial_of_another_time_leaves_it(talk):
    talk.hear("I went to Paris in March.", "I did not go to Paris in April.")
    assert [fact.text for fact in facts(talk) if not fact.negated] == ["Alice visited Paris"]
