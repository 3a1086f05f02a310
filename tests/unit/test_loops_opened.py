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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "I have to call the bank on Monday and visit Gran on Sunday.",
            [("Call the bank", "09-07"), ("Visit Gran", "09-06")],
        ),
        (
            "i need to pay the rent by friday and email jonas tomorrow",
            [("Pay the rent", "09-04"), ("Email jonas", "09-03")],
        ),
        (
            "We should return the keys on the 12th and cancel the wifi by 20 September.",
            [("Return the keys", "09-12"), ("Cancel the wifi", "09-20")],
        ),
        (
            "I'll send the draft on Thursday and call Ana.",
            [("Send the draft", "09-03"), ("Call Ana", None)],
        ),
        (
            "On Monday I need to call the bank and buy a lamp on Tuesday.",
            [("Call the bank", "09-07"), ("Buy a lamp", "09-08")],
        ),
        (
            "Tomorrow I have to call the bank and email Ana.",
            [("Call the bank", "09-03"), ("Email Ana", "09-03")],
        ),
        (
            "I have to call the bank and visit Gran on Sunday.",
            [("Call the bank", "09-06"), ("Visit Gran", "09-06")],
        ),
        (
            "I need to call the bank and email Ana, can you remind me tomorrow?",
            [("Call the bank", "09-03"), ("Email Ana", "09-03")],
        ),
        (
            "I need to buy milk and eggs and call my aunt on Friday.",
            [("Buy milk and eggs", "09-04"), ("Call my aunt", "09-04")],
        ),
        ("I have to meet Ana and Ben on Monday.", [("Meet Ana and Ben", "09-07")]),
        ("I need to go and get milk tomorrow.", [("Go and get milk", "09-03")]),
        (
            "I need to buy milk, call mum and pay the rent on Friday.",
            [("Buy milk", None), ("Call mum", None), ("Pay the rent", "09-04")],
        ),
    ],
)
def test_each_deed_has_its_own_day(text, found):
    assert deeds(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I have to find helpers for the move, and cancel the gym.", ["Find helpers for the move", "Cancel the gym"]),
        ("I have to call Mum, then pick up the parcel.", ["Call Mum", "Pick up the parcel"]),
        ("I must pay the rent and then call the plumber.", ["Pay the rent", "Call the plumber"]),
        ("i need to call mum then pick up the parcel", ["Call mum", "Pick up the parcel"]),
        ("I need to pay the rent. And sign the lease and send it off.", ["Pay the rent", "Sign the lease", "Send it off"]),
        ("I need to pay the rent. Also cancel the gym.", ["Pay the rent", "Cancel the gym"]),
        ("I need to pay the rent. And it rains.", ["Pay the rent"]),
        ("I need to pay the rent. And can you write the email?", ["Pay the rent"]),
        ("I need to pay the rent. And tell me a joke.", ["Pay the rent"]),
        ("I need to pay the rent. And sign language is hard.", ["Pay the rent"]),
        ("The rent is paid. And sign the lease.", []),
        ("I need to call Ana, and Ben calls me.", ["Call Ana"]),
        ("I need to call Ana, then we eat.", ["Call Ana"]),
        ("I need to call Ana, and book lovers come too.", ["Call Ana"]),
        ("I need to pack now and then.", ["Pack"]),
    ],
)  # fmt: skip
def test_a_second_deed_is_read_behind_a_comma_and_in_the_next_sentence(text, found):
    assert [wording.split(" (“")[0] for wording, _ in deeds(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I need to call Dr. Weller tomorrow.", ("Call Dr. Weller", "09-03")),
        ("I need to hand in my notice to Dr. Weller by tomorrow.", ("Hand in my notice to Dr. Weller", "09-03")),
        ("I have to email Ms. Oyelaran by Friday.", ("Email Ms. Oyelaran", "09-04")),
        ("I must meet Prof. Klein on Monday.", ("Meet Prof. Klein", "09-07")),
        ("i should ring mrs. brandt on sunday", ("Ring mrs. brandt", "09-06")),
        ("I need to meet J. Okafor on Monday.", ("Meet J. Okafor", "09-07")),
        ("I need to go to St. Pauli on Friday.", ("Go to St. Pauli", "09-04")),
        ("I've got an appointment with Dr. Weller on Monday.", ("Appointment", "09-07")),
        ("Appointment with Dr. Weller on Monday at 9", ("Appointment with Dr. Weller", "09-07")),
        ("I need to meet Mr Kern on Monday.", ("Meet Mr Kern", "09-07")),
        ("I need to call the doctor... tomorrow.", ("Call the doctor", "09-03")),
        ("I need to call the doctor. Tomorrow is Thursday.", ("Call the doctor", None)),
        ("I need to call Jo, it's urgent.", ("Call Jo", None)),
    ],
)  # fmt: skip
def test_an_abbreviation_ends_no_deed(text, found):
    assert deeds(text) == [found]
