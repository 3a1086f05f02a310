"""Gathering: bounded candidates from every arm, all inside the allowed scopes, as the pool that is ranked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lamina import limits
from lamina.index.columns import NONE
from lamina.index.resident import ResidentIndexes
from lamina.index.scope import ScopeIndex
from lamina.index.tokens import RecentTokens
from lamina.kernel.events import Event
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.days import DayNote
from lamina.language.tokens import known_terms
from lamina.models.maxsim import Interaction
from lamina.models.ports import Embedder, Encoded, Float32Array, TokenRows
from lamina.models.recent import RecentQuestions
from lamina.recall.draw import Drawn, draw
from lamina.recall.figures import DERIVED, Words, earlier_rows
from lamina.recall.plan import Plan
from lamina.recall.rank import worth_reading
from lamina.recall.signals import QuestionFeatures, ScopeStatistics, Turns, persons_named
from lamina.store.ports.store import Store
from lamina.store.queries import Home

__all__ = ["DERIVED", "EventPool", "Retriever", "Words", "question_features"]

WIDEN_MAX: Final = 64
"""A filter that leaves too little makes the arms reach this many times further, step by step."""
_WARMED_FROM: Final = 1000
"""The scopes of so many events, the newest, are loaded before anybody asks."""


@dataclass(frozen=True, eq=False)
class EventPool:
    """The candidates of one question as columns, with the figures of the searched scopes and what each arm brought.

    ``pooled`` is (n, d): unit rows, zeros where a turn has no vector.
    """

    record_ids: Sequence[str]
    turns: Turns
    pooled: Float32Array
    statistics: ScopeStatistics
    persons: frozenset[str]
    encoded: Encoded
    words: Words
    arms: Mapping[str, int]
    quarantined: Callable[[str], tuple[str, ...]]
    """Why an event of the searched indexes is kept out; empty where it is not."""
    days: Callable[[str], DayNote | None]
    """What was noted of the days that an event of the searched indexes means, None where nothing was."""
    kept_out: Sequence[str]
    """Quarantined events that would have been drawn, best first."""
    home: Home
    """The scopes of records that are in the searched indexes; a record never moves, so that it stays right."""
    removals: int
    """What ``Basis.removals`` is of the searched scopes, as they were read."""
    partial: bool
    """Whether something is still to be derived from what the plan sees: words are found as they are told, the rest follows."""

    @cached_property
    def compared(self) -> Interaction:
        """The question with the tokens of the turns."""
        return Interaction(self.encoded.tokens[0], self.turns.tokens)


class Retriever:
    """Draws candidates for plans."""

    def __init__(self, store: Store, indexes: ResidentIndexes, embedder: Embedder) -> None:
        self._store = store
        self._indexes = indexes
        self.embedder = embedder.name
        self._questions = RecentQuestions(embedder)
        self._tokens = RecentTokens(store.index)

    def expect(self, question: str) -> None:
        """The model begins to read a question that will be asked soon."""
        self._questions.asked(question)

    def warm(self, stopping: Callable[[], bool]) -> None:
        """Load the scopes that were told of last, while there is room and until ``stopping``, and the model where there are any."""
        told = self._store.log.told_last(_WARMED_FROM)
        if told:
            self.expect("")
        for tenant_id, scope in told:
            if stopping() or not self._indexes.warm(tenant_id, scope):
                return

    def gather(self, plan: Plan) -> EventPool:
        """The pool of a plan; wider when a filter leaves fewer than the events asked for."""
        encoded = self._questions.asked(plan.question)
        wanted = min(plan.limits.get(Layer.EVENTS, 0), plan.breadth.text)
        earlier = earlier_rows(self._store.records, plan)
        width = 1
        while True:
            with self._indexes.reading(plan.tenant_id, plan.scopes) as indexes:
                # Of the scopes above a user's most are empty, and each would cost as many steps as a full one.
                searched = [each for each in indexes if len(each)] or indexes[:1]
                removals = sum(each.changes + each.last_end for each in indexes)
                words, drawn = draw(plan, searched, earlier, width, encoded)
            if plan.filter:
                drawn = drawn.kept(self._passing(plan, drawn.rows.record_ids))
                named = self._passing(plan, drawn.kept_out)
                drawn = replace(drawn, kept_out=list(compress(drawn.kept_out, named)))
            enough = drawn.exhausted or len(drawn.spots) >= wanted or width >= WIDEN_MAX
            if not plan.filter or enough:
                return self._pool(plan, drawn, words, encoded(), searched, removals)
            width *= 4

    def _passing(self, plan: Plan, ids: Sequence[str]) -> NDArray[np.bool_]:
        events: Mapping[str, Event] = self._store.log.get(plan.tenant_id, ids)
        found = (events.get(record_id) for record_id in ids)
        return np.array([event is not None and plan.filter.passes(event) for event in found], np.bool_)

    def _pool(
        self,
        plan: Plan,
        drawn: Drawn,
        words: Words,
        encoded: Encoded,
        searched: Sequence[ScopeIndex],
        removals: int,
    ) -> EventPool:
        persons = _persons(plan, drawn.speakers)
        if len(drawn.spots) > plan.read_max:
            question = question_features(plan, encoded, persons)
            turns = _turns(drawn, persons, TokenRows.unread(len(drawn.spots)))
            unread = drawn.rows.vector_rows == NONE
            worth = worth_reading(turns, unread, question, drawn.statistics, limit=plan.read_max)
            drawn = drawn.kept(worth)
        rows = drawn.rows
        payloads = self._tokens.of(plan.tenant_id, drawn.vector_rows(searched))
        tokens = TokenRows.from_payloads([payloads.get(number) for number in rows.vector_rows.tolist()])
        turns = _turns(drawn, persons, tokens)
        return EventPool(
            rows.record_ids,
            turns,
            rows.pooled,
            drawn.statistics,
            persons,
            encoded,
            words,
            drawn.arms,
            _quarantined(searched),
            _days(searched),
            drawn.kept_out[: limits.QUARANTINED_NAMED_MAX],
            _home(searched),
            removals,
            any(_waits(index.waiting_since, plan) for index in searched),
        )


def question_features(plan: Plan, encoded: Encoded, persons: frozenset[str]) -> QuestionFeatures:
    """What the ranking knows of a plan's question; ``persons`` are the speakers that it names."""
    return QuestionFeatures(
        terms=plan.terms,
        tokens=encoded.tokens[0],
        persons=persons,
        asks_assistant=plan.asks_assistant,
        window=plan.window,
    )


