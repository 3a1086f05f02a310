"""The operations of the schedule (seed 000, Schedule Reminders)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lamina.coordination import requests
from lamina.coordination.reminding import Reminding
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.relay import RelayNeed, RelayRight

__all__ = ["schedule_operations"]

_PLACE: Final = "memory/schedule/schedule.db"
"""Where the contract has the reminders: namespaces are compared with it. Nothing stands there."""


def schedule_operations(reminding: Reminding) -> list[Operation[Any]]:
    """The operations on reminders."""
    return [
        _writing("schedule_create", requests.CreateItem, requests.CreatedItem, reminding.create,
                 "Create a one-shot reminder.", creates=True),
        _reading("schedule_get", requests.ReadItem, requests.FoundItem, reminding.read, "Read a reminder."),
        _reading("schedule_list", requests.ListItems, requests.ItemList, reminding.listed, "List reminders by due time."),
        _writing("schedule_update", requests.ChangeItem, requests.ChangedItem, reminding.change,
                 "Change a pending reminder."),
        _writing("schedule_acknowledge", requests.AcknowledgeItem, requests.ChangedItem, reminding.acknowledge,
                 "End a reminder as acknowledged or done."),
        _writing("schedule_retire", requests.RetireItem, requests.ChangedItem, reminding.retire,
                 "End a reminder that is wanted no more."),
    ]  # fmt: skip


_Handler = Callable[[Any, Call], Answer]  # Any: requests of several types


def _none(request: Any, principal: object) -> Sequence[Grant]:  # noqa: ARG001 - the port's shape
    return ()


def _reading(name: str, request: Any, result: Any, handler: _Handler, summary: str) -> Operation[Any]:
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_READ_LOCAL,
        effect=Effect.READ,
        tier=Tier.STABLE,
        grants=_none,
        handler=handler,
        summary=summary,
        relay=(RelayNeed(RelayRight.READ_FILES, "read", _PLACE),),
    )


def _writing(
    name: str, request: Any, result: Any, handler: _Handler, summary: str, *, creates: bool = False
) -> Operation[Any]:
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_WRITE,
        effect=Effect.WRITE,
        tier=Tier.STABLE,
        grants=_none,
        handler=handler,
        summary=summary,
        relay=(RelayNeed(RelayRight.WRITE_PROJECTS, "write", _PLACE),),
        keeps_keys=creates,
        commits_with=201 if creates else 200,
    )
