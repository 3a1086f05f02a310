"""Which events and records answer, and in which order: what repeats another, what holds no more and what may have changed put in
its place. Functions of values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.events import Event, text_of
from lamina.kernel.records import Concept, Episode, Fact, Layer, Record
from lamina.kernel.time import Instant
from lamina.language.days import DayNote
from lamina.language.sentences import split_sentences
from lamina.models.ports import Float32Array
from lamina.recall.changed import Changes
from lamina.recall.compose import disputed
from lamina.recall.evidence import DerivedLayers, Displayed
from lamina.recall.naming import Called
from lamina.recall.nearest import TurnTokens, tokens_of_turns
from lamina.recall.newer import AnsweredAnew
from lamina.recall.pack import diversify
from lamina.recall.plan import Plan
from lamina.recall.render import QUARANTINE_MARK
from lamina.recall.retrieve import EventPool
from lamina.recall.score import ScoredEvent
from lamina.recall.superseded import (
    Placed,
    Superseded,
    Supersession,
    asked_for,
    bound_by,
    marked_episodes,
    put_right,
)

__all__ = ["Answers", "Candidates", "Held", "candidates", "place", "ranked_max"]

_DIVERSIFIED: Final = 3
"""MMR chooses among this many times the events that the layer's limit allows."""
_ROOM: Final = 1.25
"""So much of a block's budget is worded of the events behind the best: of the last some are too long for what is left."""
_LINE_TOKENS: Final = 19
_TOKENS_OF_TERM: Final = 1.2
_EXCERPT_TOKENS: Final = 62
"""A longer turn may be cut to so much."""
_SENTENCES_MAX: Final = 8
"""An episode quotes none behind the first so many of a turn."""


class Held(NamedTuple):
    """An event or a record that answers, with its score and, where they were asked for, the parts of it. Of a fact, ``said_at`` is
    when the turn was said that tells it. ``mark`` says of a line what no longer holds of it, or is disputed; ``days``
    is what was noted of the days that a turn means, ``tokens`` are its vectors where it was ranked by them."""

    value: Event | Record
    score: float
    contributions: Mapping[str, float]
    superseded: Superseded | None = None
    needs: frozenset[str] = frozenset()
    said_at: Instant | None = None
    mark: str = ""
    changed: MayHaveChanged | None = None
    quarantined: tuple[str, ...] = ()
    days: DayNote | None = None
    tokens: TurnTokens | None = None


class Candidates(NamedTuple):
    """The events that may be shown, best first: the ``best`` for the layer, and ``more`` for a context block that has room."""

    best: Sequence[ScoredEvent]
    more: Sequence[ScoredEvent]

    @property
    def ids(self) -> list[str]:
        """Of all of them."""
        return [one.record_id for one in (*self.best, *self.more)]


class Answers(NamedTuple):
    """What answers, best first in each layer up to its limit, and ``more`` events that only a context block may show."""

    values: Mapping[Layer, Sequence[Held]]
    more: Sequence[Held]


def ranked_max(plan: Plan) -> int:
    """How many of the best events a plan needs in their order."""
    return max(plan.breadth.sources, _DIVERSIFIED * plan.limits.get(Layer.EVENTS, 0), plan.block_events)


def candidates(
    pool: EventPool, ranked: Sequence[ScoredEvent], plan: Plan, answered_anew: AnsweredAnew
) -> Candidates:
    """The best events, without those that a better one repeats almost word for word, and the next best; with those by which one of
    them may have changed, also where these are faint: they are as good as what they may have changed."""
    limit = plan.limits.get(Layer.EVENTS, 0)
    best: list[ScoredEvent] = []
    near = ranked[: limit * _DIVERSIFIED]
    if near and limit:
        order = diversify([one.score for one in near], pool.pooled[[one.at for one in near]], limit)
        best = [near[at] for at in sorted(order)]
    taken = {one.record_id for one in best}
    rest = [one for one in ranked if one.record_id not in taken and one.score >= plan.faintest]
    more = rest[: _room_for(rest, pool, plan, best)]
    shown = taken | {one.record_id for one in more}
    later = answered_anew.worth_of_later({one.record_id: one.score for one in (*best, *more)})
    more = [*more, *(one for one in ranked if one.record_id in later.keys() - shown)]
    return Candidates(
        best,
        [
            one._replace(score=later[one.record_id]) if later.get(one.record_id, 0.0) > one.score else one
            for one in more
        ],
    )


