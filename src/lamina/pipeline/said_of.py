"""What was said of a matter: the statements behind its facts, each as its event has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lamina.kernel.events import Event
from lamina.kernel.records import Author, Fact, Support
from lamina.kernel.ties import Tie
from lamina.pipeline.hearsay import author_of, is_assistants, is_hearsay
from lamina.pipeline.matters import is_denial, value_of
from lamina.pipeline.timeline import Statement
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["StatementReader"]

_USER: Final = "user"


class StatementReader:
    """Reads statements as a view's event finds them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event

    def statements(self, chain: Sequence[Fact], fact: Fact | None, writes: Writes) -> list[Statement]:
        """What was said of the matter, by this event too."""
        ids = [each.id for each in chain]
        supports = self.supports(ids, writes)
        sources = {each.source_id for each in supports}
        events = dict(self._view.events(sources - {self._event.id}))
        if fact is not None or self._event.id in sources:
            events[self._event.id] = self._event
        of_person = self._is_person([*chain, *([] if fact is None else [fact])], events.values())
        handed = {(s.record_id, s.source_id) for s in supports if s.relation == Tie.HANDED_OVER_IN}
        ends = {(s.record_id, s.source_id): s.since for s in supports if s.relation == Tie.HELD_UNTIL}
        by_id = {each.id: (order, each) for order, each in enumerate(chain)}
        found: dict[tuple[str, bool, str], Statement] = {}
        for support in supports:
            if support.relation != Tie.EXTRACTED_FROM:
                continue
            order, held = by_id[support.record_id]
            source = events.get(support.source_id)
            about = held.kind, held.predicate
            handed_over = (held.id, support.source_id) in handed
            until = ends.get((held.id, support.source_id))
            said = Statement(
                value_of(held),
                support.source_id,
                support.since,
                until,
                max(support.since, until or 0) if source is None else source.context.observed_at,
                order,
                is_denial(held),
                held.external if source is None else handed_over or is_hearsay(source, *about),
                support.weight,
                held.by_assistant if source is None else is_assistants(source, *about),
                held.from_offset if source is None else source.offset,
                handed_over,
                self._author(held, source) if of_person else None,
                trust=held.trust if source is None else source.origin.trust,
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
