"""Who wrote what a startup view shows, and whether it was put away since: from commits and envelopes, never from the capsule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lamina.continuity.capsule.results import ArchivingNote, CapsuleProvenance
from lamina.continuity.capsule.subjects import Subject, archive_name, cold_name
from lamina.continuity.permission import READS
from lamina.continuity.shelf.documents import Shelf
from lamina.continuity.shelf.envelopes import ArchiveEnvelope
from lamina.kernel.operations import Call
from lamina.kernel.time import Instant
from lamina.store.ports.documents import Document

__all__ = ["provenance"]

_ARCHIVES_READ: Final = 8
"""Of ids with one normal form, whose archives lie side by side, so many are looked at."""


def provenance(
    shelf: Shelf, subject: Subject, call: Call, path: str, version: int | None
) -> CapsuleProvenance:
    """Who wrote the version that was read at a path, or was last to write there where nothing stands, and the archiving that came after it, also in cold storage, where the caller may read that."""
    tenant_id = call.principal.tenant_id
    write = shelf.last_write(tenant_id, path, version)
    if write is None:
        return CapsuleProvenance()
    stands = shelf.document(tenant_id, subject.active_path) is not None
    return CapsuleProvenance(
        written_by=write.commit.author,
        written_at=write.commit.committed_at,
        version=write.version,
        archived=None if stands else _archived(shelf, subject, call, write.commit.committed_at),
    )


def _archived(shelf: Shelf, subject: Subject, call: Call, since: Instant) -> ArchivingNote | None:
    own = [
        each
        for each in (*_warm(shelf, subject, call), *_cold(shelf, subject, call))
        if each.capsule["subject_id"] == subject.id and each.archived_at >= since
    ]
    if not own:
        return None
    last = max(own, key=lambda each: each.archived_at)
    return ArchivingNote(archived_at=last.archived_at_text, archived_by=last.archived_by, reason=last.reason)


def _warm(shelf: Shelf, subject: Subject, call: Call) -> Iterable[ArchiveEnvelope]:
    tenant_id = call.principal.tenant_id
    names = [(each, archive_name(each.path)) for each in shelf.beginning(tenant_id, subject.archive_prefix)]
    alike = [each for each, name in names if name is not None and name.slug == subject.slug]
    return shelf.archives(tenant_id, _newest_seen(alike, call)).values()


def _cold(shelf: Shelf, subject: Subject, call: Call) -> Iterable[ArchiveEnvelope]:
    tenant_id = call.principal.tenant_id
    names = [(each, cold_name(each.path)) for each in shelf.beginning(tenant_id, subject.cold_prefix)]
    alike = [each for each, name in names if name is not None and name.slug == subject.slug]
    return shelf.cold_archives(tenant_id, _newest_seen(alike, call)).values()


def _newest_seen(found: Sequence[Document], call: Call) -> Sequence[Document]:
    return [each for each in found if call.relay.allows(READS, "read", each.path)][-_ARCHIVES_READ:]
