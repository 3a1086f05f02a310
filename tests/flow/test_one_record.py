"""What was promised, planned or decided is one record: the loop, which lists of facts show as what was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from given import ALICE, TENANT, ManualClock, append
from lamina.kernel.events import Context, Origin, Party, Trust
from lamina.kernel.records import Fact, Loop
from lamina.kernel.time import rfc3339
from lamina.kernel.views.facts import fact_view
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.loops import open_loops
from talks import DAY, NOON, Talk

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def reader():
    return RulesExtractor(find_times)


@pytest.fixture
def talk(tmp_path: Path, reader):
    talk = Talk(tmp_path)
    talk.worker = Worker(talk.store, Deriver(talk.store, reader, None), None, ManualClock(NOON + DAY), "test")
    yield talk
    talk.store.close()


def records(talk) -> list[Fact]:
    return [record for _, record in talk.records() if isinstance(record, Fact)]


def plain(talk) -> list[str]:
    return sorted(each.text for each in records(talk) if not isinstance(each, Loop))


@pytest.mark.parametrize(
    "said",
    [
        "I'll send Ben the report by Friday.",
        "I need to book the dentist.",
        "We're going to visit Ana in Porto next week.",
        "I promised Maisie I'd knit her a jumper.",
        "We decided to use optimistic locking for carts.",
        "Please remind me to call the bank tomorrow.",
    ],
)
def test_a_promise_is_one_record(talk, said):
    talk.say(said)
    (loop,) = open_loops(talk.store.records, TENANT, ALICE)
    assert [each.id for each in records(talk)] == [loop.id]
    view = fact_view(loop)
    assert (view.id, view.kind, view.text) == (loop.id, "commitment", loop.text)
    talk.replays()


def test_its_day_is_that_of_the_fact(talk):
    talk.say("I have to call Ben on Friday.")
    (loop,) = records(talk)
    target = fact_view(loop).target
    assert target is not None
    assert (rfc3339(target.start), rfc3339(target.end)) == ("2026-05-15T00:00:00Z", "2026-05-16T00:00:00Z")


def test_what_nobody_has_to_keep_stays_a_fact_beside_it(talk):
    talk.say("I need to book the dentist because I want to fix my tooth. Anna needs to call her mother.")
    assert talk.open() == ["Book the dentist"]
    assert plain(talk) == ["Alice wants to fix Alice's tooth", "Anna needs to call Anna's mother"]
    talk.replays()


def test_of_what_only_goes_on_the_fact_stays(talk):
    talk.say("I'm planning a trip to Porto.")
    (loop,) = talk.all()
    assert (loop.predicate, loop.kind) == ("thread", "loop")
    assert plain(talk) == ["Alice plans a trip to Porto"]
    talk.replays()


def test_no_promise_of_a_long_turn_is_lost(talk):
    talk.say(
        "I need to pay the rent. I need to call the bank. I need to book the dentist. I need to sell the car."
    )
    assert sorted(talk.open()) == ["Book the dentist", "Call the bank", "Pay the rent"]
    assert plain(talk) == ["Alice needs to sell the car"]


def test_of_somebody_else_at_the_keyboard_it_is_a_fact(talk):
    talk.say("My name is Alice.")
    talk.say("Tom here. I need to book the dentist.")
    assert talk.open() == []
    assert "Tom needs to book the dentist" in plain(talk)
    talk.replays()


def test_a_day_that_a_cancelled_turn_named_is_what_it_was(talk):
    talk.say("I need to call Marcus on Monday.")
    moved = talk.say("Sorry, I meant Tuesday.")
    assert talk.due() == ["2026-05-19"]
    talk.store.log.cancel(TENANT, moved)
    talk.worker.drain()
    assert talk.due() == ["2026-05-18"]
    assert len(records(talk)) == 1
    talk.replays()


def test_what_is_derived_apart_makes_no_second_record(talk):
    talk.say("I live in Porto. I need to book the dentist.")
    wrong = talk.say("I live in Rome.")
    talk.store.log.cancel(TENANT, wrong)
    talk.worker.drain()
    assert plain(talk) == ["Alice lives in Porto"]
    assert talk.open() == ["Book the dentist"]
    talk.replays()


def test_a_promise_that_is_retracted_is_dropped_until_that_is_cancelled(talk):
    talk.say("I need to book the dentist.")
    (loop,) = records(talk)
    talk.at += DAY
    alice = Party.of("user:alice")
    content = {"kind": "correction", "action": "retract", "fact_id": loop.id, "text": "no", "at": None}
    (retraction,) = append(
        talk.store,
        "no",
        observed_actor=alice,
        subject=alice,
        session=None,
        modality="correction",
        content=content,
        context=Context(observed_at=talk.at),
        origin=Origin(alice.id, "correction", Trust.PRINCIPAL),
    )
    talk.worker.drain()
    assert [(each.status, each.valid_to) for each in talk.all()] == [("dropped", talk.at)]
    talk.replays()
    talk.store.log.cancel(TENANT, retraction.id)
    talk.worker.drain()
    assert talk.open() == ["Book the dentist"]
    talk.replays()
