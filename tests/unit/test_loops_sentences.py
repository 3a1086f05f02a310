"""What one sentence of a turn does to what the sentence before it said."""

from __future__ import annotations

import pytest

from lamina.kernel.time import instant, rfc3339, to_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.loops.reading import read_loops

TUESDAY = to_datetime(instant("2026-02-03T18:34:12Z"))


def read(text: str) -> tuple[list[str], list[str], list[str]]:
    """The wordings of what is opened, of what is done or dropped, and of what is moved, with its new day."""
    found = read_loops(text, TUESDAY, find_times)
    moves = [f"{move.words} {rfc3339(move.day[0])[:10]}" for move in found.moves if move.day is not None]
    return [draft.wording for draft in found.drafts], [ending.words for ending in found.endings], moves


@pytest.mark.parametrize(
    "text",
    [
        "The dentist appointment was moved to Saturday.",
        "The dentist appointment has been moved to Saturday.",
        "The dentist appointment has been postponed to Saturday.",
        "My dentist appointment got rescheduled to Saturday.",
        "We moved the dentist appointment to Saturday.",
        "I rescheduled the dentist appointment to Saturday.",
        "They moved the dentist appointment to Saturday.",
        "The dentist appointment moved to Saturday.",
    ],
)
def test_what_was_put_on_another_day_is_not_done(text: str) -> None:
    _, ended, moved = read(text)
    assert ended == []
    (one,) = moved
    assert "dentist appointment" in one
    assert one.endswith("2026-02-07")


@pytest.mark.parametrize(
    ("text", "opened", "ended", "moved"),
    [
        (
            "I need to buy milk. I'm no longer going to sell the car. Actually, forget that.",
            ["Buy milk"],
            [],
            0,
        ),
        ("I need to call mum. I need to buy milk. Never mind.", ["Call mum"], [], 0),
        ("I need to call mum. Never mind.", [], [], 0),
        ("I need to call mum. The weather is lovely. Never mind.", ["Call mum"], [], 0),
    ],
)
def test_never_mind_takes_back_the_sentence_before(
    text: str, opened: list[str], ended: list[str], moved: int
) -> None:
    drafts, endings, moves = read(text)
    assert (drafts, endings, len(moves)) == (opened, ended, moved)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("I called the dentist. No answer.", False),
        ("I went to the bank. It was closed.", False),
        ("I booked the dentist. The weather is lovely. They were out of oat milk at the shop.", True),
        ("I paid the rent. I love autumn. No one at work agrees with me.", True),
        ("I called the bank. I paid the rent. It was closed.", True),
    ],
)
def test_bad_news_undoes_the_deed_of_the_sentence_before_alone(text: str, ends: bool) -> None:
    assert bool(read(text)[1]) is ends
