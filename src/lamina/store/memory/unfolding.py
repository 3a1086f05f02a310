"""What was told of a cancelled turn: summary and bridge of its sitting start over."""

from __future__ import annotations

from dataclasses import replace

from lamina.kernel.events import Event
from lamina.store.memory.tables import Tables
from lamina.store.ports.sessions import OutboxRow
from lamina.store.ports.writes import OF_SITTINGS

__all__ = ["unfold"]


def unfold(tables: Tables, event: Event) -> None:
    """Forget the summary and the bridge of the sitting whose window an event has left, and queue its turns to be
    folded anew. Rows get new ids: a fold of the old ones that is under way may tell of the event, and lands nothing."""
    left = [
        row
        for row in tables.outbox.values()
        if (row.place.tenant_id, row.event_id) == (event.tenant_id, event.id)
    ]
    for place, number in [(row.place, row.sitting) for row in left]:
        rows = [row for row in tables.outbox.values() if (row.place, row.sitting) == (place, number)]
        for row in sorted(rows, key=lambda row: row.id):
            del tables.outbox[row.id]
            row_id = tables.last_outbox = tables.last_outbox + 1
            tables.outbox[row_id] = OutboxRow(
                id=row_id,
                place=place,
                sitting=number,
                event_id=row.event_id,
                sent_at=row.sent_at,
                created_at=row.created_at,
            )
        told = {row.event_id for row in rows}
        tables.inquiries = {
            key: each
            for key, each in tables.inquiries.items()
            if each.tenant_id != event.tenant_id or each.task not in OF_SITTINGS or each.event_id not in told
        }
        held = tables.sittings[place, number]
        tables.sittings[place, number] = replace(
            held, summary="", bridge=None, folded=0, worded=None, revision=held.revision + 1
        )
