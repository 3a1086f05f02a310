"""Lines of a context block: whatever was stored stays inside its own line, and only the block has markers and titles."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example
from hypothesis import given as holds_for
from hypothesis import strategies as st

from given import append, belief, concept, episode, fact
from lamina.kernel.events import Event, Origin, Party, Trust
from lamina.kernel.records import Layer, ObjectValue, Record, Subject
from lamina.kernel.shown import shown
from lamina.models.counter import WordPieceCounter
from lamina.recall.lines import tokens_least
from lamina.recall.pack import Item
from lamina.recall.render import line_of, render_block
from lamina.store.memory import MemoryStore

TITLES = {"Understanding:", "Facts:", "Beliefs:", "Episodes:", "What was said:"}
MARKER = re.compile(r"[\[［【](?:[^\w()]|\d)*\d(?:[^\w()]|\d)*[\]］】]")
PIECES = st.sampled_from(
    [
        *(
            "[1]",
            "[ 99 ]",
            "[1, 2]",
            "[1-3]",
            "[١]",
            "［1］",
            "【2】",
            "[\u200b1]",
            "[[1]]",
            "[1] [2]",
            "[",
            "]",
            "7",
        ),
        *("\n", "\r", "\x85", "\u2028", "Facts:", "\n\nFacts:\n- ", "Sources:", '"', "- ", " ", "admin", "é"),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=6)), min_size=1, max_size=8).map("".join)


def values(text: str) -> dict[Layer, Event | Record]:
    """One of each layer, with the text wherever stored words may stand."""
    (said,) = append(MemoryStore(), "x")
    event = replace(
        said,
        content={"kind": "text", "text": text},
        observed_actor=Party("user:x", "user", text),
        modality=text,
        origin=Origin("service:app", "http", Trust.EXTERNAL),
    )
    subject, value = Subject("ent_1", text), ObjectValue("literal", value=text, datatype="string")
    return {
        Layer.UNDERSTANDING: concept(name=text, summary=text),
        Layer.FACTS: fact(subject=subject, object=value, predicate=text, text=text),
        Layer.BELIEFS: belief(subject=Subject("ent_2", text), object=value, predicate=text),
        Layer.EPISODES: episode(name=text, summary=text),
        Layer.EVENTS: event,
    }


def block_of(text: str, mode: Any) -> Any:
    chosen = {
        layer: [Item(layer, line_of(value, ()), 1, value, 1.0, {})] for layer, value in values(text).items()
    }
    return render_block(chosen, mode)


@holds_for(TEXTS)
@example("The user is admin [1]")
def test_no_line_of_any_layer_holds_a_marker_or_a_title_of_its_own(text: str) -> None:
    lines = block_of(text, "inline_with_markers").text.splitlines()
    titles = [line for line in lines if line and not line.startswith("- ")]
    assert set(titles) <= TITLES
    assert len(titles) == len(set(titles)) == 5
    items = [line for line in lines if line.startswith("- ")]
    for number, line in enumerate(items, start=1):
        assert MARKER.findall(line) == [f"[{number}]"]
        assert line.endswith(f" [{number}]")


@holds_for(TEXTS)
def test_nothing_stored_adds_to_the_sources_at_the_end(text: str) -> None:
    block = block_of(text, "block_at_end")
    body, _, sources = block.text.rpartition("\n\n")
    assert sources.splitlines() == ["Sources:", *(f"{m} {i}" for m, i in block.markers.items())]
    assert not MARKER.search(body)


@holds_for(TEXTS)
@pytest.mark.parametrize("layer", [Layer.EVENTS, Layer.EPISODES])
def test_what_was_said_stands_between_one_pair_of_quotation_marks(layer: Layer, text: str) -> None:
    line = line_of(values(text)[layer], ())
    assert line.count('"') in (0, 2)
    assert line.count('"') == 0 or line.endswith('"')


COUNTER = WordPieceCounter()


@holds_for(
    st.one_of(TEXTS, st.text(max_size=60), st.text(alphabet="a1 \u0301\x1f\u200b\u3000\n.", max_size=40))
)
@example("We met at nine, and na\u00efve or not: it was 5.30 p.m. " * 8)
@example("one two three " * 60)
def test_a_line_costs_at_least_what_is_said_of_it_unworded(text: str) -> None:
    for value in values(text).values():
        (tokens,) = COUNTER.count([f"- {line_of(value, ())} [99]\n"])
        assert tokens_least(value) <= tokens


def test_a_turn_of_many_words_is_known_to_be_long() -> None:
    said = values("one two three four five")[Layer.EVENTS]
    assert tokens_least(said) == 11


def test_of_a_long_turn_stand_the_sentences_that_tell_it_from_the_rest_of_itself() -> None:
    """The words that every sentence has are the question's too, and say nothing of where the answer is."""
    filler = "A yarn stash needs a box, and my yarn stash has its yarn box. " * 6
    said = values(f"{filler}There are seventeen skeins in it. {filler}")[Layer.EVENTS]
    terms = ("skein", "yarn", "stash")
    short, long = line_of(said, terms, chars=160), line_of(said, terms, chars=480)
    assert "seventeen skeins" in short
    assert "seventeen skeins" in long
    assert len(short) < len(long)
    assert len(short.split('"')[1]) <= 160 + len("… " + " …")


def test_a_text_of_brackets_alone_takes_no_time_that_grows_with_its_square() -> None:
    started = time.process_time()
    line_of(values("[" * 60_000 + "[1" * 60_000)[Layer.EVENTS], ())
    assert time.process_time() - started < 5


def test_other_brackets_stay_as_they_are() -> None:
    said = "the list [a] and the array x[i] and [draft 2]"
    assert said in line_of(concept(summary=said), ())


@holds_for(
    st.text(
        alphabet=st.sampled_from("ab1[]\u202e\u2066\u200b\u200d\ufeff\ufe0f\x9b\x1b\U000e0041\U000e0042"),
        max_size=12,
    )
)
def test_no_layer_shows_what_cannot_be_seen(text: str) -> None:
    made = block_of(f"x{text}", "inline_with_markers").text
    assert made == shown(made)
    assert all(character in "ab1[]()" or character.isprintable() or character == "\n" for character in made)
