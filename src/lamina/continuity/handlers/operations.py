"""The operations of continuity. Three of them have no route of their own: operators run them as jobs.

What a caller may is asked by the handlers, of the call: rights of Relay, document by document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.continuity.capsule import requests, results
from lamina.continuity.declaring import reads, writes
from lamina.continuity.handlers.archiving import Archiving
from lamina.continuity.handlers.history import History
from lamina.continuity.handlers.listing import CapsuleListing
from lamina.continuity.handlers.reading import CapsuleReading, Section
from lamina.continuity.handlers.upkeep import CapsuleUpkeep
from lamina.continuity.handlers.writing import Writing
from lamina.continuity.permission import READS, WRITES
from lamina.continuity.shelf.documents import Shelf
from lamina.continuity.shelf.uses import NoUses, Uses
from lamina.kernel.operations import Operation
from lamina.store.ports.documents import Documents

__all__ = ["continuity_operations"]


def continuity_operations(
    documents: Documents,
    *,
    sections: Mapping[str, Section] | None = None,
    archive_days: int = 90,
    shelf: Shelf | None = None,
    uses: Uses | None = None,
) -> list[Operation[Any]]:
    """Every operation over capsules. ``sections`` widen the startup view; archives are stale past ``archive_days``.

    ``shelf`` is given where others share it, ``uses`` where calls leave rows of what they gave out.
    """
    shelf = shelf or Shelf(documents)
    reading, writing = CapsuleReading(shelf, sections), Writing(shelf)
    archiving, listing, history = Archiving(shelf), CapsuleListing(shelf, archive_days), History(shelf)
    upkeep = CapsuleUpkeep(shelf, uses or NoUses(), archiving, archive_days)
    return [
        reads(READS, "continuity_read", requests.Read, results.ReadCapsule, reading.read, "Read a capsule.",
              fails=(*_STORED, "SUBJECT_MISMATCH")),
        reads(READS, "continuity_compare", requests.Compare, results.Compared, reading.compare,
              "Compare a candidate with a capsule.",
              fails=(*_STORED, *_CHECKED)),
        reads(READS, "continuity_history", requests.History, results.CapsuleHistory, history.history,
              "List the versions of a capsule.",
              fails=(*_STORED, "SUBJECT_MISMATCH")),
        reads(READS, "continuity_diff", requests.Diff, results.Differences, history.diff, "Compare two versions of a capsule.",
              fails=(*_STORED, "SUBJECT_MISMATCH")),
        reads(READS, "continuity_list", requests.ListCapsules, results.Listed, listing.list, "List capsules."),
        writes(WRITES, "continuity_upsert", requests.Upsert, results.Upserted, writing.upsert, "Write a capsule.",
              fails=(*_CHECKED, *_LANDED, "SUBJECT_TAKEN", "STALE_CAPSULE", "CAPSULE_CHANGED", "INVALID_TRANSITION")),
        writes(WRITES, "continuity_patch", requests.Patch, results.Patched, writing.patch, "Change items of a capsule's lists.",
              fails=(*_STORED, *_CHECKED, *_LANDED, "SUBJECT_TAKEN", "STALE_CAPSULE", "CAPSULE_CHANGED", "INVALID_PATCH", "PATCH_NO_MATCH")),
        writes(WRITES, "continuity_lifecycle", requests.Lifecycle, results.Moved, writing.lifecycle,
               "Move a thread or task along its lifecycle.",
              fails=(*_STORED, *_CHECKED, *_LANDED, "SUBJECT_TAKEN", "STALE_CAPSULE", "INVALID_TRANSITION")),
        writes(WRITES, "continuity_revalidate", requests.Revalidate, results.Revalidated, writing.revalidate,
               "Judge a capsule against signals.",
              fails=(*_STORED, *_CHECKED, *_LANDED, "SUBJECT_TAKEN", "STALE_CAPSULE", "INVALID_REVALIDATION")),
        writes(WRITES, "continuity_archive", requests.Archive, results.Archived, archiving.archive, "Put a capsule away.",
              fails=(*_STORED, *_LANDED, "INVALID_CAPSULE", "SUBJECT_TAKEN")),
        writes(WRITES, "continuity_delete", requests.Delete, results.Deleted, archiving.delete, "Remove what is kept of a subject.",
              fails=(*_LANDED, "INVALID_CAPSULE", "SUBJECT_TAKEN")),
        writes(WRITES, "continuity_refresh_plan", requests.PlanRefresh, results.RefreshPlan, upkeep.plan_refresh,
               "Plan which capsules to look at again.",
              fails=(*_LANDED,)),
        writes(WRITES, "continuity_retention_plan", requests.PlanRetention, results.RetentionPlan, upkeep.plan_retention,
               "Plan which archives go to cold storage.",
              fails=(*_LANDED,)),
        writes(WRITES, "continuity_retention_apply", requests.RetentionApply, results.Applied, upkeep.apply_retention,
               "Move stale archives to cold storage.",
              fails=(*_LANDED,)),
        writes(WRITES, "continuity_cold_store", requests.ColdStore, results.ColdStored, archiving.cold_store,
               "Move an archive to cold storage.",
              fails=(*_COLD,)),
        writes(WRITES, "continuity_cold_rehydrate", requests.ColdRehydrate, results.Rehydrated, archiving.cold_rehydrate,
               "Bring an archive back from cold storage.",
              fails=(*_COLD,)),
    ]  # fmt: skip


_STORED: Final = ("CAPSULE_NOT_FOUND", "STORED_CAPSULE_INVALID", "INVALID_CAPSULE")
_CHECKED: Final = ("CAPSULE_TOO_LARGE", "INVALID_CAPSULE", "SUBJECT_MISMATCH")
_LANDED: Final = ("DOCUMENT_CHANGED", "PATH_COLLISION", "REPOSITORY_UNAVAILABLE")
_COLD: Final = (*_LANDED, "CAPSULE_NOT_FOUND", "COLD_CONFLICT", "INVALID_COLD_ARTIFACT")
