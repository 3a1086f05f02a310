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
        ("Remind me never ever to lend him money.", ("Remember not to lend him money", None)),
        ("Remind me not to forget to call Tom tomorrow.", ("Call Tom", "09-03")),
        ("Please remind me to not forget the milk.", ("Remember the milk", None)),
        ("remind me not to forget about the notary on friday", ("Remember the notary", "09-04")),
        ("Don't let me forget not to park there.", ("Remember not to park there", None)),
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
        (
            "i gotta call the bank monday and see the dentist tuesday",
            [("Call the bank", "09-07"), ("See the dentist", "09-08")],
        ),
        ("I need to try the lamp and see it on Tuesday.", [("Try the lamp and see it", "09-08")]),
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
        ("I'll email the college and ask if they know.", ["Email the college"]),
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
        ("I promised Ana to be nicer.", ("commitment", "Be nicer", None)),
        ("I'm working on my tax return.", ("thread", "Working on my tax return", None)),
        ("I'm writing this essay.", ("thread", "Writing this essay", None)),
        ("I'm writing to the landlord.", ("thread", "Writing to the landlord", None)),
        ("I'm learning a lot about data.", ("thread", "Learning a lot about data", None)),
        ("I'm trying to stay focused on my thesis.", ("thread", "Trying to stay focused on my thesis", None)),
        ("I'm learning to drive.", ("thread", "Learning to drive", None)),
        ("I'm learning more Spanish.", ("thread", "Learning more Spanish", None)),
        ("I'm trying to find a flat.", ("thread", "Trying to find a flat", None)),
    ],
)  # fmt: skip
def test_a_deed_that_sounds_like_a_state_is_one(text, found):
    assert drafts(text) == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I have to get up at six every day.", [("habit", "Get up at six every day", None)]),
        ("I've got to take my pills twice a day.", [("habit", "Take my pills twice a day", None)]),
        ("We have to take the bins out on Tuesdays.", [("habit", "Take the bins out on Tuesdays", None)]),
        ("I have to finish the daily report by Friday.", [("commitment", "Finish the daily report", "09-04")]),
        ("I have to get up at six tomorrow.", [("commitment", "Get up", "09-03")]),
        ("I need to water the plants every Sunday.", [("commitment", "Water the plants every Sunday", None)]),
        ("Remind me to stretch at nine every day.", [("commitment", "Stretch every day", None)]),
        ("I run every day.", [("habit", "Run every day", None)]),
        ("I only eat fish on Fridays.", [("habit", "Only eat fish on Fridays", None)]),
        ("I love running every morning.", [("habit", "Love running every morning", None)]),
        ("I usually skip breakfast.", [("habit", "Skip breakfast", None)]),
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
        ("So the new habit: swimming on Tuesdays.", [("habit", "Swimming on Tuesdays", None)]),
        ("My new routine is yoga every morning.", [("habit", "Yoga every morning", None)]),
        ("started cycling to work every day", [("habit", "Cycling to work every day", None)]),
        ("Also promised my mum I'd visit her on the 12th.", [("commitment", "Visit my mum", "09-12")]),
        ("Promised Ana to bake a cake for Sunday.", [("commitment", "Bake a cake", "09-06")]),
        ("I promised Lars a revised quote by 9 September.", [("commitment", "Give Lars a revised quote", "09-09")]),
        ("We've promised the kids a trip to the zoo.", [("commitment", "Give the kids a trip to the zoo", None)]),
        ("Dentist is booked, 24 September at 8:15.", [("commitment", "Dentist", "09-24")]),
        ("The eye test is confirmed for Monday.", [("commitment", "Eye test", "09-07")]),
        ("flight booked for friday", [("commitment", "Flight", "09-04")]),
        ("I'm moving on 24 October.", [("commitment", "Move", "10-24")]),
        ("On Friday I'm flying to Rome.", [("commitment", "Fly to Rome", "09-04")]),
        ("We're meeting Ana on Monday and flying home on Tuesday.", [("commitment", "Meet Ana", "09-07")]),
        ("i'm starting my new job on 1 october", [("commitment", "Start my new job", "10-01")]),
        ("We're getting married on 5 June.", [("commitment", "Get married", "06-05")]),
        ("Next step: send Petra the case study by Friday.", [("commitment", "Send Petra the case study", "09-04")]),
        ("The next step is to email Lars.", []),
        ("Next step is to email Lars tomorrow.", [("commitment", "Email Lars", "09-03")]),
        ("I need to ask my boss for a raise.", [("commitment", "Ask my boss for a raise", None)]),
        ("I have to ask Mr. Kern about the invoice on Monday.", [("commitment", "Ask Mr. Kern about the invoice", "09-07")]),
        ("I have to ask you something.", []),
        ("I need to ask you about Rome.", []),
        ("I have to ask: why?", []),
        ("Follow up with Jana on 19 October.", [("commitment", "Follow up with Jana", "10-19")]),
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
        ("I'm leaving tomorrow.", [("commitment", "Leave", "09-03")]),
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


@pytest.mark.parametrize(
    ("text", "before", "words"),
    [
        ("I talked to Tom today. I'm going to call him on Friday.", "", "Call Tom"),
        ("spoke with mum. i need to send her the photos", "", "Send mum the photos"),
        ("I wrote to Ana yesterday. I have to ring her.", "", "Ring Ana"),
        ("I finally heard from Ben. I need to call him.", "", "Call Ben"),
        ("I went to Rome. I have to call him.", "", "Call him (“I went to Rome”)"),
        ("I moved to Paris with Ana. I have to call her.", "", "Call Ana"),
        ("I talked to Tom and Ben. I need to call him.", "", "Call him (“I talked to Tom and Ben”)"),
        ("No. I need to talk to him.", "A: Did you and Tom talk?", "Talk to him (“I need to talk to him”)"),
        ("Yes! I have to call them.", "A: The bank again?", "Call them (“I have to call them”)"),
        ("Hmm, well, okay. I'll email them on Monday.", "", "Email them (“I'll email them on Monday”)"),
        ("The rent is late. No. I need to call them.", "", "Call them (“The rent is late”)"),
        ("No news. I need to call them.", "", "Call them (“No news”)"),
        ("Tom rang. No. I need to call him.", "", "Call Tom"),
        ("Work was awful. I have to call her.", "", "Call her (“Work was awful”)"),
    ],
)
def test_a_label_names_who_was_talked_to_and_quotes_no_bare_answer(text, before, words):
    assert [wording for wording, _ in deeds(text, *filter(None, [before]))] == [words]
