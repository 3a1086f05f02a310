"""The facts and turns that one call has read, and what they make of memories.

A fact that holds, or lies ahead, is a memory together with those whose place it took. A turn is one where no such fact came of it, nor one
that ended since by another word. ``docs/decisions/0037`` has the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina import limits
from lamina.errors import LaminaError
from lamina.http.mem0.memories import MEMORY, Mem0Memory, memory_of_fact, memory_of_turn, text_of_turn
from lamina.http.mem0.tags import tags_of
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.views import EventView, FactView

__all__ = ["CallReads", "ReadPoint"]

Ask = Callable[[str, Mapping[str, Any]], Any]
_ALWAYS: Final = "0001-01-01.."
_SPOKEN: Final = "conversation"
_LOOP: Final = "loop"


@dataclass(frozen=True, slots=True)
class ReadPoint:
    """Where a reader stands: at which instant, whether by what had been said until then, and whether former values are shown, too."""

    at: Instant
    as_of: bool = False
    latest_only: bool = True


class CallReads:
    """What one call has read. It asks for everything once."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._facts: dict[str, FactView | None] = {}
        self._events: dict[str, EventView | None] = {}
        self.truncated = False

    # ---- reading

    def scan(self, scope: Scope) -> tuple[list[FactView], list[EventView]]:
        """All facts and turns of a scope, the newest where there are more than a call reads (``truncated``)."""
        facts: list[FactView] = self._all("facts", {"scope": scope, "valid_during": _ALWAYS})
        events: list[EventView] = self._all("events", {"scope": scope})
        self.note(facts, events)
        return facts, events

    def note(self, facts: list[FactView], events: list[EventView]) -> None:
        """Have these at hand: recall read them."""
        self._facts.update({fact.id: fact for fact in facts})
        self._events.update({event.id: event for event in events})

    def _all(self, operation: str, request: Mapping[str, Any]) -> list[Any]:
        items: list[Any] = []
        cursor = None
        while True:
            page = self._ask(operation, {**request, "limit": limits.PAGE_LIMIT_MAX, "cursor": cursor})
            items += page.items
            cursor = page.next_cursor
            if cursor is None:
                return items
            if len(items) >= limits.MEM0_SCAN_MAX:
                self.truncated = True
                return items

    def fact(self, fact_id: str) -> FactView | None:
        """A fact, or None where the caller may not read one of this id, or it was forgotten."""
        if fact_id not in self._facts:
            self._facts[fact_id] = self._one("fact", {"fact_id": fact_id})
        return self._facts[fact_id]

    def event(self, event_id: str) -> EventView | None:
        """A turn, or None where the caller may not read one of this id, or it was forgotten."""
        if event_id not in self._events:
            self._events[event_id] = self._one("event", {"event_id": event_id})
        return self._events[event_id]

    def _one(self, operation: str, request: Mapping[str, Any]) -> Any:
        try:
            return self._ask(operation, request)
        except LaminaError as error:
            if error.code not in ("NOT_FOUND", "INVALID_ID", "RESOURCE_DELETED"):
                raise
            return None

    # ---- one fact among those of its memory

    def chain(self, fact: FactView) -> list[FactView]:
        """The facts of a memory, oldest first: those whose place the fact took, itself, and those that took its place."""
        found = [fact]
        while len(found) < limits.MEM0_CHAIN_MAX and (before := self._fact_named(found[0].supersedes)):
            if before in found:
                break
            found.insert(0, before)
        while len(found) < limits.MEM0_CHAIN_MAX and (after := self._fact_named(found[-1].superseded_by)):
            if after in found:
                break
            found.append(after)
        return found

    def _fact_named(self, record_id: str | None) -> FactView | None:
        if record_id is None or prefix_of(record_id) is not Prefix.FACT:
            return None
        return self.fact(record_id)

    def memory_id(self, fact: FactView) -> str:
        """The id of the memory that a fact belongs to."""
        first = fact
        for _ in range(limits.MEM0_CHAIN_MAX):
            before = self._fact_named(first.supersedes)
            if before is None:
                break
            first = before
        return MEMORY + first.id.partition("_")[2]

    def turns(self, fact: FactView) -> list[EventView]:
        """The turns that say a fact, newest first; those of the fact before it where a correction put it there."""
        found = [event for each in fact.supports if (event := self._turn(each)) is not None]
        if not found and (before := self._fact_named(fact.supersedes)) is not None:
            return self.turns(before)
        return sorted(found, key=lambda event: event.wal_offset, reverse=True)

    def _turn(self, event_id: str) -> EventView | None:
        if prefix_of(event_id) is not Prefix.EVENT:
            return None
        event = self.event(event_id)
        return (
            event if event is not None and event.modality == _SPOKEN and event.content is not None else None
        )

    # ---- what is a memory

    def memories_of_fact(self, fact: FactView, moment: ReadPoint) -> list[Mem0Memory]:
        """The memory of a fact, once for each turn that says it, newest first: which is shown depends on what is asked for.

        Nothing where it is none at the moment.
        """
        before = self._fact_named(fact.supersedes)
        former = self._fact_named(fact.superseded_by) is not None and not _holds_on(fact, moment.at)
        if not self._is_known(fact, moment) or (former and moment.latest_only):
            return []
        memory_id = self.memory_id(fact)
        # The one of a memory's values that holds goes by its name; those before and after it by their own.
        aside = former or (before is not None and _holds_on(before, moment.at))
        turns: list[EventView | None] = [*self.turns(fact)]
        first = turns[-1] if turns else None
        return [
            memory_of_fact(
                fact,
                fact.id if aside else memory_id,
                turn,
                first=first,
                superseded_by=memory_id if former else None,
            )
            for turn in turns or [None]
        ]

    def _is_known(self, fact: FactView, moment: ReadPoint) -> bool:
        if fact.kind == _LOOP or fact.excluded_from_recall:
            return False
        over = fact.valid_to is not None and fact.valid_to <= moment.at
        if over and (fact.superseded_by is None or moment.latest_only):
            return False
        if not moment.as_of:
            return True
        said = [turn.context.observed_at for turn in self.turns(fact)]
        return min([fact.valid_from, *said]) <= moment.at

    def memory_of_turn(self, event: EventView, moment: ReadPoint) -> Mem0Memory | None:
        """The memory that a turn is, or None where it is none."""
        tags = tags_of(event)
        hidden = event.excluded_from_recall or event.quarantined or event.modality != _SPOKEN
        if (
            hidden
            or not text_of_turn(event).strip()
            or (moment.as_of and event.context.observed_at > moment.at)
        ):
            return None
        if not tags.verbatim:
            spoken_by_user = (event.content or {}).get("role", "user") == "user"
            if not spoken_by_user or any(self._speaks_for_itself(each, moment) for each in event.derives):
                return None
        return memory_of_turn(event, tags.replaces or event.id)

    def _speaks_for_itself(self, record_id: str, moment: ReadPoint) -> bool:
        """Whether a fact of a turn is a memory, or was one until another word ended it: then the turn is none."""
        fact = self._fact_named(record_id)
        if fact is None or fact.kind == _LOOP:
            return False
        over = fact.valid_to is not None and fact.valid_to <= moment.at
        return not over or fact.version > 1 or fact.superseded_by is not None


def _holds_on(fact: FactView, at: Instant) -> bool:
    """Whether a value whose place another takes still held at an instant."""
    return fact.valid_to is not None and fact.valid_to > at
