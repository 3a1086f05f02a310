"""Notes of days are of one finder: who finds otherwise says so."""

from __future__ import annotations

from hashlib import sha256

from lamina.kernel.local import LocalTime
from lamina.kernel.time import instant
from lamina.language.days import FINDER, days_meant, note_of, read_note
from lamina.language.temporal.lexicon import STARTERS

MAY_13 = LocalTime(instant("2026-05-13T12:00:00Z"), 120)
PHRASES = (
    "I saw her {} .", "We leave {} week.", "On {} 5 it was.", "Two days {} that.", "Since {} I work there.", "The last {} of May.",
)  # fmt: skip


def test_what_is_found_is_what_this_version_of_the_finder_finds() -> None:
    """Where this fails and what is found now is right: raise ``FINDER``, and put the new digest here."""
    found = [days_meant(phrase.format(word), MAY_13) for phrase in PHRASES for word in sorted(STARTERS)]
    assert len(set(found)) > 100
    assert (FINDER, sha256("\n".join(found).encode()).hexdigest()[:16]) == ("1", "1abd5c1a6d1bc13e")


def test_a_note_is_read_by_its_own_finder_alone() -> None:
    noted = note_of('She said "see you [1] tomorrow".', MAY_13)
    note = read_note(noted)
    assert note is not None
    assert note.days == " (tomorrow: 2026-05-14)"
    assert read_note(noted.replace(FINDER, "0", 1)) is None
    assert read_note("") is None
    assert note_of("tomorrow " * 60, MAY_13) == ""
