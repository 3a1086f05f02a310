"""What a step of forgetting keeps, and how: claims of other scopes that rest on words which go are frozen as they stand (decision 0043)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Author, Belief, Claim, Fact, Record, Stance, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.slots import slot_of_another
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.ports.index import TextRow
from lamina.store.rules.erasing_ground import Ground
from lamina.store.rules.erasing_rows import ErasureChanges
from lamina.store.rules.redacting import demoted, leaves_of, over_renamed, redacted_share

__all__ = ["Keeper"]

T = TypeVar("T")

_TIMES: Final = (Tie.EXTRACTED_FROM, Tie.HELD_UNTIL)


class Keeper:
    """Writes what is kept into the changes of a step. ``lowered`` are the beliefs that it demoted."""

    def __init__(self, ground: Ground, out: ErasureChanges) -> None:
        self._ground = ground
        self._out = out
        self._waits: dict[Scope, Instant | None] = {}
        self._said: set[str] = set()
        self._places: set[int] = set()
        self.lowered: set[str] = set()

    def keep(
        self,
        kept: Collection[str],
        beside: Collection[str],
        as_they_are: Mapping[str, Scope],
        worded: Collection[str],
        redacted: Mapping[str, Event],
        entries: Mapping[Scope, Event],
    ) -> set[str]:
        """Freeze what is kept; the beliefs that fall below the floor by that are returned, and are not kept. Of these those ``beside``
        rest on no words that go: what they had lost before, they were left with. Those that are kept
        ``as_they_are`` already are so until now."""
        for key, scope in as_they_are.items():
            self._out.until[key] = (scope, self._until(scope, entries[scope]))
        stated = self._restated(kept, entries)
        self._ground.supports |= {fact.id: supports for (fact, supports) in stated.values()}
        self._said = {event.observed_actor.id for event in redacted.values()}
        self._places = {event.position for event in self._ground.events_of(worded).values()}
        renames: dict[Scope, dict[str, str]] = defaultdict(dict)
        for (into, fact_id), (fact, _) in stated.items():
            renames[into][fact_id] = fact.id
        stored = {key: self._ground.versions[key] for key in sorted(kept)}
        rested = {key: self._ground.supports.get(key, []) for key in stored}
        fallen: set[str] = set()
        for record_id in stored:
            scope = stored[record_id][-1].scope
            renamed = renames.get(scope, {})
            versions = [over_renamed(self._unnamed(each), renamed) for each in stored[record_id]]
            supports = self._rested(record_id, renamed, redacted)
            self._ground.versions[record_id] = versions
            self._ground.supports[record_id] = supports
            lowered = None if record_id in beside else self._demoted(versions[-1], worded, entries[scope])
            if lowered is not None and lowered.confidence < self._ground.erasure.floor:
                fallen.add(record_id)
                continue
            if lowered is not None:
                self.lowered.add(record_id)
                last = replace(versions[-1], recorded_to=lowered.recorded_from)
                self._ground.versions[record_id] = [*versions[:-1], last, lowered]
        for record_id in [key for key in stored if key not in fallen]:
            versions = [_without(each, fallen) for each in self._ground.versions[record_id]]
            supports, self._ground.versions[record_id] = self._ground.supports[record_id], versions
            self._freeze(versions, supports, entries[versions[-1].scope], worded)
            # What stays as it is stored is not written once more.
            self._out.records += _others(versions, stored[record_id])
            self._out.supports += _others(supports, rested[record_id])
        if fallen:
            self._unname(fallen, as_they_are)
        for (scope, _), (fact, supports) in sorted(stated.items()):
            self._freeze([fact], supports, entries[scope], worded)
            self._out.records.append(fact)
            self._out.supports += supports
        self._out.frozen_texts = [
            self._unspoken(row) for row in self._ground.read.texts(sorted(set(kept) - fallen))
        ]
        return fallen

    def _unname(self, fallen: Collection[str], as_they_are: Collection[str]) -> None:
        """Take beliefs that go out of those that are kept as they are."""
        before = self._ground.read.versions(sorted(as_they_are))
        changed = _others([_without(each, fallen) for each in before], before)
        self._out.records += changed
        self._out.frozen_records += changed

    def _freeze(
        self, versions: Sequence[Record], supports: Sequence[Support], entry: Event, worded: Collection[str]
    ) -> None:
        out, record_id, scope = self._out, versions[-1].id, versions[-1].scope
        until = self._until(scope, entry)
        out.until[record_id] = (scope, until)
        out.frozen_records += [
            each
            for each in versions
            if each.recorded_from <= until or each.position in self._places or each.position == entry.position
        ]
        out.frozen_supports += [
            each
            for each in supports
            if each.recorded_at <= until or each.source_id in worded or each.recorded_at == entry.recorded_at
        ]

    def _until(self, scope: Scope, entry: Event) -> Instant:
        """Up to when a scope's records are derived: what still waits is derived on top of what is frozen."""
        if scope not in self._waits:
            self._waits[scope] = self._ground.read.waiting_since([scope, *self._ground.read.senders(scope)])
        since = self._waits[scope]
        return entry.recorded_at if since is None else min(entry.recorded_at, since - 1)

    def _restated(
        self, kept: Collection[str], entries: Mapping[Scope, Event]
    ) -> dict[tuple[Scope, str], tuple[Fact, list[Support]]]:
        """Facts of erased scopes on which beliefs of others rest, stated in these scopes as far as they were sent there.

        They are there for derivation alone: nothing bears them out, so that no list shows them.
        """
        found: dict[tuple[Scope, str], tuple[Fact, list[Support]]] = {}
        for belief_id in sorted(kept):
            belief = self._ground.versions[belief_id][-1]
            if not isinstance(belief, Belief):
                continue
            for each in self._ground.supports.get(belief_id, ()):
                fact = next(iter(self._ground.versions.get(each.source_id, [])[-1:]), None)
                if not isinstance(fact, Fact) or fact.scope not in self._ground.inside:
                    continue
                place, entry = (belief.scope, fact.id), entries[belief.scope]
                if place not in found:
                    found[place] = self._statement(fact, belief, each.polarity == "supports", entry)
        return found

    def _statement(
        self, fact: Fact, belief: Belief, bears_out: bool, entry: Event
    ) -> tuple[Fact, list[Support]]:
        said = self._ground.supports.get(fact.id, [])
        events = self._ground.events_of({each.source_id for each in said})
        sent = {key for key, event in events.items() if event.directives.consolidate_into == belief.scope}
        new_id = derived_id(Prefix.FACT, entry.recorded_at, entry.id, fact.id)
        # By the names of the scope that believes: which entity is which to the one that is erased shows nowhere else.
        subject, value = belief.subject, belief.object if bears_out else fact.object
        slot = None if fact.slot is None else slot_of_another(fact.slot, subject.id)
        stated = replace(
            fact,
            id=new_id,
            subject=subject,
            object=value,
            slot=slot,
            scope=belief.scope,
            version=1,
            position=entry.position,
            recorded_from=entry.recorded_at,
            recorded_to=None,
            superseded_by=None,
            closed_by=None,
            supersedes=None,
            excluded=True,
            text=f"{subject.name} {fact.predicate.replace('_', ' ')} {value.text}".strip(),
            valid_from=belief.valid_from if bears_out else fact.valid_from,
            valid_to=belief.valid_to if bears_out else fact.valid_to,
            said_by=self._other_name(fact, {event.observed_actor.id for event in events.values()}),
        )
        supports = [
            each._replace(
                record_id=new_id,
                polarity="against",
                recorded_at=entry.recorded_at,
                actor=self._ground.erasure.actor
                if each.actor is not None and self._ground.erasure.actor
                else each.actor,
            )
            for each in said
            if each.source_id in sent and each.relation in _TIMES
        ]
        return stated, supports

    def _rested(
        self, record_id: str, renamed: Mapping[str, str], redacted: Mapping[str, Event]
    ) -> list[Support]:
        """What a record rests on from here on."""
        kept: list[Support] = []
        for each in self._ground.supports.get(record_id, []):
            if each.source_id in renamed:
                self._out.cut.append(each)
                kept.append(each._replace(source_id=renamed[each.source_id]))
                kept += [
                    Support(
                        tenant_id=each.tenant_id,
                        record_id=record_id,
                        source_id=said.source_id,
                        relation=Tie.REDACTED_FROM,
                        weight=0.0,
                        polarity=each.polarity,
                        recorded_at=each.recorded_at,
                    )
                    for said in self._ground.supports[renamed[each.source_id]]
                    if said.relation == Tie.EXTRACTED_FROM
                ]
            else:
                kept.append(self._without_name(each, redacted))
        return list({each[1:4]: each for each in reversed(kept)}.values())[::-1]

    def _demoted(self, last: Record, worded: Collection[str], entry: Event) -> Belief | None:
        """The next version of a belief that nobody's words bear out any more; None for any other."""
        if not isinstance(last, Belief) or last.recorded_to is not None or last.demoted_by is not None:
            return None
        if last.stance is Stance.DEPRECATED:
            return None
        self._ground.add_supports({each.source_id for each in last.evidence})
        leaves = leaves_of(last, self._ground.supports)
        known = self._ground.events_of(leaves)
        if redacted_share(last.scope, leaves, known.get, worded) < 1.0:
            return None
        lowered = demoted(last, self._ground.erasure.factor)
        return replace(
            lowered,
            version=last.version + 1,
            position=entry.position,
            recorded_from=entry.recorded_at,
            recorded_to=None,
            closed_by=None,
            revision_count=last.revision_count + 1,
            revised_at=(*last.revised_at, entry.recorded_at)[-max(1, len(last.revised_at)) :],
        )

    def _unnamed(self, record: Record) -> Record:
        """A claim without the name of who said it, where that goes."""
        if not isinstance(record, Claim):
            return record
        author = self._other_name(record, self._said)
        return record if author is record.said_by else replace(record, said_by=author)

    def _other_name(self, claim: Claim, said: Collection[str]) -> Author | None:
        actor, author = self._ground.erasure.actor, claim.said_by
        if actor is None or author is None:
            return author
        return Author(actor, actor) if author.id in said else author

    def _without_name(self, support: Support, redacted: Mapping[str, Event]) -> Support:
        actor = self._ground.erasure.actor
        if actor is None or support.actor is None or support.source_id not in redacted:
            return support
        return support._replace(actor=actor)

    def _unspoken(self, row: TextRow) -> TextRow:
        actor = self._ground.erasure.actor
        return row if actor is None or row.speaker not in self._said else row._replace(speaker=actor)


def _without(record: Record, gone: Collection[str]) -> Record:
    """A belief that names none of those that are gone among the ones that it contradicts."""
    if not isinstance(record, Belief) or not set(record.contradicts) & set(gone):
        return record
    return replace(record, contradicts=tuple(each for each in record.contradicts if each not in gone))


def _others(now: Sequence[T], before: Sequence[T]) -> list[T]:
    """What is none of the very rows that were read."""
    known = set(map(id, before))
    return [each for each in now if id(each) not in known]
