"""The operations of the schedule (seed 000, Schedule Reminders)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.coordination import requests
from lamina.coordination.reminding import SCHEDULE_PLACE, Reminding
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayNeed, RelayRight

__all__ = ["schedule_operations"]

_READS: Final = RelayNeed(RelayRight.READ_FILES, "read", SCHEDULE_PLACE)
_WRITES: Final = RelayNeed(RelayRight.WRITE_PROJECTS, "write", SCHEDULE_PLACE)


def schedule_operations(reminding: Reminding) -> list[Operation[Any]]:
    """The operations on reminders. Each fails with the codes of its request's fields, too."""
    rows = [
        _creating(writes(_WRITES, "schedule_create", requests.CreateItem, requests.CreatedItem, reminding.create,
                         "Create a one-shot reminder.",
                         fails=("IDEMPOTENCY_KEY_CONFLICT", "SCHEDULE_ID_CONFLICT", "DUE_AT_NOT_FUTURE"))),
        reads(_READS, "schedule_get", requests.ReadItem, requests.FoundItem, reminding.read, "Read a reminder.",
              fails=("SCHEDULE_NOT_FOUND",)),
        reads(_READS, "schedule_list", requests.ListItems, requests.ItemList, reminding.listed,
              "List reminders by due time."),
        writes(_WRITES, "schedule_update", requests.ChangeItem, requests.ChangedItem, reminding.change,
               "Change a pending reminder.",
               fails=(*_MOVED, "DUE_AT_NOT_FUTURE", "INVALID_SCHEDULE_LINK")),
        writes(_WRITES, "schedule_acknowledge", requests.AcknowledgeItem, requests.ChangedItem, reminding.acknowledge,
               "End a reminder as acknowledged or done.", fails=_MOVED),
        writes(_WRITES, "schedule_retire", requests.RetireItem, requests.ChangedItem, reminding.retire,
               "End a reminder that is wanted no more.", fails=_MOVED),
    ]  # fmt: skip
    return [replace(row, fails=(*requests.codes_of(row.request), *row.fails)) for row in rows]


_MOVED: Final = ("SCHEDULE_NOT_FOUND", "SCHEDULE_STATUS_CONFLICT", "SCHEDULE_VERSION_CONFLICT")
"""Changes of an item find it elsewhere than the caller thought."""


def _creating(row: Operation[Any]) -> Operation[Any]:
    """One that answers 201 where it made something, and keeps its key with what it made."""
    return replace(row, keeps_keys=True, commits_with=201, answers=(200, 201))
