"""A language model answers 500 while people talk: no turn goes missing, and when it is back it words what it missed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from given import NOON, CountedIds, ManualClock
from lamina.access.policy import PolicyPermits
from lamina.kernel.operations import Call, Principal
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.models.generator import OpenAiGenerator
from lamina.session.brief import Briefing
from lamina.session.drain import Drain
from lamina.session.folding import TurnWords, fold_turn
from lamina.session.ingest import Ingesting
from lamina.session.inquirer import Inquirer
from lamina.session.names import scope_of
from lamina.session.retelling import retell
from lamina.store.ports.sessions import SessionKey, Sitting
from lamina.store.sqlite import SqliteStore
from lamina.types.sessions import BriefAsked, Ingest
from modelled import ModelServer, Told
from policies import OpenPolicy

TURNS = 40
MARKED = {
    1: ("I need to renew my passport before 14 May.", "passport"),
    4: ("I have to pay the invoice 7781 of Okafor.", "7781"),
    7: ("My sister Winifred moved to Turku in March.", "Turku"),
    10: ("We decided to sell the blue Volvo on Friday.", "Volvo"),
    14: ("I promised Priyanka the slides by 9 June.", "Priyanka"),
    18: ("The dentist is booked for 3 July at 10.", "dentist"),
    23: ("I started at Hafenlink on 1 April.", "Hafenlink"),
    26: ("Remind me to call Elif about the boiler on Monday.", "boiler"),
}
"""What is said in eight turns, and a word that tells of each."""


def text_of_turn(number: int) -> str:
    return MARKED[number][0] if number in MARKED else f"ok, go on {number}"


def worded(told: Told) -> str:
    return fold_turn(told["summary"], TurnWords(told["speaker"], told["turn"]))


def bridged(told: Told) -> str:
    """A bridge of the user's own lines, and what nobody said; summaries as rules have them."""
    if "lines" not in told:
        return worded(told)
    own = [each for each in told["lines"] if each["text"].startswith("User: ") and "ok," not in each["text"]]
    told_of = [{"text": each["text"][6:], "lines": [each["line"]]} for each in own]
    made_up = [{"text": "Ophelia sailed to Valparaiso.", "lines": [1]}, {"text": "They talked.", "lines": []}]
    return json.dumps({"sentences": [*told_of, *made_up]})


def in_other_words(told: Told) -> str:
    """As rules would not; of the ninth turn, and of the bridge, something that nobody said, so that the rules' words stand."""
    if "lines" in told:
        return json.dumps({"sentences": [{"text": "Ophelia sailed to Valparaiso.", "lines": [1]}]})
    if told["turn"].endswith("9"):
        return "Ophelia sailed to Valparaiso with Hector."
    return f"{told['summary']} It was said: {told['turn']}".strip()


class Talk:
    """A chat with its own store, beside a model."""

    def __init__(self, folder: Path, model: ModelServer) -> None:
        self.clock = ManualClock()
        self.store = SqliteStore(folder, clock=self.clock, ids=CountedIds(), durable=False)
        self.generator = OpenAiGenerator(model.url, "small", timeout_s=5)
        self.drain = Drain(self.store, self.clock, words_by_model=True)
        self.inquirer = Inquirer(self.store, self.clock, self.generator)
        principal = Principal("lamina", "service:app", "http")
        self.call = Call(principal, "req_1", NOON, PolicyPermits(OpenPolicy(), principal))

    def say(self, number: int) -> None:
        body = {
            "tenantId": "t",
            "userId": "u",
            "personaId": "p",
            "role": "user",
            "text": text_of_turn(number),
            "timestamp": rfc3339(self.clock.at),
            "sessionId": "s",
        }
        Ingesting(self.store).ingest(Ingest.model_validate(body), self.call)

    def behind(self) -> None:
        """What is done behind the calls within a second."""
        self.drain.drain()
        while self.inquirer.step():
            pass
        self.clock.at += SECOND_US

    def sitting(self) -> Sitting:
        sitting = self.store.sessions.sitting(SessionKey("lamina", scope_of("t", "u"), "s"))
        assert sitting is not None
        return sitting

    def brief(self) -> Any:
        now = rfc3339(self.clock.at)
        asked = BriefAsked(
            tenant_id="t", user_id="u", persona_id="p", session_id="s", now=now, mode="in_session"
        )
        return Briefing(self.store).brief(asked, self.call).result

    def told(self) -> set[str]:
        """The key words that the brief tells of."""
        brief = self.brief()
        shown = brief.rolling_summary + " ".join(turn.text for turn in brief.working_memory)
        return {word for _, word in MARKED.values() if word in shown}

    def close(self) -> None:
        self.generator.close()
        self.store.close()


@pytest.fixture
def model() -> Iterator[ModelServer]:
    model = ModelServer(worded)
    model.words = True
    yield model
    model.stop()


def test_no_turn_goes_missing_while_the_model_answers_500(tmp_path: Path, model: ModelServer) -> None:
    sound, talk = Talk(tmp_path / "sound", model), Talk(tmp_path / "talk", model)
    for number in range(TURNS):
        model.status = 200
        sound.say(number)
        sound.behind()
        model.status = 500
        talk.say(number)
        assert talk.told() >= sound.told(), "before anything was done behind it"
        talk.behind()
        sitting = talk.sitting()
        assert sitting.folded + len(sitting.buffered) == sitting.turns == number + 1
        assert talk.told() == sound.told() == {word for at, (_, word) in MARKED.items() if at <= number}
    waiting = talk.store.upkeep.state()
    assert (waiting.summaries_waiting, waiting.summaries_waiting_since) == (28, NOON + 12 * SECOND_US)
    model.status = 200
    talk.clock.at += 60 * SECOND_US
    talk.behind()
    assert talk.brief().rolling_summary == sound.brief().rolling_summary
    assert talk.store.upkeep.state().summaries_waiting == 0
    sound.close()
    talk.close()