def _room_for(rest: Sequence[ScoredEvent], pool: EventPool, plan: Plan, best: Sequence[ScoredEvent]) -> int:
    """How many of the rest may find room in a block beside those of the best that are better, so that no more are read and worded."""
    either = sorted([*best, *rest], key=lambda one: -one.score)
    fitting = int(np.searchsorted(np.cumsum(_tokens_about(either, pool)), _ROOM * plan.max_tokens)) + 1
    better = {one.record_id for one in either[:fitting]}
    fitting = sum(one.record_id in better for one in rest)
    return min(fitting, max(0, plan.block_events - len(best)))


def _tokens_about(events: Sequence[ScoredEvent], pool: EventPool) -> Float32Array:
    """What the line of each event takes, by its terms: within a quarter for nineteen of twenty turns of both development sets."""
    terms = pool.turns.lengths[[one.at for one in events]]
    tokens: Float32Array = np.minimum(_LINE_TOKENS + _TOKENS_OF_TERM * terms, _EXCERPT_TOKENS)
    return tokens


def place(
    plan: Plan,
    of_events: Candidates,
    supersession: Supersession,
    displayed: Displayed,
    answered_anew: Mapping[str, MayHaveChanged],
    pool: EventPool,
    *,
    explained: bool,
) -> Answers:
    """The values of each layer; ``answered_anew`` has by their ids the turns that may have changed as the pool tells, beside those of which a
    fact may have; the ``pool`` knows what keeps an event out and what was noted of it. With ``explained`` they have the parts of each score."""
    answered_anew = {**displayed.changes.turns, **answered_anew}
    scored = {one.record_id: one for one in (*of_events.best, *of_events.more)}
    changes, derived = displayed.changes, displayed.derived
    placed = put_right({i: one.score for i, one in scored.items()}, supersession, displayed.events, plan)
    worth = _worth_of_later(changes, placed, derived, plan)
    placed = sorted(_with_later(placed, worth, changes), key=lambda each: -each.score)
    if not plan.include_quarantined:
        placed = [each for each in placed if not pool.quarantined(each.event.id)]
    least = plan.faintest * max((each.score for each in placed), default=0.0)
    marking = {mark.event_id for mark in answered_anew.values()}
    placed = [each for each in placed if each.score >= least or each.event.id in marking]
    first = _shown_first(of_events.best, supersession, worth)
    held: Mapping[bool, list[Held]] = {True: [], False: []}
    tokens = {} if plan.block is None else _tokens(pool, scored)
    for each in placed:
        signals: Mapping[str, float] = {}
        if explained:
            own = scored.get(each.event.id)
            signals = {**(own.contributions if own else {}), **each.added}
        anew = answered_anew.get(each.event.id) if each.superseded is None else None
        days = pool.days(each.event.id)
        near = tokens.get(each.event.id)
        one = Held(
            each.event,
            each.score,
            signals,
            each.superseded,
            each.needs,
            changed=anew,
            days=days,
            tokens=near,
        )
        if reasons := pool.quarantined(each.event.id):
            one = one._replace(quarantined=reasons, mark=QUARANTINE_MARK)
        held[each.event.id in first].append(one)
    limit = plan.limits.get(Layer.EVENTS, 0)
    values: dict[Layer, Sequence[Held]] = {layer: [] for layer in plan.layers}
    if Layer.EVENTS in values:
        values[Layer.EVENTS] = held[True][:limit]
    values |= _records(plan, placed, displayed, answered_anew)
    return Answers(values, [*held[True][limit:], *held[False]])


def _tokens(pool: EventPool, scored: Mapping[str, ScoredEvent]) -> dict[str, TurnTokens | None]:
    places = [one.at for one in scored.values()]
    found = tokens_of_turns(pool.compared, places)
    return dict(zip(scored, found, strict=True))


