"""Notes of days are of one finder: who finds otherwise says so."""

from __future__ import annotations

from hashlib import sha256

import pytest

from lamina.kernel.local import LocalTime
from lamina.kernel.time import instant
from lamina.language.days import FINDER, DayNote, days_meant, note_of, noted_days, read_note
from lamina.language.temporal.lexicon import STARTERS

MAY_13 = LocalTime(instant("2026-05-13T12:00:00Z"), 120)
PHRASES = (
    "I saw her {} .", "We leave {} week.", "On {} 5 it was.", "Two days {} that.", "Since {} I work there.", "The last {} of May.",
    "It is my last {} here.",
)  # fmt: skip
TEXT = "We met yesterday. It rains. He left last week. Tomorrow we sow."


def within(line: str, start: int, end: int, observed: LocalTime, note: DayNote | None) -> str | None:
    noted = noted_days(line, observed, note)
    return None if noted is None else noted.within(start, end)


def test_what_is_found_is_what_this_version_of_the_finder_finds() -> None:
    """Where this fails and what is found now is right: raise ``FINDER``, and put the new digest here."""
    found = [days_meant(phrase.format(word), MAY_13) for phrase in PHRASES for word in sorted(STARTERS)]
    assert len(set(found)) > 100
    assert (FINDER, sha256("\n".join(found).encode()).hexdigest()[:16]) == ("7", "31823b315bb2bc55")


def test_a_note_is_read_by_its_own_finder_alone() -> None:
    noted = note_of('She said "see you [1] tomorrow".', MAY_13)
    note = read_note(noted)
    assert note is not None
    assert note.days == "22-30:2026-05-14"
    assert read_note(noted.replace(FINDER, "0", 1)) is None
    assert read_note("") is None


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ("We met yesterday.", " (yesterday: 2026-05-12)"),
        ("He left last week.", " (last week: 2026-05-04 to 2026-05-10)"),
        ("It rains.", ""),
        ("We met yester", ""),  # a part of the words means nothing
        (TEXT, " (yesterday: 2026-05-12; last week: 2026-05-04 to 2026-05-10)"),  # two at most
    ],
)
def test_a_part_of_a_turn_has_the_days_that_stand_in_it(shown: str, told: str) -> None:
    start = TEXT.index(shown)
    note = read_note(note_of(TEXT, MAY_13))
    assert within(TEXT, start, start + len(shown), MAY_13, note) == told
    assert days_meant(shown, MAY_13) == told


def test_a_note_tells_nothing_of_other_words_or_of_what_it_was_not_read_to() -> None:
    note = read_note(note_of(TEXT, MAY_13))
    assert within(TEXT.replace("met", "fed"), 0, 5, MAY_13, note) is None
    assert within(TEXT, 0, 5, LocalTime(MAY_13.at, 60), note) is None
    assert within(TEXT, 0, 5, MAY_13, None) is None
    many = " ".join(["Yesterday."] * 100)
    note = read_note(note_of(many, MAY_13))
    assert note is not None
    assert note.days.count(";") == 63
    assert within(many, 0, 64 * 11 - 2, MAY_13, note) == " (Yesterday: 2026-05-12)"
    assert within(many, 0, 64 * 11 + 5, MAY_13, note) is None
