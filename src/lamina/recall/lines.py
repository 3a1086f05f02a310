"""Values with their lines for a context block, and what those cost. A line is worded when it is asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.records import Layer, Record
from lamina.models.counter import TokenCounter
from lamina.recall.excerpts import Excerpts
from lamina.recall.pack import Item, LateLine
from lamina.recall.placing import Answers, Held
from lamina.recall.plan import Plan
from lamina.recall.render import SNIPPET_CHARS, change_mark, line_of

__all__ = ["items_of", "tokens_least"]

_EXCERPTS: Final = (160, SNIPPET_CHARS, 2 * SNIPPET_CHARS)
"""A long turn may stand in a block with so many of its characters."""
_CHARS_OF_TOKEN: Final = 5
_FRAME_TOKENS: Final = 6
"""A dash, the marker and the quotation marks of an event's line."""
_WORD = re.compile(r"[A-Za-z0-9][^ ]*")
"""What a blank ends and a letter or figure of ASCII is in has a token at least, whatever else may be left out of it."""


def items_of(
    plan: Plan, answers: Answers, counter: TokenCounter
) -> tuple[Mapping[Layer, Sequence[Item]], Sequence[Item]]:
    """The items of each layer, and those of the events that only a context block may show."""
    items = {
        layer: [_item(layer, each, plan, counter) for each in answers.values[layer]]
        for layer in answers.values
    }
    return items, [_item(Layer.EVENTS, each, plan, counter) for each in answers.more]


def tokens_least(value: Event | Record, chars: int = SNIPPET_CHARS) -> int:
    """What the line of a value, with up to ``chars`` of a turn, costs at least, without wording it."""
    if not isinstance(value, Event):
        return 1
    text = text_of(value.content)
    return _FRAME_TOKENS + (_words_least(text) if len(text) <= chars else 0)


def _words_least(text: str) -> int:
    if text.isascii() and text.isprintable() and "  " not in text:
        return len(text.split())  # every one of them has a token
    return len(_WORD.findall(text))


def _item(layer: Layer, held: Held, plan: Plan, counter: TokenCounter) -> Item:
    excerpts = Excerpts(held.value, plan.terms, held.days) if isinstance(held.value, Event) else None
    worded = partial(_worded, held, plan, counter, excerpts)
    wording, least = LateLine(partial(worded, SNIPPET_CHARS)), tokens_least(held.value)
    return Item(
        layer=layer,
        wording=wording,
        tokens_least=least,
        value=held.value,
        score=held.score,
        contributions=held.contributions,
        superseded=held.superseded,
        needs=held.needs,
        changed=held.changed,
        quarantined=held.quarantined,
        excerpts=_excerpts(held.value, wording, least, worded) if isinstance(held.value, Event) else (),
    )


def _excerpts(
    event: Event, wording: LateLine, least: int, worded: Callable[[int], tuple[str, int]]
) -> tuple[tuple[int, LateLine], ...]:
    """The lines of a long turn, shortest first, with the tokens without which each is not tried: one that is cut has about so many."""
    length = len(text_of(event.content))
    if length <= _EXCERPTS[0]:
        return ()
    found = []
    for chars in _EXCERPTS[: bisect_left(_EXCERPTS, length) + 1]:
        if length > chars:
            tokens = int(chars / _CHARS_OF_TOKEN)
        else:
            tokens = least if chars == SNIPPET_CHARS else tokens_least(event, chars)
        found.append((tokens, wording if chars == SNIPPET_CHARS else LateLine(partial(worded, chars))))
    return tuple(found)


def _worded(
    held: Held, plan: Plan, counter: TokenCounter, excerpts: Excerpts | None, chars: int
) -> tuple[str, int]:
    line = line_of(
        held.value,
        plan.terms,
        mark=f"{held.superseded.mark if held.superseded else ''}{held.mark}",
        called=plan.called,
        said_at=held.said_at,
        chars=chars,
        excerpts=excerpts,
    )
    (tokens,) = counter.count([f"- {line}{change_mark(held.changed, '[99]')} [99]\n"])
    return line, tokens
