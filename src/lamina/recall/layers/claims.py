"""Reading facts and beliefs (seed 002, 8.7.3 to 8.7.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamina import limits
from lamina.errors import Gone
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.operations import Answer, Call
from lamina.kernel.records import Belief, Fact, Layer, ObjectValue, Record, Stance, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Axes, Instant
from lamina.kernel.views import BeliefView, FactView, belief_view, fact_view
from lamina.recall.changed import changes_behind, changes_of
from lamina.recall.layers.lenses import lens_of
from lamina.recall.layers.pages import PageStart
from lamina.recall.layers.reach import entity_named, reach_of, traversed
from lamina.recall.layers.reading import (
    counting,
    cursor_after,
    one_record,
    one_seen_at,
    place_in,
    present,
    records_page,
    supports_by_record,
)
from lamina.recall.layers.words import axes_of
from lamina.store.ports.records import RecordQuery, Records
from lamina.store.ports.store import Store
from lamina.store.redactions import redactions_behind
from lamina.types.layer_requests import BeliefId, BeliefsRequest, FactId, FactsRequest, TimelineRequest
from lamina.types.layers import BeliefPage, FactPage, Timeline, TimelineEntry, TimelineSubject

__all__ = ["ClaimReads", "held_belief", "with_tensions"]


class ClaimReads:
    """Handlers of the reads of facts and beliefs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def facts(self, request: FactsRequest, call: Call) -> Answer:
        """A page of facts."""
        reach = reach_of(self._store, call, request.scope, request.view, as_of=request.as_of)
        place = place_in(request, self._store.log, call, reach.scopes)
        tenant_id = call.principal.tenant_id
        subject = None
        if request.subject is not None:
            subject = entity_named(
                self._store, tenant_id, Scope(request.scope), request.subject, seen_at=place.snapshot
            )
            if subject is None:
                return Answer(FactPage(items=[], next_cursor=None, has_more=False), warnings=reach.warnings)
        query = RecordQuery(
            tenant_id=tenant_id,
            layer=Layer.FACTS,
            scopes=reach.scopes,
            axes=axes_of(self._store.definitions, call, request, place),
            subject=subject,
            predicate=request.predicate,
            min_confidence=request.min_confidence,
        )
        page = records_page(self._store.records, Fact, query, place, limit=request.limit)
        supports = supports_by_record(self._store.records, call, page.rows, query.axes.seen_at)
        result = FactPage(
            items=self._views(page.rows, supports),
            next_cursor=cursor_after(place, page),
            has_more=page.last is not None,
            scopes_traversed=traversed(reach, self._store.log, call, page.rows),
        )
        return Answer(result, warnings=reach.warnings)

    def fact(self, request: FactId, call: Call) -> Answer:
        """One fact."""
        records = self._store.records
        seen_at = one_seen_at(self._store.log, call, request.as_of)
        fact = one_record(records, call, Fact, request.fact_id, as_of=seen_at)
        supports = supports_by_record(records, call, [fact], seen_at)
        (view,) = self._views([fact], supports)
        return Answer(view)

    def _views(self, facts: Sequence[Fact], supports: Callable[[str], Sequence[Support]]) -> list[FactView]:
        if not facts:
            return []
        tenant_id = facts[0].tenant_id
        held = {fact.id: supports(fact.id) for fact in facts}
        marks = changes_of(self._store.log, tenant_id, facts, held).marks
        redacted = redactions_behind(self._store, tenant_id, facts, held).events
        return [fact_view(fact, held[fact.id], marks.get(fact.id), redacted) for fact in facts]

    def timeline(self, request: TimelineRequest, call: Call) -> Answer:
        """The values of a predicate in the order in which they held."""
        reach = reach_of(self._store, call, request.scope, request.view, as_of=request.as_of)
        records, tenant_id = self._store.records, call.principal.tenant_id
        now = present(self._store.log, call, reach.scopes, request.as_of)
        subject = entity_named(self._store, tenant_id, Scope(request.scope), request.subject, seen_at=now)
        axes = axes_of(self._store.definitions, call, request, PageStart(now, "", call.now))
        facts: list[Fact] = []
        if subject is not None:
            query = RecordQuery(
                tenant_id=tenant_id,
                layer=Layer.FACTS,
                scopes=reach.scopes,
                axes=Axes(seen_at=axes.seen_at, superseded=True),
                subject=subject,
                predicate=request.predicate,
            )
            place = PageStart(axes.seen_at, "", call.now)
            facts = records_page(records, Fact, query, place, limit=limits.LIST_SCAN_MAX).rows
        chain = _without_expired(records, tenant_id, _chain(facts, axes), axes)
        entries = [
            entry for fact, entry in zip(chain, _entries(chain), strict=True) if _is_asked(fact, entry, axes)
        ]
        shown = entries[-limits.TIMELINE_LENGTH_MAX :]
        result = Timeline(
            subject=_subject(subject, request.subject, chain if entries else []),
            predicate=request.predicate,
            timeline=shown,
            has_more=len(entries) > len(shown) or len(facts) == limits.LIST_SCAN_MAX,
        )
        return Answer(result, warnings=reach.warnings)

    def beliefs(self, request: BeliefsRequest, call: Call) -> Answer:
        """A page of beliefs."""
        reach = reach_of(self._store, call, request.scope, request.view, as_of=request.as_of)
        place = place_in(request, self._store.log, call, reach.scopes)
        tenant_id = call.principal.tenant_id
        subject = None
        if request.about is not None:
            subject = entity_named(
                self._store, tenant_id, Scope(request.scope), request.about, seen_at=place.snapshot
            )
            if subject is None:
                return Answer(BeliefPage(items=[], next_cursor=None, has_more=False), warnings=reach.warnings)
        axes = axes_of(self._store.definitions, call, request, place)
        seen_at = max(axes.seen_at, request.as_of or axes.seen_at)
        lens = lens_of(self._store.definitions, tenant_id, seen_at, now=call.now)
        query = RecordQuery(
            tenant_id=tenant_id,
            layer=Layer.BELIEFS,
            scopes=reach.scopes,
            axes=axes,
            subject=subject,
            predicate=request.predicate,
            min_confidence=max(lens.least(request.min_confidence), lens.rules.confidence_floor),
            stances=_stances(request),
        )
        page = records_page(self._store.records, Belief, query, place, limit=request.limit)
        result = BeliefPage(
            items=with_tensions(self._store, call, page.rows, seen_at),
            next_cursor=cursor_after(place, page),
            has_more=page.last is not None,
            scopes_traversed=traversed(reach, self._store.log, call, page.rows),
        )
        return Answer(result, warnings=reach.warnings)

    def belief(self, request: BeliefId, call: Call) -> Answer:
        """One belief; ``Gone`` (RESOURCE_DELETED) for one that fell below the confidence floor."""
        seen_at = one_seen_at(self._store.log, call, request.as_of)
        belief = held_belief(self._store.records, call, request.belief_id, seen_at)
        return Answer(with_tensions(self._store, call, [belief], seen_at)[0])


