"""Loops as records: opened, said again, ended. Each change is a version with the event that made it among its supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.events import Event, text_of
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import (
    LOOPS_OPEN,
    Layer,
    Loop,
    LoopStatus,
    LoopType,
    ObjectValue,
    Subject,
    Support,
)
from lamina.kernel.time import rfc3339
from lamina.language.entities import normalise_name
from lamina.pipeline.facts import entity_id
from lamina.pipeline.indexing import record_row
from lamina.pipeline.loops.matching import key_terms, overlap
from lamina.pipeline.loops.values import Ending, LoopDraft, LoopReading
from lamina.pipeline.reading import role_of
from lamina.pipeline.view import View
from lamina.store.ports import Closing, Writes

__all__ = ["EXTRACTOR", "NEW_PER_TURN_MAX", "OPEN_SEEN_MAX", "LoopKeeper", "raises_loops"]

EXTRACTOR: Final = "lamina-loops/1"
NEW_PER_TURN_MAX: Final = 3
OPEN_SEEN_MAX: Final = 200
"""How many open loops of a scope a turn is compared with, the newest first."""

_SAME_FROM: Final = 0.8
_ENDED_FROM: Final = 0.6
_STATED_FROM: Final = 0.5
_ENDED_TERMS_FROM: Final = 2
_ENDS_WHEN_DONE: Final = frozenset(
    {LoopType.COMMITMENT.value, LoopType.THREAD.value, LoopType.FRICTION.value}
)
_SALIENCE_MAX: Final = 5


def raises_loops(event: Event) -> bool:
    """Whether a turn may open or end loops: a person's own words, in the scope of that person."""
    scope = event.scope
    return (
        scope.type == "user"
        and role_of(event) == "user"
        and event.observed_actor.id == scope.rsplit("/", 1)[-1]
    )


