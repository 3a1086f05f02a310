"""Lists of deeds, reminders by time alone, insertions before a day, and what is taken back."""

from __future__ import annotations

import pytest

from lamina.kernel.time import instant, rfc3339, to_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.loops.reading import read_loops
from lamina.pipeline.loops.values import Heard

WEDNESDAY = to_datetime(instant("2026-11-18T09:00:00Z"))


def read(text, *before):
    heard = [Heard(each.removeprefix("A: "), not each.startswith("A: ")) for each in before]
    return read_loops(text, WEDNESDAY, find_times, heard)


def drafts(text):
    return [
        (draft.wording, None if draft.due_at is None else rfc3339(draft.due_at - 1)[:10])
        for draft in read(text).drafts
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "I have to pay the deposit for the new house, 4,200 euros, by 21 November.",
            ("Pay the deposit for the new house", "2026-11-21"),
        ),
        ("I need to call Tom, my brother, on Friday.", ("Call Tom", "2026-11-20")),
        ("We must return the car, all papers included, before Friday.", ("Return the car", "2026-11-19")),
        ("I need to send the form, about 20 pages, by Monday.", ("Send the form", "2026-11-23")),
        ("I need to call Anna, she is ill, by Friday.", ("Call Anna", None)),
        ("I need to call Anna, the landlord comes home, on Friday.", ("Call Anna", "2026-11-20")),
        ("I have to bake a cake, the party is on Friday.", ("Bake a cake", None)),
        ("I need to call mum, and Tom comes, on Friday.", ("Call mum", None)),
        ("I have to fix the door, the lock was changed, on Friday.", ("Fix the door", None)),
        ("remind me to ring the dentist tomorrow its about my uh wisdom tooth", ("Ring the dentist", "2026-11-19")),
        ("I need to ring the bank it's about the loan", ("Ring the bank", None)),
        ("I need to find out what it's about.", ("Find out what it's about", None)),
        ("I have to check if it's for Ana.", ("Check", None)),
    ],
)  # fmt: skip
def test_a_day_is_found_behind_an_insertion_and_a_clause_ends_where_the_next_begins(text, found):
    assert drafts(text) == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I need to update the docs, test cases and review notes.", [("Update the docs", None)]),
        ("I need to buy bread, book ends and water bottles.", [("Buy bread", None)]),
        ("I need to wash the car, my mum calls and pays the rent.", [("Wash the car", None)]),
        ("I have to finish the report, call me if it rains and text me.", [("Finish the report", None)]),
        ("I need to buy milk, call centres are closed and check ins too.", [("Buy milk", None)]),
        ("I need to pack, call mum she said and ask Ben.", [("Pack", None)]),
        ("I need to buy milk, eggs and bread.", [("Buy milk", None)]),
        ("I bought milk, called mum and paid the rent.", []),
        ("You should buy milk, call mum and pay the rent.", []),
    ],
)
def test_a_list_of_deeds_is_read_to_its_end(text, found):
    assert drafts(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "My mum's birthday is on 9 December.",
        "My mum's birthday was on 9 November, you should have reminded me a week before.",
        "What is on Friday, remind me.",
        "It's on Friday, remind me the day before.",
        "I forgot to cancel the milk.",
        "She forgot to cancel the milk, can you remind me tomorrow?",
        "I forgot to ask, can you remind me what tomorrow's date is?",
        "I forgot to cancel the milk, can you remind me how?",
        "I forgot to say, remind me tomorrow.",
        "Can you remind me tomorrow?",
        "Remind me tomorrow.",
        "The integration test is on Friday.",
        "Mia's spelling test is on Monday.",
        "Maths tests are hard.",
        "The maths test on Monday was easy.",
    ],
)
def test_a_reminder_of_nothing_leaves_nothing_open(text):
    assert drafts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Remind me to buy milk. No, actually, don't.",
        "Remind me to buy milk. Actually, never mind.",
        "Remind me to buy milk. Wait, no, don't bother.",
        "Remind me to buy milk. Cancel that.",
        "Remind me to buy milk, no, actually don't.",
        "remind me to buy milk no wait dont bother",
        "I need to call Bob. No, forget it.",
    ],
)
def test_what_is_taken_back_at_once_is_not_open(text):
    assert drafts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I need to call Bob. Don't worry.",
        "I need to call Bob. No wait.",
        "I need to call Bob. Don't forget.",
        "I need to call Bob. No, really.",
        "I need to call Bob. It's late. Never mind.",
        "I need to call Bob, no rush.",
        "I need to call Bob. Don't let me forget it.",
        "I need to call Bob. Actually, I don't mind.",
    ],
)
def test_other_words_take_nothing_back(text):
    assert ("Call Bob", None) in drafts(text)


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        (("Remind me to buy milk.", "A: OK. Shall I add bread?", "No, don't."), []),
        (("Remind me to buy milk.", "A: OK.", "Don't worry."), []),
        (("Remind me to buy milk.", "A: OK.", "Never mind."), []),
        (("Remind me to buy milk.", "A: OK.", "No, I don't like it."), []),
        (("I need to buy milk and call mum.", "A: OK.", "No, don't."), []),
        (("The milk is sour.", "A: OK.", "No, don't."), []),
        (("A: Remind me to buy milk.", "No, don't."), []),
    ],
    ids=str,
)
def test_a_turn_takes_back_what_the_one_before_asked_for(turns, words):
    endings = read(turns[-1], *turns[:-1][-2:]).endings
    assert [each.words for each in endings if not each.completed] == words


@pytest.mark.parametrize(
    "text",
    [
        "remind me a week before " * 300,
        "I forgot to " + "a " * 3000 + "remind me tomorrow",
        "I need to buy milk" + ", call mum" * 400 + " and pay rent",
        "pay the rent, the " + "4,2" * 1500 + ", by Friday",
        "my " + "x' s" * 900 + " is on Friday, remind me",
        "no, " * 1300 + "don't",
        " its about" * 500,
        "I stopped " + "running " * 600,
    ],
)
def test_hostile_text_is_read_in_bounds(text):
    reading = read(text, "I need to call mum.", "A: " + text)
    assert all(len(draft.wording.split()) <= 12 for draft in reading.drafts)
