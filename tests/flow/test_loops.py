"""Loops are records like all others: with supports, versions, a place in recall, and the same after a replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from given import ALICE, NOON, TENANT, ManualClock, append
from lamina.kernel.events import Context, Party
from lamina.kernel.records import Layer, Loop
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.identity import identity_of
from lamina.session.loops import active_loops, open_loops, status_at
from lamina.store.sqlite import SqliteStore

DAY = 24 * 3600 * SECOND_US


class Talk:
    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder, clock=ManualClock(), durable=False)
        deriver = Deriver(self.store, RulesExtractor(find_times, use_parser=False), None)
        self.worker = Worker(self.store, deriver, None, ManualClock(NOON + DAY), "test")
        self.at = NOON

    def say(self, text: str, role: str = "user", **more: Any) -> str:
        self.at += 60 * SECOND_US
        party = Party.of("user:alice" if role == "user" else "agent:p")
        (event,) = append(
            self.store,
            text,
            **{
                "observed_actor": party,
                "subject": party,
                "session": "s",
                "content": {"kind": "message", "role": role, "text": text},
                "context": Context(observed_at=self.at),
                **more,
            },
        )
        self.worker.drain()
        return event.id

    def open(self) -> list[str]:
        return [str(loop.object.value) for loop in open_loops(self.store.records, TENANT, ALICE)]

    def all(self) -> list[Loop]:
        found = {r.id: r for _, r in self.records() if isinstance(r, Loop)}
        return list(found.values())

    def records(self) -> list[tuple[int, Any]]:
        from lamina.kernel.time import Axes
        from lamina.store.ports.records import RecordQuery

        query = RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=Axes(seen_at=1 << 62), limit=500
        )
        return list(enumerate(self.store.records.query(query)))

    def replays(self) -> None:
        before = list(self.store.snapshot())
        self.store.jobs.reset()
        self.worker.drain()
        assert list(self.store.snapshot()) == before


@pytest.fixture
def talk(tmp_path: Path):
    talk = Talk(tmp_path)
    yield talk
    talk.store.close()


def test_a_loop_names_the_turn_that_opened_it(talk):
    event_id = talk.say("I need to book the dentist.")
    (loop,) = open_loops(talk.store.records, TENANT, ALICE)
    (support,) = talk.store.records.supports_of(TENANT, [loop.id])[loop.id]
    assert (support.source_id, support.relation) == (event_id, "opened_by")
    assert [name for name, _ in talk.store.index.search(TENANT, [ALICE], ["dentist"], 9)].count(loop.id) == 1
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
    shown = active_loops(talk.store.records, TENANT, ALICE, talk.at + 22 * DAY)
    assert [(loop.text, loop.status) for loop in shown] == [("Pay rent", "needs_review")]


def test_loops_make_no_beliefs_and_no_concepts_of_their_own(talk):
    talk.say("I must call Bob. I must pay rent. I must eat.")
    assert {type(record).__name__ for _, record in talk.records()} <= {"Loop", "Fact"}
    told = [
        values
        for table, values in talk.store.snapshot()
        if table == "record" and values[3] == "understanding"
    ]
    assert not any("open commitment" in str(values) for values in told)


def test_identity_is_what_the_user_said_last(talk):
    talk.say("My name is Kaiser. I live in Berlin.")
    talk.say("My name is Botty. Your name is Karl. You live in Rome.", role="assistant")
    known = identity_of(talk.store.records, TENANT, ALICE, "user:alice")
    assert (known.name, known.facts["home"]) == ("Kaiser", "Berlin")
    talk.say("I live in Hamburg.")
    assert identity_of(talk.store.records, TENANT, ALICE, "user:alice").facts["home"] == "Hamburg"
    assert identity_of(talk.store.records, TENANT, ALICE, "user:bob").name is None


def test_a_cancelled_turn_is_no_identity(talk):
    talk.store.log.cancel(TENANT, talk.say("My name is Kaiser."))
    assert identity_of(talk.store.records, TENANT, ALICE, "user:alice").name is None