def test_a_model_that_is_gone_is_asked_by_one_question_at_a_time(tmp_path: Path, model: ModelServer) -> None:
    talk = Talk(tmp_path, model)
    model.status = 503
    for number in range(TURNS):
        talk.say(number)
        talk.drain.drain()
    for _ in range(TURNS):
        talk.inquirer.step()
    assert len(model.requests) == 1
    model.stop()
    talk.clock.at += 3600 * SECOND_US
    assert [talk.inquirer.step() for _ in range(3)] == [1, 0, 0]
    (first, *_) = talk.store.inquiries.unsettled("lamina", None, TURNS)[::-1]
    assert (first.state, first.attempts, first.last_error) == (
        "pending",
        0,
        "MODEL_UNAVAILABLE: the language model gave no answer: ConnectError",
    )
    talk.close()


def test_a_replay_tells_summaries_anew_by_what_the_model_is_recorded_to_have_said(
    tmp_path: Path, model: ModelServer
) -> None:
    talk = Talk(tmp_path, model)
    model.answers = in_other_words
    for number in range(16):
        talk.say(number)
        talk.behind()
    ended = talk.store.sessions.close(talk.sitting().place, talk.clock.at)
    assert ended is not None
    talk.behind()
    held, asked = talk.sitting(), len(model.requests)
    assert "It was said: I need to renew my passport" in held.summary
    assert (held.folded, held.bridge) == (16, f"Last session:\n{held.summary}")
    bridge, folds = talk.store.model_outputs.spent(None, talk.clock.at // (24 * 3600 * SECOND_US))
    assert (bridge.task, bridge.asked, folds.task, folds.asked) == ("bridge/1", 1, "fold/1", asked - 1)
    assert talk.store.sessions.retell(held, "User: Something else.", "Last session:\nUser: Something else.")
    assert retell(talk.store) == 1
    told = talk.sitting()
    assert (told.summary, told.bridge, len(model.requests)) == (held.summary, held.bridge, asked)
    talk.store.model_outputs.forget("lamina", talk.store.sessions.folded(told.place, told.number))
    assert retell(talk.store) == 0, "words of a model that nobody recorded are kept"
    assert talk.sitting().summary == held.summary
    talk.close()


def test_a_turn_that_is_cancelled_has_those_before_it_told_without_asking_again(
    tmp_path: Path, model: ModelServer
) -> None:
    talk = Talk(tmp_path, model)
    model.answers = in_other_words
    for number in range(20):
        talk.say(number)
        talk.behind()
    asked = len(model.requests)
    sixth = talk.store.sessions.folded(talk.sitting().place, 1)[6]
    talk.store.log.cancel("lamina", sixth)
    talk.behind()
    assert talk.sitting().folded == 8
    assert len(model.requests) - asked == 1
    talk.close()


def over(talk: Talk, turns: int = 16) -> Sitting:
    """A sitting of some turns that is over, folded by rules."""
    for number in range(turns):
        talk.say(number)
    assert talk.store.sessions.close(talk.sitting().place, talk.clock.at) is not None
    talk.drain.drain()
    return talk.sitting()


def test_a_bridge_is_by_rules_until_the_model_has_worded_it(tmp_path: Path, model: ModelServer) -> None:
    talk = Talk(tmp_path, model)
    model.answers = bridged
    by_rules = over(talk)
    assert by_rules.bridge == f"Last session:\n{by_rules.summary}"
    talk.behind()
    held, asked = talk.sitting(), len(model.requests)
    assert held.summary == by_rules.summary
    assert held.bridge is not None
    assert held.bridge.startswith(
        "Last session:\nI need to renew my passport before 14 May. I have to pay the invoice 7781"
    )
    assert "Ophelia" not in held.bridge
    assert "They talked" not in held.bridge
    assert talk.store.inquiries.unsettled("lamina", None, 99) == []
    assert talk.store.sessions.retell(held, "User: Something else.", "Last session:\nUser: Something else.")
    retell(talk.store)
    assert (talk.sitting().bridge, len(model.requests)) == (held.bridge, asked)
    talk.store.model_outputs.forget("lamina", [held.window[-1]])
    retell(talk.store)
    assert talk.sitting().bridge == by_rules.bridge
    talk.close()


def test_a_bridge_is_worded_anew_without_a_cancelled_turn(tmp_path: Path, model: ModelServer) -> None:
    talk = Talk(tmp_path, model)
    model.answers = bridged
    over(talk)
    talk.behind()
    first = talk.store.sessions.folded(talk.sitting().place, 1)[1]
    talk.store.log.cancel("lamina", first)
    assert talk.sitting().bridge is None
    talk.behind()
    bridge = talk.sitting().bridge
    assert bridge is not None
    assert bridge.startswith("Last session:\nI have to pay")
    talk.close()


def test_without_an_answer_the_rules_bridge_stands_and_is_asked_about_again(
    tmp_path: Path, model: ModelServer
) -> None:
    talk = Talk(tmp_path, model)
    model.answers = lambda told: "They had a nice talk." if "lines" in told else worded(told)
    by_rules = over(talk)
    talk.behind()
    (failed,) = talk.store.inquiries.unsettled("lamina", None, 99)
    assert (talk.sitting().bridge, failed.task, failed.state) == (by_rules.bridge, "bridge/1", "failed")
    model.answers = bridged
    talk.store.inquiries.revive("lamina", talk.sitting().place.scope)
    talk.behind()
    assert talk.sitting().bridge != by_rules.bridge
    talk.close()
