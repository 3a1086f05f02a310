"""Statements that later ones took the place of: which of the events found say nothing that still holds, and what put them right.

An event is superseded for a question when every claim of it that the question is about has been replaced, denied or taken
back by what holds at the time that the question stands at. It is then marked, goes behind its correction, and is packed with it only.
A question about the past ("where did she live before?") has it marked and where it was.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.events import Event, Trust, text_of
from lamina.kernel.heads import RecordHead
from lamina.kernel.ids import Prefix
from lamina.kernel.local import Offset, day_text
from lamina.kernel.records import Layer, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.questions import asks_past
from lamina.language.tokens import analyse, term_set
from lamina.recall.evidence import ClaimEnds, SlotPlace
from lamina.recall.newer import asks_now
from lamina.recall.plan import Plan
from lamina.recall.score import TEMPERATURE
from lamina.store.queries import Links

__all__ = [
    "HELD_MAX",
    "HOPS_MAX",
    "Placed",
    "Superseded",
    "Supersession",
    "asked_for",
    "bound_by",
    "claims_of",
    "closed_by",
    "facts_behind",
    "marked_episodes",
    "next_in_chains",
    "put_right",
    "replaced_slots",
    "slot_place",
    "superseded_among",
    "told_over",
    "turns_of_changed",
]


class _Resting(Protocol):
    def resting_on(self, source_ids: Collection[str]) -> Mapping[str, Sequence[str]]: ...


_FACT: Final = Prefix.FACT.opening
BEHIND: Final = 0.5
"""What a superseded event keeps of its score, or of that of its correction where this is less."""

_SHORT_CHARS: Final = 200
"""A text of so many characters says what its claims say, and little else."""
HELD_MAX: Final = 4
"""So many of the versions that a slot holds are read; the newest knowledge comes first."""
_NAMES: Final = frozenset({"name_is", "goes_by"})
_NAMING: Final = frozenset(analyse("name names called call who"))
HOPS_MAX: Final = 3
"""How often what replaced a claim may have been replaced itself."""


@dataclass(frozen=True, slots=True)
class Superseded:
    """Since when what an event says holds no more, the fact that stands in its place, if one does, and who said so."""

    at: Instant
    fact: str | None
    event: str
    offset: Offset | None = None

    @property
    def mark(self) -> str:
        """What stands behind who said it."""
        return f" (superseded {day_text(self.at, self.offset)})"


@dataclass(frozen=True, slots=True)
class Supersession:
    """The superseded among the events found. ``marked_only`` where the question is about the past.

    Of ``unasked`` no claim shares a word with the question: all their claims are over, which says much of a short text alone.
    """

    events: Mapping[str, Superseded] = field(default_factory=dict)
    unasked: Collection[str] = ()
    marked_only: bool = False

    @property
    def corrections(self) -> set[str]:
        """The events that must be at hand to put them right."""
        return {each.event for each in self.events.values()}


class Placed(NamedTuple):
    """An event with its score in a pack, and what supersession added to that.

    It is packed with one of ``needs`` only, a fact or an event; with anything where that is empty.
    """

    event: Event
    score: float
    added: Mapping[str, float]
    superseded: Superseded | None
    needs: frozenset[str]


def facts_behind(plan: Plan, event_ids: Collection[str], links: _Resting) -> set[str]:
    """The facts that rest on events and must be at hand to say which of these are superseded."""
    if _standpoint(plan) is None:
        return set()
    return {i for ids in links.resting_on(event_ids).values() for i in ids if i.startswith(_FACT)}


def claims_of(plan: Plan, ids: Collection[str], heads: Mapping[str, RecordHead]) -> dict[str, RecordHead]:
    """The facts among ids as the plan sees them; a loop is no claim."""
    return {
        i: each
        for i in ids
        if (each := heads.get(i)) is not None
        and each.layer is Layer.FACTS
        and not (each.excluded or each.kind == "loop")
        and each.scope in plan.scopes
    }


def closed_by(plan: Plan, facts: Mapping[str, RecordHead]) -> dict[str, RecordHead]:
    """Those of them that hold no more where the question stands."""
    holds_at = _standpoint(plan)
    if holds_at is None:
        return {}
    return {i: each for i, each in facts.items() if each.valid_to is not None and each.valid_to <= holds_at}


def told_over(closed: Mapping[str, RecordHead]) -> dict[str, Instant | None]:
    """Those of closed facts that a word ended, with their last instants: "I used to live in Porto" speaks of it; of what lasted no
    longer than that, nothing does. What was replaced was ended by no word, so that nobody's needs to be looked for."""
    return {i: _last(each) for i, each in closed.items() if each.superseded_by is None}


