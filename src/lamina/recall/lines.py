"""Values with their lines for a context block, and what those cost. A line is worded when it is asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from lamina.kernel.changes import change_mark
from lamina.kernel.events import Event
from lamina.kernel.records import Layer, Record
from lamina.models.counter import TokenCounter
from lamina.recall.excerpts import Beginning, Excerpts, KnownLine, TurnText, reading_of
from lamina.recall.nearest import Stretches, TurnTokens, maxsims
from lamina.recall.pack import Item, LateLine, LineOfMany
from lamina.recall.placing import Answers, Held
from lamina.recall.plan import Plan
from lamina.recall.render import SNIPPET_CHARS, beginning, is_as_told, line_of

__all__ = ["items_of", "tokens_least"]

_EXCERPTS: Final = ((80, 1.0), (160, 0.9), (SNIPPET_CHARS, 0.7), (2 * SNIPPET_CHARS, 0.2))
"""A long turn may stand in a block with so many of its characters, each line worth so much of what the turn is: one sentence first, a longer one
before turns that are worth less than so much of it."""
_CHARS_OF_TOKEN: Final = 5
_FRAME_TOKENS: Final = 6
"""A dash, the marker and the quotation marks of an event's line."""


def items_of(
    plan: Plan, answers: Answers, counter: TokenCounter
) -> tuple[Mapping[Layer, Sequence[Item]], Sequence[Item]]:
    """The items of each layer, and those of the events that only a context block may show."""
    near = _Nearness(counter)
    items = {
        layer: [_item(layer, each, plan, counter, near) for each in answers.values[layer]]
        for layer in answers.values
    }
    return items, [_item(Layer.EVENTS, each, plan, counter, near) for each in answers.more]


def tokens_least(value: Event | Record, chars: int = SNIPPET_CHARS) -> int:
    """What the line of a value, with up to ``chars`` of a turn, costs at least, without wording it."""
    return _turn_least(reading_of(value), chars) if isinstance(value, Event) else 1


def _turn_least(reading: TurnText, chars: int) -> int:
    return _FRAME_TOKENS + (reading.words_least if len(reading.text) <= chars else 0)


def _item(layer: Layer, held: Held, plan: Plan, counter: TokenCounter, near: _Nearness) -> Item:
    wording: str | LateLine
    excerpts: tuple[LineOfMany, ...] = ()
    if isinstance(held.value, Event):
        turn = _Turn(held, held.value, plan, counter, near)
        wording, least = turn.wording
        excerpts = turn.excerpts(wording, least)
    else:
        wording, least = LateLine(partial(_worded, held, plan, counter)), 1
    return Item(
        layer,
        wording,
        least,
        held.value,
        held.score,
        held.contributions,
        held.superseded,
        held.needs,
        held.changed,
        held.quarantined,
        excerpts,
    )


