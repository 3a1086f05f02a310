"""Facts that may have changed, as a reader sees them: the mark of each, without turns that were cancelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.kernel.changes import MayHaveChanged, may_have_changed
from lamina.kernel.events import Event
from lamina.kernel.local import day_text
from lamina.kernel.records import Fact, Support
from lamina.store.ports.log import EventLog

__all__ = ["Changes", "changes_of"]


class Changes:
    """The marks of some facts, and the turns that they point at; ``told_by`` is the turn that told each fact."""

    def __init__(
        self, marks: Mapping[str, MayHaveChanged], events: Mapping[str, Event], told_by: Mapping[str, str]
    ) -> None:
        self.marks = marks
        self.events = events
        self._of_turn = {told_by[i]: mark for i, mark in marks.items()}

    def mark_of_turn(self, event_id: str) -> str:
        """What stands behind who said a turn, where what it tells may have changed since."""
        mark = self._of_turn.get(event_id)
        return "" if mark is None else f" (may have changed {day_text(mark.observed_at, None)})"


def changes_of(
    log: EventLog, tenant_id: str, facts: Sequence[Fact], supports: Mapping[str, Sequence[Support]]
) -> Changes:
    """The marks of facts; ``supports`` are theirs as the reader sees them."""
    marks = {fact.id: mark for fact in facts if (mark := may_have_changed(fact, supports.get(fact.id, ())))}
    if not marks:
        return Changes({}, {}, {})
    # A mark whose turn was cancelled is none, even where an older turn would have left one: that turn is not looked for.
    events = log.get(tenant_id, {mark.event_id for mark in marks.values()})
    standing = {i: each for i, each in events.items() if not each.excluded}
    kept = {i: mark for i, mark in marks.items() if mark.event_id in standing}
    return Changes(kept, standing, {fact.id: fact.event_id for fact in facts})
