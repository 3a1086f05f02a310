"""What a context block shows: what was said first, as much as the budget holds, and of the rest what adds to it.

Measured on both development sets: a share of the block for each derived layer costs evidence, since an event at the same
price holds more of it. So facts come where no event shown says the same and they say what is asked, few of them, and the other layers
where they were named or the question is of a time or a topic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.records import Fact, Layer
from lamina.language.tokens import term_set
from lamina.recall.pack import Item
from lamina.recall.plan import BlockShape

__all__ = ["compose", "disputed"]

FACTS_MAX: Final = 4
"""Beside a block full of events; measured: more take the room of evidence."""
_ASKED_MIN: Final = 2
"""So many of the words asked for are in a fact beside a full block, of a single one that. With any fact, and with these:
answer words in blocks of 1,000 tokens .838 and .855, whole evidence .792 and .799 (154 questions of LoCoMo)."""


def compose(
    candidates: Mapping[Layer, Sequence[Item]], shape: BlockShape, max_tokens: int
) -> dict[Layer, list[Item]]:
    """The items of a block under a token budget. Each layer's candidates come best first."""
    said = _with_what_came_later(candidates.get(Layer.EVENTS, ()))
    events = _fitting(said, max_tokens, ())
    told_by = {event.id for event in events}
    beside: list[Item] = []
    for layer, share in shape.shares.items():
        free = [
            item
            for item in candidates.get(layer, ())
            if shape.named or _adds(item, told_by, shape.asked, _ASKED_MIN)
        ]
        most = FACTS_MAX if layer is Layer.FACTS and not shape.named else len(free)
        beside += _fitting(free[:most], int(max_tokens * share), events)
    left = max_tokens - sum(item.tokens for item in beside)
    events = _fitting(said, left, beside)
    if not shape.named:
        beside += _in_room_left(candidates.get(Layer.FACTS, ()), shape, max_tokens, events, beside)
    beside = _sides_together(beside)
    there = {item.id for item in (*events, *beside)}
    shown = [
        *(_pointing(item, there) for item in events),
        *(item for item in beside if not item.needs or item.needs & there),
    ]
    return {layer: [item for item in shown if item.layer is layer] for layer in candidates}


def _in_room_left(
    facts: Sequence[Item],
    shape: BlockShape,
    max_tokens: int,
    events: Sequence[Item],
    beside: Sequence[Item],
) -> list[Item]:
    """Facts of a single word asked for, where no event fits any more."""
    there = {item.id for item in (*events, *beside)}
    more = [item for item in facts if item.id not in there and _adds(item, there, shape.asked, 1)]
    left = max_tokens - sum(item.tokens for item in (*events, *beside))
    count = max(0, FACTS_MAX - sum(item.layer is Layer.FACTS for item in beside))
    return _fitting(more[:count], left, (*events, *beside))


def _with_what_came_later(events: Sequence[Item]) -> list[Item]:
    """The events, best first; one by which a better one may have changed directly before it: it goes with the older, or before."""
    best = sorted(events, key=lambda item: -item.score)
    worth = {item.id: item.score for item in best}
    for item in best:
        if item.changed is not None and item.changed.event_id in worth:
            worth[item.changed.event_id] = max(worth[item.changed.event_id], worth[item.id])
    return sorted(best, key=lambda item: (-worth[item.id], item.changed is not None))


def disputed(facts: Sequence[Fact]) -> dict[str, str]:
    """What stands behind the line of each fact beside which another person's word says otherwise of the same matter."""
    sides = _sides(facts)
    return {
        fact.id: " (others say otherwise)"
        for group in sides.values()
        for fact in group
        if len({each.claim_key for each in group}) > 1
    }


def _sides(facts: Iterable[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """The facts of each matter on which somebody's word stands beside others' (``Claim.said_by``)."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.slot is not None:
            groups.setdefault((fact.subject.id, fact.predicate), []).append(fact)
    return {matter: each for matter, each in groups.items() if any(one.said_by for one in each)}


def _sides_together(items: Sequence[Item]) -> list[Item]:
    """The items, the sides of each dispute at the place of the first of them, the newest first."""
    facts = {item.id: item for item in items if isinstance(item.value, Fact)}
    groups = {
        fact.id: group
        for group in _sides(item.value for item in facts.values() if isinstance(item.value, Fact)).values()
        for fact in group
    }
    ordered: dict[str, Item] = {}
    for item in items:
        group = sorted(groups.get(item.id, []), key=lambda fact: (-fact.valid_from, fact.id))
        ordered |= {fact.id: facts[fact.id] for fact in group}
        ordered.setdefault(item.id, item)
    return list(ordered.values())


def _pointing(event: Item, there: Collection[str]) -> Item:
    """An event that may have changed says so beside the turn that says it, and nowhere else."""
    changed = event.changed
    return event if changed is None or changed.event_id in there else replace(event, changed=None)


def _adds(item: Item, told_by: Collection[str], asked: Collection[str], asked_min: int) -> bool:
    """Whether a line tells what is asked, and none of the events does: that a fact may have changed, none does."""
    fact = item.value
    if not isinstance(fact, Fact):
        return True
    words = f"{fact.subject.name} {fact.predicate.replace('_', ' ')} {fact.object.text}"
    least = min(1 if item.changed is not None else asked_min, len(asked))
    if len(term_set(words).intersection(asked)) < least:
        return False
    return item.changed is not None or fact.event_id not in told_by


def _fitting(items: Sequence[Item], budget: int, beside: Collection[Item]) -> list[Item]:
    """Items in order while they fit; smaller ones behind one that does not. What needs another comes with it only."""
    taken: list[Item] = []
    there = {item.id for item in beside}
    for needing in (False, True):
        for item in items:
            if bool(item.needs) is needing and item.fits(budget) and (not needing or item.needs & there):
                taken.append(item)
                there.add(item.id)
                budget -= item.tokens
    return sorted(taken, key=lambda item: -item.score)
