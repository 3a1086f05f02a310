"""Loops as records: opened, said again, ended. Each change is a version with the event that made it among its
supports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as Some
from dataclasses import replace
from typing import Final

from lamina import limits
from lamina.index.rows import record_row
from lamina.kernel.events import Event, text_of
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.local import LocalTime, Offset, day_text
from lamina.kernel.records import (
    LOOPS_OPEN,
    PROMISED,
    PROMISES,
    Layer,
    Loop,
    LoopStatus,
    LoopType,
    ObjectValue,
    Subject,
    Support,
)
from lamina.kernel.ties import ENDS_LOOP, Tie
from lamina.kernel.time import Instant
from lamina.language.entities import normalise_name
from lamina.pipeline.loops.ahead import FactsAhead
from lamina.pipeline.loops.matching import key_terms, overlap
from lamina.pipeline.loops.meaning import (
    ENDS_WHEN_DONE,
    is_about,
    is_appointment,
    is_spoken_of,
    meant_by,
    terms_in,
    terms_of,
)
from lamina.pipeline.loops.reading import HEARD_BEFORE, read_turn
from lamina.pipeline.loops.values import LoopDraft, LoopEnding, LoopReading, Move
from lamina.pipeline.reading import role_of
from lamina.pipeline.versions import next_version
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = [
    "EXTRACTOR",
    "OPEN_SEEN_MAX",
    "LoopKeeper",
    "is_alike",
    "is_same",
    "loop_text",
    "quote_of",
    "raises_loops",
    "reference_of",
]

EXTRACTOR: Final = "lamina-loops/14"
OPEN_SEEN_MAX: Final = 200
"""How many open loops of a scope a turn is compared with, the newest first."""

_SAME_FROM: Final = 0.8
_ASKED_FROM: Final = 0.6
_JUST_NOW: Final = 2
_SALIENCE_MAX: Final = 5
_QUOTED: Final = " (“"
_REFERENCE_CHARS: Final = 12
_SPOKEN: Final = frozenset({Tie.OPENED_BY, Tie.SAID_AGAIN_BY, Tie.AFFIRMED_BY})


def raises_loops(event: Event) -> bool:
    """Whether a turn may open or end loops: a person's own words, in the scope of that person."""
    scope = event.scope
    personal = scope.type == "user" and role_of(event) == "user"
    return personal and event.observed_actor.id == scope.rsplit("/", 1)[-1]


def quote_of(loop: Loop) -> str:
    """The words of the turn that a loop's text ends with, as they stand there; empty where it has none."""
    _, mark, words = loop.text.partition(_QUOTED)
    return f"{mark}{words}"


def reference_of(loop: Loop) -> str:
    """How a loop is named to a language model: the end of its id, which is random enough inside a scope."""
    return loop.id[-_REFERENCE_CHARS:]


