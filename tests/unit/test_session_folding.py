"""What a summary and a bridge tell: short reports and corrections too, and not what was corrected at once."""

from __future__ import annotations

from random import Random

import pytest

from lamina.session.folding import SUMMARY_CHARS_MAX, TurnWords, bridge_text, fold_turn, fold_turns
from tables import every_row


def told(*turns):
    said = [
        TurnWords("assistant" if turn.startswith("A: ") else "user", turn.removeprefix("A: "))
        for turn in turns
    ]
    return bridge_text("", said).split("\n")[1:]


@every_row(
    "turn",
    [
        "paid conor",
        "He died in 2019.",
        "he died in twenty nineteen",
        "yeah and stop the ibuprofen",
        "I stopped smoking.",
        "sold the golf",
        "cancelled the milk",
        "Tom paid it.",
        "rang the dentist",
        "moved it to friday",
        "We're not moving after all.",
        "I no longer smoke.",
    ],
)
def test_what_was_done_stopped_or_changed_is_told_however_short(turn):
    assert told("A: Hello.", turn, "A: OK.") == [f"User: {turn}"]


@every_row(
    "turn",
    [
        "yeah",
        "ok cool",
        "lol",
        "Done?",
        "A: paid",
        "A: He died.",
        "thanks",
        "no",
        "no thanks",
        "a coffee",
        "which one?",
    ],
)
def test_other_short_words_are_not(turn):
    assert told(turn) == []


FLIGHT = "A: Your flight is at 9:00 from Manchester on the 20th."
NURSE = "A: Got it, you live in Leeds and work as a nurse."


@pytest.mark.parametrize(
    ("claim", "turn"),
    [
        (FLIGHT, "no ten past ten"),
        (FLIGHT, "No, ten past ten."),
        (FLIGHT, "No. Ten past ten."),
        (FLIGHT, "nah it's ten past ten"),
        (FLIGHT, "oh no, 10:10"),
        (FLIGHT, "That's wrong, it is ten past ten."),
        (FLIGHT, "i said ten past ten"),
        (NURSE, "no not a nurse a paramedic"),
        (NURSE, "No, I'm a paramedic."),
    ],
)
def test_a_correction_is_told_in_the_place_of_what_it_corrects(claim, turn):
    lines = told("I need to plan the trip to Porto.", claim, turn)
    assert lines[0] == "User: I need to plan the trip to Porto."
    assert len(lines) == 2
    assert lines[1].startswith("User: ")


@every_row(
    ("claim", "turn"),
    [
        (FLIGHT, "no thanks"),
        (FLIGHT, "No problem."),
        (FLIGHT, "no need, Hattie drives me there"),
        (FLIGHT, "no worries"),
        (FLIGHT, "No, I don't need a taxi."),
        (FLIGHT, "no, that's all"),
        (FLIGHT, "No, not yet."),
        (FLIGHT, "Nobody told me."),
        (FLIGHT, "Noted."),
        (FLIGHT, "yes"),
        (FLIGHT, "A: No, ten past ten."),
        (NURSE, "Nope, they haven't."),
    ],
)
def test_other_words_leave_the_assistants_line(claim, turn):
    assert f"Assistant: {claim.removeprefix('A: ')}" in told(claim, turn)


@every_row(
    ("turn", "lines"),
    [
        (
            "Leonie is pregnant!! She told me today, due in March.",
            ["Leonie is pregnant!! She told me today, due in March."],
        ),
        (
            "leonie is pregnant. she told me today, due in march",
            ["leonie is pregnant. she told me today, due in march"],
        ),
        (
            "Interview invitation!!! Thursday the 24th at 2 pm.",
            ["Interview invitation!!! Thursday the 24th at 2 pm."],
        ),
        (
            "I got the flat! I'm moving on 24 October. Felix is lending me the deposit.",
            ["I got the flat!", "I'm moving on 24 October.", "Felix is lending me the deposit."],
        ),
        ("There's a new nurse. He's called Tom.", ["There's a new nurse. He's called Tom."]),
        ("The boiler again. It stopped on Monday.", ["The boiler again. It stopped on Monday."]),
        ("Grandma fell. But she's fine, they booked a scan for Monday.",
         ["Grandma fell. But she's fine, they booked a scan for Monday."]),
        ("Parents' evening. On Tuesday at 6.", ["Parents' evening. On Tuesday at 6."]),
        # what stands for itself
        ("No. I'm going to talk to Tom on Friday.", ["I'm going to talk to Tom on Friday."]),
        ("Nope! We moved to York in May.", ["We moved to York in May."]),
        ("Hi there! It's my birthday on Friday, I'm turning 40.", ["It's my birthday on Friday, I'm turning 40."]),
        ("The weather is dull. I need to call the bank.", ["I need to call the bank."]),
        ("It was dull. This morning I called the bank.", ["This morning I called the bank."]),
        ("It was dull. On Monday I need to call the bank.", ["On Monday I need to call the bank."]),
        ("Wow! Thank you so much!", []),
        ("Good morning!", []),
        ("Great idea!", []),
        ("How nice!", []),
    ],
    ids=str,
)  # fmt: skip
def test_what_speaks_of_the_sentence_before_stands_with_it(turn, lines):
    assert told(turn) == [f"User: {line}" for line in lines]


def test_a_long_sentence_before_stands_on_a_line_of_its_own():
    before = "The clinic in the old town " + "with the narrow blue door " * 5 + "wrote to Leonie again"
    assert told(f"{before}. She has to be there on Monday at nine.") == [
        f"User: {before}.",
        "User: She has to be there on Monday at nine.",
    ]


def test_the_assistants_sentences_stay_apart():
    lines = told("A: Your flight to Porto is on the 20th of May. It leaves at 9:00 from Manchester.")
    assert len(lines) == 2


def test_only_the_line_directly_before_is_dropped():
    lines = told(NURSE, "We moved to York in May.", "no ten past ten")
    assert lines[0].startswith("Assistant: ")


def test_in_a_long_session_what_was_done_stays():
    chatter = [f"I think the weather in town number {n} was rather pleasant for a walk" for n in range(60)]
    assert "User: paid conor" in told(*chatter[:20], "paid conor", *chatter[20:])


@pytest.mark.parametrize("seed", range(5))
def test_a_summary_stays_in_its_bounds(seed):
    random = Random(seed)
    words = [
        "no",
        "paid",
        "conor",
        "ten",
        "past",
        "stopped",
        "the",
        "flight",
        "9:00",
        "A:",
        "is",
        ".",
        ",",
        "moved",
        "x" * 300,
    ]
    summary = ""
    for _ in range(200):
        role = random.choice(["user", "assistant"])
        summary = fold_turn(
            summary, TurnWords(role, " ".join(random.choices(words, k=random.randint(0, 30))))
        )
        assert len(summary) <= SUMMARY_CHARS_MAX
        assert all(len(line) <= 211 for line in summary.split("\n"))


def test_turns_folded_at_once_tell_what_they_tell_one_after_the_other():
    draw = Random(20261124)
    told = "we moved to Porto in 2019 no actually I sold the golf on Friday Tom paid 40 euros why not stop it"
    words = told.split()
    for _ in range(50):
        turns = [
            TurnWords(
                draw.choice(["user", "assistant"]),
                " ".join(draw.choices(words, k=draw.randint(1, 25))) + draw.choice(".?!"),
            )
            for _ in range(40)
        ]
        one_by_one = draw.choice(["", "They speak of a car. It was sold."])
        at_once = fold_turns(one_by_one, turns)
        for turn in turns:
            one_by_one = fold_turn(one_by_one, turn)
        assert at_once == one_by_one
