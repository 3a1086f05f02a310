"""What was read of derived records lately, for readers of now.

A recall explains forty records by a thousand ids, most of which the one before it read, too. What a process has read stays by its id
until ``Records.touched`` names that: whoever changes a version or an edge, in whichever process, leaves the ids there. So what is given
is what the store held when it was asked for, or later. A reader of an earlier time reads the store.

An id stands in the rows of a dozen others, and each row read brings its own copy of it: of what stays, equal texts are one object, which
takes half the room.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from sys import intern
from typing import TypeVar

from lamina import limits
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.kernel.understanding import FactState
from lamina.store.ports.records import InputState, Records
from lamina.store.queries import records_among
from lamina.store.rules.records import as_stood

__all__ = ["KeptReads", "ReadsOfNow"]

_ValueT = TypeVar("_ValueT")
_AskedT = TypeVar("_AskedT")
_VersionT = TypeVar("_VersionT", Record, RecordHead)

_RowT = TypeVar("_RowT", Support, FactState)


@dataclass(slots=True, eq=False)
class _Tables:
    """By id, what functions of ``Records`` gave for it; of what is not there, None or nothing. Where more is asked than an id, with that."""

    records: dict[str, Record | None] = field(default_factory=dict)
    heads: dict[str, RecordHead | None] = field(default_factory=dict)
    states: dict[str, InputState | None] = field(default_factory=dict)
    resting: dict[str, list[str]] = field(default_factory=dict)
    supports: dict[str, list[Support]] = field(default_factory=dict)
    related: dict[str, tuple[Tie, list[Support]]] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    first_sources: dict[str, list[str]] = field(default_factory=dict)
    among: dict[str, tuple[Sequence[str], list[str]]] = field(default_factory=dict)
    ended: dict[str, tuple[Instant | None, Mapping[str, Instant]]] = field(default_factory=dict)

    @property
    def _all(self) -> Iterable[dict[str, object]]:
        tables: list[dict[str, object]] = [getattr(self, name) for name in self.__slots__]
        return tables

    def __len__(self) -> int:
        return sum(map(len, self._all))

    def let_go(self, ids: Collection[str]) -> None:
        """Forget what is known by some ids."""
        for table in self._all:
            for each in ids:
                table.pop(each, None)

    def let_oldest_go(self) -> None:
        """Forget the eighth that was read first."""
        for table in self._all:
            for each in list(islice(table, (len(table) + 7) // 8)):
                table.pop(each, None)


@dataclass(slots=True, eq=False)
class _Kept:
    """What is kept for a tenant, as of a number of ``Records.touched``. ``size`` is what it counts for: its values, and one for itself."""

    number: int = 0
    tables: _Tables = field(default_factory=_Tables)
    size: int = 1


class KeptReads:
    """What the recalls of a process share. Safe for any thread."""

    def __init__(self, records: Records, *, values_max: int = limits.READS_KEPT_MAX) -> None:
        self._records = records
        self._values_max = values_max
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        """Of all that is in ``_kept``: the tenants may be many, and this is looked at some ten times a recall."""
        self._lock = threading.Lock()

    def now(self, tenant_id: str) -> ReadsOfNow:
        """A tenant's records as they stand, for one call."""
        with self._lock:
            kept = self._kept.get(tenant_id)
            if kept is None:
                kept = self._kept[tenant_id] = _Kept()
                self._size += kept.size
                self._hold_bound()
            self._kept.move_to_end(tenant_id)
            number = kept.number
        touched = self._records.touched(tenant_id, number)
        with self._lock:
            # Another call may have looked meanwhile, before what this one found: of what is newer the ids are let go, be it twice.
            if touched.number > kept.number:
                if touched.ids is None:
                    kept.tables = _Tables()
                else:
                    kept.tables.let_go(touched.ids)
                kept.number = touched.number
                self._count(tenant_id, kept)
            return ReadsOfNow(self, self._records, tenant_id, kept)

    def keep(
        self,
        tenant_id: str,
        kept: _Kept,
        number: int,
        table: dict[str, _ValueT],
        values: Mapping[str, _ValueT],
    ) -> None:
        """Keep what was read by a call that began at a number."""
        with self._lock:
            if kept.number != number:
                return  # the ids of a change were let go since: this may have been read before it
            table.update(zip(map(intern, values), values.values(), strict=True))
            self._count(tenant_id, kept)
            self._hold_bound()

    def _count(self, tenant_id: str, kept: _Kept) -> None:
        """What a tenant's tables hold has changed; those that had to go live as long as the calls that began with them."""
        if self._kept.get(tenant_id) is kept:
            before, kept.size = kept.size, 1 + len(kept.tables)
            self._size += kept.size - before

    def _hold_bound(self) -> None:
        """Let go of what is too much; a tenant counts for one by itself."""
        while self._size > self._values_max:
            if len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._size -= gone.size
            else:
                ((tenant_id, kept),) = self._kept.items()
                kept.tables.let_oldest_go()
                self._count(tenant_id, kept)