def _last(fact: RecordHead) -> Instant | None:
    assert fact.valid_to is not None, "a closed fact has an end"
    return fact.valid_to - 1 if fact.valid_to - 1 > fact.valid_from else None


def superseded_among(plan: Plan, event_ids: Collection[str], claims: ClaimEnds, links: Links) -> Supersession:
    """Those of the events that are superseded for the plan's question."""
    closed = claims.closed
    if not closed:
        return Supersession()
    enders = claims.ended_by
    ends = _ends(claims, enders)
    words = set(plan.terms)
    found, unasked = {}, set()
    for event_id, ids in links.resting_on(event_ids).items():
        if not any(i in ends for i in ids):
            continue
        stated = [claims.facts[i] for i in ids if i in claims.facts and event_id not in enders.get(i, ())]
        about = [fact for fact in stated if _tells(fact, words)]
        if not about:
            # A new name says nothing of what else was told in the turn.
            about = [fact for fact in stated if fact.predicate not in _NAMES or words & _NAMING]
            unasked.add(event_id)
        if about and all(fact.id in ends for fact in about):
            found[event_id] = max((ends[fact.id] for fact in about), key=lambda end: (end.at, end.event))
    return Supersession(found, unasked, marked_only=plan.window is None and asks_past(plan.question))


def turns_of_changed(
    plan: Plan,
    event_ids: Collection[str],
    claims: ClaimEnds,
    links: Links,
    marks: Mapping[str, MayHaveChanged],
) -> dict[str, MayHaveChanged]:
    """Those of the events that told a fact which may have changed, with the newest mark of the facts that the question is about; none for
    a question of the past."""
    if not (marks and asks_now(plan)):
        return {}
    words = set(plan.terms)
    found = {}
    for event_id, ids in links.resting_on(event_ids).items():
        stated = [claims.facts[i] for i in ids if i in claims.facts and i not in claims.closed]
        about = [fact for fact in stated if _tells(fact, words)] or stated
        changed = [mark for fact in about if (mark := marks.get(fact.id)) and mark.event_id != event_id]
        if changed:
            found[event_id] = max(changed, key=lambda mark: (mark.observed_at, mark.event_id))
    return found


def put_right(
    scores: Mapping[str, float], supersession: Supersession, events: Mapping[str, Event], plan: Plan
) -> list[Placed]:
    """The events in their new order, corrections among them.

    ``scores`` is in falling order. What nobody may see puts nothing right, nor does a document what a person said.
    """
    found = {
        i: end
        for i, end in supersession.events.items()
        if i in events
        and end.event in events
        and _puts_right(events[end.event], events[i])
        and (i not in supersession.unasked or len(text_of(events[i].content)) <= _SHORT_CHARS)
    }
    new = dict(scores)
    needs: dict[str, frozenset[str]] = {}
    for old_id, end in found.items():
        if supersession.marked_only or not asked_for(plan, events[end.event]):
            continue
        high = new[old_id]
        new[old_id] = BEHIND * min(high, new.get(end.event, high))
        new[end.event] = max(high, new.get(end.event, 0.0))
        needs[old_id] = frozenset({end.event} if end.fact is None else {end.event, end.fact})
    return [
        Placed(
            events[i],
            round(score, 6),
            _added(scores.get(i), score, superseded=i in found),
            found.get(i),
            needs.get(i, frozenset()),
        )
        for i, score in sorted(new.items(), key=lambda entry: -entry[1])
        if i in events and not events[i].excluded
    ]


def bound_by(placed: Sequence[Placed], links: Links) -> dict[str, frozenset[str]]:
    """What each episode needs beside it that holds, of the events placed, superseded ones alone."""
    bound: dict[str, frozenset[str]] = {}
    free: set[str] = set()
    if not any(each.needs for each in placed):
        return bound
    resting = links.resting_on([each.event.id for each in placed])
    for each in placed:
        episodes = [i for i in resting.get(each.event.id, ()) if layer_of(i) is Layer.EPISODES]
        if each.needs:
            bound |= {i: bound.get(i, frozenset()) | each.needs for i in episodes}
        else:
            free.update(episodes)
    return {i: needs for i, needs in bound.items() if i not in free}


