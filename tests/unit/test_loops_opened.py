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
        ("Remind me to call Tom.", ("Call Tom", None)),
        ("Remind me tomorrow to call Tom, not Ben.", ("Call Tom", "09-03")),
        ("Remind me at noon to feed the cat.", ("Feed the cat", None)),
        ("Remind me at 9 a.m. to call Tom.", ("Call Tom", None)),
        ("Remind me to ask why not to freeze it.", ("Ask why not to freeze it", None)),
        ("Remind me about the notary.", ("Remember the notary", None)),
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
        ("I need to try the lamp and see it on Tuesday.", [("Try the lamp and see it", "09-08")]),
        ("I have to meet Ana and Ben on Monday.", [("Meet Ana and Ben", "09-07")]),
        ("I need to go and get milk tomorrow.", [("Go and get milk", "09-03")]),
    ],
)
def test_each_deed_has_its_own_day(text, found):
    assert deeds(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
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


def test_a_limit_on_the_weekday_of_today_is_that_of_next_week():
    assert deeds("I have to email Tom before Wednesday.") == [("Email Tom", "09-08")]
    assert deeds("I have to email Tom by Wednesday.") == [("Email Tom", "09-02")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I need to call Dr. Weller tomorrow.", ("Call Dr. Weller", "09-03")),
        ("I need to hand in my notice to Dr. Weller by tomorrow.", ("Hand in my notice to Dr. Weller", "09-03")),
        ("I have to email Ms. Oyelaran by Friday.", ("Email Ms. Oyelaran", "09-04")),
        ("I must meet Prof. Klein on Monday.", ("Meet Prof. Klein", "09-07")),
        ("I need to meet J. Okafor on Monday.", ("Meet J. Okafor", "09-07")),
        ("I need to go to St. Pauli on Friday.", ("Go to St. Pauli", "09-04")),
        ("I've got an appointment with Dr. Weller on Monday.", ("Appointment", "09-07")),
        ("I need to meet Mr Kern on Monday.", ("Meet Mr Kern", "09-07")),
        ("I need to call the doctor... tomorrow.", ("Call the doctor", "09-03")),
        ("I need to call the doctor. Tomorrow is Thursday.", ("Call the doctor", None)),
        ("I'll start with Avenue Q. I've heard it's great.", ("Start with Avenue Q", None)),
        ("I need to buy vitamin C. It helps.", ("Buy vitamin C", None)),
        ("I'll book a table at Smokey's. By the way, it rains.", ("Book a table at Smokey's", None)),
        ("I need to call Jo, it's urgent.", ("Call Jo", None)),
    ],
)  # fmt: skip
def test_an_abbreviation_ends_no_deed(text, found):
    assert deeds(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "I need to vent.",
        "I just need to vent about Tom.",
        "I have to smile every time I see it.",
        "i have to laugh when i think of it",
        "We must breathe.",
        "I need to calm down.",
        "I've got to relax more.",
        "I have to be kinder to myself.",
        "I need to be less stressed",
        "I should be nicer, I need to stay calm.",
        "I'm going to cry.",
        "I'm going to scream today.",
        "I can't come, I have to work.",
        "I need to stop overthinking.",
        "I need to let it go.",
        "I have to accept that.",
        "I need to get used to it.",
        "I'm writing this from the train.",
        "I'm writing to say thank you.",
        "We're learning so much.",
        "I'm learning from my mistakes.",
        "I'm learning to let go.",
        "I'm trying to be better.",
        "I'm planning this with Ana.",
    ],
)
def test_a_feeling_or_a_state_is_no_deed(text):
    assert drafts(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I have to work on Saturday.", ("commitment", "Work", "09-05")),
        ("I need to work on my thesis.", ("commitment", "Work on my thesis", None)),
        ("I need to work out on Friday.", ("commitment", "Work out", "09-04")),
        ("I need to relax on Sunday.", ("commitment", "Relax", "09-06")),
        ("I need to be at the station at noon tomorrow.", ("commitment", "Be at the station", "09-03")),
        ("I have to be in Leeds by Friday.", ("commitment", "Be in Leeds", "09-04")),
        ("I need to let the dog out.", ("commitment", "Let the dog out", None)),
        ("I have to accept the offer.", ("commitment", "Accept the offer", None)),
        ("I need to stop smoking.", ("commitment", "Stop smoking", None)),
        ("I need to ventilate the cellar.", ("commitment", "Ventilate the cellar", None)),
        ("Remind me to breathe.", ("commitment", "Breathe", None)),
        ("I'm working on my tax return.", ("thread", "Working on my tax return", None)),
        ("I'm writing this essay.", ("thread", "Writing this essay", None)),
        ("I'm writing to the landlord.", ("thread", "Writing to the landlord", None)),
        ("I'm learning a lot about data.", ("thread", "Learning a lot about data", None)),
        ("I'm learning to drive.", ("thread", "Learning to drive", None)),
        ("I'm learning more Spanish.", ("thread", "Learning more Spanish", None)),
    ],
)  # fmt: skip
def test_a_deed_that_sounds_like_a_state_is_one(text, found):
    assert drafts(text) == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I have to finish the daily report by Friday.", [("commitment", "Finish the daily report", "09-04")]),
        ("I have to get up at six tomorrow.", [("commitment", "Get up", "09-03")]),
        ("I need to water the plants every Sunday.", [("commitment", "Water the plants every Sunday", None)]),
        ("Remind me to stretch at nine every day.", [("commitment", "Stretch at nine every day", None)]),
        ("I'll wake up at 7:30 AM on weekends.", [("commitment", "Wake up at 7:30 AM on weekends", None)]),
        (
            "I'll ask my appraiser about the painter's mark and see what they can find out.",
            [("commitment", "Ask my appraiser about the painter's mark", None)],
        ),
        (
            "I'll make sure to clean the mechanical media and check the biological media to ensure a good flow.",
            [("commitment", "Make sure to clean the mechanical media and check the biological media", None)],
        ),
        ("I'm struggling to manage my time.", [("friction", "Struggling to manage my time", None)]),
        ("I'll store my winter clothes.", [("commitment", "Store my winter clothes", None)]),
        ("I'll join the Friday meeting.", [("commitment", "Join the meeting", "09-04")]),
        (
            "I'll prepare the slides the night before the exam.",
            [("commitment", "Prepare the slides the night before the exam", None)],
        ),
        (
            "I'll water the plants in the evening after work.",
            [("commitment", "Water the plants after work", "09-02")],
        ),
        ("I'll go there the weekend after Easter.", [("commitment", "Go there", "04-04")]),
        ("I'll fix the Friday report tomorrow.", [("commitment", "Fix the Friday report", "09-03")]),
        ("I run every day.", [("habit", "Run every day", None)]),
        ("I only eat fish on Fridays.", [("habit", "Only eat fish on Fridays", None)]),
        ("I love running every morning.", [("habit", "Love running every morning", None)]),
        ("I don't run every day.", []),
        ("i never drink on weekdays", []),
        ("I can't run every day.", []),
        ("We do not cook on Sundays.", []),
        ("I have never run on Sundays.", []),
        ("I rarely swim on Mondays.", []),
        ("I usually don't eat breakfast.", []),
        ("I could run every day.", []),
        ("I love Sundays.", []),
        ("I just don't like Mondays.", []),
        ("I don't hate my job, I just hate Mondays.", []),
        ("I don't have to get up at six every day.", []),
    ],
)  # fmt: skip
def test_what_recurs_is_a_habit_unless_it_is_not_done(text, found):
    assert drafts(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The next step is to email Lars.", []),
        ("I need to ask my boss for a raise.", [("commitment", "Ask my boss for a raise", None)]),
        ("I have to ask Mr. Kern about the invoice on Monday.", [("commitment", "Ask Mr. Kern about the invoice", "09-07")]),
        ("I have to ask you something.", []),
        ("I need to ask you about Rome.", []),
        ("I have to ask: why?", []),
        ("My habit: coffee.", []),
        ("Started cycling.", []),
        ("Started cycling yesterday.", []),
        ("Promised my mum never to smoke.", []),
        ("Tom promised me a quote by Friday.", []),
        ("I promised myself a holiday.", []),
        ("I promised Ana a while ago.", []),
        ("He promised I'd get a raise.", []),
        ("I was promised a raise by Friday.", []),
        ("Dentist is lovely.", []),
        ("Tom's dentist is booked for Monday.", []),
        ("I'm moving on.", []),
        ("I'm visiting Ana until Sunday.", []),
        ("We're visiting in October.", []),
        ("I'm visiting Ana this week.", []),
        ("I'm not moving on 24 October.", []),
        ("Mum thinks I'm moving on Friday.", []),
        ("If I'm flying on Friday I can't come.", []),
        ("I'm seeing things.", []),
        ("Tom is moving on 24 October.", []),
        ("Next step: unclear.", []),
        ("Next step: interview with Ana.", []),
        ("Follow up with Jana.", []),
        ("Did you follow up with Jana on Monday?", []),
        ("Cancel the meeting on Friday.", []),
    ],
)  # fmt: skip
def test_what_is_noted_in_a_word_is_read(text, found):
    assert drafts(text) == found
