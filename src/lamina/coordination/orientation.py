"""Reminders as an orientation shows them: about the subjects that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.context.retrieving import Reminders
from lamina.coordination.reminding import Reminding, may_read_schedule
from lamina.kernel.operations import Call
from lamina.store.ports.schedule import ItemSubject

__all__ = ["reminders_of"]


def reminders_of(reminding: Reminding) -> Reminders:
    """The block ``schedule_context`` about subjects; an empty one for callers who may not read the schedule."""

    def reminders(subjects: Sequence[Subject], call: Call) -> Mapping[str, Any]:
        if may_read_schedule(call):
            asked = [ItemSubject(each.kind, each.id) for each in subjects]
            context = reminding.context(call.principal.tenant_id, call.now, asked)
        else:
            context = reminding.unavailable()
        return context.model_dump(mode="json", by_alias=True)

    return reminders
