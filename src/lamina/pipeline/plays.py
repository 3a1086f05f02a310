"""Plays that go on over turns: what people say in a role, or in a story that they tell by turns, is not said of themselves.

A play begins with a turn that asks for it (``language/plays.py``) and that an assistant answers. It goes on until its speaker
leaves it in words, for ``TURNS_MAX`` turns at the most, and not over a pause.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from lamina.kernel.events import Event, role_of, text_of
from lamina.kernel.time import SECOND_US, Instant
from lamina.language.own_words import blank
from lamina.language.plays import begins_play, is_for_two, leaves_play
from lamina.store.ports.log import EventLog

__all__ = ["Plays", "unplayed"]

TURNS_MAX: Final = 24
_PAUSE: Final = 3 * 3600 * SECOND_US
_KNOWN_MAX: Final = 4096
_TEXT_MAX: Final = 20_000


class _Play(NamedTuple):
    """A play after a turn: whose it is, when its last turn was, how many it goes on for, and whether it was answered."""

    actor: str
    at: Instant
    turns: int
    answered: bool


class _Turn(NamedTuple):
    """How many characters of a turn, from its beginning, are said in a play, and the play behind it."""

    played: int
    play: _Play | None


class Plays:
    """The plays of a log's sessions. What was found of turns is kept for those behind them; it depends on the log alone."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._known: OrderedDict[tuple[str, str], _Turn] = OrderedDict()

    def forget(self) -> None:
        """Nothing is known any more: something was taken out of the log."""
        self._known.clear()

    def played(self, event: Event, previous: Sequence[Event]) -> list[int]:
        """How many characters of ``previous``, the turns just before an event, and of itself are said in a play, each from its beginning."""
        if any(_key(each) not in self._known for each in previous):
            self._read(event, len(previous))
        before = [self._known[_key(each)] for each in previous]
        turn = _after(before[-1].play if before else None, event)
        self._known[_key(event)] = turn
        while len(self._known) > _KNOWN_MAX:
            self._known.popitem(last=False)
        return [each.played for each in (*before, turn)]

    def _read(self, event: Event, count: int) -> None:
        """Read the ``count`` turns before an event, with as many before these as a play may last."""
        play = None
        turns = self._log.previous(event, TURNS_MAX + count)
        for at, each in enumerate(turns, count - len(turns)):
            turn = _after(play, each)
            play = turn.play
            if at >= 0:
                self._known[_key(each)] = turn


def unplayed(event: Event, played: int) -> Event:
    """An event with blanks for what of its text is ``played``, from the beginning; places stay as they are."""
    if not played:
        return event
    text = text_of(event.content)
    return replace(event, content={**event.content, "text": blank(text[:played]) + text[played:]})


def _after(play: _Play | None, turn: Event) -> _Turn:
    text, at, role = text_of(turn.content)[:_TEXT_MAX], turn.context.observed_at, role_of(turn)
    if play is not None and (not play.turns or at - play.at > _PAUSE):
        play = None
    if play is not None and role == "assistant":
        return _Turn(len(text), play._replace(at=at, turns=play.turns - 1, answered=True))
    if role != "user" or (play is not None and play.actor != turn.observed_actor.id):
        return _Turn(0, play)
    left = 0
    if play is not None and play.answered:
        found = leaves_play(text)
        if found is None:
            return _Turn(len(text), play._replace(at=at, turns=play.turns - 1))
        left = found
    begun = begins_play(text[left:])
    if begun is None or not is_for_two(text[left + begun :]):
        return _Turn(left, None)
    return _Turn(left, _Play(turn.observed_actor.id, at, TURNS_MAX, answered=False))


def _key(event: Event) -> tuple[str, str]:
    return event.tenant_id, event.id
