"""What an erasure reaches, counted (seed 002, 11.3 and 11.4): pure functions of events and of what rests on them.

An event is deleted where no record outside the erased scopes rests on it, through any number of records in whichever scope; else
it is redacted. An event under a legal hold is neither. A belief outside is demoted where every event goes that speaks for it now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lamina.kernel.events import Event
from lamina.kernel.records import Belief, Stance, Support
from lamina.kernel.scopes import Scope
from lamina.store.ports.citations import Citation, ErasureCandidate
from lamina.store.ports.erasures import ErasureLine, LineKind
from lamina.store.rules.redacting import leaves_of, redacted_share

__all__ = ["Area", "ErasurePlan", "demoted_of", "plan_of", "resting_alone"]


@dataclass(frozen=True, slots=True)
class Area:
    """What is erased as a whole: scopes with all below them, but for those under a legal hold."""

    roots: tuple[Scope, ...]
    held: tuple[Scope, ...] = ()

    def holds(self, scope: Scope) -> bool:
        """Whether a legal hold keeps a scope."""
        return any(each.contains(scope) for each in self.held)

    def covers(self, scope: Scope) -> bool:
        """Whether everything of a scope goes."""
        return any(root.contains(scope) for root in self.roots) and not self.holds(scope)


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What becomes of each event, by id in the order of the log, and what outside cites them.

    ``cited`` are the records outside by event; ``scopes`` says where an event or a record lies. ``resting`` are the records outside
    that rest on events that go, ``demoted`` the beliefs among them that ``demoted_of`` names.
    """

    deleted: tuple[str, ...]
    redacted: tuple[str, ...]
    held: tuple[str, ...]
    cited: Mapping[str, Sequence[str]]
    resting: tuple[str, ...]
    scopes: Mapping[str, Scope]
    demoted: tuple[str, ...] = ()

    def lines(self) -> list[ErasureLine]:
        """The manifest."""
        told = [
            (LineKind.DELETE, self.deleted),
            (LineKind.REDACT, self.redacted),
            (LineKind.HELD, self.held),
            (LineKind.DEMOTE, self.demoted),
        ]
        lines = [ErasureLine(kind, id_, self.scopes[id_]) for kind, ids in told for id_ in ids]
        lines += [
            ErasureLine(LineKind.REFERENCE, event_id, self.scopes[record_id], record_id)
            for event_id, records in self.cited.items()
            for record_id in records
        ]
        return sorted(lines)


def plan_of(
    area: Area,
    candidates: Iterable[ErasureCandidate],
    citations: Iterable[Citation],
    *,
    taken: Collection[str] = (),
) -> ErasurePlan:
    """The plan of erasing these events, given every edge of all that rests on them. The records ``taken`` go, wherever they lie."""
    events = {event.id: event for event in candidates}
    going = {
        id_: place for place, id_ in enumerate(id_ for id_, e in events.items() if not area.holds(e.scope))
    }
    scopes = {id_: event.scope for id_, event in events.items()}
    sources: dict[str, list[Citation]] = defaultdict(list)
    for citation in citations:
        sources[citation.record_id].append(citation)
        scopes[citation.record_id] = citation.scope
    reached = _reached(going, sources)
    outside = [id_ for id_ in sources if reached[id_] and id_ not in taken and not area.covers(scopes[id_])]
    cited = _cited(list(going), outside, reached)
    return ErasurePlan(
        deleted=tuple(id_ for id_ in going if id_ not in cited),
        redacted=tuple(id_ for id_ in going if id_ in cited),
        held=tuple(id_ for id_ in events if id_ not in going),
        cited=cited,
        resting=tuple(outside),
        scopes=scopes,
    )


def resting_alone(event_ids: Collection[str], citations: Iterable[Citation]) -> set[str]:
    """The records for which nothing speaks but these events, given every edge of all that rests on them."""
    sources: dict[str, list[Citation]] = defaultdict(list)
    for citation in citations:
        sources[citation.record_id].append(citation)
    return _resting_on_nothing_else(event_ids, sources)


def demoted_of(
    beliefs: Iterable[Belief],
    supports: Mapping[str, Sequence[Support]],
    event_of: Callable[[str], Event | None],
    going: Collection[str],
) -> tuple[str, ...]:
    """The beliefs that lose the last words behind them with the events that are ``going``; ``supports`` are those of the facts that they
    count."""
    return tuple(
        each.id
        for each in beliefs
        if each.demoted_by is None
        and each.stance is not Stance.DEPRECATED
        and redacted_share(each.scope, leaves_of(each, supports), event_of, going) == 1.0
    )


def _reached(going: Mapping[str, int], sources: Mapping[str, Sequence[Citation]]) -> dict[str, int]:
    """The events below each record, as a set of bits by their place: a concept may rest on thousands."""
    reached: dict[str, int] = {id_: 1 << place for id_, place in going.items()}
    for start in sources:
        stack = [start]
        open_: set[str] = set()
        while stack:
            record_id = stack[-1]
            if record_id in reached:
                stack.pop()
                continue
            below = [edge.source_id for edge in sources.get(record_id, ())]
            left = [id_ for id_ in below if id_ in sources and id_ not in reached and id_ not in open_]
            if left and record_id not in open_:
                open_.add(record_id)
                stack += left
                continue
            stack.pop()
            bits = 0
            for id_ in below:
                bits |= reached.get(id_, 0)
            reached[record_id] = bits
    return reached


def _cited(events: Sequence[str], outside: Sequence[str], reached: Mapping[str, int]) -> dict[str, list[str]]:
    cited: dict[str, list[str]] = defaultdict(list)
    for record_id in outside:
        bits = reached[record_id]
        while bits:
            lowest = bits & -bits
            cited[events[lowest.bit_length() - 1]].append(record_id)
            bits ^= lowest
    return dict(cited)


def _resting_on_nothing_else(going: Collection[str], sources: Mapping[str, Sequence[Citation]]) -> set[str]:
    """The records for which nothing speaks but events that go: those are left when all others are taken away, again and again."""
    speaking = {
        id_: [edge.source_id for edge in edges if edge.polarity != "against"]
        for id_, edges in sources.items()
    }
    above: dict[str, list[str]] = defaultdict(list)
    for id_, below in speaking.items():
        for source_id in below:
            above[source_id].append(id_)
    lasting = [id_ for id_, below in speaking.items() if not below]
    lasting += [id_ for id_ in above if id_ not in going and id_ not in speaking]
    kept: set[str] = set()
    while lasting:
        source_id = lasting.pop()
        if source_id not in kept:
            kept.add(source_id)
            lasting += above.get(source_id, ())
    return {id_ for id_ in speaking if id_ not in kept}
