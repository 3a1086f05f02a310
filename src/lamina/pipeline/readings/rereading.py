"""What the entry changes at which a model's answer takes effect: what was made of its turn is made anew, by that answer.

The rules' reading of a turn lands at once and stands until then (decision 0044). A replay comes by the same entry, and finds the same answer;
where that was forgotten, the entry changes nothing and the rules' reading stands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lamina.index.rows import record_row
from lamina.kernel.records import Concept
from lamina.kernel.ties import Tie
from lamina.language.quarantine import gives_orders, quarantine_of
from lamina.pipeline.concepts import ConceptSynthesizer
from lamina.pipeline.loops.keeping import raises_loops
from lamina.pipeline.loops.rereading import LoopRereader, endings_in
from lamina.pipeline.mending import Mender
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.speakers import another_speaks
from lamina.pipeline.versions import tie
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["Rereading"]

_LATER_READ_MAX: Final = 50


class Rereading:
    """Derives what such entries change, stage by stage."""

    def __init__(self, readings: Readings, mender: Mender) -> None:
        self._readings = readings
        self._mender = mender

    def facts(self, view: View) -> Writes:
        """The facts and the loops of the turn, anew."""
        entry, anew = view.event, view.event.reads
        assert anew is not None, "only the entry of an answer is derived here"
        turn = view.events([anew.event_id]).get(anew.event_id)
        if turn is None or gives_orders(quarantine_of(turn)):
            return Writes()
        reading = self._readings.answered(turn, anew)
        if reading is None:
            return Writes()
        here = replace(turn, recorded_at=entry.recorded_at, position=entry.position)
        if reading.open.pointers and not (reading.said.triples or reading.open.drafts):
            apart = LoopRereader(view.after(Writes(), here), reading.reader, places=())
            if not apart.is_borne_out(reading.open):
                return Writes()  # it only points, at what the turn does not speak of: somebody made it up
        places = self._readings.places(view, turn)
        writes = Writes(supports=[tie(entry, turn.id, entry.id, Tie.READ_BY)])
        facts = view.after(writes, entry)
        writes.add(self._mender.read_anew(facts, turn, reading))
        view.saw_excluded |= facts.saw_excluded or turn.excluded
        if raises_loops(turn):
            at = view.after(writes, here)
            if another_speaks(at, reading.said):
                return writes
            later = [each for each in at.since(turn.position, _LATER_READ_MAX) if not each.is_entry]
            changed = Writes()
            LoopRereader(at, reading.reader, places=places).reread(
                reading.open, later, endings_in(later, view), changed
            )
            touched = dict.fromkeys(
                [*(each.id for each in changed.closings), *(each.id for each in changed.records)]
            )
            changed.supports += [tie(entry, each, entry.id, Tie.READ_BY) for each in touched]
            writes.add(changed)
            view.saw_excluded |= at.saw_excluded
        return writes

    def beliefs(self, view: View) -> Writes:
        """What the facts amount to, by what is read in the turn now."""
        turn_id = self._read_here(view)
        if turn_id is None:
            return Writes()
        return self._mender.beliefs(view, turn_id)

    def concepts(self, view: View) -> Writes:
        """What is understood, by what is read in the turn now."""
        turn_id = self._read_here(view)
        if turn_id is None:
            return Writes()
        writes = ConceptSynthesizer(view).synthesize(self._mender.touched(view, turn_id))
        writes.texts += [record_row(record) for record in writes.records if isinstance(record, Concept)]
        return writes

    def _read_here(self, view: View) -> str | None:
        """The turn, where the entry had it read anew."""
        ties = view.dependants_of([view.event.id])
        anew = view.event.reads
        own = {each.record_id for each in ties if each.relation == Tie.READ_BY}
        return anew.event_id if anew is not None and anew.event_id in own else None
