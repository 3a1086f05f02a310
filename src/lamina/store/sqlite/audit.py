"""Audit chains and peppers in SQLite, and how rows get into the commits of others."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import apsw

from lamina import limits
from lamina.kernel.audit import (
    GENESIS,
    Anchor,
    AuditDraft,
    AuditRow,
    Head,
    Pepper,
    chained,
    check_storable,
    row_of,
)
from lamina.kernel.ids import Prefix
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.audit import AuditQuery, MakeDraft, Ride
from lamina.store.rows import Row
from lamina.store.sqlite.audit_rows import audit_row, read_audit
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.digits import hash_of, stored_id
from lamina.store.sqlite.many import inserted
from lamina.store.sqlite.paths import bounds_within
from lamina.store.sqlite.words import stored_word

__all__ = ["AuditRiders", "SqliteAudit", "SqlitePeppers", "carry_over"]

_SQL = load_blocks("lamina.store.sqlite")
_LOG = logging.getLogger("lamina.store")
_UNSTORABLE = (
    ValueError,
    TypeError,
    OverflowError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.TooBigError,
)
"""What a row is to blame for, and not the disk: text that is none, numbers without end, an id that is there."""


class AuditRiders:
    """``Riders`` that are audit rows. A group's rows are chained at its end and inserted by few statements."""

    def __init__(self) -> None:
        self.local = threading.local()
        self.waiting: deque[AuditDraft] = deque()
        self._lock = threading.Lock()
        self._waiting_since: float | None = None
        self._aboard: list[tuple[AuditDraft, Ride]] = []
        self._drained = 0

    def boarding(self) -> Callable[[str | None], Callable[[], None]] | None:
        """Mirrors ``Riders.boarding``."""
        taken: tuple[MakeDraft, Ride] | None = getattr(self.local, "rider", None)
        # A write that failed may be tried again: its row waits for the one that lands.
        if taken is None or taken[1].landed:
            return None
        make, ride = taken
        return lambda event_id: self._board(make(event_id), ride)

    def board(self, draft: AuditDraft) -> None:
        """Land a row with the write that runs; the last thing that the write does, so that it cannot fail after it."""
        self._board(draft, Ride())()

    def board_once(self, connection: apsw.Connection, draft: AuditDraft) -> None:
        """``board``, unless a row of its id is there."""
        if not any(connection.execute(_SQL["find_audit"], _named(draft.tenant_id, draft.id))):
            self.board(draft)

    def _board(self, draft: AuditDraft, ride: Ride) -> Callable[[], None]:
        # Here only its own write fails with it; at the end of the group it would be everybody's.
        check_storable(draft)
        return partial(self._aboard.append, (draft, ride))

    def add(self, draft: AuditDraft) -> bool:
        """Queue a row; whether it is the first of a new batch, for which the writer has to be told."""
        with self._lock:
            self.waiting.append(draft)
            if self._waiting_since is not None:
                return False
            self._waiting_since = time.monotonic()
            return True

    def due_s(self) -> float | None:
        """Mirrors ``Riders.due_s``."""
        since = self._waiting_since
        return None if since is None else max(0.0, since + limits.AUDIT_LINGER_S - time.monotonic())

    def begin(self) -> None:
        """Mirrors ``Riders.begin``."""
        self._aboard.clear()
        self._drained = 0

    def drain(self, connection: apsw.Connection) -> None:
        """Mirrors ``Riders.drain``."""
        batch = list(islice(self.waiting, limits.AUDIT_BATCH_MAX))
        _insert(connection, [*(draft for draft, _ in self._aboard), *batch])
        self._drained = len(batch)

    def ended(self, *, landed: bool) -> None:
        """Mirrors ``Riders.ended``: what did not land stays queued, in its order."""
        for _, ride in self._aboard if landed else ():
            ride.landed = True
        with self._lock:
            for _ in range(self._drained if landed else 0):
                self.waiting.popleft()
            self._waiting_since = time.monotonic() if self.waiting else None


def _named(tenant_id: str, audit_id: str) -> Row:
    """What finds a row by its id, whichever release wrote it."""
    return tenant_id, audit_id, stored_id(audit_id, Prefix.AUDIT)


def _word_bindings(**words: str | None) -> dict[str, Any]:
    """What finds rows by words, whichever release wrote them."""
    stored = {f"{name}_stored": None if word is None else stored_word(word) for name, word in words.items()}
    return {**words, **stored}


def carry_over(connection: apsw.Connection) -> None:
    """Take in the rows of the database that is attached as ``aside`` which are not here."""
    rows = list(connection.execute(_SQL["audit_aside"]))
    _insert(connection, [row_of(read_audit(row)).draft for row in rows])


def _insert(connection: apsw.Connection, drafts: Sequence[AuditDraft]) -> None:
    """Append rows to the chains of their tenants. One that cannot be stored is set aside: each later commit would fail
    on it again."""
    done = _landed(connection, drafts)
    for draft in drafts[done:]:
        if not _landed(connection, [draft]):
            _LOG.error("the audit row %s cannot be stored and is set aside", draft.id)


def _landed(connection: apsw.Connection, drafts: Sequence[AuditDraft]) -> int:
    """Append rows up to the first statement that fails by what is in it; how many landed."""
    done = 0
    with contextlib.suppress(*_UNSTORABLE):
        for done in _appended(connection, drafts):  # noqa: B007 - as far as it came
            pass
    return done


