"""Plays that go on over turns: what is said in a role, or in a story told by turns, is not said of its speaker."""

from __future__ import annotations

from pathlib import Path

import pytest

from derivations import HOUR, START, Derivation, values
from given import ALICE
from lamina.kernel.events import Party
from lamina.kernel.records import Layer
from lamina.kernel.time import SECOND_US
from talks import Talk

AGENT = Party("agent:helper", "agent", "Helper")
ROLE = "Pretend you are my interviewer."
ANSWER = "Welcome! Tell me about yourself."
SAID = "I live in Leipzig and I work at Fernhill."


@pytest.fixture
def lamina(tmp_path: Path):
    lamina = Derivation(tmp_path)
    yield lamina
    lamina.store.close()


def tell(lamina: Derivation, *turns: str, at: int = START) -> None:
    """Turns a minute apart; "A:" stands before those of the assistant."""
    for number, turn in enumerate(turns):
        says = {"observed_actor": AGENT, "subject": AGENT} if turn.startswith("A: ") else {}
        role, text = "assistant" if says else "user", turn.removeprefix("A: ")
        content = {"kind": "message", "role": role, "text": text}
        lamina.say(text, at=at + number * 60 * SECOND_US, content=content, **says)
    lamina.derive()


@pytest.mark.parametrize(
    "opening",
    [
        ROLE,
        "Let's do a role play. You're a customs officer.",
        "i want to write a story, first person. can you start?",
        "Act as my landlord for a moment, I want to practice what I'll say.",
    ],
)
def test_what_is_said_in_a_play_is_not_said_of_its_speaker(lamina: Derivation, opening: str) -> None:
    tell(lamina, opening, f"A: {ANSWER}", SAID, "A: Go on.", "I like ramen.", "A: Nice. I live in Oslo.")
    assert lamina.current(Layer.FACTS) == []


def test_who_leaves_a_play_speaks_of_themselves_again(lamina: Derivation) -> None:
    tell(
        lamina, ROLE, f"A: {ANSWER}", SAID, "A: Thank you.", "I like ramen. Ok, end of role play. I live in Lisbon."
    )  # fmt: skip
    assert values(lamina.facts("lives_in")) == ["Lisbon"]
    assert lamina.facts("likes") == []


@pytest.mark.parametrize(
    "turns",
    [
        ("Pretend you are a tutor and plan a lesson.", f"A: {ANSWER}", SAID),
        ("Act as a nutritionist and plan my week.", f"A: {ANSWER}", SAID),
        (ROLE, SAID),
        ("Let's play a game!", SAID),
    ],
)
def test_what_is_no_play_of_two_takes_nothing(lamina: Derivation, turns: tuple[str, ...]) -> None:
    tell(lamina, *turns)
    assert values(lamina.facts("lives_in")) == ["Leipzig"]


def test_a_play_does_not_go_on_after_a_pause(lamina: Derivation) -> None:
    tell(lamina, ROLE, f"A: {ANSWER}", SAID)
    tell(lamina, "I live in Lisbon.", at=START + 12 * HOUR)
    assert values(lamina.facts("lives_in")) == ["Lisbon"]


def test_a_play_is_known_to_who_reads_a_turn_alone(lamina: Derivation) -> None:
    tell(lamina, ROLE, f"A: {ANSWER}", SAID, "A: Go on.")
    lamina.land_together(1)  # a worker that has read nothing yet
    tell(lamina, "I like ramen.", at=START + HOUR)
    assert lamina.facts("likes", scope=ALICE) == []
    before, after = lamina.replayed()
    assert before == after


def test_what_is_promised_in_a_play_stays_open_for_nobody(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.hear(
        ROLE, f"A: {ANSWER}", "I'll call Jo on Friday.", "A: Fine.", "Ok stop. I need to call the bank."
    )
    assert talk.open() == ["Call the bank"]
    talk.store.close()
