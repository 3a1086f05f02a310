"""What an episode is called, and its summary: chosen from its own words by how much of it they tell and how rare they are."""

from __future__ import annotations

from given import append
from lamina.kernel.events import Event
from lamina.pipeline.titles import name_of, summary_of, words_of_turns
from lamina.store.memory import MemoryStore

TALK = (
    "Thanks for the photo of the dance studio, it looks wonderful! [shared image: a photo of a purple unicorn]",
    "The dance studio opens on Friday, and my sister painted its walls herself.",
    "Thanks! Will the dance studio have classes for children?",
    "Yes, and I bought a parking permit yesterday.",
)
PHRASES = (
    ["photo", "dance studio"],
    ["dance studio", "sister", "walls"],
    ["dance studio"],
    ["parking permit"],
)
OTHERS = [frozenset({"thank", "photo", "wonder", "sister"})] * 4


def talk() -> tuple[list[Event], dict[str, list[str]]]:
    events = append(MemoryStore(), *TALK)
    return events, {event.id: phrases for event, phrases in zip(events, PHRASES, strict=True)}


def test_a_name_is_the_phrase_that_most_turns_share_and_other_talks_lack() -> None:
    events, phrases = talk()
    assert name_of(events, phrases, OTHERS, "2026-05-13") == "dance studio (2026-05-13)"
    common = [frozenset({"danc", "dance", "studio"})] * 4
    assert "parking permit" in name_of(events, phrases, common, "2026-05-13")


def test_without_phrases_a_name_is_the_weightiest_words_and_without_words_the_day() -> None:
    events, _ = talk()
    assert name_of(events, {}, OTHERS, "2026-05-13").startswith("dance, studio")
    assert name_of([], {}, OTHERS, "2026-05-13") == "Conversation of 2026-05-13"


def test_a_summary_tells_the_matter_and_neither_asks_nor_repeats_notes() -> None:
    events, _ = talk()
    summary = summary_of(events, OTHERS)
    assert "The dance studio opens on Friday" in summary
    assert "?" not in summary
    assert "unicorn" not in summary
    assert "unicorn" not in words_of_turns(events)
