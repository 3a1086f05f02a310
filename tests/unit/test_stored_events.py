"""Events as rows of the log: what comes back, in how much room, and that rows of earlier releases say what they said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from given import draft
from lamina.kernel.canonical import compact
from lamina.kernel.events import EventDraft, Party, Trust
from lamina.store.rows import Row
from lamina.store.sqlite.codec import EventRows, event_row, read_event

ANA = Party("user:ana", "user", "Ana Lind")


def stored(told: EventDraft) -> Row:
    """The row of an event as the log keeps it."""
    *row, offset = event_row(7, 7, "evt_7", 9, told)
    return (*row, None, offset, None, None, 0)  # what only time fills


def message(**more: str) -> dict[str, Any]:
    return {"kind": "message", "role": "user", "text": "I live in Lisbon."} | more


@pytest.mark.parametrize(
    "content",
    [
        *(message(role=role) for role in ("user", "assistant", "tool", "system")),
        message(text=""),
        message(text='{"kind":"text"}'),
        message(text="uns\u00e4glich \U0001f600\n"),
        message(text="a zero \x00 inside"),
        message(language="en"),
        message(role="narrator"),
        {"text": "I live in Lisbon.", "role": "user", "kind": "message"},
        {"kind": "text", "text": "I live in Lisbon."},
        {"kind": "text", "text": "I live in Lisbon.", "role": "user"},
        {},
        {"media": ["blob_1"], "text": "I live in Lisbon."},
        {"kind": ["message"], "role": "user", "text": "I live in Lisbon."},
        {"kind": "observation", "text": "I live in Lisbon."},
        {"kind": "message", "role": "user", "text": ["no", "text"]},
    ],
    ids=repr,
)
def test_what_was_told_comes_back_in_its_order(content: dict[str, Any]) -> None:
    again = read_event(stored(replace(draft("x"), content=content))).content
    assert compact(again) == compact(content)


@pytest.mark.parametrize("trust", list(Trust))
@pytest.mark.parametrize(
    ("actor", "subject"),
    [
        (ANA, ANA),
        (ANA, Party.of("user:bob")),
        (ANA, ANA._replace(name=None)),
        (ANA, ANA._replace(type="robot")),
        (ANA._replace(type="robot"), ANA._replace(type="robot")),
        (Party.of("user:bob"), ANA),
        (Party("agent:both", "agent", "both"), Party("agent:both", "agent", "both")),
    ],
)
def test_parties_come_back(trust: Trust, actor: Party, subject: Party) -> None:
    told = draft("x")
    told = replace(told, observed_actor=actor, subject=subject, origin=told.origin._replace(trust=trust))
    again = read_event(stored(told))
    assert (again.observed_actor, again.subject, again.origin.trust) == (actor, subject, trust)


def test_rows_that_are_made_together_are_those_made_alone() -> None:
    ben = Party("user:ben", "user", "Ben")
    told = draft("x")
    pairs = [(ANA, ANA), (ANA, ben), (ben, ANA), (ben, ben), (ANA, ANA), (ANA._replace(name="A."), ANA)]
    drafts = [replace(told, observed_actor=actor, subject=subject) for actor, subject in pairs]
    rows = EventRows()
    assert [rows.of(7, 7, "evt_7", 9, each) for each in drafts] == [
        event_row(7, 7, "evt_7", 9, each) for each in drafts
    ]


def test_a_message_takes_a_letter_more_than_its_words() -> None:
    row = stored(replace(draft("x"), observed_actor=ANA, subject=ANA, content=message()))
    assert (row[7], row[8], row[11], row[15]) == ("", '"Ana Lind"', "uI live in Lisbon.", "0")


def test_a_row_of_before_says_what_it_said() -> None:
    told = replace(draft("x"), observed_actor=ANA, subject=ANA, content=message())
    row = list(stored(told))
    row[7], row[8] = "user:ana", '{"both":{"type":"user","name":"Ana Lind"}}'
    row[11], row[15] = compact(message()), "principal"
    assert read_event(tuple(row)) == read_event(stored(told))
