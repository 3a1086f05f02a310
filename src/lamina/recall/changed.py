"""Facts that may have changed, as a reader sees them: the mark of each, without turns that were cancelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.kernel.changes import MayHaveChanged, may_have_changed
from lamina.kernel.events import Event
from lamina.kernel.records import Fact, Support
from lamina.store.ports.log import EventLog

__all__ = ["Changes", "changes_of"]


class Changes:
    """The marks of some facts, and the turns that they point at."""

    def __init__(self, marks: Mapping[str, MayHaveChanged], events: Mapping[str, Event]) -> None:
        self.marks = marks
        self.events = events


def changes_of(
    log: EventLog, tenant_id: str, facts: Sequence[Fact], supports: Mapping[str, Sequence[Support]]
) -> Changes:
    """The marks of facts; ``supports`` are theirs as the reader sees them, at least of those that have a mark."""
    marks = {fact.id: mark for fact in facts if (mark := may_have_changed(fact, supports.get(fact.id, ())))}
    if not marks:
        return Changes({}, {})
    # A mark whose turn was cancelled is none, even where an older turn would have left one: that turn is not looked for.
    events = log.get(tenant_id, {mark.event_id for mark in marks.values()})
    standing = {i: each for i, each in events.items() if not each.excluded}
    kept = {i: mark for i, mark in marks.items() if mark.event_id in standing}
    return Changes(kept, standing)
