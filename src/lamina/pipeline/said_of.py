"""What was said of a matter: the statements behind its facts, each as its event has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from lamina.kernel.events import Event, Trust
from lamina.kernel.local import Offset
from lamina.kernel.records import Author, Fact, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.pipeline.claims import fades_from
from lamina.pipeline.hearsay import author_of, is_assistants, is_hearsay
from lamina.pipeline.matters import is_denial, value_of
from lamina.pipeline.occasions import Word
from lamina.pipeline.timeline import Statement
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["StatementReader"]

_USER: Final = "user"


class _Told(NamedTuple):
    """What one event says of a fact, as it has it."""

    held: Fact
    source_id: str
    since: Instant
    until: Instant | None
    said_at: Instant
    weight: float
    external: bool
    by_assistant: bool
    handed_over: bool
    offset: Offset | None
    author: Author | None
    trust: Trust


class StatementReader:
    """Reads statements as a view's event finds them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event

    def statements(self, chain: Sequence[Fact], fact: Fact | None, writes: Writes) -> list[Statement]:
        """What was said of the matter, by this event too."""
        found: dict[tuple[str, bool, str], Statement] = {}
        orders = {each.id: order for order, each in enumerate(chain)}
        for each in self._told(chain, fact, writes):
            said = Statement(
                value_of(each.held),
                each.source_id,
                each.since,
                each.until,
                each.said_at,
                orders[each.held.id],
                is_denial(each.held),
                each.external,
                each.weight,
                each.by_assistant,
                each.offset,
                each.handed_over,
                each.author,
                trust=each.trust,
            )
            found.setdefault((*said.said, said.source), said)
        if fact is not None:
            said_at, own = self._event.context.observed_at, self._event.id
            said = Statement(
                value_of(fact),
                own,
                fact.valid_from,
                fact.valid_to,
                said_at,
                len(chain),
                is_denial(fact),
                fact.external,
                fact.confidence,
                fact.by_assistant,
                fact.from_offset,
                fact.handed_over,
                fact.said_by,
                trust=fact.trust,
            )
            found[*said.said, own] = said
        return list(found.values())

    def words(self, held: Sequence[Fact], writes: Writes) -> list[Word]:
        """What was said of a claim without a slot, and against it, each word once."""
        found: dict[tuple[bool, str, Instant, Instant | None], Word] = {}
        for each in self._told(held, None, writes):
            fact = replace(
                each.held,
                event_id=each.source_id,
                valid_from=each.since,
                valid_to=each.until,
                from_offset=each.offset,
                to_offset=None if each.until is None else each.offset,
                external=each.external,
                confidence=each.weight,
                trust=Trust.EXTERNAL if each.external else each.trust,
                by_assistant=each.by_assistant,
                handed_over=each.handed_over,
                said_by=None if each.external else each.author,
                fades_at=fades_from(each.held.kind, each.said_at, each.until),
            )
            found.setdefault((fact.negated, each.source_id, each.since, each.until), Word(fact, each.said_at))
        return list(found.values())

    def _told(self, chain: Sequence[Fact], fact: Fact | None, writes: Writes) -> Iterator[_Told]:
        supports = self.supports([each.id for each in chain], writes)
        sources = {each.source_id for each in supports}
        events = dict(self._view.events(sources - {self._event.id}))
        if fact is not None or self._event.id in sources:
            events[self._event.id] = self._event
        of_person = self._is_person([*chain, *([] if fact is None else [fact])], events.values())
        handed = {(s.record_id, s.source_id) for s in supports if s.relation == Tie.HANDED_OVER_IN}
        ends = {(s.record_id, s.source_id): s.since for s in supports if s.relation == Tie.HELD_UNTIL}
        by_id = {each.id: each for each in chain}
        for support in supports:
            if support.relation != Tie.EXTRACTED_FROM:
                continue
            held, source = by_id[support.record_id], events.get(support.source_id)
            about = held.kind, held.predicate
            handed_over = (held.id, support.source_id) in handed
            until = ends.get((held.id, support.source_id))
            yield _Told(
                held,
                support.source_id,
                support.since,
                until,
                max(support.since, until or 0) if source is None else source.context.observed_at,
                support.weight,
                held.external if source is None else handed_over or is_hearsay(source, *about),
                held.by_assistant if source is None else is_assistants(source, *about),
                handed_over,
                held.from_offset if source is None else source.offset,
                self._author(held, source) if of_person else None,
                held.trust if source is None else source.origin.trust,
            )

    def _is_person(self, facts: Sequence[Fact], told_in: Iterable[Event]) -> bool:
        """Whether a matter is of somebody: others spoke of them, or they themselves, whose words may have taken in another's."""
        if any(each.said_by is not None for each in facts):
            return True
        subject = {each.subject.id for each in facts}
        return any(
            each.observed_actor.type == _USER and self._view.entity_of(each.observed_actor, each) in subject
            for each in told_in
        )

    def _author(self, held: Fact, source: Event | None) -> Author | None:
        return held.said_by if source is None else author_of(self._view, source, held.subject.id)

    def supports(self, ids: Sequence[str], writes: Writes) -> list[Support]:
        """What facts rest on, by what the event derived so far, too, oldest first."""
        stored = self._view.standing_supports(ids)
        known = {(s.record_id, s.source_id, s.relation): s for found in stored.values() for s in found}
        for support in writes.supports:
            if support.record_id in ids:
                known.setdefault((support.record_id, support.source_id, support.relation), support)
        return sorted(known.values(), key=lambda s: (s.recorded_at, s.record_id, s.source_id, s.relation))
