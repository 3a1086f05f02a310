"""What is told of an id that was forgotten: 410 to whoever may read where it was, and to anybody else what is told of no id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamina.errors import Gone, NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Layer
from lamina.store.ports.store import Store

__all__ = ["telling_of_forgotten"]


def telling_of_forgotten(
    store: Store, handler: Callable[[Any, Call], Answer]
) -> Callable[[Any, Call], Answer]:
    """The handler of a read of one record, which raises ``Gone`` (RESOURCE_DELETED) where there was one that was forgotten."""

    def read(request: Any, call: Call) -> Answer:
        try:
            return handler(request, call)
        except NotFound as missing:
            stone = store.erasing.tombstone(call.principal.tenant_id, str(missing.details.get("id")))
            if stone is None or not call.may_read(stone.scope):
                raise
            if stone.layer is Layer.UNDERSTANDING and not call.permits.allows(
                Grant(Capability.UNDERSTANDING_READ, stone.scope)
            ):
                raise
            said: dict[str, Any] = {"id": stone.id, "cascade": stone.cascade}
            if stone.audit_id is not None:
                said["audit_id"] = stone.audit_id
            raise Gone(
                "RESOURCE_DELETED",
                "this record was forgotten",
                hint="it does not come back; audit_id is the row of the audit log that says so",
                details=said,
            ) from None

    return read
