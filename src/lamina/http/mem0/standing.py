"""One memory by its id: what stands behind it now, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lamina import limits
from lamina.errors import NotFound
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.entities import OwnerIds, entities_of
from lamina.http.mem0.memories import MEMORY, Mem0Memory, as_json, memory_of_turn, text_of_fact, text_of_turn
from lamina.http.mem0.shelf import CallReads, ReadPoint
from lamina.http.mem0.tags import replaces_label, tags_of
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.time import rfc3339
from lamina.kernel.views import EventView, FactView

__all__ = ["StandingMemory", "history", "not_held", "one", "standing"]

Json = dict[str, Any]  # Any: JSON, in the shapes that Mem0's clients know


@dataclass(frozen=True, slots=True)
class StandingMemory:
    """What stands behind an id: the facts of a memory or the turn that it is, the newest of which is ``memory``; None once it has
    ended. ``event`` is the turn that it is now."""

    memory_id: str
    scope: str
    chain: tuple[FactView, ...] = ()
    event: EventView | None = None
    memory: Mem0Memory | None = None

    @property
    def entities(self) -> OwnerIds:
        """Whose it is, by where it is kept."""
        return entities_of(self.scope) or OwnerIds()

    @property
    def fact(self) -> FactView | None:
        """The fact that holds last, where the memory is one."""
        return self.chain[-1] if self.chain and self.event is None else None


def standing(asker: Asker, shelf: CallReads, memory_id: str) -> StandingMemory:
    """What an id names, as it stands now; raises ``NotFound`` where the caller may read nothing behind it."""
    kind, _, rest = memory_id.partition("_")
    if kind == "evt" and prefix_of(memory_id) is Prefix.EVENT:
        first = shelf.event(memory_id)
        if first is None or not text_of_turn(first):
            raise _missing(memory_id)
        now = _in_place_of(asker, first.scope, memory_id) if first.excluded_from_recall else first
        return StandingMemory(
            memory_id, first.scope, (), now, None if now is None else memory_of_turn(now, memory_id)
        )
    fact = shelf.fact(f"fact_{rest}") if f"{kind}_" == MEMORY or kind == "fact" else None
    if fact is None or fact.kind == "loop":
        raise _missing(memory_id)
    chain = tuple(shelf.chain(fact))
    if kind == "fact" and chain[-1].id != fact.id:
        chain = chain[: chain.index(fact) + 1]
        former = shelf.memories_of_fact(fact, ReadPoint(asker.now, latest_only=False))
        return StandingMemory(
            memory_id, fact.scope, chain, None, replace(former[0], id=memory_id) if former else None
        )
    offered = shelf.memories_of_fact(chain[-1], ReadPoint(asker.now))
    if offered:
        return StandingMemory(memory_id, fact.scope, chain, None, replace(offered[0], id=memory_id))
    event = _in_place_of(asker, fact.scope, memory_id)
    return StandingMemory(
        memory_id, fact.scope, chain, event, None if event is None else memory_of_turn(event, memory_id)
    )


def _in_place_of(asker: Asker, scope: str, memory_id: str) -> EventView | None:
    """The turn that took a memory's place, the newest where several did."""
    page = asker.ask("events", {"scope": scope, "labels": [replaces_label(memory_id)]})
    return next((event for event in page.items if not event.excluded_from_recall), None)


def _missing(memory_id: str) -> NotFound:
    return NotFound(
        "NOT_FOUND",
        "there is no memory of this id",
        hint="get_all lists memories with their ids",
        details={"id": memory_id[:128]},
    )


def not_held(memory_id: str) -> NotFound:
    """The error of a memory that has ended."""
    return NotFound(
        "NOT_FOUND",
        "this memory was retracted, or has ended",
        hint="its history says how; get_all lists those that hold",
        details={"id": memory_id[:128]},
    )


def one(asker: Asker, memory_id: str) -> Json:
    """A memory as it stands now; raises ``NotFound`` once it has ended."""
    found = standing(asker, CallReads(asker.ask), memory_id)
    if found.memory is None:
        raise not_held(memory_id)
    return as_json(found.memory)


# ---- history


def history(asker: Asker, memory_id: str) -> list[Json]:
    """What became of a memory, oldest first: how it began, each value that took its place, and its end."""
    shelf = CallReads(asker.ask)
    found = standing(asker, shelf, memory_id)
    rows: list[Json] = []
    said: str | None = None
    for fact in found.chain:
        turns = sorted(
            (each for each in map(shelf.event, fact.supports) if each), key=lambda each: each.wal_offset
        )
        told = [turn for turn in turns if fact.id in turn.derives and not _retracts(turn, fact)]
        source = told[0] if told else None
        began = rfc3339(source.context.recorded_at if source else fact.recorded_from)
        rows.append(_row(found, said, text_of_fact(fact), source, began))
        said = text_of_fact(fact)
    return rows + _turn_rows(shelf, found, said)


def _turn_rows(shelf: CallReads, found: StandingMemory, said: str | None) -> list[Json]:
    """What turns made of a memory: the words that took one another's place, and its end."""
    first = shelf.event(found.memory_id) if not found.chain else None
    turns = _back_from(shelf, found.event)
    if first is not None and first not in turns:
        turns.insert(0, first)  # it was cancelled, and so was what took its place
    rows = []
    for turn in turns:
        text = text_of_turn(turn)
        rows.append(_row(found, said, text, turn, rfc3339(turn.context.recorded_at)))
        said = text
    if found.memory is None:
        ended = found.chain[-1] if found.chain else None
        end = None if ended is None or ended.valid_to is None else rfc3339(ended.valid_to)
        rows.append(_row(found, said, None, None, end))
    return rows


def _back_from(shelf: CallReads, last: EventView | None) -> list[EventView]:
    """The turns that were a memory one after another, up to the one that is it now."""
    turns = [] if last is None else [last]
    while turns and len(turns) < limits.MEM0_CHAIN_MAX and tags_of(turns[0]).replaces is not None:
        before = next((shelf.event(each) for each in turns[0].context.preceded_by), None)
        if before is None:
            break
        turns.insert(0, before)
    return turns


def _retracts(turn: EventView, fact: FactView) -> bool:
    content = turn.content or {}
    return content.get("kind") == "correction" and content.get("fact_id") == fact.id


def _row(
    found: StandingMemory, old: str | None, new: str | None, source: EventView | None, at: str | None
) -> Json:
    event = "ADD" if old is None else "DELETE" if new is None else "UPDATE"
    role = "user" if source is None else (source.content or {}).get("role", "user")
    said = [] if source is None else [{"role": role, "content": text_of_turn(source)}]
    return {
        "id": f"{found.memory_id}:{event.lower()}" if source is None else source.id,
        "memory_id": found.memory_id,
        "input": said,
        "old_memory": old,
        "new_memory": new,
        "user_id": found.entities.user_id,
        "event": event,
        "metadata": tags_of(source).metadata,
        "created_at": at,
        "updated_at": at,
        "is_deleted": event == "DELETE",
    }
