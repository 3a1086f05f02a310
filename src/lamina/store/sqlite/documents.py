"""Versioned documents in SQLite. The rows land in one transaction with the log's; the repository follows them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace

import apsw

from lamina.errors import LaminaError, Unavailable
from lamina.kernel.relay import told_path
from lamina.kernel.time import Clock, Instant
from lamina.observe.rounds import class_of
from lamina.store.blocks import load_blocks
from lamina.store.ports.documents import (
    Change,
    ChangeKind,
    Commit,
    CommitChanges,
    Document,
    DocumentVersion,
    Landed,
    LandedWrite,
    PastWrite,
    Step,
    Tell,
    Write,
)
from lamina.store.ports.log import Appended
from lamina.store.ports.projecting import KEPT, Projecting, kept
from lamina.store.rows import Row
from lamina.store.rules.documents import (
    StandingDocument,
    above,
    again,
    check_still,
    collision,
    no_history,
    not_empty,
    same_in_other_letters,
    stood_after,
    twin,
    with_commit,
)
from lamina.store.rules.refusals import check_same
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.keys import find_key, put_key
from lamina.store.sqlite.log import SqliteLog
from lamina.store.sqlite.messages import put_post
from lamina.store.sqlite.paths import bounds_below

__all__ = ["DocumentRows", "SqliteDocuments"]

_SQL = load_blocks("lamina.store.sqlite")
_LAST = "\U0010ffff"  # sorts after every path
_NEWEST = 2**62


class DocumentRows:
    """The rows as the projection reads and completes them."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        # Hashes that are not in their rows yet. A crash loses them, and they are found again.
        self._unnoted: dict[tuple[str, int], str] = {}
        self._noting = False
        self._lock = threading.Lock()

    def tenants(self) -> list[str]:
        """The tenants that have documents."""
        return [row[0] for row in self._readers.rows(_SQL["document_tenants"])]

    def head(self, tenant_id: str) -> Commit | None:
        """The newest commit whose hash is noted."""
        row = self._readers.row(_SQL["head_commit"], (tenant_id,))
        return None if row is None else self.commit(tenant_id, row)

    def commit(self, tenant_id: str, row: Row) -> Commit:
        """A commit of its columns, with its hash where that is known."""
        number, sha, author, message, committed_at = row
        if sha is None:
            sha = self._unnoted.get((tenant_id, number), "")
        return Commit(number, sha, author, message, committed_at)

    def sha_of(self, tenant_id: str, number: int) -> str:
        """The hash of a commit, empty while none is known."""
        rows = self._readers.rows(_SQL["commits_after"], (tenant_id, number - 1, 1))
        return next((self.commit(tenant_id, row).sha for row in rows if row[0] == number), "")

    def unnoted(self, tenant_id: str, prefix: str) -> list[int]:
        """The numbers of commits whose hash begins so and is not in their rows yet."""
        with self._lock:
            return [
                number
                for (tenant, number), sha in self._unnoted.items()
                if tenant == tenant_id and sha.startswith(prefix)
            ]

    def commits(self, tenant_id: str, after: int, limit: int) -> list[CommitChanges]:
        """Mirrors ``Documents.commits``."""
        rows = self._readers.rows(_SQL["commits_after"], (tenant_id, after, limit))
        return [CommitChanges(self.commit(tenant_id, row), self._left_by(tenant_id, row[0])) for row in rows]

    def _left_by(self, tenant_id: str, number: int) -> dict[str, bytes | None]:
        rows = self._readers.rows(_SQL["standing_in_commit"], (tenant_id, number))
        left = {row[0]: StandingDocument(*row) for row in rows}  # the last of each path
        contents = self.contents(tenant_id, [each for each in left.values() if each.live])
        return {path: contents[path] if each.live else None for path, each in left.items()}

    def contents(self, tenant_id: str, stood: Collection[StandingDocument]) -> dict[str, bytes]:
        """The content of each; one that grew by appends is as many rows as it had appends since its last put."""
        wanted = json.dumps([[each.path, each.base, each.version] for each in stood])
        parts: dict[str, list[bytes]] = {each.path: [] for each in stood}
        for path, content in self._readers.rows(_SQL["contents_of"], (tenant_id, wanted)):
            parts[path].append(content)
        return {path: b"".join(found) for path, found in parts.items()}

    def note(self, tenant_id: str, shas: Sequence[tuple[int, str]], *, wait: bool) -> None:
        """Note hashes. Without ``wait`` they land with a later write: they can always be found again."""
        with self._lock:
            self._unnoted |= {(tenant_id, number): sha for number, sha in shas}
        if wait:
            self._forget(self._writer.write(self._note))
        else:
            self._note_later()

    def due(self) -> dict[str, int]:
        """Mirrors ``CommitRows.due``."""
        return dict(self._readers.rows(_SQL["rewritings_due"]))

    def rewritten(self, tenant_id: str, times: int) -> None:
        """Mirrors ``CommitRows.rewritten``."""
        self._writer.write(lambda connection: connection.execute(_SQL["end_rewriting"], (tenant_id, times)))

    def rewrites(self, tenant_id: str) -> int:
        """Mirrors ``Documents.rewrites``."""
        return _rewrites(self._readers.rows, tenant_id)

    def _note_later(self) -> None:
        with self._lock:
            if self._noting or not self._unnoted:
                return
            self._noting = True
        try:
            landing = self._writer.post_later(self._note)
        except Unavailable:  # the store is closing: the next start finds them
            with self._lock:
                self._noting = False
            return
        landing.add_done_callback(self._noted)

    def _noted(self, landing: Future[dict[tuple[str, int], str]]) -> None:
        with self._lock:
            self._noting = False
        if landing.exception() is None:
            self._forget(landing.result())
            self._note_later()

    def _forget(self, noted: Mapping[tuple[str, int], str]) -> None:
        with self._lock:
            for place, sha in noted.items():
                if self._unnoted.get(place) == sha:
                    del self._unnoted[place]

    def _note(self, connection: apsw.Connection) -> dict[tuple[str, int], str]:
        with self._lock:
            unnoted = dict(self._unnoted)
        connection.executemany(_SQL["note_sha"], [(*place, sha) for place, sha in unnoted.items()])
        return unnoted


