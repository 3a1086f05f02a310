"""What plain English leaves open, and what it ends."""

from __future__ import annotations

import pytest

from lamina.kernel.time import instant, rfc3339, to_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.loops.matching import is_past, key_terms, overlap
from lamina.pipeline.loops.reading import read_loops

TUESDAY = to_datetime(instant("2026-02-03T18:34:12Z"))


def read(text):
    return read_loops(text, TUESDAY, find_times)


OPENS = [
    ("Let's plan tomorrow. I need to book the dentist.", "commitment", "Book the dentist", None),
    ("Remind me to call mum tomorrow.", "commitment", "Call mum", "2026-02-04"),
    ("Could you remind me to water the plants on Sunday?", "commitment", "Water the plants", "2026-02-08"),
    ("Remind me about the parcel.", "commitment", "Remember the parcel", None),
    ("I'll send the report by Friday.", "commitment", "Send the report", "2026-02-06"),
    ("So I have to renew my passport before March 3rd.", "commitment", "Renew my passport", "2026-03-02"),
    ("Let's go hiking on Saturday.", "commitment", "Go hiking", "2026-02-07"),
    ("Tomorrow I need to pick up the kids at 4.", "commitment", "Pick up the kids", "2026-02-04"),
    ("Don't let me forget the milk.", "commitment", "Remember the milk", None),
    ("I promised Anna to help her move on Sunday.", "commitment", "Help her move", "2026-02-08"),
    ("I've got a dentist appointment on Friday at 3pm.", "commitment", "Dentist appointment", "2026-02-06"),
    (
        "I’m going to bake a cake tomorrow because it's Tom's birthday.",
        "commitment",
        "Bake a cake",
        "2026-02-04",
    ),
    ("I'm still waiting for the landlord to reply.", "thread", "Waiting for the landlord to reply", None),
    ("Still haven't heard back from the recruiter.", "thread", "Waiting to hear from the recruiter", None),
    ("I still haven't called the bank.", "thread", "Not yet called the bank", None),
    ("I'm working on a novel.", "thread", "Working on a novel", None),
    ("I go running every morning.", "habit", "Go running every morning", None),
    ("I usually have coffee before work.", "habit", "Have coffee before work", None),
    ("My laptop keeps crashing.", "friction", "My laptop keeps crashing", None),
    ("I'm so worried about the exam.", "friction", "Worried about the exam", None),
    ("I can't figure out the new tax form.", "friction", "Can't figure out the new tax form", None),
    ("I've decided to quit my job.", "decision", "Quit my job", None),
    ("We decided on the blue sofa because it's cheaper.", "decision", "The blue sofa", None),
    ("Let's go with the second offer.", "decision", "Go with the second offer", None),
]


@pytest.mark.parametrize(("text", "kind", "words", "due"), OPENS, ids=[text for text, *_ in OPENS])
def test_a_sentence_leaves_something_open(text, kind, words, due):
    (draft,) = read(text).drafts
    assert (draft.type.value, draft.wording) == (kind, words)
    assert (None if draft.due_at is None else rfc3339(draft.due_at - 1)[:10]) == due


@pytest.mark.parametrize(
    "text",
    [
        "I'll be honest, it was fun.",
        "I'll let you know.",
        "Let's see.",
        "Let's talk about music.",
        "If I need to cancel I'll call you.",
        "Do I need to bring anything?",
        "I would have to think about it.",
        "I used to go swimming every week.",
        "I went swimming yesterday.",
        "I must say I'm impressed.",
        "I'm going to be late.",
        "You need to rest.",
        "What do you think?",
        "Thanks, that was great!",
        "I love pizza.",
        "",
    ],
)
def test_chatter_leaves_nothing_open(text):
    assert read(text).drafts == ()


@pytest.mark.parametrize(
    ("text", "words", "completed"),
    [
        ("I booked the dentist.", "booked the dentist", True),
        ("Just sent the report!", "sent the report", True),
        ("The landlord finally replied.", "The landlord finally replied", True),
        ("The laptop works again.", "The laptop works again", True),
        ("Done!", "", True),
        ("Never mind the dentist.", "the dentist", False),
        ("I don't need to call mum anymore.", "call mum", False),
        ("The trip is cancelled.", "The trip", False),
    ],
)
def test_a_sentence_may_end_something(text, words, completed):
    (ending,) = read(text).endings
    assert (ending.words, ending.completed) == (words, completed)


@pytest.mark.parametrize(
    "text", ["I didn't book the dentist.", "Did I book the dentist?", "I need to book it."]
)
def test_what_is_not_done_ends_nothing(text):
    assert read(text).endings == ()


def test_urgency_and_nearness_raise_salience():
    assert [
        read(text).drafts[0].salience for text in ("I need to pay.", "I urgently need to pay tomorrow.")
    ] == [3, 5]


def test_a_horizon_is_how_far_the_day_is():
    said = [
        "I must call Bob tonight.",
        "I must call Bob on Sunday.",
        "I must call Bob in June.",
        "I must call Bob.",
    ]
    assert [read(text).drafts[0].horizon for text in said] == ["today", "this_week", "ongoing", "ongoing"]


def test_wordings_match_whatever_the_tense():
    assert overlap(key_terms("Send the report"), key_terms("I sent the report this morning")) == 1.0
    assert overlap(key_terms("Buy milk"), key_terms("bought the milk")) == 1.0
    assert overlap(key_terms("Call mum"), key_terms("called the bank")) == 0.5
    assert is_past("booked it")
    assert not is_past("need it")
