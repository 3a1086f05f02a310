"""Which episode a new stretch of talk goes on with, and when an episode takes no more events (seed 002, 7.2).

An episode is of one matter, which may take several sessions: the first turn of another stretch goes on with one that rests where its writer
says that it follows an event of it, or where it begins with what the episode is called by, in words that no other resting episode has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.kernel.records import Episode
from lamina.kernel.time import SECOND_US
from lamina.language.sentences import split_sentences
from lamina.language.tokens import STOP_TERMS, analyse
from lamina.pipeline.titles import EMPTY_TERMS
from lamina.pipeline.view import View

__all__ = ["is_done", "resumed_by"]

_GAP_US: Final = limits.EPISODE_GAP_S * SECOND_US
_REST_US: Final = limits.EPISODE_REST_S * SECOND_US
_ALIKE_FROM: Final = 3.5
"""Two words of the name alone, or one with two of the summary: a single word is of many matters."""
_IN_NAME: Final = 2.0
_SENTENCES_HEARD: Final = 3
"""A long text has words of every matter; what it goes on with it says first."""


def is_done(event: Event, episode: Episode, over: Sequence[Episode]) -> bool:
    """Whether nothing goes on with it any more: it is full, older than a rest lasts, or behind the newest of all that are ``over``."""
    if episode.size >= limits.EPISODE_EVENTS_MAX or event.context.observed_at > episode.ended_at + _REST_US:
        return True
    newer = sum((each.ended_at, each.id) > (episode.ended_at, episode.id) for each in over)
    return newer >= limits.EPISODES_RESTING_MAX


def resumed_by(view: View, open_here: Sequence[Episode]) -> Episode | None:
    """The episode that the view's event goes on with, of those that take events, where it begins a stretch of talk."""
    event = view.event
    able = [each for each in open_here if _may_go_on(event, each)]
    if not able:
        return None
    if event.context.preceded_by:
        members = view.supports_of([each.id for each in able])
        before = set(event.context.preceded_by)
        for each in able:
            if before & {support.source_id for support in members.get(each.id, ())}:
                return each
    opening = split_sentences(text_of(event.content), count_max=_SENTENCES_HEARD)
    said = {term for sentence in opening for term in _terms(sentence.text)}
    matters = {each.id: _matter(each) for each in able}
    common = Counter(term for matter in matters.values() for term in matter)
    alike = {
        each.id: sum(weight / common[term] for term, weight in matters[each.id].items() if term in said)
        for each in able
    }
    best = max(able, key=lambda each: (alike[each.id], each.ended_at, each.id))
    return best if alike[best.id] >= _ALIKE_FROM else None


def _may_go_on(event: Event, episode: Episode) -> bool:
    at = event.context.observed_at
    has_room = episode.size < limits.EPISODE_EVENTS_MAX
    has_ended = episode.resting or at > episode.ended_at + _GAP_US
    return has_room and has_ended and episode.ended_at <= at <= episode.ended_at + _REST_US


def _matter(episode: Episode) -> dict[str, float]:
    """The words that tell it from others, those of its name heavier; who speaks in it is no matter of it."""
    name, _, _ = episode.name.rpartition(" (")
    speakers = {term for actor in episode.actors for term in _terms(actor.partition(":")[2])}
    told = dict.fromkeys(sorted(_terms(episode.summary)), 1.0) | dict.fromkeys(sorted(_terms(name)), _IN_NAME)
    return {term: weight for term, weight in told.items() if term not in speakers}


def _terms(text: str) -> set[str]:
    return {term for term in analyse(text) if len(term) > 2} - STOP_TERMS - EMPTY_TERMS
