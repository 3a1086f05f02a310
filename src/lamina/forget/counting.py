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
    resting = _resting(going, sources)
    outside = [id_ for id_ in sources if id_ in resting and id_ not in taken and not area.covers(scopes[id_])]
    cited = _cited(going, outside, resting, sources)
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


def _resting(going: Collection[str], sources: Mapping[str, Sequence[Citation]]) -> set[str]:
    """The records that rest on these events, through any number of records."""
    above: dict[str, list[str]] = defaultdict(list)
    for record_id, edges in sources.items():
        for edge in edges:
            above[edge.source_id].append(record_id)
    found: set[str] = set()
    stack = [record_id for id_ in going for record_id in above.get(id_, ())]
    while stack:
        record_id = stack.pop()
        if record_id not in found:
            found.add(record_id)
            stack += above.get(record_id, ())
    return found


def _cited(
    going: Mapping[str, int],
    outside: Iterable[str],
    resting: Collection[str],
    sources: Mapping[str, Sequence[Citation]],
) -> dict[str, list[str]]:
    """The records outside by the events below them. One walk for each of these: noting the events below every record would take memory
    by events times records, of which most are inside."""
    cited: dict[str, list[str]] = defaultdict(list)
    for record_id in outside:
        below, stack = {record_id}, [record_id]
        while stack:
            for edge in sources.get(stack.pop(), ()):
                id_ = edge.source_id
                if id_ not in below and (id_ in going or id_ in resting):
                    below.add(id_)
                    stack += [] if id_ in going else [id_]
        for id_ in sorted(below & going.keys(), key=going.__getitem__):
            cited[id_].append(record_id)
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
