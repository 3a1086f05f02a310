"""The operations of the schedule (seed 000, Schedule Reminders)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lamina.coordination import requests
from lamina.coordination.reminding import Reminding
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.relay import RelayNeed, RelayRight

__all__ = ["schedule_operations"]

_PLACE: Final = "memory/schedule/schedule.db"
"""Where the contract has the reminders: namespaces are compared with it. Nothing stands there."""


def schedule_operations(reminding: Reminding) -> list[Operation[Any]]:
    """The operations on reminders."""
    return [
        _writing("schedule_create", requests.CreateItem, requests.CreatedItem, reminding.create,
                 "Create a one-shot reminder.",
                 ("IDEMPOTENCY_KEY_CONFLICT", "SCHEDULE_ID_CONFLICT", "DUE_AT_NOT_FUTURE"), creates=True),
        _reading("schedule_get", requests.ReadItem, requests.FoundItem, reminding.read, "Read a reminder.",
                 ("SCHEDULE_NOT_FOUND",)),
        _reading("schedule_list", requests.ListItems, requests.ItemList, reminding.listed, "List reminders by due time."),
        _writing("schedule_update", requests.ChangeItem, requests.ChangedItem, reminding.change,
                 "Change a pending reminder.",
                 (*_MOVED, "DUE_AT_NOT_FUTURE", "INVALID_SCHEDULE_LINK")),
        _writing("schedule_acknowledge", requests.AcknowledgeItem, requests.ChangedItem, reminding.acknowledge,
                 "End a reminder as acknowledged or done.", _MOVED),
        _writing("schedule_retire", requests.RetireItem, requests.ChangedItem, reminding.retire,
                 "End a reminder that is wanted no more.", _MOVED),
    ]  # fmt: skip


_MOVED: Final = ("SCHEDULE_NOT_FOUND", "SCHEDULE_STATUS_CONFLICT", "SCHEDULE_VERSION_CONFLICT")
"""Changes of an item find it elsewhere than the caller thought."""

_Handler = Callable[[Any, Call], Answer]  # Any: requests of several types


def _reading(
    name: str, request: Any, result: Any, handler: _Handler, summary: str, fails: tuple[str, ...] = ()
) -> Operation[Any]:
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_READ_LOCAL,
        effect=Effect.READ,
        tier=Tier.STABLE,
        handler=handler,
        summary=summary,
        relay=(RelayNeed(RelayRight.READ_FILES, "read", _PLACE),),
        fails=(*requests.codes_of(request), *fails),
    )


def _writing(
    name: str,
    request: Any,
    result: Any,
    handler: _Handler,
    summary: str,
    fails: tuple[str, ...],
    *,
    creates: bool = False,
) -> Operation[Any]:
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_WRITE,
        effect=Effect.WRITE,
        tier=Tier.STABLE,
        handler=handler,
        summary=summary,
        relay=(RelayNeed(RelayRight.WRITE_PROJECTS, "write", _PLACE),),
        keeps_keys=creates,
        commits_with=201 if creates else 200,
        answers=(200, 201) if creates else (200,),
        fails=(*requests.codes_of(request), *fails),
    )
