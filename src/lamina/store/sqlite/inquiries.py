"""Inquiries in SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import apsw

from lamina.kernel.events import Event, EventDraft
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.blocks import load_blocks
from lamina.store.ports.inquiries import Ready
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.writes import Inquiry, Writes
from lamina.store.rows import Row
from lamina.store.rules.attempts import kept_error
from lamina.store.sqlite.codec import read_event
from lamina.store.sqlite.connection import Readers, Writer
from lamina.store.sqlite.jobs import next_fence
from lamina.store.sqlite.log import SqliteLog
from lamina.store.sqlite.model_outputs import put_output, words_stand
from lamina.store.sqlite.paths import bounds_within
from lamina.store.sqlite.records import put_writes

__all__ = ["SqliteInquiries"]

_SQL = load_blocks("lamina.store.sqlite")
_STATES = ("pending", "answered", "applied", "failed", "dropped")


class SqliteInquiries:
    """``Inquiries`` over the ``inquiry`` table and the log."""

    def __init__(self, writer: Writer, readers: Readers, log: SqliteLog) -> None:
        self._writer = writer
        self._readers = readers
        self._log = log

    def claim(
        self, *, limit: int, lease_until: Instant, now: Instant, owner: str, behind: str = ""
    ) -> list[Inquiry]:
        """Mirrors ``Inquiries.claim``. Looks before it takes the write lock."""
        heads = [_inquiry(row) for row in self._readers.rows(_SQL["inquiry_heads"], (now, limit, behind))]
        if not heads:
            return []

        def work(connection: apsw.Connection) -> list[Inquiry]:
            leased = []
            fence = next_fence(connection)
            for head in heads:
                connection.execute(_SQL["lease_inquiry"], (head.id, lease_until, now, owner, fence))
                if connection.changes():
                    leased.append(replace(head, lease_until=lease_until, lease_owner=owner, fence=fence))
            return leased

        return self._writer.write(work)

    def claim_behind(self, head: Inquiry, *, limit: int, now: Instant) -> list[Inquiry]:
        """Mirrors ``Inquiries.claim_behind``. Looks before it takes the write lock."""
        place = (head.tenant_id, head.scope, head.position, head.id, limit)
        behind = list(map(_inquiry, self._readers.rows(_SQL["inquiries_behind"], place)))
        fit = [each.state == "pending" and each.task == head.task and each.is_due(now) for each in behind]
        near = behind[: fit.index(False) if False in fit else len(fit)]
        if not near:
            return []

        def work(connection: apsw.Connection) -> list[Inquiry]:
            leased = []
            for each in near:
                connection.execute(_SQL["lease_behind"], (each.id, now, head.id, head.fence))
                if not connection.changes():
                    break
                leased.append(
                    replace(
                        each, lease_until=head.lease_until, lease_owner=head.lease_owner, fence=head.fence
                    )
                )
            return leased

        return self._writer.write(work)

    def answer(
        self, inquiry: Inquiry, output: ModelOutput, sources: Collection[str], worded: Collection[str] = ()
    ) -> bool:
        """Mirrors ``Inquiries.answer``."""

        def work(connection: apsw.Connection) -> bool:
            if not words_stand(connection, inquiry.tenant_id, worded):
                return False
            connection.execute(_SQL["answer_inquiry"], (inquiry.id, output.input_hash, inquiry.fence))
            if not connection.changes():
                return False
            put_output(connection, output, sources)
            return True

        return self._writer.write(work)

    def put_off(self, inquiry: Inquiry, error: str, *, retry_at: Instant | None) -> None:
        """Mirrors ``Inquiries.put_off``."""
        self._writer.change(_SQL["put_off_inquiry"], (inquiry.id, kept_error(error), retry_at, inquiry.fence))

    def defer(self, inquiry: Inquiry, error: str, *, retry_at: Instant) -> None:
        """Mirrors ``Inquiries.defer``."""
        self._writer.change(_SQL["defer_inquiry"], (inquiry.id, kept_error(error), retry_at, inquiry.fence))

    def drop(self, inquiry: Inquiry) -> None:
        """Mirrors ``Inquiries.drop``."""
        self._writer.change(_SQL["drop_inquiry"], (inquiry.id, inquiry.fence))

    def ready(self, limit: int) -> list[Ready]:
        """Mirrors ``Inquiries.ready``."""
        found = []
        for inquiry in map(_inquiry, self._readers.rows(_SQL["answered_inquiries"], (limit,))):
            after = _newest(self._readers.rows, inquiry)
            if after is not None:
                found.append(Ready(inquiry, after))
        return found

    def apply(self, ready: Ready, at: Instant, writes: Writes) -> bool:
        """Mirrors ``Inquiries.apply``."""
        inquiry, after = ready

        def work(connection: apsw.Connection) -> bool:
            newest = _newest(connection.execute, inquiry)
            if newest is None or newest.id != after.id:
                return False
            place = (inquiry.id, inquiry.tenant_id, inquiry.scope, after.position, at)
            connection.execute(_SQL["apply_inquiry"], place)
            if not connection.changes():
                return False
            put_writes(connection, writes)
            return True

        return self._writer.write(work)

    def enter(self, ready: Ready, entry: EventDraft) -> Event | None:
        """Mirrors ``Inquiries.enter``."""
        inquiry = ready.inquiry

        def work(connection: apsw.Connection) -> Event | None:
            if not any(connection.execute(_SQL["is_answered"], (inquiry.tenant_id, inquiry.id))):
                return None
            entered = self._log.enter_shown(connection, entry)
            place = (inquiry.id, inquiry.tenant_id, inquiry.scope, entered.position, entered.recorded_at)
            connection.execute(_SQL["apply_inquiry"], place)
            return entered

        return self._writer.write(work, event_of=lambda entered: entered.id if entered else None)

    def applied_after(self, event: Event) -> list[Inquiry]:
        """Mirrors ``Inquiries.applied_after``."""
        place = (event.tenant_id, event.scope, event.position)
        return [_inquiry(row) for row in self._readers.rows(_SQL["inquiries_applied_after"], place)]

    def release(self, inquiries: Collection[Inquiry]) -> None:
        """Mirrors ``Inquiries.release``."""
        held = json.dumps([[inquiry.id, inquiry.fence] for inquiry in inquiries])
        self._writer.change(_SQL["release_inquiries"], (held,))

    def take_over(self) -> int:
        """Mirrors ``Inquiries.take_over``."""
        return self._writer.change(_SQL["inquiry_leases_left"])

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Mirrors ``Inquiries.revive``."""
        return self._writer.change(_SQL["revive_inquiries"], (tenant_id, *bounds_within(within)))

    def ask_again(self, inquiries: Collection[Inquiry]) -> None:
        """Mirrors ``Inquiries.ask_again``."""
        rows = [(i.tenant_id, i.event_id, i.task, i.scope, i.position, i.created_at) for i in inquiries]

        def work(connection: apsw.Connection) -> None:
            connection.executemany(_SQL["ask_again"], rows)

        self._writer.write(work)

    def unsettled(self, tenant_id: str, within: Scope | None, limit: int) -> list[Inquiry]:
        """Mirrors ``Inquiries.unsettled``."""
        rows = self._readers.rows(_SQL["inquiries_unsettled"], (tenant_id, *bounds_within(within), limit))
        return [_inquiry(row) for row in rows]

    def counts(self, tenant_id: str | None = None) -> dict[str, int]:
        """Mirrors ``Inquiries.counts``."""
        return dict.fromkeys(_STATES, 0) | dict(self._readers.rows(_SQL["count_inquiries"], (tenant_id,)))


def _newest(rows: Callable[[str, Row], Iterable[Row]], inquiry: Inquiry) -> Event | None:
    """The newest extracted event of an inquiry's scope, None while something there is left to extract."""
    place = (inquiry.tenant_id, inquiry.scope)
    if any(rows(_SQL["extraction_left"], place)):
        return None
    for row in rows(_SQL["newest_extracted"], place):
        return read_event(row)
    return None


def _inquiry(row: Row) -> Inquiry:
    (row_id, tenant_id, event_id, task, scope, position, created_at, state, attempts, next_attempt_at, lease_until,
     last_error, input_hash, applied_after, applied_order, applied_at, lease_owner, fence) = row  # fmt: skip
    return Inquiry(
        id=row_id,
        tenant_id=tenant_id,
        event_id=event_id,
        task=task,
        scope=Scope(scope),
        position=position,
        created_at=created_at,
        state=state,
        attempts=attempts,
        next_attempt_at=next_attempt_at,
        lease_until=lease_until,
        last_error=last_error,
        input_hash=input_hash,
        applied_after=applied_after,
        applied_order=applied_order,
        applied_at=applied_at,
        lease_owner=lease_owner,
        fence=fence,
    )
