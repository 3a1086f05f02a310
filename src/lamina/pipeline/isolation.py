"""Deriving facts in isolation: what some events would say had no other been told, by the same code as ever (decisions 0012, 0031, 0085)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from lamina.kernel.events import Event
from lamina.kernel.records import Fact, Support
from lamina.kernel.ties import Tie
from lamina.pipeline.ending import end_fact, move_fact, unsupported
from lamina.pipeline.facts import FactResolver
from lamina.pipeline.pending import Pending
from lamina.pipeline.readings.reading import shared_out
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.view import TIES, IsolatedView, View
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Closing, EventOffset, Writes

__all__ = ["IsolatedFacts"]


class IsolatedFacts:
    """Derives facts apart from all that is held."""

    def __init__(self, store: Store, readings: Readings) -> None:
        self._store = store
        self._readings = readings

    def derived(
        self,
        view: View,
        supports: Sequence[Support],
        facts_of: Callable[[View], Sequence[Fact]],
        *,
        kept: Writes,
        counts: Callable[[Event], bool],
        told_too: Collection[str] = (),
    ) -> IsolatedView:
        """A view of what the events derive that the ``supports`` of some facts lead to, and ``told_too``, as far as each ``counts``; names
        stand for what they do in ``view``. ``kept`` is there from the beginning. ``facts_of`` gives what of a view is of the matter."""
        told = {each.source_id for each in supports if each.relation in TIES} | set(told_too)
        events = sorted(
            (e for e in view.events(told).values() if counts(e)), key=lambda event: event.position
        )
        changes = self._changes(view, supports)
        pending = Pending()
        pending.add(kept)
        zones = [EventOffset(e.tenant_id, e.id, e.zone_offset) for e in events if e.zone_offset is not None]
        pending.add(Writes(offsets=zones))
        for event, reading in zip(events, self._readings.standing(view, events), strict=True):
            apart = IsolatedView(self._store, event, pending, view)
            pending.add(FactResolver(apart).resolve(shared_out(apart, reading)[0], reading.reader))
            ended = Writes()
            _change_again(apart, facts_of(apart), changes.get(event.id, ()), ended)
            pending.add(ended)
        apart = IsolatedView(self._store, view.event, pending, view)
        # What is over by its time: the words are there, and say it no more.
        over = unsupported(apart, facts_of(apart), view)
        at = view.event.recorded_at
        pending.add(Writes(closings=[Closing.of(each, at) for each in over]))
        return IsolatedView(self._store, view.event, pending, view)

    def _changes(self, view: View, supports: Sequence[Support]) -> Mapping[str, Sequence[Support]]:
        """What events did to facts by what their readings leave open."""
        ties = [each for each in supports if each.relation in (Tie.DONE_BY, Tie.MOVED_BY, Tie.MOVED_UNTIL)]
        anew = self._readings.read_since(view, sorted({each.source_id for each in ties}))
        changes: dict[str, list[Support]] = {}
        for each in ties:
            # What was read in a turn before it was read anew counts no more.
            if each.source_id not in anew or each.recorded_at >= anew[each.source_id].recorded_at:
                changes.setdefault(each.source_id, []).append(each)
        return changes


def _change_again(view: View, facts: Sequence[Fact], ties: Sequence[Support], writes: Writes) -> None:
    """End and move facts as an event did: those that it did it to, or where these are others now, all of the matter."""
    until = {each.record_id: each.since for each in ties if each.relation == Tie.MOVED_UNTIL}
    done = {(each.record_id, each.since) for each in ties if each.relation == Tie.DONE_BY}
    for record_id, at in sorted(done):
        for fact in [each for each in facts if each.id == record_id] or facts:
            end_fact(view, fact, at, writes)
    for each in ties:
        if each.relation == Tie.MOVED_BY:
            for fact in [held for held in facts if held.id == each.record_id] or facts:
                move_fact(view, fact, each.since, until[each.record_id], writes)
