"""What a context block shows under a token budget, and what its lines say of days and of disputes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given as holds_for
from hypothesis import strategies as st

from given import append, belief, concept, episode, fact
from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.local import LocalTime
from lamina.kernel.records import Author, Layer, Record
from lamina.kernel.time import instant
from lamina.language.days import days_meant
from lamina.language.tokens import term_set
from lamina.recall.compose import FACTS_MAX, compose, disputed
from lamina.recall.pack import Item, LateLine, LineOfMany
from lamina.recall.plan import BlockShape
from lamina.recall.render import line_of, render_block
from lamina.store.memory import MemoryStore

EVENTS = append(MemoryStore(), *"abcdefgh")
MAKERS = {Layer.FACTS: fact, Layer.BELIEFS: belief, Layer.EPISODES: episode, Layer.UNDERSTANDING: concept}
PLAIN = BlockShape(8, {})
NAMED = BlockShape(8, {Layer.FACTS: 0.2, Layer.EPISODES: 0.2, Layer.BELIEFS: 0.1, Layer.UNDERSTANDING: 0.1})
MAY_8 = instant("2023-05-08T13:56:00Z")


@st.composite
def candidates(draw: st.DrawFn) -> dict[Layer, list[Item]]:
    """Items of every layer, best first, some of which need another."""
    values: list[tuple[Layer, Record]] = [
        (layer, make(f"{layer}-{at}"))
        for layer, make in MAKERS.items()
        for at in range(draw(st.integers(0, 4)))
    ]
    ids = [value.id for _, value in values] + [event.id for event in EVENTS]
    items = [Item(Layer.EVENTS, "", 1, event, 1.0, {}) for event in EVENTS]
    items += [Item(layer, "", 1, value, 1.0, {}) for layer, value in values]
    drawn = [
        item._replace(
            tokens_least=draw(st.integers(1, 60)),
            score=draw(st.floats(0, 1)),
            needs=draw(st.frozensets(st.sampled_from(ids), max_size=2)) - {item.id},
        )
        for item in items
    ]
    drawn.sort(key=lambda item: -item.score)
    return {layer: [item for item in drawn if item.layer is layer] for layer in Layer}


@holds_for(candidates(), st.integers(1, 400), st.sampled_from([PLAIN, NAMED]))
def test_a_block_keeps_its_budget_and_no_episode_stands_without_what_it_needs(
    items: dict[Layer, list[Item]], max_tokens: int, shape: BlockShape
) -> None:
    lines = compose(items, shape, max_tokens)
    shown = [item for each in lines.values() for item in each]
    there = {item.id for item in shown}
    assert sum(item.tokens for item in shown) <= max_tokens
    assert len(there) == len(shown)
    assert all(not item.needs or item.needs & there for item in shown if item.layer is not Layer.EVENTS)
    assert shape.shares or len(lines[Layer.FACTS]) <= FACTS_MAX


def said(*sizes: int) -> list[Item]:
    return [
        Item(Layer.EVENTS, "", size, event, 1.0 - at / 10, {})
        for at, (size, event) in enumerate(zip(sizes, EVENTS, strict=False))
    ]


def test_what_was_said_comes_first_and_a_fact_that_it_tells_has_no_line() -> None:
    told, untold = fact("told", event_id=EVENTS[0].id), fact("untold", event_id=EVENTS[7].id)
    facts = [Item(Layer.FACTS, "", 10, each, 0.9, {}) for each in (told, untold)]
    lines = compose({Layer.EVENTS: said(40, 40, 40), Layer.FACTS: facts}, PLAIN, 100)
    assert [item.id for item in lines[Layer.EVENTS]] == [EVENTS[0].id, EVENTS[1].id]
    assert [item.id for item in lines[Layer.FACTS]] == [untold.id]


def test_a_fact_beside_what_was_said_says_what_is_asked_unless_facts_were_named() -> None:
    home, other = fact("home", event_id="evt_1"), fact("other", predicate="owns", event_id="evt_2")
    asked = term_set("lives in Lisbon")
    facts = [Item(Layer.FACTS, "", 10, each, 0.9, {}) for each in (home, other)]
    shape = replace(PLAIN, asked=asked)
    items = {Layer.EVENTS: said(40), Layer.FACTS: facts}
    assert [item.id for item in compose(items, shape, 50)[Layer.FACTS]] == [home.id]
    assert len(compose(items, shape, 60)[Layer.FACTS]) == 2  # there is room
    unasked = replace(shape, asked=term_set("boat harbour"))
    assert compose(items, unasked, 60)[Layer.FACTS] == []
    assert len(compose(items, replace(NAMED, asked=unasked.asked), 100)[Layer.FACTS]) == 2


def test_two_sides_stand_together_the_newest_first() -> None:
    own = fact("own", slot="ent_1|lives_in", valid_from=MAY_8, event_id="evt_1")
    other = fact(
        "other",
        slot="ent_1@ab|lives_in",
        valid_from=MAY_8 + 1,
        event_id="evt_2",
        negated=True,
        said_by=Author("user:m", "Mallory"),
    )
    marks = disputed([own, other])
    assert set(marks) == {own.id, other.id}
    assert line_of(own, (), mark=marks[own.id]).endswith("(others say otherwise)")
    items = [Item(Layer.FACTS, "", 5, each, score, {}) for each, score in ((own, 0.9), (other, 0.2))]
    lines = compose({Layer.EVENTS: [], Layer.FACTS: items}, NAMED, 100)
    assert [item.id for item in lines[Layer.FACTS]] == [other.id, own.id]
    assert disputed([own]) == {}


@pytest.mark.parametrize(
    ("text", "offset", "note"),
    [
        ("I went there yesterday.", None, " (yesterday: 2023-05-07)"),
        ("I went there yesterday.", 660, " (yesterday: 2023-05-08)"),  # it is May 9 there already
        ("We met last year.", None, " (last year: 2022)"),
        ("Next month we move.", None, " (Next month: June 2023)"),
        ("Today is fine.", None, ""),
        ("In 2019 we met.", None, ""),
        ("I have lived here for ten years.", None, ""),
        ("I haven't been there in two years.", None, ""),
        ("He sent it the next day.", None, ""),  # whose next one, the talk says
        ("You may return it within 30 days.", None, ""),
        ("Week 2: buy paint.", None, ""),
        ("It is on May 20.", None, ""),  # past or coming: nobody knows without the rest
    ],
)
def test_a_line_says_which_days_its_words_mean(text: str, offset: int | None, note: str) -> None:
    assert days_meant(text, LocalTime(MAY_8, offset)) == note


def test_since_stands_where_a_beginning_was_told() -> None:
    plain = fact(text="Ana lives in Porto", valid_from=MAY_8)
    assert "(said 2023-05-08" in line_of(plain, (), said_at=MAY_8)
    assert "(since 2023-05-08" in line_of(plain, (), said_at=MAY_8 + 1)


def test_what_was_said_with_maybe_is_told_as_unsure() -> None:
    told = [fact(text="Ana lives in Porto", valid_from=MAY_8, confidence=sure) for sure in (0.5, 0.83)]
    assert [line_of(each, (), said_at=MAY_8).endswith("; unsure)") for each in told] == [True, False]


def test_an_event_that_may_have_changed_points_at_the_later_line() -> None:
    """Markers are given before the lines are written; where the later turn has no line, the event is not marked."""
    changed = MayHaveChanged(EVENTS[1].id, EVENTS[1].context.observed_at)
    older, later = said(10, 10)
    marked = older._replace(wording="older", changed=changed)
    both = compose({Layer.EVENTS: [marked, later._replace(wording="later")]}, PLAIN, 100)
    block = render_block(both, "inline_with_markers").text
    assert "- older (may have changed: [2]) [1]\n- later [2]" in block
    alone = compose({Layer.EVENTS: [marked]}, PLAIN, 100)
    assert "- older [1]" in render_block(alone, "inline_with_markers").text


def test_the_turn_by_which_a_better_one_may_have_changed_comes_with_it() -> None:
    """It would not have fitted by its own score; the older is not shown without it."""
    best, second, last = said(40, 40, 40)
    marked = best._replace(changed=MayHaveChanged(last.id, 1))
    lines = compose({Layer.EVENTS: [marked, second, last]}, PLAIN, 90)
    assert {item.id for item in lines[Layer.EVENTS]} == {best.id, last.id}
    (older,) = (item for item in lines[Layer.EVENTS] if item.id == best.id)
    assert older.changed is not None


def long_turns(worths: Sequence[float], lengths: Sequence[int]) -> list[Item]:
    """Turns with a line of each of some lengths in tokens."""
    return [
        Item(
            Layer.EVENTS,
            "as a layer has it",
            lengths[-1],
            event,
            worth,
            {},
            excerpts=tuple(
                LineOfMany(share, size, LateLine(lambda size=size: (f"{size} tokens", size)))  # type: ignore[misc]
                for share, size in zip((1.0, 0.8, 0.2), lengths, strict=True)
            ),
        )
        for worth, event in zip(worths, EVENTS, strict=False)
    ]


@pytest.mark.parametrize(
    ("worths", "max_tokens", "sizes"),
    [
        ([1.0, 0.9], 60, [30, 30]),  # both are told before one of them is told at length
        ([1.0, 0.9], 90, [60, 30]),
        ([1.0, 0.1], 90, [60, 30]),
        ([1.0, 0.1], 60, [60]),  # more of the best is worth more than a turn far behind it
        ([1.0, 0.9], 200, [100, 100]),
        ([1.0], 20, []),
    ],
)
def test_a_long_turn_has_as_much_of_its_words_as_the_room_is_worth(
    worths: list[float], max_tokens: int, sizes: list[int]
) -> None:
    lines = compose({Layer.EVENTS: long_turns(worths, (30, 60, 100))}, PLAIN, max_tokens)
    assert [item.tokens for item in lines[Layer.EVENTS]] == sizes
    assert [item.line for item in lines[Layer.EVENTS]] == [f"{size} tokens" for size in sizes]


def test_the_turn_that_another_needs_may_be_long() -> None:
    first, second = long_turns([0.5, 1.0], (30, 60, 100))
    lines = compose({Layer.EVENTS: [second._replace(needs=frozenset({first.id})), first]}, PLAIN, 200)
    assert {item.id: item.tokens for item in lines[Layer.EVENTS]} == {first.id: 100, second.id: 100}
