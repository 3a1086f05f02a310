"""Facts that may have changed, as a reader sees them: the mark of each, without turns that were cancelled, and the turns that told them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lamina.kernel.changes import MayHaveChanged, deciding, is_after, may_have_changed
from lamina.kernel.events import Event
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Belief, Concept, Fact, Layer, Record, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.language.quarantine import quarantine_of_words
from lamina.store.ports.log import EventLog
from lamina.store.ports.store import Store
from lamina.store.queries import MayRead, Shown

__all__ = ["Changes", "among", "changes_behind", "changes_of", "facts_seen", "rested_on"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The marks of some facts, the turns that they point at, and by their ids the ``turns`` that told such a fact, with its mark.

    ``behind`` has by the id of a belief or a concept the facts behind it.
    """

    marks: Mapping[str, MayHaveChanged]
    events: Mapping[str, Event]
    turns: Mapping[str, MayHaveChanged] = field(default_factory=dict)
    behind: Mapping[str, Sequence[RecordHead]] = field(default_factory=dict)

    def of(self, record: Record) -> MayHaveChanged | None:
        """That of a fact, or the newest of the facts that a belief rests on; None of a concept, which tells of more than one."""
        if not isinstance(record, Belief):
            return self.marks.get(record.id)
        marks = [self.marks[fact.id] for fact in self.behind.get(record.id, ()) if fact.id in self.marks]
        return max(marks, key=lambda mark: (mark.observed_at, mark.event_id), default=None)

    def told_in(self, concept: Concept) -> str:
        """The facts that a concept tells and that may have changed, a sentence each; empty where there are none."""
        cited = {i for _, facts in concept.sentences for i in facts}
        return " ".join(
            f"{fact.text}."
            for fact in self.behind.get(concept.id, ())
            if fact.id in self.marks
            and (fact.id in cited or fact.text in concept.summary)
            and not quarantine_of_words(fact.text)
        )


def changes_of(
    log: EventLog,
    tenant_id: str,
    facts: Sequence[Fact | RecordHead],
    supports: Mapping[str, Sequence[Support]],
) -> Changes:
    """The marks of facts; ``supports`` are theirs as the reader sees them, at least of those that have a mark.

    A turn that was cancelled leaves no mark, and clears none: the edge from a fact to it stays.
    """
    found = {fact.id: deciding(supports.get(fact.id, ())) for fact in facts}
    last = {i: both for i, both in found.items() if both is not None}
    if not last:
        return Changes({}, {})
    newest = {i: [both.mark, *both.said[:1]] for i, both in last.items()}
    events = log.get(tenant_id, {each.source_id for of_fact in newest.values() for each in of_fact})
    said_at = _said_at(events)
    # A fact may have been told a thousand times: those before the last matter where that was cancelled, or is an older word.
    earlier = {
        each.source_id
        for i, (mark, *said) in newest.items()
        if not all(_stands(each, events) for each in (mark, *said))
        or not all(is_after(mark, each, said_at) for each in said)
        for each in supports[i]
    }
    if earlier:
        events = {**events, **log.get(tenant_id, earlier)}
        said_at = _said_at(events)
    marks: dict[str, MayHaveChanged] = {}
    for fact in facts:
        if fact.id not in last:
            continue
        standing = [each for each in supports[fact.id] if _stands(each, events)]
        if mark := may_have_changed(fact, standing, said_at):
            marks[fact.id] = mark
    return Changes(marks, {mark.event_id: events[mark.event_id] for mark in marks.values()})


def _said_at(events: Mapping[str, Event]) -> dict[str, Instant]:
    return {key: each.context.observed_at for key, each in events.items()}


def _stands(support: Support, events: Mapping[str, Event]) -> bool:
    """Whether nobody cancelled its turn. What was erased may have said a fact, and is no mark that a reader could follow."""
    turn = events.get(support.source_id)
    return support.relation != Tie.MAY_CHANGE if turn is None else not turn.excluded


def rested_on(beliefs: Sequence[Belief], shown: Shown) -> dict[str, Collection[str]]:
    """By its id, what the version of each belief counts, on either side; of one that an older release derived, all that it rested on."""
    older = shown.sources_of([each.id for each in beliefs if not each.evidence])
    return {each.id: {one.source_id for one in each.evidence} or older.get(each.id, ()) for each in beliefs}


def facts_seen(heads: Iterable[RecordHead], may_read: MayRead) -> dict[str, RecordHead]:
    """The facts among what beliefs rest on that the reader may see: they may lie in another scope than the belief."""
    return {
        each.id: each
        for each in heads
        if each.layer is Layer.FACTS and not each.excluded and may_read(each.scope)
    }


def among(
    sources: Mapping[str, Iterable[str]], facts: Mapping[str, RecordHead]
) -> dict[str, Sequence[RecordHead]]:
    """Of what each record rests on, those facts."""
    return {i: [facts[each] for each in ids if each in facts] for i, ids in sources.items()}


def changes_behind(
    store: Store, tenant_id: str, may_read: MayRead, beliefs: Sequence[Belief], seen_at: Instant | None
) -> Changes:
    """The marks of the facts that beliefs rest on, as the reader sees them now or as of ``seen_at``."""
    shown = Shown(store.records, tenant_id, may_read, seen_at=seen_at)
    sources = rested_on(beliefs, shown)
    marked = shown.supports_related({i for each in sources.values() for i in each}, Tie.MAY_CHANGE)
    facts = facts_seen(store.records.heads(tenant_id, marked, seen_at=seen_at).values(), may_read)
    changes = changes_of(store.log, tenant_id, list(facts.values()), marked)
    return replace(changes, behind=among(sources, facts))
