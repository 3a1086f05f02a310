"""The job that sends dead letters again (Relay contract 1.16): each as its sender would, and one that cannot be sent ends nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from lamina.coordination.messages.requests import ReplayMessage
from lamina.coordination.operators import bounds
from lamina.errors import LaminaError, Unavailable
from lamina.kernel.operations import Answer, Call
from lamina.kernel.wire import Request, Result, Text
from lamina.store.ports.messages import Messages, PendingQuery

__all__ = ["DeadLetterSweep", "SweepDeadLetters", "SweptDeadLetters"]


class SweepDeadLetters(Request):
    """How many dead letters to send again, the newest first; with ``force`` also those that were sent as often as they may be."""

    limit: Annotated[int, Field(ge=1, le=bounds.OPS_SWEEP_MAX)] = 20
    force: bool = False
    reason: Annotated[Text, Field(max_length=bounds.OPS_NOTE_LENGTH_MAX)] | None = None


class SweptDeadLetters(Result):
    """What was sent again, and what was not, by the code of the reason."""

    ok: bool = True
    scanned: int
    replayed: list[str]
    failed: dict[str, str]


class DeadLetterSweep:
    """Sweeps the caller's tenant."""

    def __init__(self, messages: Messages, replay: Callable[[Any, Call], Answer]) -> None:
        self._messages = messages
        self._replay = replay

    def sweep(self, request: SweepDeadLetters, call: Call) -> Answer:
        """Send dead letters again. Raises ``Unavailable`` where nothing can be written."""
        query = PendingQuery(
            tenant_id=call.principal.tenant_id, now=call.now, statuses=("dead_letter",), limit=request.limit
        )
        found = self._messages.pending(query).found
        replayed, failed = [], {}
        for each in found:
            wanted = {"message_id": each.message.id, "force": request.force, "reason": request.reason}
            try:
                self._replay(ReplayMessage.model_validate(wanted), call)
            except Unavailable:
                raise
            except LaminaError as error:
                failed[each.message.id] = error.code
            else:
                replayed.append(each.message.id)
        return Answer(SweptDeadLetters(scanned=len(found), replayed=replayed, failed=failed))
