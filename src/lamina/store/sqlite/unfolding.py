"""What was told of a cancelled turn: summary and bridge of its sitting start over."""

from __future__ import annotations

import apsw

from lamina.kernel.events import Event
from lamina.store.blocks import load_blocks
from lamina.store.ports.writes import OF_SITTINGS
from lamina.store.sqlite.codec import json_list

__all__ = ["unfold"]

_SQL = load_blocks("lamina.store.sqlite")


def unfold(connection: apsw.Connection, event: Event) -> None:
    """Forget the summary and the bridge of the sitting whose window an event has left, and queue its turns to be
    folded anew.

    Rows get new ids: a fold of the old ones that is under way may tell of the event, and lands nothing.
    """
    for (number,) in list(connection.execute(_SQL["sitting_left"], (event.tenant_id, event.id, event.scope))):
        place = (event.tenant_id, event.scope, event.session, number)
        rows = list(connection.execute(_SQL["outbox_of_sitting"], place))
        connection.executemany(_SQL["drop_outbox"], [(event.tenant_id, row[0]) for row in rows])
        connection.executemany(_SQL["requeue_outbox"], [row[1:] for row in rows])
        told = json_list([row[5] for row in rows])
        connection.executemany(_SQL["forget_task"], [(event.tenant_id, task, told) for task in OF_SITTINGS])
        connection.execute(_SQL["unfold_session"], place)
