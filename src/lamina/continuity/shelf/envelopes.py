"""The documents around a capsule: the fallback snapshot of its last good write, and the envelope it is archived in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.moments import moment
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.judgements.trust import health, verification_status
from lamina.continuity.shelf.loading import Loaded, capsule_in, object_in, stored_invalid
from lamina.kernel.canonical import canonical
from lamina.kernel.time import Instant, rfc3339

__all__ = ["ArchiveEnvelope", "archive_bytes", "archived", "fallback", "fallback_bytes"]

_FALLBACK: Final = "continuity_fallback_snapshot"
_ARCHIVE: Final = "continuity_archive_envelope"
_VERSIONS: Final = ("1.0", "1.1")


@dataclass(frozen=True, slots=True)
class ArchiveEnvelope:
    """A capsule that was put away: when, and the text of that time as it was written; by whom and why, empty where it does not say."""

    capsule: CapsuleObject
    archived_at: Instant
    archived_at_text: str
    archived_by: str = ""
    reason: str = ""


def fallback_bytes(capsule: CapsuleObject) -> bytes:
    """The snapshot of a capsule."""
    subject = Subject(capsule["subject_kind"], capsule["subject_id"])
    return canonical(
        {
            "schema_type": _FALLBACK,
            "schema_version": "1.1",
            "captured_at": capsule["updated_at"],
            "source_path": subject.active_path,
            "verification_status": verification_status(capsule),
            "health_status": health(capsule).status,
            "capsule": capsule,
        }
    )


def fallback(content: bytes) -> Loaded:
    """The capsule of a snapshot; raises ``Malformed`` (STORED_CAPSULE_INVALID)."""
    return capsule_in(_envelope(content, _FALLBACK)["capsule"])


def archive_bytes(capsule: CapsuleObject, *, now: Instant, actor: str, reason: str) -> bytes:
    """The envelope of a capsule that is put away now."""
    subject = Subject(capsule["subject_kind"], capsule["subject_id"])
    return canonical(
        {
            "schema_type": _ARCHIVE,
            "schema_version": "1.1",
            "archived_at": rfc3339(now),
            "archived_by": actor,
            "reason": reason,
            "active_path": subject.active_path,
            "capsule": capsule,
        }
    )


def archived(content: bytes) -> ArchiveEnvelope:
    """The capsule of an envelope; raises ``Malformed`` (STORED_CAPSULE_INVALID)."""
    envelope = _envelope(content, _ARCHIVE)
    at = moment(envelope.get("archived_at"))
    if at is None:
        raise stored_invalid("its envelope does not say when it was archived")
    by, reason = (
        said if isinstance(said := envelope.get(name), str) else "" for name in ("archived_by", "reason")
    )
    return ArchiveEnvelope(capsule_in(envelope["capsule"]).capsule, at, envelope["archived_at"], by, reason)


def _envelope(content: bytes, schema_type: str) -> dict[str, Any]:
    envelope = object_in(content)
    if envelope.get("schema_type") != schema_type or envelope.get("schema_version") not in _VERSIONS:
        raise stored_invalid(f"it is no {schema_type}")
    if "capsule" not in envelope:
        raise stored_invalid("its envelope is empty")
    return envelope
