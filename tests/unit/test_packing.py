"""What goes into a pack under a token budget."""

from __future__ import annotations

from hypothesis import given as holds_for
from hypothesis import strategies as st

from given import belief, concept, episode, fact
from lamina.kernel.records import Layer, Record
from lamina.recall.pack import Item, pack

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
        found[layer].append(Item(layer, value, score, {}, "", tokens, needs=needs))
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


@holds_for(candidates(), st.integers(1, 300))
def test_the_best_fact_comes_first_where_it_fits(items: dict[Layer, list[Item]], max_tokens: int) -> None:
    best = next(iter(items[Layer.FACTS]), None)
    packed = pack(items, max_tokens)
    if best is not None and not best.needs and best.tokens <= max_tokens:
        assert packed.chosen[Layer.FACTS][0] is best