def _turns(drawn: Drawn, persons: frozenset[str], tokens: TokenRows) -> Turns:
    rows = drawn.rows
    return Turns(
        counts=rows.counts,
        lengths=rows.lengths,
        tokens=tokens,
        cosines=drawn.cosines.astype(np.float64),
        sessions=drawn.sessions,
        previous=drawn.previous,
        following=drawn.following,
        named=drawn.spoken_by(persons),
        by_assistant=rows.by_assistant,
        observed_at=rows.observed_at,
        question_shares=rows.question_shares,
        self_shares=rows.self_shares,
    )


def _home(indexes: Sequence[ScopeIndex]) -> Home:
    def home(record_ids: Collection[str]) -> Mapping[str, Scope]:
        found: dict[str, Scope] = {}
        for index in indexes:
            found |= dict.fromkeys(index.known(record_ids), index.scope)
        return found

    return home


def _waits(since: Instant | None, plan: Plan) -> bool:
    return since is not None and since <= plan.axes.seen_at


def _quarantined(indexes: Sequence[ScopeIndex]) -> Callable[[str], tuple[str, ...]]:
    def reasons(record_id: str) -> tuple[str, ...]:
        for index in indexes:
            if index.has_quarantined and record_id in index:
                return index.quarantined(record_id)
        return ()

    return reasons


def _days(indexes: Sequence[ScopeIndex]) -> Callable[[str], DayNote | None]:
    def days(record_id: str) -> DayNote | None:
        for index in indexes:
            if record_id in index:
                return index.days(record_id)
        return None

    return days


def _persons(plan: Plan, speakers: Sequence[Sequence[str]]) -> frozenset[str]:
    analysed = {name: known_terms(name) for names in speakers for name in names}
    named = persons_named(plan.all_terms, analysed)
    called = plan.called
    if called is not None and called.stored in analysed and called.keys & set(plan.names):
        named |= {called.stored}
    asker = next((name for name in plan.askers if name in analysed), None)
    return named if asker is None else named | {asker}