def _shown_first(
    best: Sequence[ScoredEvent], supersession: Supersession, later: Collection[str]
) -> Collection[str]:
    """The events for the layer; the others are for a context block alone."""
    first = {one.record_id for one in best}.union(later)
    corrected = (supersession.events.get(one.record_id) for one in best)
    return first | {each.event for each in corrected if each is not None}


def _records(
    plan: Plan, placed: Sequence[Placed], displayed: Displayed, answered_anew: Mapping[str, MayHaveChanged]
) -> dict[Layer, Sequence[Held]]:
    events, links = displayed.events, displayed.links
    changes, quoted = displayed.changes, _quoted_anew(placed, displayed, answered_anew)
    bound, marks = bound_by(placed, links), marked_episodes(placed, links)
    values: dict[Layer, Sequence[Held]] = {}
    for layer, scored in displayed.derived.by_layer.items():
        best = scored[: plan.limits.get(layer, 0)]
        marks |= disputed([one.record for one in best if isinstance(one.record, Fact)])
        values[layer] = [
            Held(
                one.record,
                one.score,
                one.contributions,
                needs=bound.get(one.record.id, frozenset()),
                said_at=_said_at(one.record, events),
                mark=marks.get(one.record.id, "") + _doubted(one.record, changes, plan.called),
                changed=quoted.get(one.record.id) or changes.of(one.record),
            )
            for one in best
        ]
    return values


def _doubted(record: Record, changes: Changes, user: Called | None) -> str:
    """What stands behind the line of a concept that tells facts which may have changed."""
    facts = changes.told_in(record) if isinstance(record, Concept) else ""
    if isinstance(record, Concept) and user is not None:
        _, facts = user.understood(record.name, facts)
    return f" (may have changed: {facts.removesuffix('.')})" if facts else ""


def _quoted_anew(
    placed: Sequence[Placed], displayed: Displayed, answered_anew: Mapping[str, MayHaveChanged]
) -> dict[str, MayHaveChanged]:
    """By the ids of episodes that quote a turn that may have changed, by what it may."""
    turns = [each.event for each in placed if each.event.id in answered_anew and each.superseded is None]
    resting = displayed.links.resting_on([turn.id for turn in turns]) if turns else {}
    chosen = {one.record.id: one.record for one in displayed.derived.by_layer.get(Layer.EPISODES, ())}
    return {
        i: answered_anew[turn.id]
        for turn in turns
        for i in resting.get(turn.id, ())
        if isinstance(episode := chosen.get(i), Episode) and _quotes(episode.summary, turn)
    }


def _quotes(summary: str, turn: Event) -> bool:
    sentences = split_sentences(text_of(turn.content), count_max=_SENTENCES_MAX)
    return any(sentence.text.strip() in summary for sentence in sentences)


def _said_at(record: Record, events: Mapping[str, Event]) -> Instant | None:
    turn = events.get(record.event_id) if isinstance(record, Fact) else None
    return None if turn is None else turn.context.observed_at


def _worth_of_later(
    changes: Changes, placed: Sequence[Placed], derived: DerivedLayers, plan: Plan
) -> dict[str, float]:
    """By their ids, the turns by which facts may have changed: as good as the fact, or the turn that told it, behind which they must stand."""
    best = max((each.score for each in placed), default=0.0)
    facts = derived.by_layer.get(Layer.FACTS, [])[: plan.limits.get(Layer.FACTS, 0)]
    told = [(one.score, changes.marks.get(one.record.id)) for one in facts]
    told += [(each.score, changes.turns.get(each.event.id)) for each in placed]
    worth: dict[str, float] = {}
    for score, mark in told:
        if mark is not None and asked_for(plan, changes.events[mark.event_id]):
            worth[mark.event_id] = max(worth.get(mark.event_id, 0.0), min(score, best) if best else score)
    return worth


def _with_later(placed: Sequence[Placed], worth: Mapping[str, float], changes: Changes) -> Iterator[Placed]:
    """The events with those later turns among them that were not found, and those that were found no further behind than they are worth."""
    found = {each.event.id for each in placed}
    for each in placed:
        score = worth.get(each.event.id, 0.0)
        yield each._replace(score=round(score, 6)) if score > each.score and each.superseded is None else each
    for event_id, score in worth.items():
        if event_id not in found:
            yield Placed(changes.events[event_id], round(score, 6), {}, None, frozenset())