class _Turn:
    """Words the lines of a turn: all of them are cut from one reading of it."""

    def __init__(self, held: Held, event: Event, plan: Plan, counter: TokenCounter, near: _Nearness) -> None:
        self.reading = reading_of(event, held.days)
        self._event = event
        self._held = held
        self._plan = plan
        self._counter = counter
        self._is_as_told = (
            held.superseded is None and held.changed is None and is_as_told(event, held.mark, plan.called)
        )
        nearness = None
        if held.tokens is not None and len(self.reading.text) > _EXCERPTS[0][0]:
            near.expect(held.tokens, self.reading, event)
            nearness = partial(near.of, held.tokens)
        self._excerpts = Excerpts(self.reading, plan.terms, nearness)

    @property
    def wording(self) -> tuple[str | LateLine, int]:
        """The line with up to ``SNIPPET_CHARS`` of what was said, and what it costs at least."""
        if self._is_as_told and len(self.reading.text) <= SNIPPET_CHARS:
            known = self.reading.known(None, self._counter)
            if known is not None:
                return known.line, known.tokens
        return self._late(SNIPPET_CHARS), _turn_least(self.reading, SNIPPET_CHARS)

    def excerpts(self, wording: str | LateLine, least: int) -> tuple[LineOfMany, ...]:
        """The lines of a long turn, shortest first; one that is cut has about so many tokens as it has characters for. ``wording`` is the line
        with up to ``SNIPPET_CHARS``, which costs ``least`` at least."""
        length = len(self.reading.text)
        if length <= _EXCERPTS[0][0]:
            return ()
        found: list[LineOfMany] = []
        for chars, share in _EXCERPTS[: bisect_left(_EXCERPTS, (length, 0.0)) + 1]:
            line, tokens = wording, least
            if length > chars:
                tokens = int(chars / _CHARS_OF_TOKEN)
            elif chars > SNIPPET_CHARS:
                tokens = _turn_least(self.reading, chars)
            if chars != SNIPPET_CHARS and (length > chars or chars > SNIPPET_CHARS):
                line = self._late(chars)
            found.append(LineOfMany(share, tokens, line))
        return tuple(found)

    def _late(self, chars: int) -> LateLine:
        return LateLine(partial(self._worded, chars), partial(self._tokens, chars))

    def _worded(self, chars: int) -> tuple[str, int]:
        nearest = chars < SNIPPET_CHARS
        run = self._excerpts.run(chars, nearest=nearest)
        known = self.reading.known(run, self._counter) if self._is_as_told else None
        if known is not None:
            return known.line, known.tokens
        if self._is_as_told:
            self._excerpts.beginning = self._begins
        line, tokens = _worded(self._held, self._plan, self._counter, self._excerpts, chars, nearest=nearest)
        if self._is_as_told:
            self.reading.keep(run, KnownLine(self._counter, line, tokens))
        return line, tokens

    def _tokens(self, chars: int) -> int | None:
        if not self._is_as_told or not self._begins.is_plain:
            return None
        words = self._excerpts.tokens(self._counter, chars, nearest=chars < SNIPPET_CHARS)
        return None if words is None else words + self.reading.tokens_with(self._counter, self._begins)

    @property
    def _begins(self) -> Beginning:
        if self.reading.begins is None:
            self.reading.begins = beginning(self._event, "", self._plan.called)
        return self.reading.begins


class _Nearness:
    """How near the sentences of turns come to the question: all are compared once one is asked for."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._expected: dict[TurnTokens, tuple[TurnText, str]] = {}
        self._near: dict[TurnTokens, Sequence[float]] = {}

    def expect(self, turn: TurnTokens, reading: TurnText, event: Event) -> None:
        """That the sentences of a turn may be asked for."""
        self._expected[turn] = reading, event.observed_actor.display_name

    def of(self, turn: TurnTokens) -> Sequence[float]:
        """Of each sentence of an expected turn."""
        if turn not in self._near:
            speakers = self._counter.count([f"{speaker}:" for _, speaker in self._expected.values()])
            counts = [reading.counts(self._counter) for reading, _ in self._expected.values()]
            stretches = [
                Stretches(each, speaker + count.before, count.stretches)
                for each, speaker, count in zip(self._expected, speakers, counts, strict=True)
            ]
            self._near = dict(zip(self._expected, maxsims(stretches), strict=True))
        return self._near[turn]


def _worded(
    held: Held,
    plan: Plan,
    counter: TokenCounter,
    excerpts: Excerpts | None = None,
    chars: int = SNIPPET_CHARS,
    *,
    nearest: bool = False,
) -> tuple[str, int]:
    line = line_of(
        held.value,
        plan.terms,
        mark=f"{held.superseded.mark if held.superseded else ''}{held.mark}",
        called=plan.called,
        said_at=held.said_at,
        chars=chars,
        excerpts=excerpts,
        nearest=nearest,
    )
    changed = "" if held.changed is None else change_mark(held.changed, "[99]")
    (tokens,) = counter.count([f"- {line}{changed} [99]\n"])
    return line, tokens
