"""What a context block shows: what was said first, as much as the budget holds, and of the rest what adds to it.

Measured on both development sets: a share of the block for each derived layer costs evidence, since an event at the same
price holds more of it. So facts come where room is left, no event shown says the same and they say what is asked, few of them, and the
other layers where they were named or the question is of a time or a topic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from lamina.kernel.records import Fact, Layer
from lamina.language.tokens import term_set
from lamina.recall.pack import Item, LateLine, tokens_of
from lamina.recall.plan import BlockShape

__all__ = ["compose", "disputed"]

FACTS_MAX: Final = 4
"""Where events leave room; measured: more add nothing."""
_WORTH: Final = itemgetter(0, 1)


class _Line(NamedTuple):
    """A line that an item may have, with the tokens without which it is not tried."""

    item: Item
    least: int
    wording: str | LateLine

    @property
    def tokens(self) -> int:
        """What it costs."""
        return tokens_of(self.wording, self.least)

    @property
    def worded(self) -> Item:
        """The item with this line."""
        item = self.item
        return (
            item
            if self.wording is item.wording
            else item._replace(tokens_least=self.least, wording=self.wording)
        )


def compose(
    candidates: Mapping[Layer, Sequence[Item]], shape: BlockShape, max_tokens: int
) -> dict[Layer, list[Item]]:
    """The items of a block under a token budget. Each layer's candidates come best first."""
    said = _with_what_came_later(candidates.get(Layer.EVENTS, ()))
    beside: list[Item] = []
    if shape.shares:
        events = _fitting(said, max_tokens, ())
        for layer, share in shape.shares.items():
            beside += _fitting(_own_lines(candidates.get(layer, ())), int(max_tokens * share), events)
    left = max_tokens - sum(item.tokens for item in beside)
    events = _fitting(said, left, beside)
    if not shape.shares:
        beside = _in_room_left(candidates.get(Layer.FACTS, ()), shape, max_tokens, events)
    beside = _sides_together(beside)
    there = {item.id for item in (*events, *beside)}
    shown = [
        *(_pointing(item, there) for item in events),
        *(item for item in beside if not item.needs or item.needs & there),
    ]
    return {layer: [item for item in shown if item.layer is layer] for layer in candidates}


def _own_lines(items: Iterable[Item]) -> list[_Line]:
    return list(map(_own_line, items))


def _own_line(item: Item) -> _Line:
    return _Line(item, item.tokens_least, item.wording)


def _in_room_left(
    facts: Sequence[Item], shape: BlockShape, max_tokens: int, events: Sequence[Item]
) -> list[Item]:
    """Facts that tell a word asked for, where no event fits any more."""
    there = {item.id for item in events}
    more = [item for item in facts if _adds(item, there, shape.asked)]
    left = max_tokens - sum(item.tokens for item in events)
    return _fitting(_own_lines(more[:FACTS_MAX]), left, events)


def _with_what_came_later(events: Sequence[Item]) -> list[_Line]:
    """The lines of events, best first, each excerpt of a long one where its own worth stands; one by which a better one may have changed directly
    before it: it goes with the older, or before."""
    best = sorted(events, key=lambda item: -item.score)
    worth = {item.id: item.score for item in best}
    for item in best:
        if item.changed is not None and item.changed.event_id in worth:
            worth[item.changed.event_id] = max(worth[item.changed.event_id], worth[item.id])
    lines: list[tuple[float, bool, _Line]] = []
    for item in best:
        own, goes_later = worth[item.id], item.changed is not None
        if item.excerpts:
            for share, least, wording in item.excerpts:
                lines.append((-(own * share), goes_later, _Line(item, least, wording)))
        else:
            lines.append((-own, goes_later, _own_line(item)))
    lines.sort(key=_WORTH)
    return [line for _, _, line in lines]


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
    return event if changed is None or changed.event_id in there else event._replace(changed=None)


def _adds(item: Item, told_by: Collection[str], asked: Collection[str]) -> bool:
    """Whether a line tells what is asked, and none of the events does: that a fact may have changed, none does."""
    fact = item.value
    if not isinstance(fact, Fact):
        return True
    words = f"{fact.subject.name} {fact.predicate.replace('_', ' ')} {fact.object.text}"
    if asked and not term_set(words).intersection(asked):
        return False
    return item.changed is not None or fact.event_id not in told_by


def _fitting(lines: Sequence[_Line], budget: int, beside: Collection[Item]) -> list[Item]:
    """Items in order while they fit; smaller ones behind one that does not. What needs another comes with it only. A longer excerpt takes
    the place of the shorter one."""
    taken: dict[str, _Line] = {}
    there = {item.id for item in beside}
    for needing in (False, True):
        for line in lines:
            item = line.item
            if bool(item.needs) is not needing:
                continue
            shorter = taken.get(item.id)
            left = budget if shorter is None else budget + shorter.tokens
            if line.least > left or (tokens := line.tokens) > left or (needing and not item.needs & there):
                continue
            taken[item.id] = line
            there.add(item.id)
            budget = left - tokens
    return sorted((line.worded for line in taken.values()), key=lambda item: -item.score)