def _appended(connection: apsw.Connection, drafts: Sequence[AuditDraft]) -> Iterator[int]:
    """Append rows; after each statement, how many are appended so far."""
    heads: dict[str, tuple[int, str]] = {}
    rows: list[tuple[Any, ...]] = []
    for draft in drafts:
        number, previous = heads.get(draft.tenant_id) or _head(connection, draft.tenant_id)
        row = chained(draft, number + 1, previous)
        rows.append(audit_row(row))
        heads[draft.tenant_id] = (number + 1, row[-2])
    yield from inserted(connection, _SQL["insert_audit"], rows)


def _head(connection: apsw.Connection, tenant_id: str) -> tuple[int, str]:
    for number, row_hash in connection.execute(_SQL["last_audit"], (tenant_id,)):
        return number, hash_of(row_hash)
    return 0, GENESIS


class SqliteAudit:
    """``Audit`` over its table and the writer's queue."""

    def __init__(self, writer: Writer, readers: Readers, riders: AuditRiders) -> None:
        self._writer = writer
        self._readers = readers
        self._riders = riders

    @contextlib.contextmanager
    def ride(self, make: MakeDraft) -> Iterator[Ride]:
        """Mirrors ``Audit.ride``."""
        ride = Ride()
        self._riders.local.rider = (make, ride)
        try:
            yield ride
        finally:
            self._riders.local.rider = None

    def note(self, draft: AuditDraft) -> None:
        """Mirrors ``Audit.note``."""
        if len(self._riders.waiting) >= limits.AUDIT_QUEUE_MAX:
            self.flush()
        if self._riders.add(draft):
            self._writer.nudge()

    def flush(self) -> None:
        """Mirrors ``Audit.flush``."""
        for _ in range(1 + len(self._riders.waiting) // limits.AUDIT_BATCH_MAX):
            self._writer.write(lambda connection: None)  # noqa: ARG005 - an empty write: its commit takes the queue along

    def get(self, tenant_id: str, audit_id: str) -> AuditRow | None:
        """Mirrors ``Audit.get``."""
        row = self._readers.row(_SQL["find_audit"], _named(tenant_id, audit_id))
        return None if row is None else row_of(read_audit(row))

    def query(self, query: AuditQuery) -> list[AuditRow]:
        """Mirrors ``Audit.query``."""
        within, within_from, within_to = bounds_within(query.within)
        bindings: dict[str, Any] = {
            "tenant_id": query.tenant_id,
            "before": query.before,
            "within": within,
            "within_from": within_from,
            "within_to": within_to,
            **_word_bindings(capability=query.capability, decision=query.decision, endpoint=query.endpoint),
            "since": query.since,
            "until": query.until,
            "limit": query.limit,
        }
        block = "query_audit"
        if query.actor is not None:
            block = "query_audit_of_actor"
            bindings["actor"] = query.actor
        return [row_of(read_audit(row)) for row in self._readers.rows(_SQL[block], bindings)]

    def walk(self, tenant_id: str, after: int, limit: int) -> list[AuditRow]:
        """Mirrors ``Audit.walk``."""
        return [
            row_of(read_audit(row))
            for row in self._readers.rows(_SQL["walk_audit"], (tenant_id, after, limit))
        ]

    def heads(self) -> list[Head]:
        """Mirrors ``Audit.heads``."""
        heads = []
        for (stored,) in self._readers.rows(_SQL["audit_tenants"]):
            tenant_id = stored.decode(errors="replace")
            last = self._readers.row(_SQL["last_audit"], (tenant_id,))
            number, row_hash = last if last is not None else (0, b"")
            heads.append(Head(tenant_id, number, hash_of(row_hash)))
        return heads

    def anchor(self, tenant_id: str) -> Anchor | None:
        """Mirrors ``Audit.anchor``."""
        row = self._readers.row(_SQL["find_anchor"], (tenant_id,))
        return None if row is None else Anchor(*row)

    def prune(self, anchor: Anchor, draft: AuditDraft) -> int:
        """Mirrors ``Audit.prune``."""

        def work(connection: apsw.Connection) -> int:
            for row in connection.execute(_SQL["find_anchor"], (anchor.tenant_id,)):
                if row[1] >= anchor.number:
                    return 0  # somebody else pruned further meanwhile
            connection.execute(_SQL["delete_audit"], (anchor.tenant_id, anchor.number))
            deleted: int = connection.changes()
            place = (anchor.tenant_id, anchor.number, anchor.hash, anchor.kept, anchor.row_id)
            connection.execute(_SQL["put_anchor"], place)
            self._riders.board(draft)
            return deleted

        return self._writer.write(work)


class SqlitePeppers:
    """``Peppers`` over its table."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def current(self, tenant_id: str) -> Pepper | None:
        """Mirrors ``Peppers.current``."""
        row = self._readers.row(_SQL["last_pepper"], (tenant_id,))
        return None if row is None else Pepper(*row)

    def get(self, tenant_id: str, version: int) -> Pepper | None:
        """Mirrors ``Peppers.get``."""
        row = self._readers.row(_SQL["find_pepper"], (tenant_id, version))
        return None if row is None else Pepper(*row)

    def add(self, pepper: Pepper) -> Pepper:
        """Mirrors ``Peppers.add``."""
        place = (pepper.tenant_id, pepper.version)

        def work(connection: apsw.Connection) -> Pepper:
            connection.execute(_SQL["insert_pepper"], (*place, pepper.secret, pepper.created_at))
            for row in connection.execute(_SQL["find_pepper"], place):
                return Pepper(*row)
            raise AssertionError("the pepper was put just before, or stood already")

        return self._writer.write(work)

    def prune(self, tenant_id: str, before: Instant) -> int:
        """Mirrors ``Peppers.prune``."""
        return self._writer.change(_SQL["prune_peppers"], (tenant_id, before))
