"""What an erasure takes from SQLite beside log and derived rows, a bounded write at a time."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import apsw

from lamina import limits
from lamina.errors import Unavailable
from lamina.kernel.events import DECIDED
from lamina.kernel.ids import Prefix
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock, Instant
from lamina.store.blocks import load_blocks
from lamina.store.documents.checking import written_ahead
from lamina.store.documents.repository import folder_name, repositories_aside
from lamina.store.ports.documents import Change
from lamina.store.ports.erasing import Tombstone
from lamina.store.ports.projecting import Projecting
from lamina.store.ports.sessions import SessionKey
from lamina.store.ports.traces import ErasedBeside, ErasedDocuments, Owned, PathOwners, Remains, Scrubbed
from lamina.store.ports.writes import OF_SITTINGS
from lamina.store.rows import Row
from lamina.store.rules.documents import StandingDocument, stood_after
from lamina.store.rules.traces import (
    STRIPPED,
    batch_in,
    is_bare,
    owned_paths,
    portions,
    tells_of,
    unnamed,
    without_turns,
)
from lamina.store.sqlite.codec import event_row, json_list, read_content, read_event
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.copies import drop_left_copies
from lamina.store.sqlite.digits import id_of
from lamina.store.sqlite.id_search import rows_with
from lamina.store.sqlite.leftovers import leftovers
from lamina.store.sqlite.messages import erase_messages
from lamina.store.sqlite.paths import bounds_within
from lamina.store.sqlite.rederivation import ASIDE
from lamina.store.sqlite.scrubbing import scrub
from lamina.store.sqlite.sessions import read_sitting
from lamina.store.sqlite.upkeep import REPOSITORIES

__all__ = ["SqliteTraces"]

_SQL = load_blocks("lamina.store.sqlite")
_LOOK_S = 0.02
_BELOW = {
    "session": "delete_sessions_below",
    "outbox": "delete_outbox_below",
    "inquiry": "delete_inquiries_below",
    "document_event": "delete_document_events_below",
    "scope": "delete_scopes_below",
}
_OF_EVENTS = {
    "outbox": "delete_outbox_of_events",
    "inquiry": "forget_inquiries",
    "document_event": "delete_document_events",
    "definition": "delete_definitions_of_events",
}


class SqliteTraces:
    """``Traces`` of a folder."""

    def __init__(
        self, path: Path, writer: Writer, readers: Readers, projecting: Projecting, clock: Clock
    ) -> None:
        self._path = path
        self._clock = clock
        self._writer = writer
        self._readers = readers
        self._projecting = projecting

    def owned(self, tenant_id: str, actors: Collection[str], about: Collection[str] = ()) -> Owned:
        """Mirrors ``Traces.owned``."""
        owned = owned_paths(self.paths(tenant_id), actors, about)
        rows = self._readers.rows(_SQL["schedule_of_actors"], (tenant_id, json_list(sorted(actors))))
        events = self._readers.rows(_SQL["events_of_paths"], (tenant_id, json_list(owned.paths)))
        return Owned(
            paths=owned.paths,
            shared_paths=owned.shared_paths,
            schedule_ids=tuple(schedule_id for schedule_id, alone in rows if alone),
            event_ids=tuple(event_id for (event_id,) in events),
        )

    def paths(self, tenant_id: str) -> list[PathOwners]:
        """Mirrors ``Traces.paths``."""
        authors: dict[str, set[str]] = {}
        for path, author in self._readers.rows(_SQL["path_authors"], (tenant_id,)):
            authors.setdefault(path, set()).add(author)
        for path, author in self._written_ahead(tenant_id):
            authors.setdefault(path, set()).add(author)
        return [PathOwners(path, frozenset(found)) for path, found in authors.items()]

    def _written_ahead(self, tenant_id: str) -> list[tuple[str, str]]:
        """What a repository keeps of commits that the database lost."""
        return written_ahead(self._path.parent / REPOSITORIES / folder_name(tenant_id))

    def _has_aside(self, tenant_id: str) -> bool:
        """Whether there is a repository that nobody can read: it may tell of whatever is erased."""
        return bool(repositories_aside(self._path.parent / REPOSITORIES, folder_name(tenant_id)))

    def erase_beside(self, erased: ErasedBeside) -> Mapping[str, int]:
        """Mirrors ``Traces.erase_beside``. Sittings come first: they are found by rows that go after them."""
        gone: Counter[str] = Counter()
        tenant_id = erased.tenant_id
        for chunk in portions(sorted(erased.event_ids), limits.ERASE_ROWS):
            gone.update(self._writer.write(lambda c, ids=chunk: _erase_events(c, tenant_id, ids)))  # type: ignore[misc]
        for scope in sorted(erased.scopes):
            for table, block in _BELOW.items():
                gone[table] += self._repeated(block, (tenant_id, *bounds_within(scope), limits.ERASE_ROWS))
        gone["event"] += self._unname(erased)
        # First, since they leave the time of clearing: a key that lands after that is not kept, and one before it is met.
        gone["pack"] += self._writer.write(lambda c: _erase_packs(c, tenant_id, self._clock.now()))
        gone["idempotency"] += self._erase_keys(erased)
        if +gone:
            self._writer.write(lambda connection: connection.execute(_SQL["ask_scrubbing"]))
        return +gone

    def _unname(self, erased: ErasedBeside) -> int:
        """Take name and reason from the entries that actors made. They are found before the write begins: nobody waits for a look through the log."""
        if erased.stand_in is None or not erased.actors:
            return 0
        made = (erased.tenant_id, json_list(sorted(erased.actors)), json_list(sorted(DECIDED)))
        ids = json_list([row[0] for row in self._readers.rows(_SQL["entries_of_actors"], made)])
        return self._writer.write(lambda connection: _unname(connection, erased, ids))

    def _repeated(self, block: str, bindings: Row) -> int:
        """Run a block that deletes so many rows at once until it finds none."""
        total = 0
        while count := self._writer.write(lambda connection: _ran(connection, block, bindings)):
            total += count
        return total

    def _erase_keys(self, erased: ErasedBeside) -> int:
        total = 0
        for rows in self._keys(erased.tenant_id):
            doomed = [
                (erased.tenant_id, caller, family, key)
                for caller, family, key, event_id, response in rows
                if tells_of(erased, caller, id_of(event_id, Prefix.EVENT), response)
                or self._lacks_events(erased, response)
            ]
            if doomed:
                self._writer.write(lambda c, keys=doomed: c.executemany(_SQL["delete_key"], keys))  # type: ignore[misc]
            total += len(doomed)
        return total

    def _lacks_events(self, erased: ErasedBeside, response: str | None) -> bool:
        """Whether an answer is about a batch of which some event has gone, or has no words any more: either lost its rows of lifecycle."""
        batch = batch_in(response) if erased.event_ids else None
        if batch is None:
            return False
        row = self._readers.row(_SQL["events_of_batch"], (erased.tenant_id, batch[0]))
        return row is not None and row[0] < batch[1]

    def _keys(self, tenant_id: str) -> Iterator[list[Row]]:
        after: Row = ("", "", "")
        while rows := self._readers.rows(_SQL["keys_after"], (tenant_id, *after, limits.ERASE_ROWS)):
            yield rows
            after = tuple(rows[-1][:3])

    def erase_schedule(self, tenant_id: str, schedule_ids: Collection[str]) -> int:
        """Mirrors ``Traces.erase_schedule``."""
        total = 0
        for chunk in portions(sorted(schedule_ids), limits.ERASE_ROWS):
            bindings = (tenant_id, json_list(chunk))
            total += self._writer.write(
                lambda connection, given=bindings: _ran(connection, "delete_schedule_items", given)  # type: ignore[misc]
            )
        return total

    def erase_documents(
        self, tenant_id: str, paths: Collection[str], *, renewed: Sequence[Change] = ()
    ) -> ErasedDocuments:
        """Mirrors ``Traces.erase_documents``. The note that the repository is to be written anew lands with the rows, so that
        whoever makes the commits does it, whichever process that is and whatever ends meanwhile."""
        given = sorted(paths)
        ahead = not {path for path, _ in self._written_ahead(tenant_id)}.isdisjoint(given) or (
            bool(given) and self._has_aside(tenant_id)
        )
        erased = self._writer.write(
            lambda connection: _erase_documents(connection, tenant_id, given, renewed, ahead=ahead)
        )
        if self._is_due(tenant_id):
            with contextlib.suppress(Unavailable):  # another process makes the commits, and looks for itself
                self._projecting.rewrite(tenant_id)
            self._await_rewriting(tenant_id)
        return erased

    def _is_due(self, tenant_id: str) -> bool:
        row = self._readers.row(_SQL["rewriting_of"], (tenant_id,))
        return row is not None and bool(row[1])

    def _await_rewriting(self, tenant_id: str) -> None:
        until = time.monotonic() + limits.REWRITE_WAIT_S_MAX
        while self._is_due(tenant_id):
            if time.monotonic() > until:
                raise Unavailable(
                    "REPOSITORY_UNAVAILABLE",
                    "the documents are erased, but their repository could not be written without them yet",
                    hint="check the disk, then run lamina erasure verify; it is written at the next start",
                )
            time.sleep(_LOOK_S)

    def drop_aside(self) -> bool:
        """Mirrors ``Traces.drop_aside``. Whoever derives there meanwhile fails, and begins again."""
        aside = self._path.parent / ASIDE
        there = aside.exists()
        shutil.rmtree(aside, ignore_errors=True)
        return there

    def scrub(self) -> Scrubbed:
        """Mirrors ``Traces.scrub``."""
        state = self._readers.row(_SQL["scrubbing_state"], ())
        drop_left_copies(self._path.parent)
        scrubbed = scrub(self._path, self._writer)
        if state is not None and scrubbed.log_emptied and state[1] < state[0]:
            self._writer.write(lambda connection: connection.execute(_SQL["end_scrubbing"], (state[0],)))
        return scrubbed

    def scrub_due(self) -> bool:
        """Mirrors ``Traces.scrub_due``."""
        state = self._readers.row(_SQL["scrubbing_state"], ())
        return state is not None and bool(state[1] < state[0])

    def remains(self, tenant_id: str, erasure_id: str) -> Remains:
        """Mirrors ``Traces.remains``."""
        marks = self._readers.rows(_SQL["tombstones_of_erasure"], (tenant_id, erasure_id))
        redacted = self._readers.rows(_SQL["redacted_by_erasure"], (tenant_id, erasure_id))
        return Remains(
            marks=tuple(map(_tombstone, marks)),
            redacted=tuple(event_id for event_id, _ in redacted),
            worded=tuple(event_id for event_id, content in redacted if not is_bare(read_content(content))),
        )

    def look_for(self, tenant_id: str, ids: Collection[str]) -> Mapping[str, int]:
        """Mirrors ``Traces.look_for``."""
        return rows_with(self._path, tenant_id, ids)

    def look(self) -> tuple[str, ...]:
        """Mirrors ``Traces.look``."""
        return leftovers(self._path)


def _tombstone(row: Row) -> Tombstone:
    tenant_id, id_, layer, scope, cascade, erasure_id, audit_id, erased_at = row
    return Tombstone(
        tenant_id=tenant_id,
        id=id_,
        layer=Layer(layer),
        scope=Scope(scope),
        cascade=cascade,
        erasure_id=erasure_id,
        audit_id=audit_id,
        erased_at=erased_at,
    )


def _ran(connection: apsw.Connection, block: str, bindings: Row) -> int:
    connection.execute(_SQL[block], bindings)
    return connection.changes()


def _erase_events(connection: apsw.Connection, tenant_id: str, event_ids: Sequence[str]) -> Counter[str]:
    gone: Counter[str] = Counter()
    ids = json_list(event_ids)
    for scope, session, number in list(connection.execute(_SQL["sittings_of_events"], (tenant_id, ids))):
        place = SessionKey(tenant_id, Scope(scope), session)
        gone.update(_erase_turns(connection, place, number, frozenset(event_ids)))
    gone.update(_erase_outputs(connection, tenant_id, ids))
    for table, block in _OF_EVENTS.items():
        gone[table] += _ran(connection, block, (tenant_id, ids))
    return gone


def _erase_turns(
    connection: apsw.Connection, place: SessionKey, number: int, erased: Collection[str]
) -> Counter[str]:
    """Take turns out of a sitting. Those that stay and had left its window are folded anew, under new numbers: a fold that is
    under way may tell of what is erased, and lands nothing."""
    gone: Counter[str] = Counter()
    rows = list(connection.execute(_SQL["find_session"], (*place, number)))
    mine = (*place, number, json_list(sorted(erased)))
    doomed = list(connection.execute(_SQL["outbox_of_events"], mine))
    stays = [
        row for row in connection.execute(_SQL["outbox_of_sitting"], (*place, number)) if row[5] not in erased
    ]
    after = without_turns(read_sitting(rows[0]), erased, [row[1] for row in doomed]) if rows else None
    if after is None:
        gone["session"] += _ran(connection, "delete_session", (*place, number))
    else:
        told = (after.summary, after.bridge, after.worded, after.revision)
        window = json.dumps(after.window)
        _ran(connection, "replace_session", (*place, number, window, after.turns, after.folded, *told))
    if doomed:
        ids = json_list([*(row[1] for row in doomed), *(row[5] for row in stays)])
        dropped = [row[0] for row in (*doomed, *stays)]
        connection.executemany(_SQL["drop_outbox"], [(place.tenant_id, row_id) for row_id in dropped])
        connection.executemany(_SQL["requeue_outbox"], [row[1:] for row in stays] if after else [])
        gone["outbox"] += len(doomed)
        # What models made of this sitting's turns may tell of those before them.
        gone.update(_erase_outputs(connection, place.tenant_id, ids))
        for task in OF_SITTINGS:
            gone["inquiry"] += _ran(connection, "forget_task", (place.tenant_id, task, ids))
    return gone


def _unname(connection: apsw.Connection, erased: ErasedBeside, ids: str) -> int:
    rows = list(connection.execute(_SQL["events_by_id"], (erased.tenant_id, ids)))
    bare = unnamed(erased, map(read_event, rows))
    for entry in bare:
        row = event_row(0, entry.position, entry.id, entry.recorded_at, entry)
        _, _, _, _, _, caller, actor, subject, parties, _, _, content, *_ = row
        changed = (caller, actor, subject, parties, content)
        connection.execute(_SQL["unname_entry"], (erased.tenant_id, entry.id, *changed))
    # What happened to them names who made them.
    connection.execute(
        _SQL["drop_lifecycle_of_events"], (erased.tenant_id, json_list([entry.id for entry in bare]))
    )
    return len(bare)


def _erase_packs(connection: apsw.Connection, tenant_id: str, now: Instant) -> int:
    gone = _ran(connection, "delete_packs", (tenant_id,))
    _ran(connection, "mark_packs", (tenant_id, now))
    return gone


def _erase_outputs(connection: apsw.Connection, tenant_id: str, event_ids: str) -> Counter[str]:
    found = connection.execute(_SQL["outputs_of_events"], (tenant_id, event_ids))
    given = (tenant_id, json_list([row[0] for row in found]))
    sources = _ran(connection, "delete_output_sources", given)
    return Counter(model_output_source=sources, model_output=_ran(connection, "delete_outputs", given))


def _renew(connection: apsw.Connection, tenant_id: str, change: Change) -> None:
    place = (tenant_id, change.path)
    stood = [StandingDocument(*row) for row in connection.execute(_SQL["find_standing"], place)]
    after = stood_after(stood[0] if stood else None, change, stood[0].updated_at if stood else 0)
    ((number,),) = connection.execute(_SQL["commit_of_version"], (*place, after.version - 1))
    _ran(connection, "delete_versions", (tenant_id, json_list([change.path])))
    figures = (after.version, after.base, after.size)
    connection.execute(_SQL["put_standing"], (*place, *figures, after.updated_at))
    kept = (*place, after.version, change.kind.value, after.base, after.size)
    connection.execute(_SQL["insert_version"], (*kept, number, after.updated_at, bytes(change.content)))


def _erase_documents(
    connection: apsw.Connection,
    tenant_id: str,
    paths: Sequence[str],
    renewed: Sequence[Change],
    *,
    ahead: bool,
) -> ErasedDocuments:
    given = (tenant_id, json_list(paths))
    changed = (tenant_id, json_list([*paths, *(change.path for change in renewed)]))
    numbers = [row[0] for row in connection.execute(_SQL["commits_of_paths"], changed)]
    scopes = [row[0] for row in connection.execute(_SQL["scopes_of_paths"], given)]
    erase_messages(connection, *given)
    _ran(connection, "delete_events_of_paths", given)
    documents = _ran(connection, "delete_documents", given)
    versions = _ran(connection, "delete_versions", given)
    for change in renewed:
        _renew(connection, tenant_id, change)
    if numbers:
        _ran(connection, "strip_commits", (tenant_id, json_list(numbers), STRIPPED))
        _ran(connection, "unname_commits", (tenant_id, numbers[0]))
    if numbers or ahead:
        _ran(connection, "note_rewriting", (tenant_id,))
    connection.executemany(_SQL["note_index_change"], [(tenant_id, scope) for scope in scopes])
    return ErasedDocuments(documents, versions, len(numbers))