def held_belief(records: Records, call: Call, belief_id: str, as_of: Instant | None) -> Belief:
    """The belief as it is held, now or at ``as_of``.

    One whose last version has ended without a successor is ``Gone`` (RESOURCE_DELETED): it was merged into another (``merged_into``),
    fell below the floor (``audit_id``), or what it rested on is held no more.
    """
    belief = one_record(records, call, Belief, belief_id, as_of=as_of)
    ended = belief.recorded_to is not None and (as_of is None or belief.recorded_to <= as_of)
    if ended and belief.superseded_by is None:
        raise _gone(belief)
    return belief


def _gone(belief: Belief) -> Gone:
    by, hint = belief.closed_by, "as_of reads it as it was held before"
    if by is not None and prefix_of(by) is Prefix.BELIEF:
        return Gone(
            "RESOURCE_DELETED",
            "this belief was merged into another one, which says the same",
            hint=f"read that one, merged_into; {hint}",
            details={"id": belief.id, "merged_into": by},
        )
    if by is not None and prefix_of(by) is Prefix.AUDIT:
        return Gone(
            "RESOURCE_DELETED",
            "this belief was deleted: its confidence fell below the floor",
            hint=hint,
            details={"id": belief.id, "audit_id": by},
        )
    return Gone(
        "RESOURCE_DELETED",
        "this belief has ended: what it rested on was cancelled, or is held no more",
        hint=hint,
        details={"id": belief.id},
    )