class LoopKeeper:
    """Applies what a turn says to the loops that are open in its scope."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event

    def keep(self, reading: LoopReading, writes: Writes) -> None:
        """Add to ``writes`` the loops that the turn opens, says again or ends."""
        if not reading.drafts and not reading.endings:
            return
        held = self._open()
        for ending in reading.endings:
            self._end(ending, held, writes)
        opened = 0
        for draft in reading.drafts:
            known = next((loop for loop in held if _same(loop, draft)), None)
            if known is not None:
                held[held.index(known)] = self._again(known, draft, writes)
            elif opened < NEW_PER_TURN_MAX:
                held.insert(0, self._begin(draft, opened, writes))
                opened += 1

    def _open(self) -> list[Loop]:
        found = self._view.query(Layer.FACTS, topic=LOOPS_OPEN, limit=OPEN_SEEN_MAX)
        return sorted(
            (loop for loop in found if isinstance(loop, Loop)), key=lambda loop: (-loop.seen_at, loop.id)
        )

    def _begin(self, draft: LoopDraft, ordinal: int, writes: Writes) -> Loop:
        event = self._event
        name = event.observed_actor.display_name
        loop = Loop(
            tenant_id=event.tenant_id,
            id=derived_id(Prefix.FACT, event.recorded_at, event.id, EXTRACTOR, ordinal),
            scope=event.scope,
            version=1,
            position=event.position,
            confidence=draft.confidence,
            valid_from=event.context.observed_at,
            valid_to=None,
            recorded_from=event.recorded_at,
            event_id=event.id,
            subject=Subject(entity_id(event.tenant_id, normalise_name(name)), name),
            predicate=draft.type.value,
            object=ObjectValue("literal", draft.wording, "string"),
            kind="loop",
            negated=False,
            text=_told(name, draft),
            external=False,
            extractor=EXTRACTOR,
            slot=None,
            status=LoopStatus.ACTIVE,
            salience=draft.salience,
            horizon=draft.horizon,
            due_at=draft.due_at,
            seen_at=event.context.observed_at,
        )
        writes.records.append(loop)
        writes.supports.append(self._support(loop, "opened_by", draft.confidence))
        writes.texts.append(record_row(loop))
        return loop

    def _again(self, loop: Loop, draft: LoopDraft, writes: Writes) -> Loop:
        return self._put(
            replace(
                loop,
                status=LoopStatus.ACTIVE,
                salience=min(_SALIENCE_MAX, max(loop.salience + 1, draft.salience)),
                horizon=draft.horizon if draft.due_at is not None else loop.horizon,
                due_at=draft.due_at or loop.due_at,
                seen_at=max(loop.seen_at, self._event.context.observed_at),
            ),
            loop,
            "said_again_by",
            draft.confidence,
            writes,
        )

    def _end(self, ending: Ending, held: list[Loop], writes: Writes) -> None:
        loop = self._meant(ending, held)
        if loop is None:
            return
        held.remove(loop)
        at = self._event.context.observed_at
        status = LoopStatus.COMPLETED if ending.completed else LoopStatus.DROPPED
        ended = replace(
            loop, status=status, seen_at=max(loop.seen_at, at), valid_to=max(at, loop.valid_from + 1)
        )
        relation = "completed_by" if ending.completed else "dropped_by"
        self._put(ended, loop, relation, ending.confidence, writes)

    def _meant(self, ending: Ending, held: Sequence[Loop]) -> Loop | None:
        """The loop that the words end: the one whose terms they hold most of."""
        if ending.words == "":
            return self._just_asked(held)
        said = key_terms(ending.words)
        best: tuple[float, Loop] | None = None
        for loop in held:
            if ending.completed and loop.predicate not in _ENDS_WHEN_DONE:
                continue
            terms = key_terms(str(loop.object.value))
            share = overlap(terms, said)
            # "The laptop works again" names what was wrong, not how; what somebody did names both.
            alone = ending.stated or not ending.completed
            enough = len(terms & said) >= (1 if alone else min(len(terms), _ENDED_TERMS_FROM))
            if (
                share >= (_STATED_FROM if alone else _ENDED_FROM)
                and enough
                and (best is None or share > best[0])
            ):
                best = (share, loop)
        return best[1] if best else None

    def _just_asked(self, held: Sequence[Loop]) -> Loop | None:
        """ "Done!" ends what the turn before asked about, if that is one loop."""
        before = self._view.previous(1)
        if not before:
            return None
        said = key_terms(text_of(before[-1].content))
        meant = [loop for loop in held if overlap(key_terms(str(loop.object.value)), said) >= _ENDED_FROM]
        return meant[0] if len(meant) == 1 else None

    def _put(self, changed: Loop, held: Loop, relation: str, weight: float, writes: Writes) -> Loop:
        """A new version in the place of the one held; one event makes one version of a loop at most."""
        event = self._event
        if held in writes.records and held.recorded_from == event.recorded_at:
            writes.records[writes.records.index(held)] = changed
            return changed
        writes.closings.append(Closing(held.tenant_id, held.id, held.version, event.recorded_at))
        version = replace(
            changed, version=held.version + 1, position=event.position, recorded_from=event.recorded_at
        )
        writes.records.append(version)
        writes.supports.append(self._support(version, relation, weight))
        return version

    def _support(self, loop: Loop, relation: str, weight: float) -> Support:
        event = self._event
        return Support(
            tenant_id=event.tenant_id,
            record_id=loop.id,
            source_id=event.id,
            relation=relation,
            weight=weight,
            ordinal=event.context.observed_at,
            role=event.observed_actor.id,
            recorded_at=event.recorded_at,
        )


def _same(loop: Loop, draft: LoopDraft) -> bool:
    if loop.predicate != draft.type.value:
        return False
    one, other = key_terms(str(loop.object.value)), key_terms(draft.wording)
    return bool(one) and min(overlap(one, other), overlap(other, one)) >= _SAME_FROM


def _told(name: str, draft: LoopDraft) -> str:
    due = "" if draft.due_at is None else f", due {rfc3339(draft.due_at - 1)[:10]}"
    return f"{name} has an open {draft.type.value}: {draft.wording}{due}"
