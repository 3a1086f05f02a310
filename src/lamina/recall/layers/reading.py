"""What the readers of every layer share: one record by id, a page of records, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from lamina import limits
from lamina.errors import NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.defining import DEFINITIONS_SCOPE
from lamina.kernel.operations import Call
from lamina.kernel.records import Belief, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Instant
from lamina.recall.layers.pages import PageStart, Scanned, place_of, scan
from lamina.store.ports.log import EventLog
from lamina.store.ports.records import RecordQuery, Records
from lamina.store.queries import Shown
from lamina.types.layer_requests import TimedRequest

__all__ = [
    "counting",
    "cursor_after",
    "not_found",
    "one_record",
    "one_seen_at",
    "place_in",
    "present",
    "records_page",
    "supports_by_record",
]

RecordT = TypeVar("RecordT", bound=Record)


def not_found(kind: str, record_id: str) -> NotFound:
    """The error of an id behind which nothing is."""
    return NotFound("NOT_FOUND", f"there is no {kind}", details={"id": record_id})


def present(
    log: EventLog, call: Call, scopes: Collection[Scope] | None, as_of: Instant | None = None
) -> Instant:
    """Now, as those scopes know it (None: all of the tenant's): never before what their log holds. Or ``as_of`` in its place.

    Recorded instants rise strictly, so they run ahead of the clock in a burst and when it was set back. A reader
    that stood at the clock's own now would then miss what was written a moment ago.

    Who names now as ``as_of`` means the same. A caller's now is a little before ours: where the log lies far ahead, as after
    a jump of the clock, a moment ago is now, too. Any other ``as_of`` is exact.
    """
    newest = log.last_recorded(call.principal.tenant_id, scopes)
    if as_of is None:
        return call.now if newest is None else max(call.now, newest)
    if newest is None or newest <= as_of:
        return as_of
    is_ahead = newest > call.now + limits.CLOCK_AHEAD_S_MAX * SECOND_US
    is_now = as_of >= call.now - (limits.AS_OF_NOW_S * SECOND_US if is_ahead else 0)
    return newest if is_now else as_of


def place_in(request: TimedRequest, log: EventLog, call: Call, scopes: Collection[Scope]) -> PageStart:
    """Where the page of a list begins, in what those scopes know, and what the tenant has defined. As of a time to come that is what is known
    now: what is told between two pages has no part in either."""
    # Later pages read phrases as of the snapshot, so that it is not before those of the first.
    known = scopes if request.as_of is not None else [*scopes, DEFINITIONS_SCOPE]
    snapshot = present(log, call, known, request.as_of)
    if request.as_of is not None and snapshot > call.now:
        snapshot = min(snapshot, present(log, call, scopes))
    return place_of(request, snapshot, call.now)


def one_seen_at(log: EventLog, call: Call, as_of: Instant | None) -> Instant | None:
    """Where a reader of one record stands: at no instant without ``as_of``."""
    return None if as_of is None else present(log, call, None, as_of)


def one_record(
    records: Records,
    call: Call,
    kind: type[RecordT],
    record_id: str,
    *,
    as_of: Instant | None = None,
    version: int | None = None,
    capabilities: Sequence[Capability] = (),
) -> RecordT:
    """A record's newest version, the one of a number, or the newest that was known at ``as_of``, as it stood then.

    Raises ``NotFound`` for an id that is not there, or in a scope that the caller may not read.
    """
    tenant_id = call.principal.tenant_id
    newest = records.get(tenant_id, [record_id]).get(record_id)
    scope = newest.scope if isinstance(newest, kind) else None
    call.require_known(scope, not_found(kind.__name__.lower(), record_id), *capabilities)
    assert isinstance(newest, kind), "it lies in a scope"
    if as_of is None and version is None:
        return newest
    fitting: Record | None = records.get(tenant_id, [record_id], seen_at=as_of).get(record_id)
    if version is not None and fitting is not None and version != fitting.version:
        earlier = (each for each in records.versions(tenant_id, record_id) if each.version < fitting.version)
        fitting = next((each for each in earlier if each.version == version), None)
    if not isinstance(fitting, kind):
        raise not_found(f"version of this {kind.__name__.lower()} that fits", record_id)
    return fitting


def records_page(
    records: Records,
    kind: type[RecordT],
    query: RecordQuery,
    place: PageStart,
    *,
    limit: int,
    wanted: Callable[[RecordT], bool] | None = None,
) -> Scanned[RecordT]:
    """A page of the versions that a query wants, newest knowledge first."""
    start = None if place.number is None else (place.number, place.id)

    def fetch(last: RecordT | None, count: int) -> list[RecordT]:
        after = start if last is None else (last.recorded_from, last.id)
        found = records.query(replace(query, after=after, limit=count))
        return [record for record in found if isinstance(record, kind)]

    return scan(fetch, limit, wanted=wanted)


def cursor_after(place: PageStart, page: Scanned[RecordT]) -> str | None:
    """The cursor of the next page, None after the last."""
    return None if page.last is None else place.cursor(page.last.recorded_from, page.last.id)


def supports_by_record(
    records: Records, call: Call, of: Sequence[Record], seen_at: Instant | None
) -> Callable[[str], Sequence[Support]]:
    """The supports of those records that the caller may see, now or as of ``seen_at``, by record id."""
    shown = Shown(records, call.principal.tenant_id, call.may_read, seen_at=seen_at)
    found = shown.supports_of({record.id for record in of})
    return lambda record_id: found.get(record_id, ())


def counting(records: Records, belief: Belief, supports: Sequence[Support]) -> list[Support]:
    """Those of a belief's supports that its version counts, each as it weighs there; of a version that an older release derived, all
    but the facts that a cancellation had ended by then."""
    if belief.evidence:
        counted = {(each.source_id, each.polarity): each.weight for each in belief.evidence}
        return [
            support._replace(weight=counted[support.source_id, support.polarity])
            for support in supports
            if (support.source_id, support.polarity) in counted
        ]
    ids = {support.source_id for support in supports}
    facts = records.get(belief.tenant_id, ids, seen_at=belief.recorded_from)
    ended = {fact.id for fact in facts.values() if fact.recorded_to is not None}
    return [support for support in supports if support.source_id not in ended]