class ReadsOfNow:
    """Mirrors functions of ``Records`` for one tenant and without ``seen_at``: what is kept is not read."""

    def __init__(self, owner: KeptReads, records: Records, tenant_id: str, kept: _Kept) -> None:
        self._owner = owner
        self._records = records
        self._tenant_id = tenant_id
        self._kept = kept
        self._number = kept.number
        self._tables = kept.tables

    def get(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, Record]:
        """Mirrors ``Records.get``."""

        def read(unknown: Collection[str]) -> Mapping[str, Record | None]:
            found = self._records.get(tenant_id, unknown)
            return {each: found.get(each) for each in unknown}

        known = self._looked_up(self._tables.records, sorted(ids), read)
        found, later = _by(known, seen_at)
        found = {i: as_stood(record, seen_at) for i, record in found.items()}
        return found | self._records.get(tenant_id, later, seen_at=seen_at) if later else found

    def heads(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, RecordHead]:
        """Mirrors ``Records.heads``."""

        def read(unknown: Collection[str]) -> Mapping[str, RecordHead | None]:
            found = self._records.heads(tenant_id, unknown)
            return {each: found.get(each) for each in unknown}

        known = self._looked_up(self._tables.heads, ids, read)
        found, later = _by(known, seen_at)
        if seen_at is not None:
            found = {i: head.as_stood(seen_at) for i, head in found.items()}
        return found | self._records.heads(tenant_id, later, seen_at=seen_at) if later else found

    def input_states(
        self, tenant_id: str, ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, InputState]:
        """Mirrors ``Records.input_states``."""
        assert seen_at is None, "a reader of an earlier time reads the store"

        def read(unknown: Collection[str]) -> Mapping[str, InputState | None]:
            found = self._records.input_states(tenant_id, unknown)
            return {each: _state(state) if (state := found.get(each)) else None for each in unknown}

        known = self._looked_up(self._tables.states, ids, read)
        return {each: state for each, state in known.items() if state is not None}

    def scopes_of(self, tenant_id: str, ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.scopes_of``."""
        return self._records.scopes_of(tenant_id, ids)

    def redacted_among(self, tenant_id: str, event_ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.redacted_among``."""
        return self._records.redacted_among(tenant_id, event_ids)

    def resting_on(
        self, tenant_id: str, source_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.resting_on``."""
        assert seen_at is None, "a reader of an earlier time reads the store"

        def read(unknown: Collection[str]) -> Mapping[str, list[str]]:
            found = self._records.resting_on(tenant_id, unknown)
            return {each: [*map(intern, found.get(each, ()))] for each in unknown}

        known = self._looked_up(self._tables.resting, source_ids, read)
        return {each: ids for each, ids in known.items() if ids}

    def supports_of(
        self, tenant_id: str, record_ids: Collection[str], *, seen_at: Instant | None = None
    ) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_of``."""
        assert seen_at is None, "a reader of an earlier time reads the store"

        def read(unknown: Collection[str]) -> Mapping[str, list[Support]]:
            found = self._records.supports_of(tenant_id, unknown)
            return {each: [*map(_sharing, found.get(each, ()))] for each in unknown}

        known = self._looked_up(self._tables.supports, record_ids, read)
        return {each: supports for each, supports in known.items() if supports}

    def supports_related(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        relation: Tie,
        *,
        seen_at: Instant | None = None,
    ) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_related``; it is kept of the relation that was asked for last."""
        assert seen_at is None, "a reader of an earlier time reads the store"

        def read(unknown: Mapping[str, Tie]) -> Mapping[str, list[Support]]:
            found = self._records.supports_related(tenant_id, unknown, relation)
            return {each: [*map(_sharing, supports)] for each, supports in found.items()}

        return self._answered(self._tables.related, dict.fromkeys(record_ids, relation), read, [])

    def ended_by(
        self, tenant_id: str, last: Mapping[str, Instant | None]
    ) -> dict[str, Mapping[str, Instant]]:
        """Mirrors ``Records.ended_by``; it is kept of the last instant that was asked for last."""

        def read(unknown: Mapping[str, Instant | None]) -> Mapping[str, Mapping[str, Instant]]:
            return self._records.ended_by(tenant_id, unknown)

        return self._answered(self._tables.ended, last, read, {})

    def sources_below(
        self,
        tenant_id: str,
        record_ids: Collection[str],
        steps: int,
        width: int,
        *,
        most: int | None = None,
        seen_at: Instant | None = None,
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_below``; who asks for the first of them asks for as many each time. A statement a step: most of what one
        for all steps would read is kept."""
        assert seen_at is None, "a reader of an earlier time reads the store"

        def read(unknown: Collection[str]) -> Mapping[str, list[str]]:
            below = self._records.sources_below(tenant_id, unknown, 1, width, most=most)
            return {each: [*map(intern, below.get(each, ()))] for each in unknown}

        table = self._tables.sources if most is None else self._tables.first_sources
        found: dict[str, list[str]] = {}
        front: Collection[str] = record_ids
        for _ in range(steps):
            reached = self._looked_up(table, front, read)
            found |= reached
            front = {i for ids in reached.values() for i in records_among(ids[:width])}.difference(found)
            if not front:
                break
        return {each: ids for each, ids in found.items() if ids}

    def sources_among(
        self, tenant_id: str, wanted: Mapping[str, Sequence[str]], *, seen_at: Instant | None = None
    ) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_among``; it is kept of what was looked for last."""
        assert seen_at is None, "a reader of an earlier time reads the store"

        def read(unknown: Mapping[str, Sequence[str]]) -> Mapping[str, list[str]]:
            found = self._records.sources_among(tenant_id, unknown)
            return {each: [*map(intern, ids)] for each, ids in found.items()}

        return self._answered(self._tables.among, wanted, read, [])

    def _answered(
        self,
        table: dict[str, tuple[_AskedT, _ValueT]],
        asked: Mapping[str, _AskedT],
        read: Callable[[Mapping[str, _AskedT]], Mapping[str, _ValueT]],
        nothing: _ValueT,
    ) -> dict[str, _ValueT]:
        """What was given for ids, where as much was asked of them; the others are read. What is ``nothing`` is left out."""
        known = {
            i: kept for i, what in asked.items() if (kept := table.get(i)) is not None and kept[0] == what
        }
        if len(known) < len(asked):
            unknown = {i: what for i, what in asked.items() if i not in known}
            found = read(unknown)
            values = {i: (what, found.get(i, nothing)) for i, what in unknown.items()}
            self._owner.keep(self._tenant_id, self._kept, self._number, table, values)
            known |= values
        return {i: value for i in asked if (value := known[i][1])}

    def _looked_up(
        self,
        table: dict[str, _ValueT],
        ids: Iterable[str],
        read: Callable[[Collection[str]], Mapping[str, _ValueT]],
    ) -> dict[str, _ValueT]:
        """What is known by ids; what is not kept is read, of every id asked for."""
        found: dict[str, _ValueT] = {}
        unknown: list[str] = []
        for each in ids:
            try:
                found[each] = table[each]
            except KeyError:
                unknown.append(each)
        if unknown:
            values = read(unknown)
            self._owner.keep(self._tenant_id, self._kept, self._number, table, values)
            found.update(values)
        return found


def _sharing(row: _RowT) -> _RowT:
    """A row whose texts are those that other rows have."""
    return tuple.__new__(type(row), [intern(each) if each.__class__ is str else each for each in row])


def _state(state: InputState) -> InputState:
    return state if state.fact is None else state._replace(fact=_sharing(state.fact))


def _by(
    known: Mapping[str, _VersionT | None], seen_at: Instant | None
) -> tuple[dict[str, _VersionT], list[str]]:
    """Of versions read as of now those that stood by an instant, None is now; and the ids of those that are of later."""
    there = {i: each for i, each in known.items() if each is not None}
    later = [i for i, each in there.items() if seen_at is not None and each.recorded_from > seen_at]
    for each in later:
        del there[each]
    return there, later