class SqliteDocuments:
    """``Documents`` over the three tables."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        clock: Clock,
        log: SqliteLog,
        rows: DocumentRows,
        projecting: Projecting,
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._log = log
        self._rows = rows
        self._projecting = projecting

    def write(self, writes: Sequence[Write]) -> list[LandedWrite]:
        """Mirrors ``Documents.write``."""
        self._projecting.claim()
        landed = self._writer.write(
            lambda connection: [self._write(connection, write) for write in writes], event_of=_only_event
        )
        fresh = [(write, each) for write, each in zip(writes, landed, strict=True) if not each.replayed]
        shas = iter(self._stand([_left_by(write, each) for write, each in fresh]))
        return [each if each.replayed else _standing_as(each, next(shas)) for each in landed]

    def restore(self, tenant_id: str, past: Iterable[PastWrite], tell: Tell) -> Commit:
        """Mirrors ``Documents.restore``."""
        self._projecting.claim()

        def work(connection: apsw.Connection) -> Commit:
            if _last_commit(connection, tenant_id) != (0, 0):
                raise not_empty(tenant_id)
            last = None
            for each in past:
                last = self._land(connection, each.write, each.committed_at)
            if last is None:
                raise no_history()
            for step in _standing_steps(connection, tenant_id):
                capture = tell(step)
                if capture is not None:
                    _note_told(connection, self._log.put(connection, [capture]), {step.path})
            return last.commit

        commit = self._writer.write(work)
        (sha,) = self._stand([Landed(tenant_id, commit)])
        return replace(commit, sha=sha)

    def _stand(self, landed: Sequence[Landed]) -> list[str]:
        """The hashes of what has landed. Whatever fails by now is told as of a write that is kept: its key is not free again."""
        try:
            return self._projecting.stand(landed)
        except (LaminaError, OSError) as error:
            if isinstance(error, LaminaError) and error.code == KEPT:
                raise
            raise kept(class_of(error)) from error

    def _write(self, connection: apsw.Connection, write: Write) -> LandedWrite:
        assert write.changes, "a write changes something"
        now = self._clock.now()
        if write.once is None:
            return self._land(connection, write, now)
        known = find_key(connection.execute, write.once.key, write.once.created_at)
        if known is not None:
            check_same(known, write.once.body_hash)
            # Of this connection: the earlier write may be of the same transaction.
            return again(known, lambda number: self._commit(connection.execute, write.tenant_id, number))
        written = self._land(connection, write, now)
        put_key(connection, with_commit(write.once, written.commit))
        return written

    def _land(self, connection: apsw.Connection, write: Write, now: Instant) -> LandedWrite:
        check_still(
            write,
            lambda path: _standing(connection, write.tenant_id, path),
            lambda: _rewrites(connection.execute, write.tenant_id),
        )
        if write.post is not None:
            put_post(connection, write.post)
        number, previous_at = _last_commit(connection, write.tenant_id)
        at = max(now, previous_at + 1)
        commit = Commit(number + 1, "", write.author, write.message, at)
        connection.execute(
            _SQL["insert_commit"], (write.tenant_id, commit.number, commit.author, commit.message, at)
        )
        versions = {
            change.path: _change(connection, write.tenant_id, change, commit) for change in write.changes
        }
        appended = self._log.put(connection, write.captures)
        ended_at = appended[-1].recorded_at if appended else at
        replaced = [
            (write.tenant_id, change.path, commit.number, ended_at)
            for change in write.changes
            if change.kind is not ChangeKind.APPEND and versions[change.path] > 1
        ]
        connection.executemany(_SQL["end_document_events"], replaced)
        _note_told(connection, appended, versions)
        return LandedWrite(commit, versions, tuple(each.event_id for each in appended))

    def read(self, tenant_id: str, path: str, *, at: Instant | None = None) -> Document | None:
        """Mirrors ``Documents.read``."""
        if at is not None:
            return self._stood(tenant_id, self._readers.row(_SQL["standing_at"], (tenant_id, path, at)))
        row = self._readers.row(_SQL["find_document"], (tenant_id, path))
        if row is None:
            return None
        stood = StandingDocument(*row[:-1])
        whole = stood.base == stood.version
        return stood.document(row[-1] if whole else self._rows.contents(tenant_id, [stood])[path])

    def told_by(self, tenant_id: str, path: str) -> str | None:
        """Mirrors ``Documents.told_by``."""
        row = self._readers.row(_SQL["last_told_of"], (tenant_id, path))
        return None if row is None else str(row[0])

    def read_version(self, tenant_id: str, path: str, version: int) -> Document | None:
        """Mirrors ``Documents.read_version``."""
        return self._stood(tenant_id, self._readers.row(_SQL["standing_of"], (tenant_id, path, version)))

    def _stood(self, tenant_id: str, row: Row | None) -> Document | None:
        stood = None if row is None else StandingDocument(*row)
        if stood is None or not stood.live:
            return None
        return stood.document(self._rows.contents(tenant_id, [stood])[stood.path])

    def read_many(self, tenant_id: str, paths: Collection[str]) -> dict[str, Document]:
        """Mirrors ``Documents.read_many``."""
        if not paths:
            return {}
        rows = self._readers.rows(_SQL["standing_many"], (tenant_id, json_list(paths)))
        return {each.path: each for each in self._filled(tenant_id, [StandingDocument(*row) for row in rows])}

    def below(
        self,
        tenant_id: str,
        prefix: str,
        *,
        after: str = "",
        limit: int = 10_000,
        with_content: bool = False,
        at: Instant | None = None,
    ) -> list[Document]:
        """Mirrors ``Documents.below``."""
        folder = prefix.rstrip("/")
        start, end = bounds_below(folder) if folder else ("", _LAST)
        wanted = (tenant_id, max(start, after), end, limit)
        if at is None:
            rows = self._readers.rows(_SQL["standing_below"], wanted)
        else:
            rows = self._readers.rows(_SQL["standing_below_at"], (*wanted, at))
        stood = [StandingDocument(*row) for row in rows]
        return self._filled(tenant_id, stood) if with_content else [each.document(b"") for each in stood]

    def _filled(self, tenant_id: str, stood: Sequence[StandingDocument]) -> list[Document]:
        contents = self._rows.contents(tenant_id, stood)
        return [each.document(contents[each.path]) for each in stood]

    def history(
        self, tenant_id: str, path: str, *, before: int | None = None, limit: int = 50
    ) -> list[DocumentVersion]:
        """Mirrors ``Documents.history``."""
        below = _NEWEST if before is None else before
        rows = self._readers.rows(_SQL["history"], (tenant_id, path, below, limit))
        return [
            DocumentVersion(row[0], row[1], ChangeKind(row[2]), row[3], self._rows.commit(tenant_id, row[4:]))
            for row in rows
        ]

    def head(self, tenant_id: str) -> Commit | None:
        """Mirrors ``Documents.head``."""
        return self._projecting.head(tenant_id) or self._rows.head(tenant_id)

    def commit_of(self, tenant_id: str, sha: str) -> Commit | None:
        """Mirrors ``Documents.commit_of``."""
        head = self.head(tenant_id)
        if head is not None and head.sha == sha:
            return head
        rows = self._readers.rows(_SQL["commits_of_sha"], (tenant_id, sha))
        for number in self._rows.unnoted(tenant_id, sha):
            rows += self._readers.rows(_SQL["commits_after"], (tenant_id, number - 1, 1))
        found = {row[0]: self._rows.commit(tenant_id, row) for row in rows}
        return next(iter(found.values())) if len(found) == 1 else None

    def commit_numbered(self, tenant_id: str, number: int) -> Commit | None:
        """Mirrors ``Documents.commit_numbered``."""
        return self._commit(self._readers.rows, tenant_id, number)

    def _commit(
        self, rows: Callable[[str, Row], Iterable[Row]], tenant_id: str, number: int
    ) -> Commit | None:
        found = [
            self._rows.commit(tenant_id, row)
            for row in rows(_SQL["commits_after"], (tenant_id, number - 1, 1))
        ]
        return found[0] if found and found[0].number == number else None

    def commit_at(self, tenant_id: str, at: Instant) -> Commit | None:
        """Mirrors ``Documents.commit_at``."""
        head = self.head(tenant_id)
        if head is not None and head.committed_at <= at:
            return head
        row = self._readers.row(_SQL["commit_at"], (tenant_id, at))
        return None if row is None else self._rows.commit(tenant_id, row)

    def commits(self, tenant_id: str, after: int, limit: int) -> list[CommitChanges]:
        """Mirrors ``Documents.commits``."""
        return self._rows.commits(tenant_id, after, limit)

    def rewrites(self, tenant_id: str) -> int:
        """Mirrors ``Documents.rewrites``."""
        return self._rows.rewrites(tenant_id)

    def rebuild(self, tenant_ids: Collection[str]) -> None:
        """Mirrors ``Documents.rebuild``."""
        self._projecting.rebuild(tenant_ids)

    def recover(self) -> None:
        """Mirrors ``Documents.recover``."""
        self._projecting.recover()


def _last_commit(connection: apsw.Connection, tenant_id: str) -> tuple[int, Instant]:
    for number, committed_at in connection.execute(_SQL["last_commit"], (tenant_id,)):
        return number, committed_at
    return 0, 0


def _rewrites(rows: Callable[[str, Row], Iterable[Row]], tenant_id: str) -> int:
    return next((int(times) for times, _ in rows(_SQL["rewriting_of"], (tenant_id,))), 0)


def _standing(connection: apsw.Connection, tenant_id: str, path: str) -> StandingDocument | None:
    for row in connection.execute(_SQL["find_standing"], (tenant_id, path)):
        return StandingDocument(*row)
    return None


def _change(connection: apsw.Connection, tenant_id: str, change: Change, commit: Commit) -> int:
    before = _standing(connection, tenant_id, change.path)
    after = stood_after(before, change, commit.committed_at)
    if after.live and not (before and before.live):
        _check_room(connection, tenant_id, change.path, portable=change.portable)
    row = (tenant_id, after.path, after.version, after.base, after.size, after.updated_at)
    connection.execute(_SQL["put_standing"], row)
    content = b"" if change.kind is ChangeKind.REMOVE else bytes(change.content)
    place = (tenant_id, after.path, after.version, change.kind.value, after.base, after.size)
    connection.execute(_SQL["insert_version"], (*place, commit.number, commit.committed_at, content))
    return after.version


def _standing_steps(connection: apsw.Connection, tenant_id: str) -> Iterator[Step]:
    """The changes that what stands is made of, in their order; contents are read one at a time."""
    steps: list[Row] = connection.execute(_SQL["standing_steps"], (tenant_id,)).fetchall()
    for path, version in steps:
        for kind, content, number, sha, *rest in connection.execute(
            _SQL["find_step"], (tenant_id, path, version)
        ):
            yield Step(path, ChangeKind(kind), content, Commit(number, sha or "", *rest))


def _note_told(connection: apsw.Connection, appended: Sequence[Appended], paths: Collection[str]) -> None:
    for event in (each.event for each in appended):
        path = told_path(event)
        if path in paths:
            connection.execute(_SQL["insert_document_event"], (event.tenant_id, path, event.id, event.scope))


def _check_room(connection: apsw.Connection, tenant_id: str, path: str, *, portable: bool) -> None:
    """Nothing, or ``Conflict`` where the path or a folder above it is taken by the other kind, or in other letters."""
    for folder in above(path):
        for row in connection.execute(_SQL["find_standing"], (tenant_id, folder)):
            if StandingDocument(*row).live:
                raise collision(path, folder)
    for _ in connection.execute(_SQL["first_below"], (tenant_id, *bounds_below(path))):
        raise collision(path)

    def first(beginning: str) -> str | None:
        values = (tenant_id, beginning, f"{beginning}{_LAST}")
        return next((found for (found,) in connection.execute(_SQL["first_beginning"], values)), None)

    if portable and twin(path, first) is not None:
        raise same_in_other_letters(path)


def _left_by(write: Write, written: LandedWrite) -> Landed:
    """A commit with what it left, where that needs no looking up: an append adds to what stood before."""
    if any(change.kind is ChangeKind.APPEND for change in write.changes):
        return Landed(write.tenant_id, written.commit)
    left = {
        change.path: None if change.kind is ChangeKind.REMOVE else bytes(change.content)
        for change in write.changes
    }
    return Landed(write.tenant_id, written.commit, left)


def _standing_as(written: LandedWrite, sha: str) -> LandedWrite:
    return replace(written, commit=replace(written.commit, sha=sha))


def _only_event(landed: Sequence[LandedWrite]) -> str | None:
    ids = [event_id for each in landed for event_id in each.event_ids]
    return ids[0] if len(ids) == 1 else None
