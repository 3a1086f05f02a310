"""Loops of a turn that is read anew: what the new reading has stands, and what only the reading before had is undone.

What later turns made of a loop stays as they made it: their words came after.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from lamina import limits
from lamina.index.rows import record_row
from lamina.kernel.events import Event
from lamina.kernel.local import to_local
from lamina.kernel.records import LOOPS_OPEN, Loop, LoopStatus, LoopType
from lamina.kernel.ties import ENDS_LOOP, OF_LOOPS, Tie
from lamina.kernel.time import from_datetime
from lamina.pipeline.loops.dues import horizon_of
from lamina.pipeline.loops.keeping import (
    LoopKeeper,
    is_alike,
    is_same,
    loop_text,
    quote_of,
    raises_loops,
    reference_of,
)
from lamina.pipeline.loops.matching import key_terms, overlap
from lamina.pipeline.loops.meaning import ENDS_WHEN_DONE, bears_on, terms_of
from lamina.pipeline.loops.reading import HEARD_BEFORE, read_turn
from lamina.pipeline.loops.values import LoopDraft, LoopEnding, LoopReading, Pointer
from lamina.pipeline.versions import put_version
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["LoopRereader", "endings_in"]

_NAMED_FROM: Final = 0.5


class LoopRereader(LoopKeeper):
    """Applies another reading of the view's turn, whose event has the place from which on that stands.

    ``places`` are the positions at which the turn was read before; without any the reading adds to what was made of the turn.
    """

    def __init__(self, view: View, reader: str, *, places: Collection[int]) -> None:
        super().__init__(view, reader)
        self._places = frozenset(places)

    def reread(
        self, reading: LoopReading, later: Sequence[Event], endings: Sequence[LoopEnding], writes: Writes
    ) -> None:
        """Add to ``writes`` what differs. ``later`` are the events since the turn, which have those ``endings``."""
        own = [loop for loop in map(self._view.record, sorted(self._spoken_of())) if isinstance(loop, Loop)]
        ours = [loop for loop in own if loop.position in self._places and self._stands(loop)]
        held = self._open()
        pointers, drafts = list(reading.pointers), list(reading.drafts)
        settled = set() if self._places else {loop.id for loop in own}
        for loop in ours:
            if self._began_here(loop):
                self._begun(loop, drafts, held, writes)
            elif not self._is_said_too(loop, pointers, drafts):
                self._undo(loop, held, writes)
                continue
            settled.add(loop.id)
        for loop in own:
            if self._began_here(loop) and loop not in ours and self._stands(loop):
                self._reword(loop, drafts, held, writes)
        for pointer in pointers:
            self._point(pointer, held, settled, writes)
        self._open_too(drafts, held, settled, later, endings, writes)

    def take_back(self, writes: Writes) -> None:
        """Add to ``writes`` the loops that the turn changed, as they were before it. Those that it opened go with it."""
        own = [loop for loop in map(self._view.record, sorted(self._spoken_of())) if isinstance(loop, Loop)]
        for loop in own:
            if loop.position in self._places and self._stands(loop) and not self._began_here(loop):
                self._undo(loop, [], writes)

    def is_borne_out(self, reading: LoopReading) -> bool:
        """Whether anything of a reading is about what it speaks of: a draft, or a pointer to a loop that the turn may mean."""
        ours = [loop for loop in map(self._view.record, sorted(self._spoken_of())) if isinstance(loop, Loop)]
        known = [*self._open(), *ours]
        return bool(reading.drafts) or any(self._is_meant(pointer, known) for pointer in reading.pointers)

    def _is_meant(self, pointer: Pointer, loops: Sequence[Loop]) -> bool:
        loop = self._loop_named(pointer, loops)
        return loop is not None and (
            pointer.says == "said_again" or bears_on(pointer.terms, str(loop.object.value))
        )

    def _spoken_of(self) -> set[str]:
        return self._supports_by([self._event], OF_LOOPS)

    def _stands(self, loop: Loop) -> bool:
        return loop.recorded_to is None or loop.recorded_to > self._event.recorded_at

    def _began_here(self, loop: Loop) -> bool:
        return loop.event_id == self._event.id

    def _begun(self, loop: Loop, drafts: list[LoopDraft], held: list[Loop], writes: Writes) -> None:
        """Word a loop of the reading before as the new one does, or take it back where that has none."""
        same = next((draft for draft in drafts if is_alike(loop, draft)), None)
        if loop in held:
            held.remove(loop)
        if same is None:
            writes.closings.append(Closing.of(loop, self._event.recorded_at))
            return
        drafts.remove(same)
        fresh = self._made(same, 0)
        worded = replace(
            loop,
            predicate=fresh.predicate,
            kind=fresh.kind,
            object=fresh.object,
            text=fresh.text,
            extractor=fresh.extractor,
            confidence=fresh.confidence,
            due_at=fresh.due_at or loop.due_at,
            due_offset=fresh.due_offset if fresh.due_at is not None else loop.due_offset,
            horizon=fresh.horizon if fresh.due_at is not None else loop.horizon,
        )
        held.insert(0, self._changed(loop, worded, writes))

    def _reword(self, loop: Loop, drafts: list[LoopDraft], held: list[Loop], writes: Writes) -> None:
        """Word a loop that later turns changed as the new reading does, and leave the state and the place that they gave it."""
        same = next((draft for draft in drafts if is_alike(loop, draft)), None)
        if same is None:
            return
        drafts.remove(same)
        worded = _worded_as(loop, self._made(same, 0))
        at = self._event.recorded_at
        if worded.text == loop.text:
            return
        worded = replace(worded, version=loop.version + 1, recorded_from=at)
        writes.closings.append(Closing.of(loop, at))
        writes.records.append(worded)
        writes.texts.append(record_row(worded))
        held[:] = [worded if each.id == loop.id else each for each in held]

    def _undo(self, loop: Loop, held: list[Loop], writes: Writes) -> None:
        """As it was before the turn."""
        earlier = [each for each in self._view.versions(loop.id) if each.position not in self._places]
        before = earlier[-1] if earlier else None
        if loop in held:
            held.remove(loop)
        if isinstance(before, Loop):
            standing = replace(_worded_as(before, loop), recorded_to=None, closed_by=None)
            restored = self._changed(loop, standing, writes)
            if restored.topic == LOOPS_OPEN:
                held.append(restored)

    def _changed(self, loop: Loop, changed: Loop, writes: Writes) -> Loop:
        put_version(self._event, loop, changed, writes)
        newest = writes.records[-1]
        assert isinstance(newest, Loop), "a loop stays one"
        if newest.text != loop.text:
            writes.texts.append(record_row(newest))
        return newest

    def _is_said_too(self, loop: Loop, pointers: list[Pointer], drafts: list[LoopDraft]) -> bool:
        """Whether the new reading does to a loop what the one before did; it is not done twice then."""
        ended = loop.status in (LoopStatus.COMPLETED, LoopStatus.DROPPED)
        says = loop.status.value if ended else "said_again"
        for pointer in pointers:
            if pointer.says != says or self._loop_named(pointer, [loop]) is None:
                continue
            if not ended or bears_on(pointer.terms, str(loop.object.value)):
                pointers.remove(pointer)
                return True
        same = None if ended else next((draft for draft in drafts if is_alike(loop, draft)), None)
        if same is not None:
            drafts.remove(same)
        return same is not None

    def _point(self, pointer: Pointer, held: list[Loop], settled: set[str], writes: Writes) -> None:
        """Do to the one loop that is pointed at what is said of it, unless later words did."""
        loop = self._loop_named(pointer, held)
        if loop is None or loop.id in settled or loop.seen_at > self._event.context.observed_at:
            return
        if pointer.says == "said_again":
            settled.add(loop.id)
            held[held.index(loop)] = self._again(
                loop, self._draft_again(loop, pointer), writes, Tie.AFFIRMED_BY
            )
        elif bears_on(pointer.terms, str(loop.object.value)) and (
            pointer.says == "dropped" or loop.predicate in ENDS_WHEN_DONE
        ):
            settled.add(loop.id)
            held.remove(loop)
            completed = pointer.says == "completed"
            self._put_ended(loop, completed=completed, weight=pointer.confidence, writes=writes)

    def _draft_again(self, loop: Loop, pointer: Pointer) -> LoopDraft:
        kind, wording = LoopType(loop.predicate), str(loop.object.value)
        draft = LoopDraft(kind, wording, pointer.confidence, 1, loop.horizon)
        if pointer.due is None or kind is not LoopType.COMMITMENT:
            return draft
        now = to_local(self._event.context.observed_at, self._event.offset)
        return replace(draft, due_at=from_datetime(pointer.due), horizon=horizon_of(pointer.due, now))

    def _loop_named(self, pointer: Pointer, loops: Sequence[Loop]) -> Loop | None:
        """The one loop that a pointer names: by its reference, else by its words, or by most of them."""
        by_reference = [loop for loop in loops if reference_of(loop) == pointer.reference]
        if by_reference:
            return by_reference[0] if len(by_reference) == 1 else None
        wanted = key_terms(pointer.reference)
        rated = ((overlap(wanted, self._terms(loop)), -at, loop) for at, loop in enumerate(loops) if wanted)
        named = (each for each in rated if each[0] >= _NAMED_FROM)
        best = max(named, default=None, key=lambda each: each[:2])
        return None if best is None else best[2]

    def _terms(self, loop: Loop) -> frozenset[str]:
        """The terms of a loop and of the words that it was opened with."""
        return terms_of(loop) | key_terms(quote_of(loop))

    def _open_too(
        self,
        drafts: Sequence[LoopDraft],
        held: list[Loop],
        settled: set[str],
        later: Sequence[Event],
        endings: Sequence[LoopEnding],
        writes: Writes,
    ) -> None:
        closed = self._supports_by(later, ENDS_LOOP)
        over = [loop for loop in map(self._view.record, sorted(closed)) if isinstance(loop, Loop)]
        opened = sum(loop.event_id == self._event.id for loop in held)
        for ordinal, draft in enumerate(drafts):
            told = [loop for loop in held if loop.id in settled]
            if any(is_alike(loop, draft) for loop in [*told, *over]):
                continue
            known = next((loop for loop in held if is_same(loop, draft)), None)
            if known is not None:
                held[held.index(known)] = self._again(known, draft, writes)
                settled.add(known.id)
                continue
            loop = self._made(draft, ordinal)
            is_over = any(self._meant(ending, [loop]) for ending in endings if ending.words)
            if opened < limits.LOOPS_NEW_PER_TURN_MAX and not is_over:
                held.insert(0, self._put_new(loop, writes))
                settled.add(loop.id)
                opened += 1


def endings_in(events: Sequence[Event], view: View) -> list[LoopEnding]:
    """What events end by their own words."""
    return [
        ending
        for event in events
        if raises_loops(event)
        for ending in read_turn(event, view.preceding(event, HEARD_BEFORE)).endings
    ]


def _worded_as(loop: Loop, other: Loop) -> Loop:
    """A loop in the words of another."""
    words = str(other.object.value)
    text = loop_text(loop.subject.name, loop.predicate, words, loop.due_at, loop.due_offset)
    return replace(loop, object=other.object, extractor=other.extractor, text=text + quote_of(other))