def with_tensions(
    store: Store, call: Call, beliefs: Sequence[Belief], seen_at: Instant | None
) -> list[BeliefView]:
    """The views of beliefs, with how each stands against those that it contradicts, now or as of ``seen_at``."""
    records, tenant_id = store.records, call.principal.tenant_id
    lens = lens_of(store.definitions, tenant_id, seen_at, now=call.now)
    supports = supports_by_record(records, call, beliefs, seen_at)
    contradicted = {other for belief in beliefs for other in belief.contradicts}
    found = records.get(tenant_id, contradicted, seen_at=seen_at)
    others = {key: lens.seen(other) for key, other in found.items() if isinstance(other, Belief)}
    shares = redactions_behind(store, tenant_id, beliefs, {}).shares
    changes = changes_behind(store, tenant_id, call.may_read, beliefs, seen_at)
    return [
        belief_view(
            lens.seen(belief),
            counting(records, belief, supports(belief.id)),
            changes.of(belief),
            others=others,
            redacted_fraction=shares.get(belief.id, 0.0),
            lens=lens,
        )
        for belief in beliefs
    ]


def _stances(request: BeliefsRequest) -> list[str] | None:
    if request.stance is not None:
        return [request.stance.value]
    if request.include_deprecated:
        return None
    return [stance.value for stance in Stance if stance is not Stance.DEPRECATED]


def _chain(facts: Sequence[Fact], axes: Axes) -> list[Fact]:
    """In valid order the newest version of each fact, without those that were taken back; every version where those that were
    superseded are asked for."""
    newest: dict[str, Fact] = {}
    for fact in facts:
        held = newest.get(fact.id)
        if held is None or fact.version > held.version:
            newest[fact.id] = fact
    chosen = facts if axes.superseded else [f for f in newest.values() if not _taken_back(f, axes.seen_at)]
    return sorted(chosen, key=lambda fact: (fact.valid_from, fact.position, fact.id, fact.version))


def _without_expired(records: Records, tenant_id: str, chain: Sequence[Fact], axes: Axes) -> list[Fact]:
    """Those of a chain that are not over by their time to live, whatever had taken their place before; every one where those that were
    superseded are asked for."""
    ended = [each.id for each in chain if each.recorded_to is not None and each.recorded_to <= axes.seen_at]
    if axes.superseded or not ended:
        return list(chain)
    supports = records.supports_of(tenant_id, ended)
    over = {
        key
        for key, found in supports.items()
        if any(each.relation == Tie.EXPIRED_BY and each.recorded_at <= axes.seen_at for each in found)
    }
    return [each for each in chain if each.id not in over]


def _is_asked(fact: Fact, entry: TimelineEntry, axes: Axes) -> bool:
    """Whether an entry stands in the stretches that are asked for; where none is, a timeline is of all times."""
    during, recorded = axes.valid_during, axes.recorded_during
    if during is not None and not during.overlaps(entry.valid_from, entry.valid_to):
        return False
    return recorded is None or recorded.overlaps(fact.recorded_from, fact.recorded_from + 1)


def _taken_back(record: Record, seen_at: Instant) -> bool:
    ended = record.recorded_to is not None and record.recorded_to <= seen_at
    return ended and record.superseded_by is None


def _entries(chain: Sequence[Fact]) -> list[TimelineEntry]:
    starts = {fact.id: fact.valid_from for fact in chain}
    return [
        TimelineEntry(
            fact_id=fact.id,
            scope=fact.scope,
            value=_value(fact.object),
            unit=fact.object.unit,
            negated=fact.negated,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to
            if fact.valid_to is not None
            else starts.get(fact.superseded_by or fact.closed_by or ""),
            confidence=fact.confidence,
            superseded_by=fact.superseded_by or fact.closed_by,
            version=fact.version,
            recorded_from=fact.recorded_from,
            recorded_to=fact.recorded_to,
        )
        for fact in chain
    ]


def _value(value: ObjectValue) -> Any:
    return value.value if value.type == "literal" else value.name or value.id


def _subject(subject_id: str | None, asked: str, chain: Sequence[Fact]) -> TimelineSubject:
    """Of somebody of whom nothing is shown, no more than what was asked: the id of a name would say that it is known by now."""
    if chain:
        return TimelineSubject(id=subject_id, name=chain[-1].subject.name)
    return (
        TimelineSubject(id=None, name=asked) if subject_id != asked else TimelineSubject(id=asked, name=None)
    )
