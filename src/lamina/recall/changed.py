"""Facts that may have changed, as a reader sees them: the mark of each, without turns that were cancelled, and the turns that told them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lamina.kernel.changes import MayHaveChanged, may_have_changed
from lamina.kernel.events import Event
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Belief, Concept, Fact, Record, Support
from lamina.language.quarantine import quarantine_of_words
from lamina.store.ports.log import EventLog

__all__ = ["Changes", "changes_of"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The marks of some facts, the turns that they point at, and by their ids the ``turns`` that told such a fact, with its mark.

    ``behind`` has by the id of a belief or a concept those of the facts behind it that may have changed.
    """

    marks: Mapping[str, MayHaveChanged]
    events: Mapping[str, Event]
    turns: Mapping[str, MayHaveChanged] = field(default_factory=dict)
    behind: Mapping[str, Sequence[RecordHead]] = field(default_factory=dict)

    def of(self, record: Record) -> MayHaveChanged | None:
        """That of a fact, or the newest of the facts that a belief rests on; None of a concept, which tells of more than one."""
        if not isinstance(record, Belief):
            return self.marks.get(record.id)
        marks = [self.marks[fact.id] for fact in self.behind.get(record.id, ())]
        return max(marks, key=lambda mark: (mark.observed_at, mark.event_id), default=None)

    def told_in(self, concept: Concept) -> str:
        """The facts that a concept tells and that may have changed, a sentence each; empty where there are none."""
        cited = {i for _, facts in concept.sentences for i in facts}
        return " ".join(
            f"{fact.text}."
            for fact in self.behind.get(concept.id, ())
            if (fact.id in cited or fact.text in concept.summary) and not quarantine_of_words(fact.text)
        )


def changes_of(
    log: EventLog,
    tenant_id: str,
    facts: Sequence[Fact | RecordHead],
    supports: Mapping[str, Sequence[Support]],
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
