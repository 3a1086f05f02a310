"""The operations of continuity. Three of them have no route of their own: operators run them as jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from lamina.continuity import requests, results
from lamina.continuity.archiving import Archiving
from lamina.continuity.listing import Listing
from lamina.continuity.permission import AnyPath, PathsOf
from lamina.continuity.reading import Reading, Section
from lamina.continuity.shelf import RELAY, Shelf
from lamina.continuity.upkeep import Upkeep
from lamina.continuity.uses import RecentUses
from lamina.continuity.writing import Writing
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Principal, Tier
from lamina.store.documents.ports import Documents

__all__ = ["ARCHIVE_DAYS", "continuity_operations"]

ARCHIVE_DAYS: Final = 90
"""After how many days an archive is stale, unless a setting says otherwise."""

_READ: Final = (Grant(Capability.SCOPE_READ_LOCAL, RELAY),)
_WRITE: Final = (Grant(Capability.SCOPE_WRITE, RELAY),)


def continuity_operations(
    documents: Documents,
    *,
    paths_of: PathsOf | None = None,
    sections: Mapping[str, Section] | None = None,
    archive_days: int = ARCHIVE_DAYS,
) -> list[Operation[Any]]:
    """Every operation over capsules. ``paths_of`` narrows callers to folders, ``sections`` widen the startup view."""
    asked: PathsOf = paths_of or (lambda call: AnyPath())  # noqa: ARG005 - every caller alike
    shelf, uses = Shelf(documents), RecentUses()
    reading, writing = Reading(shelf, asked, uses, sections), Writing(shelf, asked)
    archiving, listing = Archiving(shelf, asked), Listing(shelf, asked, archive_days)
    upkeep = Upkeep(shelf, asked, uses, archiving, archive_days)
    return [
        _read("read", requests.Read, results.ReadCapsule, reading.read, "Read a capsule."),
        _read("compare", requests.Compare, results.Compared, reading.compare,
              "Compare a candidate with a capsule."),
        _read("list", requests.ListCapsules, results.Listed, listing.list, "List capsules."),
        _write("upsert", requests.Upsert, results.Upserted, writing.upsert, "Write a capsule."),
        _write("patch", requests.Patch, results.Patched, writing.patch, "Change items of a capsule's lists."),
        _write("lifecycle", requests.Lifecycle, results.Moved, writing.lifecycle,
               "Move a thread or task along its lifecycle."),
        _write("revalidate", requests.Revalidate, results.Revalidated, writing.revalidate,
               "Judge a capsule against signals.", _READ),
        _write("archive", requests.Archive, results.Archived, archiving.archive, "Put a capsule away.", _READ),
        _write("delete", requests.Delete, results.Deleted, archiving.delete, "Remove what is kept of a subject."),
        _write("refresh_plan", requests.PlanRefresh, results.RefreshPlan, upkeep.plan_refresh,
               "Plan which capsules to look at again.", _READ),
        _write("retention_plan", requests.PlanRetention, results.RetentionPlan, upkeep.plan_retention,
               "Plan which archives go to cold storage.", _READ),
        _write("retention_apply", requests.RetentionApply, results.Applied, upkeep.apply_retention,
               "Move stale archives to cold storage."),
        _write("cold_store", requests.ColdStore, results.ColdStored, archiving.cold_store,
               "Move an archive to cold storage."),
        _write("cold_rehydrate", requests.ColdRehydrate, results.Rehydrated, archiving.cold_rehydrate,
               "Bring an archive back from cold storage."),
    ]  # fmt: skip


_Handler = Callable[[Any, Call], Answer]  # Any: requests of several types


def _read(
    name: str, request: type[BaseModel], result: type[BaseModel], handler: _Handler, summary: str
) -> Operation[Any]:
    return Operation(
        name=f"continuity_{name}",
        request=request,
        result=result,
        capability=Capability.SCOPE_READ_LOCAL,
        effect=Effect.READ,
        tier=Tier.STABLE,
        grants=_granting(_READ),
        handler=handler,
        summary=summary,
    )


def _write(
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    more: Sequence[Grant] = (),
) -> Operation[Any]:
    return Operation(
        name=f"continuity_{name}",
        request=request,
        result=result,
        capability=Capability.SCOPE_WRITE,
        effect=Effect.WRITE,
        tier=Tier.STABLE,
        grants=_granting((*more, *_WRITE)),
        handler=handler,
        summary=summary,
    )


def _granting(grants: Sequence[Grant]) -> Callable[[Any, Principal], Sequence[Grant]]:
    return lambda request, principal: grants  # noqa: ARG005 - the same for every request
