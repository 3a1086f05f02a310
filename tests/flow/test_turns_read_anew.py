"""A language model reads turns behind the rules: its answer takes the place of what rules made of a turn, and a replay comes to the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from given import ALICE, TENANT
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US
from lamina.pipeline.derived_by import DERIVED_BY
from lamina.pipeline.readings.forgetting import forget_reading
from lamina.pipeline.readings.loops_alone import TASK as LOOPS_ALONE
from lamina.pipeline.readings.question import TASK
from lamina.pipeline.upgrading import Upgrader
from lamina.session.identity import identity_of
from lamina.store.ports.model_outputs import ModelOutput
from modelled import ModelServer, Told
from readers import ReadChat, forget_answers, reading, says
from upgrades import derive_anew

DAY = 24 * 3600 * SECOND_US
PORTO = {"predicate": "lives_in", "object": "Porto", "quote": "Porto has been home for a year"}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer(lambda told: reading())
    yield server
    server.stop()


@pytest.fixture
def chat(tmp_path: Path, model: ModelServer) -> Iterator[ReadChat]:
    chat = ReadChat(tmp_path, model)
    yield chat
    chat.close()


def test_an_answer_takes_the_place_of_what_rules_read(chat: ReadChat, model: ModelServer) -> None:
    model.answers = says(Porto=reading(PORTO, {**PORTO, "object": "Berlin"}))
    turn = chat.say("I like stroopwafels. Porto has been home for a year, and I need to call mum.")
    provisional = next(each for each in chat.facts() if each.text == "Alice likes stroopwafels")
    (call,) = chat.loops()
    assert chat.open() == ["Call mum"]
    chat.ask()
    (fact,) = chat.facts()
    assert (fact.text, fact.extractor.split()[:2]) == ("Alice lives in Porto", ["lamina-model/1", "small"])
    assert chat.open() == []
    for gone in (provisional, call):
        assert chat.store.records.versions(TENANT, gone.id)[-1].recorded_to is not None
        ties = {each.source_id for each in chat.store.records.supports_of(TENANT, [gone.id])[gone.id]}
        (entry,) = (each for each in ties if each != turn)
        assert chat.store.log.get(TENANT, [entry])[entry].reads is not None
    assert list(chat.store.snapshot()) == chat.replayed()


def test_what_both_read_stays_one_thing_in_the_words_of_the_answer(
    chat: ReadChat, model: ModelServer
) -> None:
    new = [{"text": "Call mum about the flat", "quote": "I need to call mum about the flat"}]
    model.answers = says(mum=reading(new=new))
    chat.say("Right, I need to call mum about the flat.")
    before = chat.loops()
    chat.ask()
    (loop,) = chat.loops()
    assert [loop.id] == [each.id for each in before]
    assert "“I need to call mum about the flat”" in loop.text
    assert loop.extractor.startswith("lamina-model/1 small")


def test_what_rules_ended_by_mistake_is_open_again(chat: ReadChat, model: ModelServer) -> None:
    chat.say("I need to pay the rent.")
    chat.say("I paid the rent.")
    assert chat.open() == []
    model.answers = says(need=reading(new=[{"text": "Pay the rent", "quote": "I need to pay the rent"}]))
    chat.ask()
    assert chat.open() == ["Pay the rent"]
    assert list(chat.store.snapshot()) == chat.replayed()


def test_what_later_turns_ended_is_worded_by_the_answer_and_stays_ended(
    chat: ReadChat, model: ModelServer
) -> None:
    chat.say("Anselm has not looked at the lease yet.", role="assistant")
    chat.say("I'll ring him on Monday.")
    chat.say("I rang him.")
    assert (chat.open(), len(chat.loops())) == ([], 1)
    new = [{"text": "Ring Anselm about the lease", "quote": "I'll ring him on Monday"}]
    rang = {"about": "ring Anselm about the lease", "quote": "I rang him"}
    model.answers = says(Monday=reading(new=new), rang=reading(completed=[rang]))
    chat.ask()
    (loop,) = chat.loops()
    assert (str(loop.object.value), loop.status) == ("Ring Anselm about the lease", "completed")
    assert list(chat.store.snapshot()) == chat.replayed()


def test_an_answer_ends_what_the_turn_speaks_of_by_reference_or_by_words(
    chat: ReadChat, model: ModelServer
) -> None:
    chat.say("I need to pay the rent. I have to call mum. I must renew my passport.")
    chat.say("Rent is all settled, mum knows it all by now, and the weather is lovely.")

    def answer(told: Told) -> str:
        if "settled" not in told["turn"]:
            wanted = ("pay the rent", "call mum", "renew my passport")
            return reading(new=[{"text": each, "quote": each} for each in wanted])
        refs = {each["text"]: each["ref"] for each in told["open"]}
        ends = [
            {"about": refs["Pay the rent"], "quote": "Rent is all settled"},
            {"about": "calling mum", "quote": "mum knows it all by now"},
            {"about": refs["Renew my passport"], "quote": "the weather is lovely"},
        ]
        return reading(completed=ends)

    model.answers = answer
    chat.ask()
    assert chat.open() == ["Renew my passport"]
    assert list(chat.store.snapshot()) == chat.replayed()


def test_identity_and_denials_are_those_of_the_quoted_words(chat: ReadChat, model: ModelServer) -> None:
    home = {"slot": "home", "value": "Porto", "quote": "Porto has been home"}
    claims = [
        {"predicate": "drinks", "object": "coffee", "polarity": "negative", "quote": "I don't drink coffee"},
        {"predicate": "drinks", "object": "coffee", "quote": "I don't drink coffee"},
        {"predicate": "from", "object": "Porto", "polarity": "negative", "quote": "Porto has been home"},
        {"predicate": "likes", "object": "tea", "modality": "quoted", "quote": "tea is the thing"},
        {"predicate": "owns", "object": "boat", "quote": "do I own a boat"},
        {"predicate": "owns", "object": "ship", "quote": "I own a ship"},
    ]
    model.answers = says(Porto=reading(*claims, identity=[home]))
    chat.hear(
        "Porto has been home for ages. I don't drink coffee; tea is the thing, she says. Well, do I own a boat?"
    )
    assert chat.texts() == {"Alice lives in Porto", "Alice does not drink coffee"}
    found = identity_of(chat.store.records, TENANT, ALICE, "user:alice", chat.clock.at)
    assert found.facts["home"] == "Porto"


def test_a_version_of_the_task_begins_by_an_entry_and_a_change_of_model_replays(
    chat: ReadChat, model: ModelServer
) -> None:
    model.answers = says(
        Porto=reading(PORTO), Lisbon=reading({**PORTO, "object": "Lisbon", "quote": "Lisbon it is now"})
    )
    chat.hear("Porto has been home for a year.")
    chat.generator.close()
    chat.ask_with(model, "large")
    chat.hear("Ah well, Lisbon it is now, since May.")
    held = chat.store.definitions.held(TENANT, "reader")
    (begun,) = [each.body["version"].split()[:2] for each in held]
    assert begun == ["extract/1", "large"]
    entries = [each for each in chat.store.log.walk(TENANT, 0, 99) if each.defines]
    assert [each.content["version"].split()[1] for each in entries] == ["small", "large"]
    assert chat.texts() == {"Alice lives in Lisbon"}
    assert list(chat.store.snapshot()) == chat.replayed()


def test_without_an_answer_the_rules_reading_stands_and_replays(tmp_path: Path) -> None:
    chat = ReadChat(tmp_path, None)
    chat.say("I live in Porto. I need to call mum.")
    chat.say("I called mum.")
    assert (chat.texts(), chat.open(), chat.states()) == ({"Alice lives in Porto"}, [], {})
    assert not [each for each in chat.store.log.walk(TENANT, 0, 99) if each.is_entry]
    assert list(chat.store.snapshot()) == chat.replayed()
    chat.close()


def test_a_nod_is_asked_about_where_something_is_open_or_was_asked(
    chat: ReadChat, model: ModelServer
) -> None:
    for text, role in (
        ("Done.", "user"),
        ("Tea or coffee?", "assistant"),
        ("Tea.", "user"),
        ("Fine.", "assistant"),
    ):
        chat.hear(text, role=role)
    chat.hear("Sure.")
    assert [told["turn"] for told in model.asked] == ["Tea."]
    model.answers = says(mum=reading(new=[{"text": "Call mum", "quote": "call mum"}]))
    chat.hear("I need to call mum.")
    chat.hear("Done!")
    assert [told["turn"] for told in model.asked][-1] == "Done!"


def test_a_turn_is_shown_with_what_came_before_what_is_open_and_what_is_known(
    chat: ReadChat, model: ModelServer
) -> None:
    for number in range(10):
        chat.say(f"This is turn number {number}, all is well.", role="user" if number % 2 else "assistant")
    rent = {"text": "Pay the rent", "quote": "pay the rent by Friday", "when": "by Friday"}
    model.answers = says(rent=reading(new=[rent]))
    chat.say("I need to pay the rent by Friday.")
    chat.say("And so on it goes, you know.")
    chat.ask()
    told = model.asked[-1]
    assert (told["turn"], len(told["before"])) == ("And so on it goes, you know.", 8)
    assert [(each["text"], each["due"]) for each in told["open"]] == [("Pay the rent", "2026-05-15")]
    assert "lives_in" in told["predicates"]
    assert list(told)[-1] == "turn"


def test_the_days_tokens_are_spent_and_the_turn_is_asked_the_next_day(
    tmp_path: Path, model: ModelServer
) -> None:
    chat = ReadChat(tmp_path, model, tokens_per_day=20)
    for text in ("I need to pay the rent.", "I need to call mum.", "I need to renew my passport."):
        chat.hear(text)
    assert (len(model.requests), chat.states()) == (2, {"applied": 2, "pending": 1})
    assert chat.open() == ["Renew my passport"]
    today = chat.clock.at // DAY
    (spent,) = chat.store.model_outputs.spent(TENANT, today)
    assert (spent.asked, spent.tokens_in, spent.tokens_out) == (2, 14, 10)
    chat.clock.at = (today + 1) * DAY - 1
    chat.ask()
    assert len(model.requests) == 2
    chat.clock.at += 1
    chat.ask()
    assert chat.states() == {"applied": 3}
    chat.close()


BACKLOG = [
    "I need to pay the rent by Friday.",
    "Porto has been home for a year.",
    "I must renew my passport.",
    "The rent is paid, by the way.",
    "And that was all of it, really.",
]


def read_backlog(chat: ReadChat, model: ModelServer) -> None:
    rent = {"text": "Pay the rent", "quote": "pay the rent by Friday"}
    paid = {"about": "Pay the rent", "quote": "The rent is paid"}
    passport = {"text": "Renew my passport", "quote": "renew my passport"}
    model.answers = says(
        need=reading(new=[rent]),
        Porto=reading(PORTO),
        passport=reading(new=[passport]),
        paid=reading(completed=[paid]),
    )
    for number, text in enumerate(BACKLOG):
        chat.say(text)
        chat.say(f"I see, number {number}.", role="assistant")
    chat.ask()
    assert (chat.texts() >= {"Alice lives in Porto"}, chat.open()) == (True, ["Renew my passport"])
    assert chat.states() == {"applied": 5}
    assert list(chat.store.snapshot()) == chat.replayed()


def test_turns_that_wait_share_a_question_and_have_an_answer_each(chat: ReadChat, model: ModelServer) -> None:
    read_backlog(chat, model)
    assert len(model.requests) == 2
    shared = json.loads(model.requests[0]["messages"][-1]["content"])
    assert [each.get("n") for each in shared["turns"]] == [1, None, 2, None, 3, None, 4]
    entries = [each.reads for each in chat.store.log.walk(TENANT, 0, 99)]
    assert len({each.input_hash for each in entries if each is not None}) == 5


def test_a_model_that_answers_about_one_turn_alone_is_asked_about_each(
    chat: ReadChat, model: ModelServer
) -> None:
    model.shares = False
    read_backlog(chat, model)
    assert len(model.requests) == 6


def test_a_cancelled_turn_takes_what_the_model_read_with_it(chat: ReadChat, model: ModelServer) -> None:
    new = [{"text": "Call mum", "quote": "call mum"}]
    model.answers = says(Porto=reading(PORTO, new=new))
    turn = chat.hear("Porto has been home for a year, I should call mum.")
    assert (chat.texts(), chat.open()) == ({"Alice lives in Porto"}, ["Call mum"])
    chat.store.log.cancel(TENANT, turn)
    chat.worker.drain()
    assert (chat.texts(), chat.open()) == (set(), [])
    assert list(chat.store.snapshot()) == chat.replayed()


def test_a_later_turn_builds_on_what_the_model_read(chat: ReadChat, model: ModelServer) -> None:
    model.answers = says(Porto=reading(PORTO))
    chat.hear("Porto has been home for a year.")
    model.answers = lambda told: json.dumps({"facts": "none"})
    chat.hear("I live in Lisbon.")
    assert chat.texts() == {"Alice lives in Lisbon"}
    assert chat.states() == {"applied": 1, "failed": 1}
    assert list(chat.store.snapshot()) == chat.replayed()


def test_a_forgotten_answer_brings_the_rules_reading_back(chat: ReadChat, model: ModelServer) -> None:
    model.answers = says(Porto=reading(PORTO))
    turn = chat.say("I like stroopwafels. Porto has been home for a year.")
    by_rules = chat.texts()
    chat.ask()
    assert chat.texts() == {"Alice lives in Porto"} != by_rules
    upgrader = Upgrader(chat.store, DERIVED_BY, lambda aside: chat.working(store=aside), chat.clock)
    chat.store.rederivation.note_all(DERIVED_BY)
    upgrader.begin()
    assert not upgrader.step()
    assert forget_answers(chat.store, TENANT, [turn]) == 1
    chat.clock.at += 6 * SECOND_US
    while upgrader.step():
        pass
    assert chat.texts() == by_rules
    assert list(chat.store.snapshot()) == chat.replayed()
    assert not [
        each
        for each in chat.store.records.dependants_of(TENANT, [turn])[turn]
        if each.relation == Tie.READ_BY
    ]


def test_one_turns_answer_is_forgotten_by_itself(chat: ReadChat, model: ModelServer) -> None:
    model.answers = says(
        Porto=reading(PORTO),
        welder=reading({"predicate": "works_as", "object": "welder", "quote": "as a welder"}),
    )
    first = chat.hear("I like stroopwafels. Porto has been home for a year.")
    chat.hear("I like waffles, and I work as a welder.")
    assert chat.texts() == {"Alice lives in Porto", "Alice works as a welder"}
    upgrader = Upgrader(chat.store, DERIVED_BY, lambda aside: chat.working(store=aside), chat.clock)
    chat.store.rederivation.note_all(DERIVED_BY)
    upgrader.begin()
    assert forget_reading(chat.store, TENANT, first) == 1
    assert forget_reading(chat.store, TENANT, first) == 0
    chat.clock.at += 6 * SECOND_US
    while upgrader.step():
        pass
    assert chat.texts() == {"Alice likes stroopwafels", "Alice works as a welder"}
    assert list(chat.store.snapshot()) == chat.replayed()


def test_a_folder_with_answers_of_the_release_before_is_upgraded_and_read_on(
    chat: ReadChat, model: ModelServer
) -> None:
    chat.worker = chat.working(asks=LOOPS_ALONE)
    chat.say("I need to pay rent.")
    chat.say("As ever, mum wants a call of mine. I live in Rome. As for the rent, ask no more.")
    (rent,) = chat.loops()
    done = {"ref": rent.id[-12:], "quote": "As for the rent"}
    told = {
        "new": [{"type": "commitment", "text": "Call mum", "quote": "mum wants a call", "when": None}],
        "completed": [
            {**done, "explicit": False, "confidence": 0.99},
            {**done, "explicit": True, "confidence": 0.5},
        ],
    }
    for text in ("{}", json.dumps(told)):
        (asked,) = chat.store.inquiries.claim(limit=1, lease_until=0, now=chat.clock.at, owner="earlier")
        answer = ModelOutput(
            tenant_id=TENANT, input_hash=f"sha256:{text}", task=LOOPS_ALONE, model="small", text=text,
            tokens_in=7, tokens_out=5, recorded_at=chat.clock.at,
        )  # fmt: skip
        assert chat.store.inquiries.answer(asked, answer, [asked.event_id])
        chat.worker.drain()
    assert (chat.open(), chat.states()) == (["Call mum", "Pay rent"], {"applied": 2})
    earlier = {part: version for part, version in DERIVED_BY.items() if part != "turns by a model"}
    chat.store.rederivation.note_all(earlier)
    upgrader = Upgrader(chat.store, DERIVED_BY, lambda aside: chat.working(store=aside), chat.clock)
    upgrader.begin()
    assert chat.store.rederivation.state().scopes == 1
    derive_anew(upgrader)
    assert (chat.open(), "Alice lives in Rome" in chat.texts()) == (["Call mum", "Pay rent"], True)
    chat.worker = chat.working(asks=TASK)
    model.answers = says(Porto=reading(PORTO))
    chat.hear("Porto has been home for a year, by the way.")
    assert (chat.open(), "Alice lives in Rome" in chat.texts()) == (["Call mum", "Pay rent"], False)
    assert list(chat.store.snapshot()) == chat.replayed()
