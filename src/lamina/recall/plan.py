"""The plan of a recall: what kind of question it is, where and when to look, how much may come back.

A function of the request and the clock alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, get_args

from lamina import limits
from lamina.kernel.events import Party
from lamina.kernel.local import LocalTime, to_local
from lamina.kernel.operations import Principal
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, Interval, from_datetime
from lamina.language.entities import normalise_name
from lamina.language.questions import asks_assistant, speaks_of_self
from lamina.language.spoken import as_written
from lamina.language.temporal import question_window
from lamina.language.tokens import analyse, content_terms
from lamina.recall.deadline import NEVER, Deadline
from lamina.recall.filters import Filter, parse_filter
from lamina.recall.layers.words import Phrases, spoken_phrases, window_of
from lamina.recall.naming import Called
from lamina.types.recall import LayerName, Recall

__all__ = ["DEFAULT_LIMITS", "NARROW", "WIDE", "Breadth", "Plan", "QuestionClass", "as_read", "plan_recall"]

QuestionClass = Literal["LOOKUP", "TIMELINE", "AGGREGATE", "PREFERENCE", "OPEN"]

DEFAULT_LIMITS: Mapping[Layer, int] = {
    Layer.EVENTS: 20,
    Layer.EPISODES: 5,
    Layer.FACTS: 20,
    Layer.BELIEFS: 10,
    Layer.UNDERSTANDING: 3,
}


@dataclass(frozen=True, slots=True)
class Breadth:
    """How many events and derived records a recall looks at to find the few that it shows.

    ``text``, ``vector``, ``timed`` and ``newest`` are what each arm may bring; so many of the best by words and by vectors,
    ``expanded``, bring the turns around them. What the best ``sources`` events gave rise to joins the derived records;
    of a layer so many times its limit, ``records``, are read and weighed in full. Of the events that the arms bring the best ``read``, by what is
    known of them without their tokens, are ranked by these.
    """

    text: int
    vector: int
    expanded: int
    timed: int
    newest: int
    sources: int
    records: int
    read: int


_READ_FOR_ONE: Final = 4
"""So many are read for each event that a layer shows: it diversifies fewer."""

WIDE: Final = Breadth(text=200, vector=150, expanded=60, timed=50, newest=50, sources=30, records=4, read=250)
"""What every pack is made from."""

NARROW: Final = Breadth(text=24, vector=24, expanded=8, timed=20, newest=20, sources=12, records=2, read=250)
"""For who waits and takes a few lines, such as a brief: some 60 candidates on LoCoMo and 41 on LongMemEval.

