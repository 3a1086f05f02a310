"""The operations of continuity. Three of them have no route of their own: operators run them as jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.continuity import requests, results
from lamina.continuity.archiving import Archiving
from lamina.continuity.declaring import reads, writes
from lamina.continuity.listing import Listing
from lamina.continuity.permission import AnyPath, PathsOf
from lamina.continuity.reading import Reading, Section
from lamina.continuity.shelf import Shelf
from lamina.continuity.upkeep import Upkeep
from lamina.continuity.uses import RecentUses
from lamina.continuity.writing import Writing
from lamina.kernel.operations import Operation
from lamina.store.documents.ports import Documents

__all__ = ["ARCHIVE_DAYS", "continuity_operations"]

ARCHIVE_DAYS: Final = 90
"""After how many days an archive is stale, unless a setting says otherwise."""


def continuity_operations(
    documents: Documents,
    *,
    paths_of: PathsOf | None = None,
    sections: Mapping[str, Section] | None = None,
    archive_days: int = ARCHIVE_DAYS,
    shelf: Shelf | None = None,
    uses: RecentUses | None = None,
) -> list[Operation[Any]]:
    """Every operation over capsules. ``paths_of`` narrows callers to folders, ``sections`` widen the startup view.

    ``shelf`` and ``uses`` are given where others share them.
    """
    asked: PathsOf = paths_of or (lambda call: AnyPath())  # noqa: ARG005 - every caller alike
    shelf, uses = shelf or Shelf(documents), uses or RecentUses()
    reading, writing = Reading(shelf, asked, uses, sections), Writing(shelf, asked)
    archiving, listing = Archiving(shelf, asked), Listing(shelf, asked, archive_days)
    upkeep = Upkeep(shelf, asked, uses, archiving, archive_days)
    return [
        reads("continuity_read", requests.Read, results.ReadCapsule, reading.read, "Read a capsule."),
        reads("continuity_compare", requests.Compare, results.Compared, reading.compare,
              "Compare a candidate with a capsule."),
        reads("continuity_list", requests.ListCapsules, results.Listed, listing.list, "List capsules."),
        writes("continuity_upsert", requests.Upsert, results.Upserted, writing.upsert, "Write a capsule."),
        writes("continuity_patch", requests.Patch, results.Patched, writing.patch, "Change items of a capsule's lists."),
        writes("continuity_lifecycle", requests.Lifecycle, results.Moved, writing.lifecycle,
               "Move a thread or task along its lifecycle."),
        writes("continuity_revalidate", requests.Revalidate, results.Revalidated, writing.revalidate,
               "Judge a capsule against signals.", reading_too=True),
        writes("continuity_archive", requests.Archive, results.Archived, archiving.archive, "Put a capsule away.", reading_too=True),
        writes("continuity_delete", requests.Delete, results.Deleted, archiving.delete, "Remove what is kept of a subject."),
        writes("continuity_refresh_plan", requests.PlanRefresh, results.RefreshPlan, upkeep.plan_refresh,
               "Plan which capsules to look at again.", reading_too=True),
        writes("continuity_retention_plan", requests.PlanRetention, results.RetentionPlan, upkeep.plan_retention,
               "Plan which archives go to cold storage.", reading_too=True),
        writes("continuity_retention_apply", requests.RetentionApply, results.Applied, upkeep.apply_retention,
               "Move stale archives to cold storage."),
        writes("continuity_cold_store", requests.ColdStore, results.ColdStored, archiving.cold_store,
               "Move an archive to cold storage."),
        writes("continuity_cold_rehydrate", requests.ColdRehydrate, results.Rehydrated, archiving.cold_rehydrate,
               "Bring an archive back from cold storage."),
    ]  # fmt: skip