class LoopKeeper:
    """Applies what a turn says to the loops that are open in its scope; ``extractor`` is part of the ids of new ones."""

    def __init__(self, view: View, extractor: str = EXTRACTOR) -> None:
        self._view = view
        self._event = view.event
        self._extractor = extractor

    def keep(self, reading: LoopReading, writes: Writes) -> None:
        """Add to ``writes`` the loops that the turn opens, says again or ends."""
        if not (reading.drafts or reading.endings or reading.moves):
            return
        held = self._open()
        just_said = {event.id for event in (*self._view.previous(_JUST_NOW), self._event)}
        ahead = FactsAhead(self._view, frozenset(just_said))
        for ending in reading.endings:
            self._end(ending, held, writes)
            ahead.end(ending, writes)
        opened = 0
        for draft in reading.drafts:
            known = next((loop for loop in held if is_same(loop, draft)), None)
            if known is not None:
                held[held.index(known)] = self._again(known, draft, writes)
            elif opened < limits.LOOPS_NEW_PER_TURN_MAX:
                held.insert(0, self._begin(draft, opened, writes))
                opened += 1
        for move in reading.moves:
            self._move(move, held, just_said, writes)
            ahead.move(move, writes)

    def _supports_by(self, events: Sequence[Event], relations: Collection[Tie]) -> set[str]:
        """The loops that events did something to."""
        supports = self._view.resting_on([event.id for event in events])
        return {support.record_id for support in supports if support.relation in relations}

    def _open(self) -> list[Loop]:
        found = self._view.query(Layer.FACTS, topic=LOOPS_OPEN, limit=OPEN_SEEN_MAX)
        return sorted(
            (loop for loop in found if isinstance(loop, Loop)), key=lambda loop: (-loop.seen_at, loop.id)
        )

    def _begin(self, draft: LoopDraft, ordinal: int, writes: Writes) -> Loop:
        loop = self._put_new(self._made(draft, ordinal), writes)
        return self._offered(loop, draft, writes)

    def _made(self, draft: LoopDraft, ordinal: int) -> Loop:
        event = self._event
        name = event.observed_actor.display_name
        return Loop(
            tenant_id=event.tenant_id,
            id=derived_id(Prefix.FACT, event.recorded_at, event.id, self._extractor, ordinal),
            scope=event.scope,
            version=1,
            position=event.position,
            confidence=draft.confidence,
            valid_from=event.context.observed_at,
            valid_to=None,
            recorded_from=event.recorded_at,
            event_id=event.id,
            subject=Subject(self._view.entity(normalise_name(name)), name),
            predicate=draft.type.value,
            object=ObjectValue("literal", draft.wording, "string"),
            kind=PROMISED if draft.type in PROMISES else "loop",
            negated=False,
            text=loop_text(name, draft.type.value, draft.wording, draft.due_at, event.offset)
            + (f"{_QUOTED}{draft.quote}”)" if draft.quote else ""),
            external=False,
            trust=event.origin.trust,
            extractor=self._extractor,
            slot=None,
            status=LoopStatus.ACTIVE,
            salience=draft.salience,
            horizon=draft.horizon,
            due_at=draft.due_at,
            seen_at=event.context.observed_at,
            due_offset=None if draft.due_at is None else event.offset,
            from_offset=event.offset,
        )

    def _put_new(self, loop: Loop, writes: Writes) -> Loop:
        writes.records.append(loop)
        writes.supports.append(self._support(loop, Tie.OPENED_BY, loop.confidence))
        writes.texts.append(record_row(loop))
        return loop

    def _move(self, move: Move, held: list[Loop], just_said: Some[str], writes: Writes) -> None:
        """Another day for the one loop that is meant: what has a day and is named, or was spoken of just now."""
        dated = [loop for loop in held if loop.due_at is not None]
        if move.words:
            meant = [loop for loop in dated if is_about(loop, move.words)]
            meant = [loop for loop in meant if is_appointment(str(loop.object.value))] or meant
        elif move.about:
            meant = [loop for loop in dated if is_spoken_of(loop, move.about)]
        else:
            meant = [loop for loop in dated if not just_said.isdisjoint(self._turns_of(loop, writes))]
            last = max((loop.seen_at for loop in meant), default=0)
            meant = [loop for loop in meant if loop.seen_at == last]
        if len(meant) != 1:
            return
        loop = meant[0]
        wording, kind = str(loop.object.value), LoopType(loop.predicate)
        draft = LoopDraft(kind, wording, loop.confidence, loop.salience, move.horizon, move.due_at)
        held[held.index(loop)] = self._again(loop, draft, writes)

    def _offered(self, loop: Loop, draft: LoopDraft, writes: Writes) -> Loop:
        """Name the turn whose offer a yes took up: the words are its, and go with it."""
        for offer in self._view.previous(1) if draft.offered else ():
            support = self._support(loop, Tie.OFFERED_IN, draft.confidence)
            writes.supports.append(support._replace(source_id=offer.id, accepted_in=self._event.id))
        return loop

    def _again(self, loop: Loop, draft: LoopDraft, writes: Writes, relation: Tie = Tie.SAID_AGAIN_BY) -> Loop:
        at, offset = self._event.context.observed_at, self._event.offset
        late = at < loop.seen_at
        due = LocalTime(draft.due_at, offset) if draft.due_at is not None else _due_of(loop)
        due = self._due_told_last(loop, draft, writes) if late else due
        due_at, due_offset = (None, None) if due is None else (due.at, due.offset)
        again = self._put(
            replace(
                loop,
                status=LoopStatus.ACTIVE,
                salience=min(_SALIENCE_MAX, max(loop.salience + 1, draft.salience)),
                horizon=loop.horizon if due_at == loop.due_at else draft.horizon,
                due_at=due_at,
                due_offset=due_offset,
                text=loop_text(loop.subject.name, loop.predicate, str(loop.object.value), due_at, due_offset)
                + quote_of(loop),
                valid_from=min(loop.valid_from, at),
                from_offset=offset if at < loop.valid_from else loop.from_offset,
                seen_at=max(loop.seen_at, at),
            ),
            loop,
            relation,
            draft.confidence,
            writes,
        )
        return self._offered(again, draft, writes)

    def _due_told_last(self, loop: Loop, draft: LoopDraft, writes: Writes) -> LocalTime | None:
        """The day that the newest of the turns names, for one that comes after newer ones."""
        own = self._event
        told = [] if draft.due_at is None else [(own.context.observed_at, draft.due_at, own.offset)]
        known = {draft.due_at}
        for turn in self._view.events(self._turns_of(loop, writes)).values():
            said_at = turn.context.observed_at
            reading = read_turn(turn, self._view.preceding(turn, HEARD_BEFORE))
            dues = [each.due_at for each in reading.drafts if each.due_at is not None and is_same(loop, each)]
            dues += [move.due_at for move in reading.moves if move.words == "" or is_about(loop, move.words)]
            told += [(said_at, due, turn.offset) for due in dues[-1:]]
            known |= set(dues)
        if loop.due_at not in known and loop.due_at is not None:
            told.append((loop.seen_at, loop.due_at, loop.due_offset))
        _, due_at, offset = max(told, key=lambda each: each[:2], default=(0, None, None))
        return None if due_at is None else LocalTime(due_at, offset)

    def _end(self, ending: LoopEnding, held: list[Loop], writes: Writes) -> None:
        loop = self._meant(ending, held)
        if loop is None:
            return
        held.remove(loop)
        self._put_ended(loop, completed=ending.completed, weight=ending.confidence, writes=writes)

    def _put_ended(self, loop: Loop, *, completed: bool, weight: float, writes: Writes) -> None:
        at = self._event.context.observed_at
        status = LoopStatus.COMPLETED if completed else LoopStatus.DROPPED
        ended = replace(
            loop,
            status=status,
            seen_at=max(loop.seen_at, at),
            valid_to=max(at, loop.valid_from + 1),
            to_offset=self._event.offset,
        )
        self._put(ended, loop, Tie.COMPLETED_BY if completed else Tie.DROPPED_BY, weight, writes)

    def _turns_of(self, loop: Loop, writes: Writes) -> list[str]:
        """The turns that spoke of a loop."""
        stored = self._view.supports_of([loop.id]).get(loop.id, [])
        own = [each for each in writes.supports if each.record_id == loop.id]
        spoken = [each.source_id for each in (*stored, *own) if each.relation in _SPOKEN]
        return list(dict.fromkeys(spoken))

    def _meant(self, ending: LoopEnding, held: Sequence[Loop]) -> Loop | None:
        """The loop that the words end."""
        return self._just_asked(held) if ending.words == "" else meant_by(ending, held)

    def _just_asked(self, held: Sequence[Loop]) -> Loop | None:
        """ "Done!" ends what the turn before asked about, if that is one loop."""
        before = self._view.previous(1)
        if not before:
            return None
        said = key_terms(text_of(before[-1].content))
        meant = [
            loop
            for loop in held
            if loop.predicate in ENDS_WHEN_DONE and overlap(terms_of(loop), said) >= _ASKED_FROM
        ]
        return meant[0] if len(meant) == 1 else None

    def _put(self, changed: Loop, held: Loop, relation: Tie, weight: float, writes: Writes) -> Loop:
        """A new version in the place of the one held; one event makes one version of a loop at most."""
        event = self._event
        if held in writes.records and held.recorded_from == event.recorded_at:
            writes.records[writes.records.index(held)] = changed
            return changed
        writes.closings.append(Closing.of(held, event.recorded_at))
        version = next_version(event, held, changed)
        writes.records.append(version)
        if version.text != held.text:
            writes.texts.append(record_row(version))
        writes.supports.append(self._support(version, relation, weight))
        return version

    def _support(self, loop: Loop, relation: Tie, weight: float) -> Support:
        event = self._event
        return Support(
            tenant_id=event.tenant_id,
            record_id=loop.id,
            source_id=event.id,
            relation=relation,
            weight=weight,
            polarity="against" if relation in ENDS_LOOP else "supports",
            actor=event.observed_actor.id,
            recorded_at=event.recorded_at,
            at=event.context.observed_at,
        )


def is_same(loop: Loop, draft: LoopDraft) -> bool:
    """Whether a turn says again what a loop is about."""
    one, other = terms_of(loop), terms_in(draft.wording)
    same = loop.predicate == draft.type.value and bool(one)
    return same and min(overlap(one, other), overlap(other, one)) >= _SAME_FROM


def is_alike(loop: Loop, draft: LoopDraft) -> bool:
    """Whether two readers of one turn, who may word and class it differently, mean the same."""
    one, other = terms_of(loop), terms_in(draft.wording)
    return bool(one) and max(overlap(one, other), overlap(other, one)) >= _SAME_FROM


def _due_of(loop: Loop) -> LocalTime | None:
    return None if loop.due_at is None else LocalTime(loop.due_at, loop.due_offset)


def loop_text(name: str, kind: str, wording: str, due_at: Instant | None, offset: Offset | None) -> str:
    due = "" if due_at is None else f", due {day_text(due_at - 1, offset)}"
    return f"{name} has an open {kind}: {wording}{due}"