Evidence turns in the top 5 and 10, LoCoMo and LongMemEval: 0.757 and 0.812, 0.747 and 0.821; wide 0.762 and 0.821, 0.757
and 0.836; any of its sessions in the top 5 0.949 and 0.855 (``bench/quality_offline.py`` with these breadths).
"""


@dataclass(frozen=True, slots=True)
class BlockShape:
    """What a context block is composed of: up to so many ``events``, and other layers in ``shares`` of the budget where they were named or
    the question spans a time or a topic. Where there are no shares, facts come only where room is left, they say what is ``asked`` and no
    event shown tells them, and few of them."""

    events: int
    shares: Mapping[Layer, float]
    asked: frozenset[str] = frozenset()


_CLASSES: Sequence[tuple[QuestionClass, re.Pattern[str]]] = (
    ("TIMELINE", re.compile(r"\b(?:when|how long|since when|what (?:date|day|year|month|time)|in what order|before|after)\b", re.I)),
    ("AGGREGATE", re.compile(r"\b(?:how many|how much|how often|list|all (?:the|of)|every|in total|which .*s\b)", re.I)),
    ("PREFERENCE", re.compile(r"\b(?:prefer|favou?rite|like|likes|love|enjoy|hate|recommend|suggest|should i|any (?:tips|ideas|advice))\b", re.I)),
    ("LOOKUP", re.compile(r"\b(?:what|who|whom|whose|where|which|why|how|did|does|do|is|are|was|were|has|have|can)\b", re.I)),
)  # fmt: skip

_FAINTEST: Final = 0.02
"""A turn that is fifty times less likely than the best is no evidence: without such ones packs of 4,000 tokens lost none of the
evidence of LoCoMo and LongMemEval, and a twentieth and a seventh of their tokens."""
_NAMES_MAX: Final = 24
_GENERAL: Final = frozenset(
    analyse("know tell remember recall say said told describe anything everything myself who am i")
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True)
class Plan:
    """Everything that gathering, ranking and packing go by.

    ``asker`` is the caller's name where the question is about them ("where do I live?"), ``called`` the user of the first scope. ``scopes`` are those to search, nearest first. ``window`` is the stretch of observed time that the question
    names: it draws events, and derived records are of what held in it. ``axes`` decide what is visible at all.
    Between two phases the ``deadline`` says whether the answer is still wanted.
    Concepts of the scopes ``without_concepts`` are left out.
    Events of a score below ``faintest`` of the best are left out. ``held_at`` is where the reader of an earlier time stands: what came later counts for nothing, not even in a score.
    """

    tenant_id: str
    question: str
    kind: QuestionClass
    terms: tuple[str, ...]
    all_terms: tuple[str, ...]
    asks_assistant: bool
    asker: str | None
    scopes: tuple[Scope, ...]
    layers: tuple[Layer, ...]
    axes: Axes
    observed: tuple[Instant | None, Instant | None] | None
    window: tuple[Instant | None, Instant | None] | None
    limits: Mapping[Layer, int]
    max_tokens: int
    filter: Filter
    warnings: tuple[str, ...]
    breadth: Breadth = WIDE
    held_at: Instant | None = None
    faintest: float = 0.0
    called: Called | None = None
    block: BlockShape | None = None
    deadline: Deadline = NEVER
    include_quarantined: bool = False
    without_concepts: tuple[str, ...] = ()

    @property
    def block_events(self) -> int:
        """How many events a context block may draw from; 0 where there is no block, or none without events."""
        return 0 if self.block is None else self.block.events

    @property
    def read_max(self) -> int:
        """Of how many events the tokens are read: of more than a layer diversifies, and of as many as a block may draw from."""
        return max(self.breadth.read, _READ_FOR_ONE * self.limits.get(Layer.EVENTS, 0), self.block_events)

    @cached_property
    def names(self) -> frozenset[str]:
        """The normal forms of what may be names in the question: its words, and each run of words that begin with a capital,
        from any of them on ("Did Ana Silva" asks for Ana Silva)."""
        words = _WORD.findall(self.question)[:_NAMES_MAX]
        found: set[str] = set()
        run: list[str] = []
        for word in reversed(words):
            run = [word, *run] if word[0].isupper() else []
            found |= {normalise_name(word), normalise_name(" ".join(run))}
        return frozenset(found - {""})

    @cached_property
    def asked_for(self) -> frozenset[str]:
        """The terms that say what is asked, without names: {"live"} of "where does Sam live?"."""
        named = (word for word in _WORD.findall(self.question)[1:] if word[0].isupper())
        return frozenset(self.terms) - _GENERAL - {term for name in named for term in analyse(name)}

    @property
    def asks_for_all(self) -> bool:
        """Whether the question asks for whatever is known of somebody: "what do you know about me?"."""
        return not self.asked_for

    @property
    def askers(self) -> Sequence[str]:
        """Whose names "I" may stand for, the likeliest first: who calls for a user asks what that user asked."""
        if self.asker is None or self.called is None:
            return [] if self.asker is None else [self.asker]
        return [self.asker, self.called.stored]

    @property
    def name(self) -> str:
        """What the trail calls it."""
        return f"{self.kind}_IN_WINDOW" if self.window or self.observed else self.kind


def as_read(query: str) -> str:
    """A question as it would be written; as it is where nothing of it would."""
    written = as_written(query).text
    return written if written.strip() else query


def plan_recall(
    request: Recall,
    principal: Principal,
    scopes: Sequence[Scope],
    now: Instant,
    breadth: Breadth = WIDE,
    *,
    clock_now: Instant | None = None,
    seen_from: Instant | None = None,
    phrases: Phrases = MappingProxyType({}),
) -> Plan:
    """The plan; raises ``Invalid`` for a filter or a time that cannot be read.

    ``now`` is where the log is, ``clock_now`` what the clock says where that differs: words such as "yesterday" count from
    it. ``seen_from`` is where ``as_of`` stands on recorded time, itself unless told. ``phrases`` are the tenant's words of time there.
    """
    temporal = request.temporal
    clock_now = now if clock_now is None else clock_now
    reference = temporal.reference_date or LocalTime(clock_now)
    during = Interval(*temporal.valid_during) if temporal.valid_during else None
    if temporal.natural is not None:
        during = window_of(temporal.natural, reference, phrases, field="temporal.natural")
    warnings = []
    if request.view == "raw" and during is not None:
        during = None
        warnings.append("valid_during_ignored_for_view_raw")
    seen_at = now if temporal.as_of is None else min(seen_from or temporal.as_of, now)
    asked_at = temporal.reference_date
    if asked_at is None:
        asked_at = LocalTime(min(clock_now, clock_now if temporal.as_of is None else temporal.as_of))
    question = as_read(request.query)
    terms = analyse(question)
    named = _named(question, asked_at, phrases) if during is None else None
    # "Where did she live in March?" is about what held then, not about what holds now.
    valid = during or named
    axes = Axes.asked(
        now,
        as_of=None if temporal.as_of is None else seen_at,
        valid_during=valid,
        recorded_during=Interval(*temporal.recorded_during) if temporal.recorded_during else None,
        superseded=temporal.include_superseded,
    )
    plan = Plan(
        tenant_id=principal.tenant_id,
        question=question,
        kind=_classify(question),
        terms=tuple(dict.fromkeys(content_terms(terms))),
        all_terms=tuple(terms),
        asks_assistant=asks_assistant(question),
        asker=Party.of(principal.actor).display_name if speaks_of_self(question) else None,
        scopes=tuple(scopes),
        layers=_layers(request),
        axes=axes,
        observed=(during.start, during.end) if during else None,
        window=None if named is None else (named.start, named.end),
        limits=_limits(request),
        max_tokens=request.budgets.max_tokens,
        filter=parse_filter(request.filters),
        warnings=tuple(warnings),
        breadth=breadth,
        held_at=None if temporal.as_of is None and temporal.recorded_during is None else axes.seen_at,
        faintest=_faintest(request),
        include_quarantined=request.include_quarantined,
    )
    return replace(plan, block=_block(request, plan))


def _classify(question: str) -> QuestionClass:
    return next((kind for kind, pattern in _CLASSES if pattern.search(question)), "OPEN")


def _layers(request: Recall) -> tuple[Layer, ...]:
    if request.view == "raw":
        return (Layer.EVENTS,)
    names: Sequence[LayerName] = request.include or get_args(LayerName)
    return tuple(dict.fromkeys(Layer(name) for name in names))


def _limits(request: Recall) -> Mapping[Layer, int]:
    given = {Layer(name): count for name, count in request.budgets.per_layer_limits.items()}
    return {layer: given.get(layer, DEFAULT_LIMITS[layer]) for layer in _layers(request)}


_SHARES: Final[Mapping[Layer, float]] = {
    Layer.FACTS: 0.15,
    Layer.EPISODES: 0.12,
    Layer.BELIEFS: 0.05,
    Layer.UNDERSTANDING: 0.08,
}
_LINE_TOKENS_MIN: Final = 16
"""A line of an event has its day, its speaker, quotes and a marker, and so at least this many tokens."""


def _block(request: Recall, plan: Plan) -> BlockShape | None:
    if request.view not in ("holistic", "local", "descend", "narrative"):
        return None
    events = 0
    if Layer.EVENTS in _layers(request):
        most = request.budgets.per_layer_limits.get(Layer.EVENTS.value, limits.BLOCK_EVENTS_MAX)
        events = min(most, request.budgets.max_tokens // _LINE_TOKENS_MIN + 1)
    spans = plan.asks_for_all or (plan.window is not None and len(plan.asked_for) <= 1)
    whole = bool(request.include) or spans
    return BlockShape(events, _SHARES if whole else {}, plan.asked_for)


def _faintest(request: Recall) -> float:
    """Who says how many events they want, or takes them raw, gets as many."""
    told = request.view == "raw" or Layer.EVENTS in request.budgets.per_layer_limits
    return 0.0 if told else _FAINTEST


def _named(question: str, asked_at: LocalTime, phrases: Phrases) -> Interval | None:
    """The stretch that a question names, in the tenant's own words or in everybody's, or both: from the first to the last."""
    question, own = spoken_phrases(question, phrases)
    window = question_window(question, to_local(asked_at.at, asked_at.offset))
    if window is None:
        return own
    start, end = _instant(window.valid_from), _instant(window.valid_to)
    if own is None:
        return Interval(start, end)
    assert own.start is not None and own.end is not None, "a phrase has both ends"  # noqa: PT018 - one thought
    return Interval(
        None if start is None else min(start, own.start), None if end is None else max(end, own.end)
    )


def _instant(moment: datetime | None) -> Instant | None:
    return None if moment is None else from_datetime(moment)
