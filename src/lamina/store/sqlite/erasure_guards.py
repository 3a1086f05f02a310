"""What is refused while a memory is being erased, inside the transaction of whoever writes."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from lamina.kernel.events import EventDraft
from lamina.store.blocks import load_blocks
from lamina.store.erasure_rows import read_erasure
from lamina.store.ports.erasures import ErasedPlace
from lamina.store.rules.erasures import check_not_erased, check_not_erased_actor

__all__ = ["refuse_erased", "refuse_erased_actor"]

_SQL = load_blocks("lamina.store.sqlite")


def refuse_erased(connection: apsw.Connection, drafts: Iterable[EventDraft]) -> None:
    """Nothing, or ``Conflict`` (ERASURE_RUNNING) for what would land in a memory that is being erased, inside somebody's transaction."""
    drafts = list(drafts)
    for tenant_id in {draft.tenant_id for draft in drafts}:
        places = _places(connection, tenant_id)
        check_not_erased(places, [draft for draft in drafts if draft.tenant_id == tenant_id])


def refuse_erased_actor(connection: apsw.Connection, tenant_id: str, actor: str) -> None:
    """Nothing, or ``Conflict`` (ERASURE_RUNNING) for an actor whose memory is being erased, inside somebody's transaction."""
    check_not_erased_actor(_places(connection, tenant_id), actor)


def _places(connection: apsw.Connection, tenant_id: str) -> list[ErasedPlace]:
    return [read_erasure(row).place for row in connection.execute(_SQL["erasures_running"], (tenant_id,))]
