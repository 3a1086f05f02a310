"""Previews, manifests and jobs of erasures in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import apsw

from lamina import limits
from lamina.kernel.audit import AuditDraft
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.blocks import load_blocks
from lamina.store.erasure_rows import erasure_state, figures_text, read_erasure, read_figures
from lamina.store.ports.erasures import (
    ERASURE_WAIT_US_MAX,
    ErasedPlace,
    ErasureJob,
    ErasureLine,
    LineKind,
    Preview,
)
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.rows import Row
from lamina.store.rules.attempts import kept_error
from lamina.store.rules.erasures import PACE_OF, PATH_LINES, check_no_overlap, pace_of
from lamina.store.sqlite.audit import AuditRiders
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.jobs import next_fence
from lamina.store.sqlite.lifecycle import LifecycleWriter

__all__ = ["SqliteErasures"]

_SQL = load_blocks("lamina.store.sqlite")


class SqliteErasures:
    """``Erasures`` over their tables."""

    def __init__(
        self, writer: Writer, readers: Readers, lifecycle: LifecycleWriter, riders: AuditRiders
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._lifecycle = lifecycle
        self._riders = riders

    # ---- plans

    def put_preview(self, preview: Preview, lines: Sequence[ErasureLine]) -> None:
        """Mirrors ``Erasures.put_preview``. The preview lands last: without it nobody finds the lines."""
        place = (preview.tenant_id, preview.id)
        self._put_lines(*place, lines)
        row = (*place, preview.scope, preview.made_by, preview.made_at, preview.expires_at)
        self._change("put_erasure_preview", (*row, figures_text(preview.figures)))

    def prune(self, now: Instant) -> None:
        """Mirrors ``Erasures.prune``. In several transactions, so that nobody waits long for the writer."""
        for tenant_id, plan_id in self._readers.rows(_SQL["expired_manifests"], (now,)):
            while self._change("drop_some_lines", (tenant_id, plan_id, limits.ERASURE_LINES_AT_ONCE)):
                pass
        forgotten = now - int(limits.PREVIEW_REMEMBERED_S * SECOND_US)
        for place in self._readers.rows(_SQL["old_previews"], (forgotten,)):
            self._change("drop_preview", place)

    def _change(self, block: str, bindings: Row) -> int:
        """How many rows a statement changed, in a transaction of its own."""

        def work(connection: apsw.Connection) -> int:
            connection.execute(_SQL[block], bindings)
            return connection.changes()

        return self._writer.write(work)

    def preview(self, tenant_id: str, preview_id: str) -> Preview | None:
        """Mirrors ``Erasures.preview``."""
        row = self._readers.row(_SQL["find_erasure_preview"], (tenant_id, preview_id))
        if row is None:
            return None
        scope, made_by, made_at, expires_at, figures = row
        return Preview(
            tenant_id=tenant_id,
            id=preview_id,
            scope=Scope(scope),
            made_by=made_by,
            made_at=made_at,
            expires_at=expires_at,
            figures=read_figures(figures),
        )

    def put_lines(self, tenant_id: str, plan_id: str, lines: Sequence[ErasureLine]) -> None:
        """Mirrors ``Erasures.put_lines``."""
        self._writer.write(
            lambda connection: connection.execute(_SQL["drop_erasure_lines"], (tenant_id, plan_id))
        )
        self._put_lines(tenant_id, plan_id, lines)

    def _put_lines(self, tenant_id: str, plan_id: str, lines: Sequence[ErasureLine]) -> None:
        """In several transactions, so that nobody waits long for the writer."""
        for start in range(0, len(lines), limits.ERASURE_LINES_AT_ONCE):
            rows = [
                (tenant_id, plan_id, line.kind.value, line.id, line.scope, line.record_id)
                for line in lines[start : start + limits.ERASURE_LINES_AT_ONCE]
            ]
            self._writer.write(
                lambda connection, rows=rows: connection.executemany(_SQL["put_erasure_line"], rows)  # type: ignore[misc]
            )

    def lines(
        self, tenant_id: str, plan_id: str, *, after: ErasureLine | None = None, limit: int
    ) -> list[ErasureLine]:
        """Mirrors ``Erasures.lines``."""
        past = (
            ("", "", "", "") if after is None else (after.kind.value, after.id, after.scope, after.record_id)
        )
        rows = self._readers.rows(_SQL["erasure_lines"], (tenant_id, plan_id, *past, limit))
        return [ErasureLine(LineKind(kind), id_, Scope(scope), record) for kind, id_, scope, record in rows]

    def ids(self, tenant_id: str, plan_id: str, kind: LineKind) -> list[str]:
        """Mirrors ``Erasures.ids``."""
        rows = self._readers.rows(_SQL["erasure_line_ids"], (tenant_id, plan_id, kind.value))
        return [row[0] for row in rows]

    # ---- jobs

    def begin(self, erasure: ErasureJob) -> ErasureJob:
        """Mirrors ``Erasures.begin``."""

        def work(connection: apsw.Connection) -> ErasureJob:
            running = [
                read_erasure(row).place
                for row in connection.execute(_SQL["erasures_running"], (erasure.tenant_id,))
            ]
            check_no_overlap(running, erasure)
            place = (erasure.tenant_id, erasure.id, erasure.scope)
            connection.execute(_SQL["put_erasure"], (*place, erasure.status, erasure_state(erasure)))
            connection.execute(_SQL["note_access_change"])
            return erasure

        return self._writer.write(work)

    def get(self, tenant_id: str, erasure_id: str) -> ErasureJob | None:
        """Mirrors ``Erasures.get``."""
        row = self._readers.row(_SQL["find_erasure"], (tenant_id, erasure_id))
        return None if row is None else read_erasure(row)

    def listed(self, tenant_id: str, *, before: str | None = None, limit: int) -> list[ErasureJob]:
        """Mirrors ``Erasures.listed``."""
        rows = self._readers.rows(_SQL["erasures_listed"], (tenant_id, before, limit))
        return [read_erasure(row) for row in rows]

    def places(self, tenant_id: str) -> list[ErasedPlace]:
        """Mirrors ``Erasures.places``."""
        return [read_erasure(row).place for row in self._readers.rows(_SQL["erasures_running"], (tenant_id,))]

    def cancel(self, tenant_id: str, erasure_id: str) -> ErasureJob | None:
        """Mirrors ``Erasures.cancel``."""

        def work(connection: apsw.Connection) -> ErasureJob | None:
            connection.execute(_SQL["cancel_erasure"], (tenant_id, erasure_id))
            return _find(connection, tenant_id, erasure_id)

        return self._writer.write(work)

    def claim(self, *, now: Instant, lease_until: Instant, owner: str) -> ErasureJob | None:
        """Mirrors ``Erasures.claim``. Looks before it takes the write lock."""
        row = self._readers.row(_SQL["due_erasure"], (now, ERASURE_WAIT_US_MAX))
        if row is None:
            return None
        due = read_erasure(row)

        def work(connection: apsw.Connection) -> ErasureJob | None:
            lease = (due.tenant_id, due.id, lease_until, owner, next_fence(connection), now)
            connection.execute(_SQL["lease_erasure"], lease)
            return _find(connection, due.tenant_id, due.id) if connection.changes() else None

        return self._writer.write(work)

    def advance(
        self, erasure: ErasureJob, *, lease_until: Instant, told: Sequence[LifecycleDraft] = ()
    ) -> ErasureJob | None:
        """Mirrors ``Erasures.advance``."""
        held = replace(erasure, lease_until=lease_until, attempts=0, next_attempt_at=0, last_error=None)

        def work(connection: apsw.Connection) -> ErasureJob | None:
            before = _find(connection, erasure.tenant_id, erasure.id)
            if not self._keep(connection, held):
                return None
            if before is not None and before.place != held.place:
                connection.execute(_SQL["note_access_change"])
            self._lifecycle.put(connection, told)
            return _find(connection, erasure.tenant_id, erasure.id)

        return self._writer.write(work)

    def put_off(self, erasure: ErasureJob, error: str, *, retry_at: Instant) -> None:
        """Mirrors ``Erasures.put_off``."""
        late = replace(
            erasure,
            attempts=erasure.attempts + 1,
            last_error=kept_error(error),
            next_attempt_at=retry_at,
            lease_until=None,
            lease_owner=None,
        )
        self._writer.write(lambda connection: self._keep(connection, late))

    def take_over(self) -> int:
        """Mirrors ``Erasures.take_over``."""
        return self._writer.change(_SQL["erasure_leases_left"])

    def end(
        self, erasure: ErasureJob, *, told: Sequence[LifecycleDraft] = (), audit: AuditDraft | None = None
    ) -> bool:
        """Mirrors ``Erasures.end``."""

        def work(connection: apsw.Connection) -> bool:
            if not self._keep(connection, replace(erasure, lease_until=None, lease_owner=None)):
                return False
            connection.execute(_SQL["note_access_change"])
            if erasure.status == "completed":
                _clear(connection, erasure)
            self._lifecycle.put(connection, told)
            if audit is not None:
                self._riders.board_once(connection, audit)
            return True

        return self._writer.write(work)

    def counted(self, tenant_id: str, erasure_id: str) -> dict[Layer, int]:
        """Mirrors ``Erasures.counted``."""
        rows = self._readers.rows(_SQL["count_tombstones"], (tenant_id, erasure_id))
        return {Layer(layer): count for layer, count in rows}

    def pace(self) -> tuple[int, int]:
        """Mirrors ``Erasures.pace``."""
        return pace_of(read_erasure(row) for row in self._readers.rows(_SQL["newest_completed"], (PACE_OF,)))

    @staticmethod
    def _keep(connection: apsw.Connection, erasure: ErasureJob) -> bool:
        columns = (erasure.status, erasure.next_attempt_at, erasure.lease_until, erasure.lease_owner)
        place = (erasure.tenant_id, erasure.id, erasure.fence)
        connection.execute(_SQL["keep_erasure"], (*place, *columns, erasure_state(erasure)))
        return connection.changes() > 0


def _clear(connection: apsw.Connection, erasure: ErasureJob) -> None:
    """What is left of an erasure that is over but its ids and figures."""
    place = (erasure.tenant_id, erasure.scope)
    connection.execute(_SQL["drop_lines_of_scope"], place)
    connection.execute(_SQL["drop_previews_of_scope"], place)
    paths = [(erasure.tenant_id, erasure.id, kind.value) for kind in PATH_LINES]
    before = connection.total_changes()
    connection.executemany(_SQL["drop_lines_of_kind"], paths)
    if connection.total_changes() > before:
        # The files were cleared before: what is told by name until here may still be in them.
        connection.execute(_SQL["ask_scrubbing"])


def _find(connection: apsw.Connection, tenant_id: str, erasure_id: str) -> ErasureJob | None:
    for row in connection.execute(_SQL["find_erasure"], (tenant_id, erasure_id)):
        return read_erasure(row)
    return None
