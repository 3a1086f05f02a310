"""What one step of forgetting takes away and what it keeps, worked out from the rows themselves (decision 0043).

An engine reads through ``ErasureReads`` and writes what ``ErasureChanges`` says, in one transaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from lamina import limits
from lamina.kernel.events import Event, EventDraft
from lamina.kernel.predicates import family_of
from lamina.kernel.records import Claim, Fact, Layer, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.ports.erasing import Erasure
from lamina.store.rules.erasing_ground import Ground
from lamina.store.rules.erasing_report import RecordOutcomes, report
from lamina.store.rules.erasing_rows import ErasureChanges, ErasureReads
from lamina.store.rules.keeping import Keeper
from lamina.store.rules.log import erasure_of
from lamina.store.rules.redacting import (
    is_worded_entry,
    redacted_event,
    unsent_event,
    wordless_entry,
)

__all__ = ["changes_of"]


def changes_of(
    read: ErasureReads, erasure: Erasure, enter: Callable[[EventDraft], Event], now: Instant
) -> ErasureChanges:
    """What a step changes. ``enter`` puts an entry into the log, in the same transaction."""
    return _Step(Ground(read, erasure), now).changes(enter)


class _Step:
    def __init__(self, ground: Ground, now: Instant) -> None:
        self._ground = ground
        self._now = now
        self._out = ErasureChanges()
        self._kept_already: dict[str, Scope] = {}

    def changes(self, enter: Callable[[EventDraft], Event]) -> ErasureChanges:
        ground, erasure, out = self._ground, self._ground.erasure, self._out
        events = ground.events_of({*erasure.delete, *erasure.redact})
        to_redact = {key for key in erasure.redact if key in events and events[key].redacted_by is None}
        if erasure.cascade == "redact_events":
            # What was decided of names goes on beside the claims that stand; what was said with it is words like any other.
            entries_told = {key for key in to_redact if events[key].is_entry}
            to_redact -= entries_told
            entries_told |= self._told_of(to_redact)
            out.wordless = [wordless_entry(each) for each in self._worded(entries_told)]
        to_delete = (set(erasure.delete) & events.keys()) - to_redact
        named = {*erasure.records, *self._swept()}
        quoted = named - set(erasure.records) if erasure.cascade == "derived_only" else named
        edges = self._edges({*to_delete, *to_redact, *quoted})
        changed = self._changed([events[key] for key in sorted(to_delete | to_redact)]) - edges.keys()
        ground.add([key for key in {*edges, *changed, *named} if _is_derived(key)])
        ground.add_supports(ground.versions)
        asked = named & ground.versions.keys()
        # Records of an erased scope are left to the step that erases what they rest on.
        for key in [key for key in changed - asked if ground.last(key).scope in ground.inside]:
            del ground.versions[key]
        # What the events changed without bearing it out stays as changed, unless it quotes, and is made anew.
        resting = ((edges.keys() | changed) & ground.versions.keys()) - asked
        kept = {key for key in resting if self._stays(key)}
        remade = {key for key in resting - kept if ground.last(key).scope not in ground.inside}
        # An entry of the log has no words: what it ended or read anew is not borne out by it.
        words = {key for key in to_delete if not events[key].is_entry}
        cited = _sources_of(kept - changed, edges) & words
        to_delete -= cited
        to_redact |= {key for key in cited if events[key].redacted_by is None}
        if not (to_delete or to_redact or asked):
            return out
        kept |= self._beside(kept) - asked
        worded = to_delete | to_redact
        entries = self._entries(kept, [events[key] for key in sorted(worded)], enter)
        keeper = Keeper(ground, out)
        beside = kept - (self._edges(worded) if quoted else edges).keys()
        redacted = {key: events[key] for key in sorted(to_redact)}
        fallen = keeper.keep(kept, beside, self._kept_already, worded, redacted, entries)
        kept -= fallen
        gone = (ground.versions.keys() - kept) | fallen
        told = [ground.last(key) for key in sorted(kept)]
        out.gone = {key: ground.last(key) for key in sorted(gone)}
        out.deleted = [events[key] for key in sorted(to_delete)]
        going = [event.id for event in out.deleted if event.is_entry]
        out.cut += [each for each in ground.dependants(going) if not _is_derived(each.record_id)]
        out.redacted = [
            redacted_event(event, erasure.erasure_id, erasure.actor, told) for event in redacted.values()
        ]
        # What an entry decided of entities goes with its content: their ids are hashes of names.
        decided = [event.id for event in out.redacted if event.is_entry]
        out.cut += ground.read.supports(decided) if decided else []
        report(ground, out, RecordOutcomes(gone - remade, kept, remade, keeper.lowered, entries), self._now)
        if erasure.cascade != "derived_only":
            self._mentions(worded, gone)
        return out

    def _told_of(self, ids: Collection[str]) -> set[str]:
        """The entries that tell of events: that they are cancelled, or read anew."""
        ties = self._ground.read.supports(sorted(ids)) if ids else []
        return {each.source_id for each in ties if each.relation in (Tie.CANCELLED_BY, Tie.READ_BY)}

    def _worded(self, entry_ids: Collection[str]) -> list[Event]:
        found = self._ground.events_of(sorted(entry_ids))
        return [each for each in found.values() if is_worded_entry(each)]

    def _swept(self) -> set[str]:
        """What is left in the erased scopes, where this step is the last."""
        ground = self._ground
        if not ground.erasure.sweeps:
            return set()
        self._out.unsent = [unsent_event(event) for event in ground.read.sent_into(ground.inside)]
        return set(ground.read.within(ground.inside, limits.ERASURE_SWEEP_MAX))

    def _changed(self, events: Sequence[Event]) -> set[str]:
        """The records that events began or changed, resting on them or not."""
        places = {event.scope for event in events}
        places |= {into for event in events if (into := event.directives.consolidate_into) is not None}
        return self._ground.read.changed_at({event.recorded_at for event in events}, places)

    # ---- what rests on what

    def _edges(self, ids: Collection[str]) -> dict[str, set[str]]:
        """What rests on events, through any number of records: each with the sources through which it does."""
        edges: dict[str, set[str]] = {}
        front = set(ids)
        walked = set(ids)
        while front:
            # An event rests on nothing: what ties it to an entry of the log says that it was cancelled, or is over.
            found = [each for each in self._ground.dependants(front) if _is_derived(each.record_id)]
            for each in found:
                edges.setdefault(each.record_id, set()).add(each.source_id)
            front = {each.record_id for each in found} - walked
            walked |= front
        return edges

    def _stays(self, record_id: str) -> bool:
        """Whether a record is kept as it stands: a claim of a scope that is not erased. What quotes is made anew instead."""
        last = self._ground.last(record_id)
        return isinstance(last, Claim) and last.scope not in self._ground.inside

    def _beside(self, kept: Collection[str]) -> set[str]:
        """The other claims of the matters of what is kept, which were placed and drawn in sight of it: a matter is kept whole."""
        ground, matters = self._ground, self._matters(kept)
        found = {key for scope in sorted(matters) for key in ground.read.claims_of(scope, matters[scope])}
        fresh = sorted(found - ground.versions.keys())
        until = ground.read.frozen_until(fresh)
        changed = ground.read.last_changes(until)
        self._kept_already = {key: scope for key, (scope, at) in changed.items() if at <= until[key]}
        stale = [key for key in fresh if key not in self._kept_already]
        ground.add(stale)
        ground.add_supports(stale)
        return (found & ground.versions.keys()) - set(kept)

    def _matters(self, kept: Collection[str]) -> dict[Scope, set[tuple[str, str]]]:
        """What the claims that are kept are about, by scope: subject, and each predicate that the thing is spoken of with."""
        ground = self._ground
        claims: list[tuple[Scope, Claim]] = []
        sent: list[Fact] = []
        for key, versions in ground.versions.items():
            last = versions[-1]
            if key in kept:
                claims += [(each.scope, each) for each in versions if isinstance(each, Claim)]
            elif isinstance(last, Fact) and last.scope in ground.inside:
                sent.append(last)
        sources = {fact.id: {each.source_id for each in ground.supports.get(fact.id, ())} for fact in sent}
        events = ground.events_of({key for ids in sources.values() for key in ids})
        for fact in sent:
            # What was sent to a scope counted there, also where nothing rests on it.
            told = [events[key] for key in sources[fact.id] if key in events]
            places = {each.directives.consolidate_into for each in told}
            claims += [(into, fact) for into in places if into is not None and into not in ground.inside]
        matters: dict[Scope, set[tuple[str, str]]] = defaultdict(set)
        for scope, claim in claims:
            matters[scope] |= {(claim.subject.id, each) for each in family_of(claim.predicate)}
        return matters

    def _entries(
        self, kept: Collection[str], events: Sequence[Event], enter: Callable[[EventDraft], Event]
    ) -> dict[Scope, Event]:
        """The entry of each scope that keeps something: the place in its log where it lost the words."""
        erasure = self._ground.erasure
        counted = Counter([*(self._ground.last(key).scope for key in kept), *self._kept_already.values()])
        at = max((event.context.observed_at for event in events), default=self._now)
        return {
            scope: enter(erasure_of(erasure.tenant_id, erasure.erasure_id, scope, counted[scope], at))
            for scope in sorted(counted)
        }

    def _mentions(self, worded: Collection[str], gone: Collection[str]) -> None:
        """Of the names in events stay those that claims which still rest on these name, in the same scope; so it is with the names in
        events that an earlier step left without words, where it is their claims that go."""
        ground = self._ground
        behind = {each.source_id for key in gone for each in ground.supports.get(key, ())}
        bare = {key for key, event in ground.events_of(behind).items() if event.redacted_by is not None}
        events = sorted({*worded, *bare})
        ties = [each for each in ground.dependants(events) if each.record_id not in gone]
        ground.add({each.record_id for each in ties})
        named: dict[str, set[tuple[Scope, str | None]]] = defaultdict(set)
        for each in ties:
            claim = next(iter(ground.versions.get(each.record_id, [])[-1:]), None)
            if isinstance(claim, Claim):
                named[each.source_id] |= {(claim.scope, key) for key in (claim.subject.id, claim.object.id)}
        for name in ground.read.mentions(events):
            stays = (name.scope, name.entity_id) in named[name.event_id]
            (self._out.frozen_mentions if stays else self._out.unmentioned).append(name)


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
