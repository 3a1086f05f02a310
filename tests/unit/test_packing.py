"""What goes into a pack under a token budget."""

from __future__ import annotations

from hypothesis import given as holds_for
from hypothesis import strategies as st

from given import belief, concept, episode, fact
from lamina.kernel.records import Layer, Record
from lamina.recall.pack import Item, LateLine, pack

MAKERS = {
    Layer.FACTS: fact,
    Layer.BELIEFS: belief,
    Layer.EPISODES: episode,
    Layer.UNDERSTANDING: concept,
}


@st.composite
def candidates(draw: st.DrawFn) -> dict[Layer, list[Item]]:
    """Items of every layer, best first, some of which need another."""
    values: list[tuple[Layer, Record]] = [
        (layer, make(f"{layer}-{at}"))
        for layer, make in MAKERS.items()
        for at in range(draw(st.integers(0, 4)))
    ]
    ids = [value.id for _, value in values]
    found: dict[Layer, list[Item]] = {layer: [] for layer in MAKERS}
    for layer, value in values:
        needs = draw(st.frozensets(st.sampled_from(ids), max_size=2)) - {value.id}
        score, tokens = draw(st.floats(0, 1)), draw(st.integers(1, 60))
        found[layer].append(Item(layer, "", tokens, value, score, {}, needs=needs))
    return {layer: sorted(items, key=lambda item: -item.score) for layer, items in found.items()}


@holds_for(candidates(), st.integers(1, 300))
def test_the_budget_is_kept_and_nothing_stands_without_what_it_needs(
    items: dict[Layer, list[Item]], max_tokens: int
) -> None:
    packed = pack(items, max_tokens)
    chosen = [item for found in packed.chosen.values() for item in found]
    there = {item.id for item in chosen}
    assert sum(item.tokens for item in chosen) == packed.tokens <= max_tokens
    assert all(not item.needs or item.needs & there for item in chosen)
    assert len(chosen) + packed.evictions == sum(map(len, items.values()))
    for layer, found in packed.chosen.items():
        places = [items[layer].index(item) for item in found]
        assert places == sorted(places)


@holds_for(candidates(), st.integers(1, 300), st.data())
def test_what_is_worded_late_is_packed_the_same_and_what_has_no_room_is_not_worded(
    items: dict[Layer, list[Item]], max_tokens: int, data: st.DataObject
) -> None:
    worded: list[str] = []

    def late(item: Item) -> Item:
        def made() -> tuple[str, int]:
            worded.append(item.id)
            return item.line, item.tokens

        least = data.draw(st.integers(0, item.tokens))
        return item._replace(wording=LateLine(made), tokens_least=least)

    unworded = {layer: [late(item) for item in found] for layer, found in items.items()}
    now, later = pack(items, max_tokens), pack(unworded, max_tokens)
    assert [[item.id for item in each] for each in later.chosen.values()] == [
        [item.id for item in each] for each in now.chosen.values()
    ]
    assert (later.tokens, later.evictions) == (now.tokens, now.evictions)
    assert len(worded) == len(set(worded))
    too_long = {i.id for found in unworded.values() for i in found if i.tokens_least > max_tokens}
    assert not too_long & set(worded)


@holds_for(candidates(), st.integers(1, 300))
def test_the_best_fact_comes_first_where_it_fits(items: dict[Layer, list[Item]], max_tokens: int) -> None:
    best = next(iter(items[Layer.FACTS]), None)
    packed = pack(items, max_tokens)
    if best is not None and not best.needs and best.tokens <= max_tokens:
        assert packed.chosen[Layer.FACTS][0] is best


def items(layer: Layer, *sizes: tuple[float, int]) -> list[Item]:
    """Items of one layer with their scores and tokens; what they say does not matter."""
    return [
        Item(layer, "", tokens, fact(f"{layer}-{at}"), score, {}) for at, (score, tokens) in enumerate(sizes)
    ]


@holds_for(st.integers(20, 400))
def test_the_best_event_is_there_wherever_it_fits_beside_the_best_fact(max_tokens: int) -> None:
    found = {
        Layer.FACTS: items(Layer.FACTS, (0.6, 9), (0.5, 8), (0.5, 8)),
        Layer.EVENTS: items(Layer.EVENTS, (1.0, 30), (0.14, 9), (0.1, 8), (0.1, 8)),
        Layer.EPISODES: items(Layer.EPISODES, (0.5, 12)),
    }
    packed = pack(found, max_tokens)
    assert (found[Layer.EVENTS][0] in packed.chosen[Layer.EVENTS]) == (max_tokens >= 39)


@holds_for(st.integers(1, 400))
def test_a_lesser_item_does_not_take_the_share_of_a_better_one(max_tokens: int) -> None:
    """What is left of all shares goes by score; a layer's own share is not filled past what did not fit."""
    found = {
        Layer.EVENTS: items(Layer.EVENTS, (1.0, 10), (0.9, 60), (0.02, 5)),
        Layer.EPISODES: items(Layer.EPISODES, (0.5, 60)),
    }
    chosen = pack(found, max_tokens).chosen
    better, lesser = found[Layer.EVENTS][1:]
    if lesser in chosen[Layer.EVENTS] and better not in chosen[Layer.EVENTS]:
        assert sum(item.tokens for each in chosen.values() for item in each) - 5 > max_tokens - 60
