"""Episodes: bounded spans of related events, cut by session, gap, size and topic (seed 002, 7.2).

An open episode gets a version with each event; the first event that shows it to be over lays it to rest. The first event of another stretch
of talk goes on with a resting episode where it says so (``preceded_by``) or speaks of its matter; a later one seals it for good.
No clock rests or seals it, so a replay cuts where live derivation cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lamina import limits
from lamina.kernel.events import Event, Trust, text_of
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Episode, EpisodeRole, Fact, Layer, Record, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.quarantine import quarantine_of
from lamina.language.tokens import STOP_TERMS, analyse
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.resuming import is_done, resumed_by
from lamina.pipeline.titles import TurnPhrases, title_of, words_of_turns
from lamina.pipeline.versions import next_version
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["EpisodeBuilder", "SaidIn", "newly_worded"]

SaidIn = Callable[[Sequence[Event]], Mapping[str, TurnPhrases]]
"""What was read in events, by their ids; those that nobody reads have nothing."""

_OPEN: Final = "open"

_GAP_US: Final = limits.EPISODE_GAP_S * SECOND_US
_TOPIC_EVENTS: Final = 6
_OPEN_SEEN_MAX: Final = 16
_COMPARED: Final = 8
"""So many episodes tell what is said in every talk."""

_TURNS_AWAY = re.compile(
    r"^\W*(?:by the way|btw|anyway|anyhow|on another note|changing the subject|different topic|unrelated(?:ly)?)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:finally|done|finished|signed|got the|accepted|shipped|launched|it worked|passed|completed)\b",
    re.IGNORECASE,
)
_DECIDING_KINDS = frozenset({"plan", "commitment"})
_DECIDES = re.compile(r"\b(?:decided|let's|we'll|i'll|agreed|going with|settled on)\b", re.IGNORECASE)


class EpisodeBuilder:
    """Puts each event into an episode of its scope."""

    def __init__(self, view: View, said_in: SaidIn, nearness: Nearness | None = None) -> None:
        """``nearness`` helps to choose the name of an episode that is laid to rest."""
        self._view = view
        self._said_in = said_in
        self._nearness = nearness

    def place(self, facts: Sequence[Fact]) -> Writes:
        """The event's membership, its episode's next version, and the seals of episodes that are over."""
        writes = Writes()
        event = self._view.event
        if not event.directives.wants("episodes"):
            return writes
        open_here = self._open()
        current = next((e for e in open_here if e.session == event.session and self._belongs(event, e)), None)
        resumed = current or resumed_by(self._view, open_here)
        over = [each for each in open_here if each is not resumed and self._is_over(event, each)]
        for episode in over:
            if is_done(event, episode, over):
                self._end(event, episode, writes, sealed=True)
            elif not episode.resting:
                self._end(event, episode, writes, sealed=False)
        if resumed is None:
            follows = max(open_here, key=lambda e: e.ended_at).id if open_here else None
            self._begin(event, follows, writes)
        else:
            self._extend(event, facts, resumed, writes)
        return writes

    def _open(self) -> list[Episode]:
        found = self._view.query(Layer.EPISODES, topic=_OPEN, limit=_OPEN_SEEN_MAX)
        return [record for record in found if isinstance(record, Episode)]

    def _belongs(self, event: Event, episode: Episode) -> bool:
        at = event.context.observed_at
        if episode.resting:
            return False
        near = episode.started_at - _GAP_US <= at <= episode.ended_at + _GAP_US
        return near and episode.size < limits.EPISODE_EVENTS_MAX and not self._turns_away(event, episode)

    def _turns_away(self, event: Event, episode: Episode) -> bool:
        """The speaker says that the topic changes, and shares no content word with the turns before."""
        text = text_of(event.content)
        if episode.size < _TOPIC_EVENTS or not _TURNS_AWAY.match(text):
            return False
        before = self._view.previous(_TOPIC_EVENTS)
        said = {term for turn in before for term in analyse(text_of(turn.content))} - STOP_TERMS
        return not said & (set(analyse(_TURNS_AWAY.sub("", text))) - STOP_TERMS)

    def _is_over(self, event: Event, episode: Episode) -> bool:
        gone_by = event.context.observed_at > episode.ended_at + _GAP_US
        return episode.resting or gone_by or episode.session == event.session

    def _end(self, event: Event, episode: Episode, writes: Writes, *, sealed: bool) -> None:
        """Lay it to rest, or seal it; it is described when its turns have ended, and not again."""
        writes.closings.append(Closing.of(episode, event.recorded_at))
        ended = episode if episode.resting else self._described(episode, [])
        writes.records.append(next_version(event, episode, replace(ended, sealed=sealed, resting=not sealed)))

    def _begin(self, event: Event, follows: str | None, writes: Writes) -> None:
        at = event.context.observed_at
        episode = Episode(
            tenant_id=event.tenant_id,
            id=derived_id(Prefix.EPISODE, event.recorded_at, event.id, "episode"),
            scope=event.scope,
            version=1,
            position=event.position,
            confidence=1.0,
            valid_from=at,
            valid_to=None,
            recorded_from=event.recorded_at,
            session=event.session,
            name="",
            summary="",
            started_at=at,
            ended_at=at,
            size=1,
            sealed=False,
            actors=(event.observed_actor.id,),
            centrality=0.0,
            follows=follows,
        )
        writes.records.append(self._described(episode, [event]))
        writes.supports.append(_membership(event, episode.id, 0, EpisodeRole.TRIGGER))

    def _extend(self, event: Event, facts: Sequence[Fact], episode: Episode, writes: Writes) -> None:
        at = event.context.observed_at
        grown = replace(
            next_version(event, episode, episode),
            valid_from=min(episode.valid_from, at),
            started_at=min(episode.started_at, at),
            ended_at=max(episode.ended_at, at),
            size=episode.size + 1,
            session=event.session,
            resting=False,
            actors=tuple(dict.fromkeys([*episode.actors, event.observed_actor.id])),
            excluded=False,
        )
        writes.closings.append(Closing.of(episode, event.recorded_at))
        writes.records.append(self._described(grown, [event]) if _describes_at(grown.size) else grown)
        writes.supports.append(_membership(event, episode.id, episode.size, _role(event, facts)))

    def _described(self, episode: Episode, new: Sequence[Event]) -> Episode:
        """The episode with its name, summary and centrality made from its members."""
        members = self._view.supports_of([episode.id]).get(episode.id, [])
        ids = [support.source_id for support in members]
        known = self._view.events(ids)
        events = [known[i] for i in ids if i in known] + list(new)
        # A summary speaks in nobody's name: what tools and documents said stays in its events, quoted, and so does what is quarantined.
        own = [
            event for event in events if event.origin.trust is not Trust.EXTERNAL and not quarantine_of(event)
        ]
        words = Counter(
            term
            for event in own
            # In the order of the words: a set's order changes from process to process, and a replay is another one.
            for term in dict.fromkeys(analyse(text_of(event.content)))
            if len(term) > 2 and term not in STOP_TERMS
        )
        began = rfc3339(episode.started_at)[:10]
        # One that is open is described so often that what takes a model waits until it rests.
        others, nearness = ([], None) if new else (self._others(episode), self._nearness)
        title = title_of(own, self._said_in(own), others, began, nearness)
        shared = [count for count in words.values() if count > 1]
        centrality = round(len(shared) / max(len(words), 1), 4) if len(events) > 1 else 0.0
        return replace(
            episode,
            name=title.name,
            summary=title.summary,
            centrality=centrality,
            trust=Trust.least(event.origin.trust for event in own),
        )

    def _others(self, episode: Episode) -> list[frozenset[str]]:
        """The words of the episodes before, by which one knows what is this one's own; looked for when it is sealed."""
        found = self._view.query(Layer.EPISODES, limit=_COMPARED + 1)
        before = [each.id for each in found if each.id != episode.id][:_COMPARED]
        members = self._view.supports_of(before)
        events = self._view.events({each.source_id for of in members.values() for each in of})
        return [
            words_of_turns([events[each.source_id] for each in members[i] if each.source_id in events])
            for i in before
            if i in members
        ]


def newly_worded(record: Record) -> bool:
    """Whether a version says something else than the one before; open episodes are described now and then."""
    return not isinstance(record, Episode) or record.sealed or record.resting or _describes_at(record.size)


def _describes_at(size: int) -> bool:
    """An open episode is described anew while it is small and then every fourth event: rest does it for good."""
    return size <= 4 or size % 4 == 0


def _role(event: Event, facts: Sequence[Fact]) -> EpisodeRole:
    text = text_of(event.content)
    if _OUTCOME.search(text):
        return EpisodeRole.OUTCOME
    if any(fact.kind in _DECIDING_KINDS for fact in facts) or _DECIDES.search(text):
        return EpisodeRole.DECISION
    return EpisodeRole.CONTEXT


def _membership(event: Event, episode_id: str, place: int, part: EpisodeRole) -> Support:
    return Support(
        tenant_id=event.tenant_id,
        record_id=episode_id,
        source_id=event.id,
        relation=Tie.CONTAINS,
        place=place,
        part=part,
        recorded_at=event.recorded_at,
    )
