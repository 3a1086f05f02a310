"""What leaves something open and what does not: what is not to be done, two deeds and their days, feelings, habits, notes and appointments."""

from __future__ import annotations

import pytest

from lamina.kernel.time import instant, rfc3339, to_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.loops.reading import read_loops
from lamina.pipeline.loops.values import Heard

WEDNESDAY = to_datetime(instant("2026-09-02T18:00:00Z"))


def drafts(text, *before):
    heard = [Heard(each.removeprefix("A: "), not each.startswith("A: ")) for each in before]
    return [
        (
            draft.type.value,
            draft.wording,
            None if draft.due_at is None else rfc3339(draft.due_at - 1)[5:10],
        )
        for draft in read_loops(text, WEDNESDAY, find_times, heard).drafts
    ]


def deeds(text, *before):
    return [(wording, due) for _, wording, due in drafts(text, *before)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Remind me not to drink on weekdays.", ("Remember not to drink on weekdays", None)),
        ("remind me never to lend Jonas money again", ("Remember not to lend Jonas money", None)),
        ("Could you remind me tomorrow not to call Tom?", ("Remember not to call Tom", "09-03")),
        ("Please remind me to not eat before the scan.", ("Remember not to eat before the scan", None)),
        ("Ping me on Friday not to move the car.", ("Remember not to move the car", "09-04")),
        ("Remind me to never skip the warm-up.", ("Remember not to skip the warm-up", None)),
        ("Remind me to call Tom.", ("Call Tom", None)),
        ("Remind me tomorrow to call Tom, not Ben.", ("Call Tom", "09-03")),
        ("Remind me at noon to feed the cat.", ("Feed the cat", None)),
        ("Remind me at 9 a.m. to call Tom.", ("Call Tom", None)),
        ("Remind me to ask why not to freeze it.", ("Ask why not to freeze it", None)),
        ("Remind me about the notary.", ("Remember the notary", None)),
        ("Remind me that day to take the keys.", ("Take the keys", None)),
        ("I promised Tom to smoke outside.", ("Smoke outside", None)),
    ],
)  # fmt: skip
def test_a_reminder_keeps_its_not(text, found):
    assert deeds(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "Remind me that I don't have to call Tom.",
        "Remind me I never need to see him again.",
        "Remind me that Tom wants to come.",
        "Remind me why not to drink.",
        "Remind me how never to be late.",
        "I promised Tom never to smoke again.",
        "I promised not to tell anyone.",
        "Don't remind me to call Tom.",
    ],
)
def test_what_is_not_to_be_done_is_no_deed(text):
    assert drafts(text) == []


def test_an_offer_keeps_its_not():
    offer = "A: Shall I remind you not to eat tomorrow?"
    assert deeds("yes please", offer) == [("Remember not to eat", "09-03")]
