"""What an erasure takes from dictionaries beside log and derived rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace

from lamina.kernel.canonical import compact
from lamina.kernel.events import DECIDED
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock
from lamina.store.memory.documents import hashed
from lamina.store.memory.messages import erase_messages
from lamina.store.memory.tables import Memory, StoredVersion, Tables
from lamina.store.ports.documents import Change
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.sessions import OutboxRow, SessionKey
from lamina.store.ports.traces import ErasedBeside, ErasedDocuments, Owned, PathOwners, Remains, Scrubbed
from lamina.store.ports.writes import OF_SITTINGS
from lamina.store.rules.documents import stood_after
from lamina.store.rules.traces import (
    IDS,
    STRIPPED,
    batch_in,
    is_bare,
    owned_paths,
    tells_of,
    unnamed,
    without_turns,
)

__all__ = ["MemoryTraces"]

_KEEP_IDS = frozenset({"tombstones", "derived_once", "audit", "anchors", "peppers"})


class MemoryTraces:
    """``Traces`` of one process: nothing outlasts a dictionary's entry."""

    def __init__(self, memory: Memory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock

    def owned(self, tenant_id: str, actors: Collection[str], about: Collection[str] = ()) -> Owned:
        """Mirrors ``Traces.owned``."""
        owned, tables = owned_paths(self.paths(tenant_id), actors, about), self._memory.tables
        makers = {
            item.schedule_id: {item.created_by, item.updated_by, *([item.ending.by] if item.ending else [])}
            for (tenant, _), item in sorted(tables.schedule.items())
            if tenant == tenant_id
        }
        told = {
            id_
            for (tenant, id_), each in tables.document_events.items()
            if each.path in owned.paths and tenant == tenant_id
        }
        return replace(
            owned,
            schedule_ids=tuple(id_ for id_, who in makers.items() if who <= set(actors)),
            event_ids=tuple(sorted(told)),
        )

    def paths(self, tenant_id: str) -> list[PathOwners]:
        """Mirrors ``Traces.paths``."""
        tables = self._memory.tables
        authors: dict[str, set[str]] = {}
        for (tenant, path, _), row in tables.versions.items():
            if tenant == tenant_id:
                authors.setdefault(path, set()).add(tables.commits_made[tenant, row.number].author)
        return [PathOwners(path, frozenset(found)) for path, found in sorted(authors.items())]

    def erase_beside(self, erased: ErasedBeside) -> Mapping[str, int]:
        """Mirrors ``Traces.erase_beside``."""
        with self._memory.change() as tables:
            gone = _erase_events(tables, erased)
            for scope in erased.scopes:
                gone += _erase_below(tables, erased.tenant_id, scope)
            keys = [
                key
                for key, entry in tables.keys.items()
                if key.tenant_id == erased.tenant_id and _goes(tables, erased, key, entry)
            ]
            for key in keys:
                del tables.keys[key]
            gone["event"] += _unname(tables, erased)
            packs = [pack for pack in tables.packs if pack[0] == erased.tenant_id]
            for pack in packs:
                del tables.packs[pack]
            tables.packs_cleared[erased.tenant_id] = self._clock.now()
            return +(gone + Counter(idempotency=len(keys), pack=len(packs)))

    def erase_schedule(self, tenant_id: str, schedule_ids: Collection[str]) -> int:
        """Mirrors ``Traces.erase_schedule``."""
        with self._memory.change() as tables:
            found = [key for key in tables.schedule if key[0] == tenant_id and key[1] in schedule_ids]
            for key in found:
                del tables.schedule[key]
            return len(found)

    def erase_documents(
        self, tenant_id: str, paths: Collection[str], *, renewed: Sequence[Change] = ()
    ) -> ErasedDocuments:
        """Mirrors ``Traces.erase_documents``."""
        with self._memory.change() as tables:
            erase_messages(tables, tenant_id, paths)
            fresh = {(tenant_id, each.path): _renewed(tables, tenant_id, each) for each in renewed}
            doomed = {
                key: row
                for key, row in tables.versions.items()
                if (key[0] == tenant_id and key[1] in paths) or key[:2] in fresh
            }
            numbers = sorted({row.number for row in doomed.values()})
            told = [
                key
                for key, each in tables.document_events.items()
                if key[0] == tenant_id and each.path in paths
            ]
            for scope in sorted({tables.document_events[key].scope for key in told}):
                tables.note_index_change(tenant_id, scope)
            for key in told:
                del tables.document_events[key]
            standing = [key for key in tables.documents if key[0] == tenant_id and key[1] in paths]
            for place in standing:
                del tables.documents[place]
            for version in doomed:
                del tables.versions[version]
            for place, row in fresh.items():
                tables.documents[place] = row.standing
                tables.versions[*place, row.standing.version] = row
            if numbers:
                _rewrite(tables, tenant_id, numbers)
            return ErasedDocuments(len(standing), sum(key[1] in paths for key in doomed), len(numbers))

    def drop_aside(self) -> bool:
        """Mirrors ``Traces.drop_aside``. What is derived aside goes with whoever does it."""
        return False

    def scrub(self) -> Scrubbed:
        """Mirrors ``Traces.scrub``."""
        return Scrubbed()

    def scrub_due(self) -> bool:
        """Mirrors ``Traces.scrub_due``."""
        return False

    def remains(self, tenant_id: str, erasure_id: str) -> Remains:
        """Mirrors ``Traces.remains``."""
        tables = self._memory.tables
        stones = [each for (tenant, _), each in sorted(tables.tombstones.items()) if tenant == tenant_id]
        events = sorted(tables.events.values(), key=lambda event: event.position)
        redacted = [each for each in events if (each.tenant_id, each.redacted_by) == (tenant_id, erasure_id)]
        return Remains(
            marks=tuple(each for each in stones if each.erasure_id == erasure_id),
            redacted=tuple(each.id for each in redacted),
            worded=tuple(each.id for each in redacted if not is_bare(each.content)),
        )

    def look_for(self, tenant_id: str, ids: Collection[str]) -> Mapping[str, int]:
        """Mirrors ``Traces.look_for``, by the names of the dictionaries."""
        wanted, found = frozenset(ids), Counter[str]()
        for name, rows in _containers(self._memory.tables):
            for row in map(repr, rows if name not in _KEEP_IDS else ()):
                found[name] += tenant_id in row and not wanted.isdisjoint(IDS.findall(row))
        return dict(sorted((+found).items()))

    def look(self) -> tuple[str, ...]:
        """Mirrors ``Traces.look``."""
        return ()


def _containers(tables: Tables) -> Iterator[tuple[str, Collection[object]]]:
    for item in fields(tables):
        held = getattr(tables, item.name)
        if isinstance(held, dict):
            yield item.name, list(held.items())
        elif isinstance(held, list | set):
            yield item.name, held


def _erase_events(tables: Tables, erased: ErasedBeside) -> Counter[str]:
    tenant_id, ids = erased.tenant_id, frozenset(erased.event_ids)
    gone: Counter[str] = Counter()
    left = {
        (row.place, row.sitting)
        for row in tables.outbox.values()
        if row.place.tenant_id == tenant_id and row.event_id in ids
    }
    standing = {
        key
        for key, sitting in tables.sittings.items()
        if key[0].tenant_id == tenant_id and not ids.isdisjoint(sitting.window)
    }
    for place, number in sorted(left | standing):
        gone += _erase_turns(tables, place, number, ids)
    gone += _erase_outputs(tables, tenant_id, ids)
    inquiries = [
        k for k, each in tables.inquiries.items() if each.tenant_id == tenant_id and each.event_id in ids
    ]
    for inquiry in inquiries:
        del tables.inquiries[inquiry]
    told = [key for key in tables.document_events if key[0] == tenant_id and key[1] in ids]
    for key in told:
        del tables.document_events[key]
    defined = [k for k, each in tables.definitions.items() if k[0] == tenant_id and each.event_id in ids]
    for name in defined:
        del tables.definitions[name]
    return gone + Counter(inquiry=len(inquiries), document_event=len(told), definition=len(defined))


def _erase_turns(tables: Tables, place: SessionKey, number: int, ids: Collection[str]) -> Counter[str]:
    gone: Counter[str] = Counter()
    rows = sorted(
        (row for row in tables.outbox.values() if (row.place, row.sitting) == (place, number)),
        key=lambda row: row.id,
    )
    doomed = [row.event_id for row in rows if row.event_id in ids]
    held = tables.sittings.get((place, number))
    after = None if held is None else without_turns(held, ids, doomed)
    if after is not None:
        tables.sittings[place, number] = after
    elif held is not None:
        del tables.sittings[place, number]
        gone["session"] += 1
    if not doomed:
        return gone
    for row in rows:
        del tables.outbox[row.id]
        if after is not None and row.event_id not in ids:
            tables.last_outbox += 1
            tables.outbox[tables.last_outbox] = OutboxRow(
                id=tables.last_outbox,
                place=place,
                sitting=number,
                event_id=row.event_id,
                sent_at=row.sent_at,
                created_at=row.created_at,
            )
    of_sitting = {row.event_id for row in rows}
    folds = [
        key
        for key, each in tables.inquiries.items()
        if each.tenant_id == place.tenant_id and each.task in OF_SITTINGS and each.event_id in of_sitting
    ]
    for key in folds:
        del tables.inquiries[key]
    outputs = _erase_outputs(tables, place.tenant_id, of_sitting)
    return gone + outputs + Counter(outbox=len(doomed), inquiry=len(folds))


def _unname(tables: Tables, erased: ErasedBeside) -> int:
    entries = [
        each
        for (tenant, _), each in tables.events.items()
        if tenant == erased.tenant_id
        and each.origin.channel in DECIDED
        and (each.caller in erased.actors or each.observed_actor.id in erased.actors)
    ]
    bare = unnamed(erased, entries)
    for entry in bare:
        tables.events[entry.tenant_id, entry.id] = entry
    ids = {entry.id for entry in bare}
    tables.lifecycle = [
        row for row in tables.lifecycle if row.tenant_id != erased.tenant_id or row.event_id not in ids
    ]
    return len(bare)


def _erase_outputs(tables: Tables, tenant_id: str, ids: Collection[str]) -> Counter[str]:
    hashes = {
        hash_ for tenant, event_id, hash_ in tables.output_sources if tenant == tenant_id and event_id in ids
    }
    sources = {each for each in tables.output_sources if each[0] == tenant_id and each[2] in hashes}
    tables.output_sources = tables.output_sources - sources
    outputs = [key for key in tables.outputs if key[0] == tenant_id and key[1] in hashes]
    for key in outputs:
        del tables.outputs[key]
    return Counter(model_output=len(outputs), model_output_source=len(sources))


def _erase_below(tables: Tables, tenant_id: str, scope: Scope) -> Counter[str]:
    def below(tenant: str, other: Scope) -> bool:
        return tenant == tenant_id and scope.contains(other)

    sittings = [key for key in tables.sittings if below(key[0].tenant_id, key[0].scope)]
    for sitting in sittings:
        del tables.sittings[sitting]
    rows = [key for key, row in tables.outbox.items() if below(row.place.tenant_id, row.place.scope)]
    for row in rows:
        del tables.outbox[row]
    inquiries = [key for key, each in tables.inquiries.items() if below(each.tenant_id, each.scope)]
    for inquiry in inquiries:
        del tables.inquiries[inquiry]
    told = [key for key, each in tables.document_events.items() if below(key[0], each.scope)]
    for key in told:
        del tables.document_events[key]
    scopes = [key for key in tables.scopes if below(*key) and key not in tables.registrations]
    for place in scopes:
        del tables.scopes[place]
    return Counter(
        session=len(sittings),
        outbox=len(rows),
        inquiry=len(inquiries),
        document_event=len(told),
        scope=len(scopes),
    )


def _goes(tables: Tables, erased: ErasedBeside, key: IdempotencyKey, entry: IdempotencyEntry) -> bool:
    response = None if entry.response is None else compact(dict(entry.response))
    if tells_of(erased, key.caller, entry.event_id, response):
        return True
    batch = batch_in(response) if erased.event_ids else None
    if batch is None:
        return False
    left = {each.event_id for each in tables.lifecycle if each.job_id == batch[0]}
    return len(left) < batch[1]


def _renewed(tables: Tables, tenant_id: str, change: Change) -> StoredVersion:
    stood = tables.documents.get((tenant_id, change.path))
    after = stood_after(stood, change, stood.updated_at if stood else 0)
    newest = tables.versions[tenant_id, change.path, after.version - 1]
    return StoredVersion(after, change.kind, newest.number, bytes(change.content))


def _rewrite(tables: Tables, tenant_id: str, numbers: Collection[int]) -> None:
    """Make every commit again without what is gone; nothing but these is kept of the objects."""
    kept = {row.number for (tenant, _, _), row in tables.versions.items() if tenant == tenant_id}
    others = {key for key in tables.commits_made if key[0] != tenant_id}
    made = sorted(key for key in tables.commits_made if key not in others)
    tables.objects.clear()
    parents: dict[str, bytes] = {}
    for key in [*sorted(others), *made]:
        commit = tables.commits_made[key]
        if key in made and commit.number in numbers:
            author = commit.author if commit.number in kept else STRIPPED
            commit = replace(commit, message=STRIPPED, author=author)
        commit = replace(commit, sha=hashed(tables, key[0], commit, parents.get(key[0])))
        parents[key[0]] = bytes.fromhex(commit.sha)
        tables.commits_made[key] = commit
    tables.rewrites[tenant_id] = tables.rewrites.get(tenant_id, 0) + 1