def marked_episodes(placed: Sequence[Placed], links: Links) -> dict[str, str]:
    """What stands behind the line of each episode that quotes a superseded event: since when the first of them holds no more."""
    over = {each.event.id: each.superseded for each in placed if each.superseded is not None}
    marks: dict[str, str] = {}
    for event_id, ids in (links.resting_on(over.keys()) if over else {}).items():
        for i in ids:
            if layer_of(i) is Layer.EPISODES:
                marks.setdefault(i, over[event_id].mark.replace("(", "(in part ", 1))
    return marks


def _standpoint(plan: Plan) -> Instant | None:
    """From when on a claim must hold to count for the question; None where the past counts too."""
    axes = plan.axes
    if axes.recorded_during is not None:
        return None
    return axes.valid_during.start if axes.valid_during is not None else axes.valid_at


def _ends(claims: ClaimEnds, enders: Mapping[str, Collection[str]]) -> dict[str, Superseded]:
    """Of the closed facts those that something took the place of. What only ran out ("in Rome until May") stays as it was."""
    closed, known = claims.closed, claims.known
    standing = {each.claim for i, each in known.items() if i not in closed}
    ends = {}
    for i, fact in closed.items():
        assert fact.valid_to is not None, "a closed fact has an end"
        now = claims.holders.get(slot_place(fact)) or _successor(fact, known)
        if now is None and not enders.get(i):
            continue
        if fact.claim in standing or (now is not None and now.claim == fact.claim):
            continue
        if now is not None:
            ends[i] = Superseded(fact.valid_to, now.id, now.event_id, fact.to_offset)
        else:
            ends[i] = Superseded(fact.valid_to, None, max(enders[i]), fact.to_offset)
    return ends


def slot_place(fact: RecordHead) -> SlotPlace:
    """Where a fact stands among the others of its scope."""
    return fact.scope, fact.slot


def replaced_slots(plan: Plan, closed: Iterable[RecordHead]) -> dict[Scope, set[str]]:
    """The slots of replaced facts, scope by scope, for a reader of now: what holds them is at the end of their chains, however long
    these are."""
    asked: dict[Scope, set[str]] = defaultdict(set)
    if plan.held_at is None and plan.axes.valid_during is None:
        for fact in closed:
            if fact.slot is not None and fact.superseded_by is not None:
                asked[fact.scope].add(fact.slot)
    return asked


def next_in_chains(claims: ClaimEnds) -> set[str]:
    """What replaced the ends, as far as these are known, of the chains that closed facts without a holder began."""
    chained = [
        each
        for each in claims.closed.values()
        if each.superseded_by is not None and slot_place(each) not in claims.holders
    ]
    reached = ((_successor(each, claims.known) or each).superseded_by for each in chained)
    return {i for i in reached if i is not None and i not in claims.known}


def _successor(fact: RecordHead, known: Mapping[str, RecordHead]) -> RecordHead | None:
    """What stands at the end of the chain that a fact was the beginning of."""
    found: RecordHead | None = None
    seen = {fact.id}
    while (after := known.get(fact.superseded_by or "")) is not None and after.id not in seen:
        found = fact = after
        seen.add(fact.id)
    return found


def _tells(fact: RecordHead, words: Set[str]) -> bool:
    """Whether one of the words is in what is said of the subject."""
    shared = term_set(fact.text) & words
    return bool(shared and shared - term_set(fact.subject_name))


def _puts_right(correction: Event, event: Event) -> bool:
    believed = correction.origin.trust is not Trust.EXTERNAL or event.origin.trust is Trust.EXTERNAL
    return believed and not correction.excluded and correction.id != event.id


def asked_for(plan: Plan, event: Event) -> bool:
    """Whether an event may be in the pack of a plan."""
    start, end = plan.observed or (None, None)
    at = event.context.observed_at
    return (
        event.scope in plan.scopes
        and event.recorded_at <= plan.axes.seen_at
        and (start is None or at >= start)
        and (end is None or at < end)
        and plan.filter.passes(event)
    )


def _added(before: float | None, after: float, *, superseded: bool) -> Mapping[str, float]:
    """The change on the line of signals that scores are taken from."""
    if before == after:
        return {}
    change = TEMPERATURE * math.log(after / before) if before else TEMPERATURE * math.log(after)
    return {"superseded" if superseded else "corrects": round(change, 4)}
