"""What one step of forgetting takes away and what it keeps, worked out from the rows themselves (decision 0043).

An engine reads through ``Reading`` and writes what ``Changes`` says, in one transaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lamina import limits
from lamina.kernel.events import Event, EventDraft
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import (
    Author,
    Belief,
    Claim,
    Fact,
    Layer,
    Record,
    Stance,
    Support,
    layer_of,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.erasing import Erased, Erasure, Tombstone
from lamina.store.ports.index import TextRow
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.rules.erasing_rows import Changes, Reading
from lamina.store.rules.log import erasure_of
from lamina.store.rules.redacting import (
    EXTRACTED_FROM,
    demoted,
    leaves_of,
    over_renamed,
    redacted_event,
    redacted_share,
    unsent_event,
)

__all__ = ["changes_of"]

_BORNE_BY: Final = "redacted_from"
"""From a belief to an event without words that it rests on through a fact of a scope that is gone."""
_TIMES: Final = (EXTRACTED_FROM, "held_until")


def changes_of(
    read: Reading, erasure: Erasure, enter: Callable[[EventDraft], Event], now: Instant
) -> Changes:
    """What a step changes. ``enter`` puts an entry into the log, in the same transaction."""
    return _Step(read, erasure, now).changes(enter)


class _Step:
    def __init__(self, read: Reading, erasure: Erasure, now: Instant) -> None:
        self._read = read
        self._erasure = erasure
        self._now = now
        self._inside = frozenset(erasure.scopes)
        self._out = Changes()
        self._versions: dict[str, list[Record]] = {}
        self._supports: dict[str, list[Support]] = {}
        self._known: dict[str, Event | None] = {}
        self._waits: dict[Scope, Instant | None] = {}
        self._lowered: set[str] = set()
        self._still: dict[str, Scope] = {}

    def changes(self, enter: Callable[[EventDraft], Event]) -> Changes:
        erasure, out = self._erasure, self._out
        events = self._read.events({*erasure.delete, *erasure.redact})
        to_redact = {key for key in erasure.redact if key in events and events[key].redacted_by is None}
        to_delete = (set(erasure.delete) & events.keys()) - to_redact
        swept = set[str]()
        if erasure.sweeps:
            swept = set(self._read.within(self._inside, limits.ERASURE_SWEEP_MAX))
            out.unsent = [unsent_event(event) for event in self._read.sent_into(self._inside)]
        quoted = set() if erasure.cascade == "derived_only" else set(erasure.records)
        edges = self._edges({*to_delete, *to_redact, *swept, *quoted})
        changed = self._changed([events[key] for key in sorted(to_delete | to_redact)]) - edges.keys()
        reached = {*edges, *changed, *erasure.records, *swept}
        for version in self._read.versions(sorted(key for key in reached if _is_derived(key))):
            self._versions.setdefault(version.id, []).append(version)
        for support in self._read.supports(sorted(self._versions)):
            self._supports.setdefault(support.record_id, []).append(support)
        asked = {*erasure.records, *swept} & self._versions.keys()
        # What the events changed without bearing it out stays as changed, unless it quotes, and is made anew.
        resting = ((edges.keys() | changed) & self._versions.keys()) - asked
        self._forget({key for key in changed - asked if self._versions[key][-1].scope in self._inside})
        resting &= self._versions.keys()
        kept = {key for key in resting if self._stays(key)}
        remade = {key for key in resting - kept if self._versions[key][-1].scope not in self._inside}
        cited = _sources_of(kept - changed, edges) & to_delete
        to_delete -= cited
        to_redact |= {key for key in cited if events[key].redacted_by is None}
        if not (to_delete or to_redact or asked):
            return out
        kept |= self._beside(kept) - asked
        named = [events[key] for key in sorted(to_delete | to_redact)]
        entries = self._entries(kept, named, enter)
        fallen = self._keep(kept, to_delete | to_redact, {key: events[key] for key in to_redact}, entries)
        kept -= fallen
        gone = (self._versions.keys() - kept) | fallen
        told = [self._versions[key][-1] for key in sorted(kept)]
        out.gone = {key: self._versions[key][-1] for key in sorted(gone)}
        out.deleted = [events[key] for key in sorted(to_delete)]
        out.redacted = [
            redacted_event(events[key], erasure.erasure_id, erasure.actor, told) for key in sorted(to_redact)
        ]
        self._report(gone - remade, kept, remade, entries)
        if erasure.cascade != "derived_only":
            self._mentions(to_delete | to_redact, gone)
        return out

    def _changed(self, events: Sequence[Event]) -> set[str]:
        """The records that events began or changed, resting on them or not."""
        places = {event.scope for event in events}
        places |= {into for event in events if (into := event.directives.consolidate_into) is not None}
        return self._read.changed_at({event.recorded_at for event in events}, places)

    def _beside(self, kept: Collection[str]) -> set[str]:
        """The other claims of the matters of what is kept, which were placed and drawn in sight of it: a matter is kept whole."""
        matters: dict[Scope, set[tuple[str, str]]] = defaultdict(set)
        for key, (*_, last) in self._versions.items():
            if key in kept:
                for claim in self._versions[key]:
                    if isinstance(claim, Claim):
                        matters[claim.scope].add((claim.subject.id, claim.predicate))
            elif isinstance(last, Fact) and last.scope in self._inside:
                # What was sent to a scope counted there, also where nothing rests on it.
                sources = self._events_of({each.source_id for each in self._supports.get(key, ())})
                for into in {each.directives.consolidate_into for each in sources.values()}:
                    if into is not None and into not in self._inside:
                        matters[into].add((last.subject.id, last.predicate))
        found = {key for scope in sorted(matters) for key in self._read.claims_of(scope, matters[scope])}
        fresh = sorted(found - self._versions.keys())
        until = self._read.frozen_until(fresh)
        others: dict[str, list[Record]] = defaultdict(list)
        for version in self._read.versions(fresh):
            others[version.id].append(version)
        stale = {
            key: versions
            for key, versions in others.items()
            if max(each.recorded_to or each.recorded_from for each in versions) > until.get(key, 0)
        }
        self._versions |= stale
        self._still = {key: versions[-1].scope for key, versions in others.items() if key not in stale}
        for support in self._read.supports(sorted(stale)):
            self._supports.setdefault(support.record_id, []).append(support)
        return (found & self._versions.keys()) - set(kept)

    def _forget(self, record_ids: Collection[str]) -> None:
        """Leave records of an erased scope to the step that erases what they rest on."""
        for key in record_ids:
            del self._versions[key]

    # ---- what rests on what

    def _edges(self, ids: Collection[str]) -> dict[str, set[str]]:
        """What rests on events, through any number of records: each with the sources through which it does."""
        edges: dict[str, set[str]] = {}
        front = set(ids)
        walked = set(ids)
        while front:
            found = self._read.dependants(sorted(front))
            for each in found:
                edges.setdefault(each.record_id, set()).add(each.source_id)
            front = {each.record_id for each in found} - walked
            walked |= front
        return edges

    def _stays(self, record_id: str) -> bool:
        """Whether a record is kept as it stands: a claim of a scope that is not erased. What quotes is made anew instead."""
        last = self._versions[record_id][-1]
        return isinstance(last, Claim) and last.scope not in self._inside

    # ---- what is kept

    def _entries(
        self, kept: Collection[str], events: Sequence[Event], enter: Callable[[EventDraft], Event]
    ) -> dict[Scope, Event]:
        """The entry of each scope that keeps something: the place in its log where it lost the words."""
        counted = Counter([*(self._versions[key][-1].scope for key in kept), *self._still.values()])
        at = max((event.context.observed_at for event in events), default=self._now)
        return {
            scope: enter(
                erasure_of(self._erasure.tenant_id, self._erasure.erasure_id, scope, counted[scope], at)
            )
            for scope in sorted(counted)
        }

    def _keep(
        self,
        kept: Collection[str],
        worded: Collection[str],
        redacted: Mapping[str, Event],
        entries: Mapping[Scope, Event],
    ) -> set[str]:
        """Freeze what is kept; the beliefs that fall below the floor by that are returned, and are not kept."""
        for key, scope in self._still.items():  # kept before as they stand, and from here on until now
            self._out.until[key] = (scope, self._until(scope, entries[scope]))
        stated = self._restated(kept, entries)
        self._supports |= {fact.id: supports for (fact, supports) in stated.values()}
        fallen: set[str] = set()
        for record_id in sorted(kept):
            scope = self._versions[record_id][-1].scope
            renamed = {fact_id: fact.id for (into, fact_id), (fact, _) in stated.items() if into == scope}
            versions = [
                over_renamed(self._unnamed(each, redacted), renamed) for each in self._versions[record_id]
            ]
            supports = self._rested(record_id, renamed, redacted)
            self._versions[record_id] = versions
            self._supports[record_id] = supports
            lowered = self._demoted(versions[-1], worded, entries[scope])
            if lowered is not None and lowered.confidence < self._erasure.floor:
                fallen.add(record_id)
                continue
            if lowered is not None:
                self._lowered.add(record_id)
                last = replace(versions[-1], recorded_to=lowered.recorded_from)
                self._versions[record_id] = versions = [*versions[:-1], last, lowered]
            self._freeze(versions, supports, entries[scope], worded)
        for (scope, _), (fact, supports) in sorted(stated.items()):
            self._freeze([fact], supports, entries[scope], worded)
        self._out.frozen_texts = [
            self._unspoken(row, redacted) for row in self._read.texts(sorted(set(kept) - fallen))
        ]
        return fallen

    def _freeze(
        self, versions: Sequence[Record], supports: Sequence[Support], entry: Event, worded: Collection[str]
    ) -> None:
        out, record_id, scope = self._out, versions[-1].id, versions[-1].scope
        until = self._until(scope, entry)
        places = {event.position for event in self._events_of(worded).values()}
        out.records += versions
        out.supports += supports
        out.until[record_id] = (scope, until)
        out.frozen_records += [
            each
            for each in versions
            if each.recorded_from <= until or each.position in places or each.position == entry.position
        ]
        out.frozen_supports += [
            each
            for each in supports
            if each.recorded_at <= until or each.source_id in worded or each.recorded_at == entry.recorded_at
        ]

    def _until(self, scope: Scope, entry: Event) -> Instant:
        """Up to when a scope's records are derived: what still waits is derived on top of what is frozen."""
        if scope not in self._waits:
            self._waits[scope] = self._read.waiting_since([scope, *self._read.senders(scope)])
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
            belief = self._versions[belief_id][-1]
            if not isinstance(belief, Belief):
                continue
            for each in self._supports.get(belief_id, ()):
                fact = next(iter(self._versions.get(each.source_id, [])[-1:]), None)
                if not isinstance(fact, Fact) or fact.scope not in self._inside:
                    continue
                place, entry = (belief.scope, fact.id), entries[belief.scope]
                if place not in found:
                    found[place] = self._statement(fact, belief, each.polarity == "supports", entry)
        return found

    def _statement(
        self, fact: Fact, belief: Belief, bears_out: bool, entry: Event
    ) -> tuple[Fact, list[Support]]:
        said = self._supports.get(fact.id, [])
        events = self._events_of({each.source_id for each in said})
        sent = {key for key, event in events.items() if event.directives.consolidate_into == belief.scope}
        new_id = derived_id(Prefix.FACT, entry.recorded_at, entry.id, fact.id)
        stated = replace(
            fact,
            id=new_id,
            scope=belief.scope,
            version=1,
            position=entry.position,
            recorded_from=entry.recorded_at,
            recorded_to=None,
            superseded_by=None,
            closed_by=None,
            supersedes=None,
            excluded=True,
            text=f"{fact.subject.name} {fact.predicate.replace('_', ' ')} {fact.object.text}".strip(),
            valid_from=belief.valid_from if bears_out else fact.valid_from,
            valid_to=belief.valid_to if bears_out else fact.valid_to,
            said_by=self._other_name(fact, events),
        )
        supports = [
            each._replace(
                record_id=new_id,
                polarity="against",
                recorded_at=entry.recorded_at,
                role=self._erasure.actor if each.role is not None and self._erasure.actor else each.role,
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
        for each in self._supports.get(record_id, []):
            if each.source_id in renamed:
                self._out.cut.append(each)
                kept.append(each._replace(source_id=renamed[each.source_id]))
                kept += [
                    Support(
                        tenant_id=each.tenant_id,
                        record_id=record_id,
                        source_id=said.source_id,
                        relation=_BORNE_BY,
                        weight=0.0,
                        polarity=each.polarity,
                        recorded_at=each.recorded_at,
                    )
                    for said in self._supports[renamed[each.source_id]]
                    if said.relation == EXTRACTED_FROM
                ]
            else:
                kept.append(self._without_role(each, redacted))
        return list({each[1:4]: each for each in reversed(kept)}.values())[::-1]

    def _demoted(self, last: Record, worded: Collection[str], entry: Event) -> Belief | None:
        """The next version of a belief that nobody's words bear out any more; None for any other."""
        if not isinstance(last, Belief) or last.recorded_to is not None or last.demoted_by is not None:
            return None
        if last.stance is Stance.DEPRECATED:
            return None
        facts = {each.source_id for each in last.evidence}
        for each in self._read.supports(sorted(facts - self._supports.keys())):
            self._supports.setdefault(each.record_id, []).append(each)
        leaves = leaves_of(last, self._supports)
        known = self._events_of(leaves)
        if redacted_share(leaves, lambda key: None if key in worded else known.get(key)) < 1.0:
            return None
        lowered = demoted(last, self._erasure.factor)
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

    # ---- names

    def _unnamed(self, record: Record, redacted: Mapping[str, Event]) -> Record:
        """A claim without the name of who said it, where that goes."""
        if not isinstance(record, Claim):
            return record
        return replace(record, said_by=self._other_name(record, redacted))

    def _other_name(self, claim: Claim, events: Mapping[str, Event]) -> Author | None:
        actor, author = self._erasure.actor, claim.said_by
        if actor is None or author is None:
            return author
        said = {event.observed_actor.id for event in events.values()}
        return Author(actor, actor) if author.id in said else author

    def _without_role(self, support: Support, redacted: Mapping[str, Event]) -> Support:
        actor = self._erasure.actor
        if actor is None or support.role is None or support.source_id not in redacted:
            return support
        return support._replace(role=actor) if ":" in support.role else support

    def _unspoken(self, row: TextRow, redacted: Mapping[str, Event]) -> TextRow:
        said = {event.observed_actor.id for event in redacted.values()}
        actor = self._erasure.actor
        return row if actor is None or row.speaker not in said else replace(row, speaker=actor)

    def _mentions(self, worded: Collection[str], gone: Collection[str]) -> None:
        """Of the names in events stay those that claims which still rest on these name, in the same scope; so it is with the names in
        events that an earlier step left without words, where it is their claims that go."""
        behind = {each.source_id for key in gone for each in self._supports.get(key, ())}
        bare = {key for key, event in self._events_of(behind).items() if event.redacted_by is not None}
        events = sorted({*worded, *bare})
        ties = [each for each in self._read.dependants(events) if each.record_id not in gone]
        resting = {each.record_id for each in ties}
        for version in self._read.versions(sorted(resting - self._versions.keys())):
            self._versions.setdefault(version.id, []).append(version)
        named: dict[str, set[tuple[Scope, str | None]]] = defaultdict(set)
        for each in ties:
            claim = next(iter(self._versions.get(each.record_id, [])[-1:]), None)
            if isinstance(claim, Claim):
                named[each.source_id] |= {(claim.scope, key) for key in (claim.subject.id, claim.object.id)}
        for name in self._read.mentions(events):
            stays = (name.scope, name.entity_id) in named[name.event_id]
            (self._out.frozen_mentions if stays else self._out.unmentioned).append(name)

    def _events_of(self, ids: Collection[str]) -> dict[str, Event]:
        missing = sorted(set(ids) - self._known.keys())
        if missing:
            found = self._read.events(missing)
            self._known |= {key: found.get(key) for key in missing}
        return {key: event for key in ids if (event := self._known[key]) is not None}

    # ---- what is told of it

    def _report(
        self, gone: set[str], kept: set[str], remade: set[str], entries: Mapping[Scope, Event]
    ) -> None:
        out, erasure = self._out, self._erasure
        by_layer: dict[Layer, list[str]] = defaultdict(list)
        for key in sorted(gone):
            by_layer[self._versions[key][-1].layer].append(key)
        places = {key: (self._versions[key][-1].layer, self._versions[key][-1].scope) for key in gone}
        places |= {event.id: (Layer.EVENTS, event.scope) for event in out.deleted}
        out.tombstones = [
            Tombstone(
                tenant_id=erasure.tenant_id,
                id=key,
                layer=layer,
                scope=scope,
                cascade=erasure.cascade,
                erasure_id=erasure.erasure_id,
                audit_id=erasure.audit_id,
                erased_at=self._now,
            )
            for key, (layer, scope) in sorted(places.items())
        ]
        counts = Counter(
            [(scope, layer) for layer, scope in places.values()]
            + [(event.scope, Layer.EVENTS) for event in out.redacted]
        )
        out.lifecycle = [
            LifecycleDraft(
                tenant_id=erasure.tenant_id,
                name="forgotten",
                scope=scope,
                job_id=erasure.erasure_id,
                payload={
                    "layer": layer.value,
                    "count": counts[scope, layer],
                    "by_actor": erasure.by_actor,
                    "cascade": erasure.cascade,
                },
            )
            for scope, layer in sorted(counts)
        ]
        scopes = {self._versions[key][-1].scope for key in self._versions}
        worded = {event.scope for event in (*out.deleted, *out.redacted)}
        out.touched = scopes | worded
        out.erased = Erased(
            deleted=[event.id for event in out.deleted],
            redacted=[event.id for event in out.redacted],
            gone=dict(by_layer),
            kept={
                scope: sorted(key for key in kept if self._versions[key][-1].scope == scope)
                for scope in sorted(entries)
            },
            demoted=sorted(self._lowered & kept),
            entries=[entries[scope].id for scope in sorted(entries)],
            remade=sorted(({self._versions[key][-1].scope for key in kept | remade} | worded) - self._inside),
        )


def _is_derived(record_id: str) -> bool:
    return layer_of(record_id) not in (None, Layer.EVENTS)


def _sources_of(ids: Iterable[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    """All that records rest on, through any number of others, as far as the edges go."""
    found: set[str] = set()
    front = set(ids)
    while front:
        front = {source for key in front for source in edges.get(key, ())} - found
        found |= front
    return found
