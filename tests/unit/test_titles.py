"""What an episode is called, and its summary: chosen from its own words by how much of it they tell and how rare they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from given import append
from lamina.kernel.events import Event, text_of
from lamina.models.minilm import MiniLmEmbedder
from lamina.models.ports import Float32Array
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.titles import TurnPhrases, title_of, words_of_turns
from lamina.store.memory import MemoryStore

DAY = "2026-05-13"
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


def read_of(events: list[Event], *phrases: list[str]) -> dict[str, TurnPhrases]:
    return {event.id: TurnPhrases(each) for event, each in zip(events, phrases, strict=True)}


def talk() -> tuple[list[Event], dict[str, TurnPhrases]]:
    events = append(MemoryStore(), *TALK)
    return events, read_of(events, *PHRASES)


def test_a_name_is_the_clause_with_the_thing_that_most_turns_share_and_other_talks_lack() -> None:
    events, read = talk()
    assert title_of(events, read, OTHERS, DAY).name == f'"The dance studio opens on Friday" ({DAY})'
    common = [frozenset({"danc", "dance", "studio"})] * 4
    assert "dance" not in title_of(events, read, common, DAY).name


def test_without_phrases_a_name_is_the_clause_that_tells_most_and_without_words_it_is_the_day() -> None:
    events, _ = talk()
    assert title_of(events, {}, OTHERS, DAY).name == f'"The dance studio opens on Friday" ({DAY})'
    assert title_of([], {}, OTHERS, DAY).name == f"Conversation of {DAY}"


def test_a_name_is_rather_news_from_the_beginning_than_a_detail_or_a_question() -> None:
    events = append(
        MemoryStore(),
        "I bought a canal boat near Delft, with a brass lantern.",
        "Does the canal boat have an oak mast?",
        "I carved the oak mast of the canal boat myself.",
    )
    read = read_of(events, ["canal boat", "brass lantern"], [], ["oak mast", "canal boat"])
    assert title_of(events, read, [], DAY).name == f'"I bought a canal boat near Delft" ({DAY})'


def test_of_the_best_clauses_the_one_that_means_what_the_talk_does_is_the_name() -> None:
    events = append(
        MemoryStore(),
        "I told my friends about that wonderful funny surprise yesterday. How do orchids get enough water in winter?",
        "Is a bowl of water each week enough?",
        "Do their roots not rot when they stay wet?",
        "Do pots for orchids have holes?",
        "Is fresh bark good for orchids?",
    )
    by_words = title_of(events, {}, [], DAY)
    assert "friends" in by_words.name
    named = title_of(events, {}, [], DAY, Nearness(MiniLmEmbedder().pooled))
    assert "friends" not in named.name
    assert named.name.removesuffix(f'" ({DAY})')[1:-2] in " ".join(text_of(each.content) for each in events)


def test_a_name_is_compared_with_few_turns_and_not_where_a_talk_has_fewer() -> None:
    read: list[str] = []

    def pooled(texts: Sequence[str]) -> Float32Array:
        read.extend(texts)
        return np.ones((len(texts), 1), np.float32)

    nearness = Nearness(pooled)
    numbers = ("first", "second", "third", "fourth", "fifth", "sixth")
    events = append(MemoryStore(), *(f"I built the {each} boat of our village" for each in numbers))
    assert title_of([], {}, [], DAY, nearness).name == f"Conversation of {DAY}"
    assert title_of(events[:3], {}, [], DAY, nearness) == title_of(events[:3], {}, [], DAY)
    assert not read
    assert title_of(events, {}, [], DAY, nearness) == title_of(events, {}, [], DAY)
    assert len(read) == 2 * 4 + 4


def test_a_summary_tells_the_matter_and_neither_asks_nor_repeats_notes() -> None:
    events, read = talk()
    summary = title_of(events, read, OTHERS, DAY).summary
    assert "The dance studio opens on Friday" in summary
    assert "?" not in summary
    assert "unicorn" not in summary
    assert "unicorn" not in words_of_turns(events)


def test_what_a_speaker_tells_of_themselves_goes_before_praise_of_as_rare_words() -> None:
    events = append(
        MemoryStore(),
        "Your amazing courage and resilience shine through every wonderful choice.",
        "I adopted a greyhound puppy from the harbour shelter.",
    )
    read = read_of(
        events, ["amazing courage", "resilience", "wonderful choice"], ["greyhound puppy", "harbour shelter"]
    )
    assert title_of(events, read, [], DAY).name == f'"I adopted a greyhound puppy …" ({DAY})'


def test_a_sentence_in_which_something_is_claimed_goes_before_one_in_which_nothing_is() -> None:
    events = append(MemoryStore(), "We bought a canal boat there. We painted the silver fog there.")
    phrases = (["canal boat", "silver fog"],)
    claimed = [
        {
            event.id: TurnPhrases(each, claims)
            for event, each, claims in zip(events, phrases, spans, strict=True)
        }
        for spans in ([[(0, 20)]], [[(35, 50)]])
    ]
    assert [title_of(events, read, [], DAY).name for read in claimed] == [
        f'"We bought a canal boat there" ({DAY})',
        f'"We painted the silver fog there" ({DAY})',
    ]


def test_a_name_does_not_begin_with_when_it_was() -> None:
    events = append(
        MemoryStore(), "Last weekend I repaired the kiln.", "Last weekend was the hottest weekend."
    )
    read = read_of(events, ["Last weekend", "kiln"], ["Last weekend"])
    assert title_of(events, read, [], DAY).name == f'"I repaired the kiln" ({DAY})'


def test_a_name_is_rather_ones_own_news_than_a_reply_to_it_and_the_summary_has_it() -> None:
    events = append(
        MemoryStore(),
        "Hey, by the way, I got noticed by fashion editors in Delft. It rained.",
        "Congrats on the fashion editors and on the lovely harbour show.",
        "The fashion editors liked the harbour.",
    )
    read = read_of(
        events, ["fashion editors"], ["fashion editors", "harbour show"], ["fashion editors", "harbour"]
    )
    title = title_of(events, read, [], DAY)
    assert title.name == f'"I got noticed by fashion editors in Delft" ({DAY})'
    assert "I got noticed by fashion editors in Delft." in title.summary


def test_a_long_clause_is_named_by_its_end_where_its_beginning_says_nothing() -> None:
    text = "I am really just interested in so much more of the painted harbour lanterns of Delft."
    events = append(MemoryStore(), text)
    name = title_of(events, read_of(events, ["painted harbour lanterns", "Delft"]), [], DAY).name
    assert name == f'"… much more of the painted harbour lanterns …" ({DAY})'


def test_a_summary_that_goes_on_ends_with_a_whole_word_because_half_a_figure_is_another_one() -> None:
    for length in range(450, 480):
        text = f"{'We borrowed for the harbour '.ljust(length, 'r')} $340,000 from the bank in Delft"
        events = append(MemoryStore(), text)
        summary = title_of(events, read_of(events, ["harbour"]), [], DAY).summary
        assert "$" not in summary or "$340,000" in summary, summary
        assert summary.endswith("…")
