"""Which facts of a scope are there for another one to believe: those that were sent, placed as if nothing else had been told.

A scope sends an event's claims by ``directives.consolidate_into``. In the scope itself the same claims stand among others that were not
sent, which end them, move them or make them surer; none of that may show elsewhere. So a fact travels as the timeline of the sent
statements has it. Words that may be somebody else's, and what an assistant says of people, do not travel; nor does what ``directives.consolidate_only`` does not name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lamina.kernel.events import Event, Trust
from lamina.kernel.records import Fact, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.language.entities import normalise_name
from lamina.pipeline.beside import is_of_matter, own_slot
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.hearsay import is_assistants, is_hearsay
from lamina.pipeline.matters import PASSING, slot_of, words_of
from lamina.pipeline.namesakes import introduced
from lamina.pipeline.passing import OccasionPlacer, by_claim
from lamina.pipeline.slots import SlotPlacer
from lamina.pipeline.view import View

__all__ = ["Travelled", "travelled"]

_ENDS = (Tie.TAKEN_BACK_BY, Tie.DONE_BY, Tie.CORRECTED_BY, Tie.MOVED_BY)

_Rows = dict[tuple[str, str], Support]

Travelled = tuple[Fact, Sequence[Support]]
"""A fact as another scope may know it, and the statements behind it."""


def travelled(view: View, facts: Sequence[Fact], into: Scope) -> list[Travelled]:
    """The facts of other scopes that were sent into one."""
    supports = view.standing_supports({fact.id for fact in facts})
    sources = {each.source_id for found in supports.values() for each in found}
    known = {**view.events(sources - {view.event.id}), view.event.id: view.event}
    sent = {key for key in sources if key in known and known[key].directives.consolidate_into == into}
    if not sent:
        return []
    matters: dict[tuple[Scope, str], list[Fact]] = {}
    apart: dict[str, Fact] = {}
    for held in facts:
        said = supports.get(held.id, [])
        fact = _slot_as_sent(view, held, [known[s.source_id] for s in said if s.source_id in sent], into)
        if fact.slot is not None:
            matters.setdefault((fact.scope, own_slot(fact)), []).append(fact)
        else:
            apart[fact.id] = fact
    words, found = _Sent(view, supports, known, sent), list[Travelled]()
    for (scope, slot), told in matters.items():
        over = [each for each in apart.values() if each.scope == scope and is_of_matter(each, slot)]
        told += [replace(apart.pop(each.id), slot=slot) for each in over]
        found += words.of_matter(told)
    for told in by_claim(each for each in apart.values() if each.kind in PASSING).values():
        found += words.of_claim(told)
    for fact in apart.values():
        if fact.kind not in PASSING and (alone := words.alone(fact)):
            found.append(alone)
    return sorted(found, key=lambda each: (each[0].id, each[0].valid_from))


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a scope sent to another: the supports of its facts, the events behind these, and which of them it sent."""

    view: View
    supports: Mapping[str, Sequence[Support]]
    known: Mapping[str, Event]
    sent: Collection[str]

    def of_matter(self, told: Sequence[Fact]) -> list[Travelled]:
        """The facts of a matter, as the timelines of the statements that were sent have them."""
        rows = self._rows(told)
        sources = {source for _, source in rows}
        drawn = SlotPlacer(self.view).drawn_from(told, sources, self._ended(told))
        return [(fact, _by(rows, said_by)) for fact, said_by in drawn]

    def of_claim(self, told: Sequence[Fact]) -> list[Travelled]:
        """What happened or is planned, as the words that were sent have it, and ended by what was sent alone."""
        rows, ended, found = self._rows(told), self._ended(told), list[Travelled]()
        for fact, said_by in OccasionPlacer(self.view).drawn_from(told, {source for _, source in rows}):
            until = [] if fact.valid_to is None else [fact.valid_to]
            until += [max(at, fact.valid_from + 1) for key, at in ended if key == fact.id]
            found.append((replace(fact, valid_to=min(until, default=None)), _by(rows, said_by)))
        return found

    def alone(self, fact: Fact) -> Travelled | None:
        """A fact that competes with none: from the first of what was sent, and ended by what was sent alone."""
        rows = list(self._rows([fact]).values())
        if not rows:
            return None
        first = self.view.first(fact.id)
        ends = [at for _, at in self._ended([fact])]
        until = None if first is None else first.valid_to
        if ends and (until is None or min(ends) < until):
            until = min(ends)
        begins = min(each.since for each in rows)
        words = [
            each for each in rows if not is_hearsay(self.known[each.source_id], fact.kind, fact.predicate)
        ]
        shown = replace(
            fact,
            valid_from=begins,
            valid_to=None if until is None else max(until, begins + 1),
            confidence=max(each.weight for each in words or rows),
            external=not words,
            trust=Trust.most(self.known[each.source_id].origin.trust for each in words),
        )
        return shown, rows

    def _rows(self, told: Sequence[Fact]) -> _Rows:
        """The statements of facts that were sent, by fact and event."""
        return {
            (each.record_id, each.source_id): each
            for fact in told
            for each in self.supports.get(fact.id, ())
            if each.relation == Tie.EXTRACTED_FROM
            and each.source_id in self.sent
            and self._may_travel(fact, each.source_id)
        }

    def _ended(self, told: Sequence[Fact]) -> set[tuple[str, Instant]]:
        """Which facts something that was sent took back, and when."""
        return {
            (fact.id, each.since)
            for fact in told
            for each in self.supports.get(fact.id, ())
            if each.relation in _ENDS and each.source_id in self.sent
        }

    def _may_travel(self, fact: Fact, source_id: str) -> bool:
        source = self.known[source_id]
        handed_over = any(
            each.source_id == source_id and each.relation == Tie.HANDED_OVER_IN
            for each in self.supports.get(fact.id, ())
        )
        if handed_over or is_assistants(source, fact.kind, fact.predicate):
            return False
        only = source.directives.consolidate_only
        if only is None:
            return True
        named = {normalise_name(fact.subject.name), words_of(fact.object)}
        return any(each == fact.predicate or normalise_name(each) in named for each in only)


def _by(rows: _Rows, sources: Collection[str]) -> list[Support]:
    by_source = {source: row for (_, source), row in sorted(rows.items()) if source in sources}
    return [by_source[key] for key in sorted(by_source)]


def _slot_as_sent(view: View, fact: Fact, sources: Sequence[Event], into: Scope) -> Fact:
    """A value that has no slot in its scope, since that knows two people of the name, in the slot where those who were sent it know one."""
    registered = PREDICATES.get(fact.predicate)
    if fact.slot is not None or registered is None or not registered.single_valued:
        return fact
    circles: set[str] = set()
    names = view.named_in(fact.scope)
    for owner in {names.entity_of(source.observed_actor, source) for source in sources}:
        ties = introduced(view, fact.scope, owner, fact.subject.id)
        supports = view.standing_supports({tie.id for tie, _ in ties})
        events = view.events({each.source_id for of in supports.values() for each in of})
        events |= {view.event.id: view.event}
        circles |= {
            circle
            for tie, circle in ties
            for each in supports.get(tie.id, ())
            if each.source_id in events and events[each.source_id].directives.consolidate_into == into
        }
    if len(circles) > 1:
        return fact
    slot = slot_of(
        fact.subject.id, fact.predicate, fact.object, kind=fact.kind, single=True, negated=fact.negated
    )
    return replace(fact, slot=slot)
