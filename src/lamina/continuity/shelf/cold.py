"""Cold storage: an archive compressed to the byte, and a stub beside it that can be read without unpacking."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.bounds import length_max
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import ARCHIVE, COLD_INDEX, ArchiveName, archive_name
from lamina.continuity.judgements.freshness import freshness
from lamina.continuity.judgements.trust import health, verification_status
from lamina.continuity.shelf.envelopes import ArchiveEnvelope
from lamina.errors import Malformed
from lamina.kernel.time import Instant, rfc3339

__all__ = ["Stub", "archive_of", "packed", "stub_in", "stub_text", "unpacked"]

_KEYS: Final = (
    "type",
    "schema_version",
    "artifact_state",
    "subject_kind",
    "subject_id",
    "source_archive_path",
    "cold_storage_path",
    "archived_at",
    "cold_stored_at",
    "verification_kind",
    "verification_status",
    "health_status",
    "freshness_class",
    "phase",
    "update_reason",
)
_TYPE: Final = "continuity_cold_stub"
_VERSION: Final = '"1.1"'
_SECTIONS: Final[Mapping[str, tuple[int, int]]] = {
    "top_priorities": (3, 160),
    "active_constraints": (3, 160),
    "active_concerns": (3, 160),
    "open_loops": (3, 160),
    "stance_summary": (1, 240),
    "drift_signals": (5, 160),
    "session_trajectory": (3, 80),
    "trailing_notes": (3, 160),
    "curiosity_queue": (3, 120),
    "negative_decisions": (2, 400),
    "rationale_entries": (3, 160),
}
"""The sections of a stub: how many items, how many characters each."""

_UNPACKED_MAX: Final = 2 * length_max("continuity.capsule_serialized_utf8")


@dataclass(frozen=True, slots=True)
class Stub:
    """What a stub says of the archive behind it."""

    name: ArchiveName
    fields: Mapping[str, str | None]


def packed(archive: bytes) -> bytes:
    """An archive compressed: the same bytes for the same archive, whenever it is done.

    Raises ``Malformed`` (INVALID_COLD_ARTIFACT) for one that ``unpacked`` would not give back.
    """
    if len(archive) > _UNPACKED_MAX:
        raise _invalid(f"the archive has {len(archive)} bytes, {_UNPACKED_MAX} may go to cold storage")
    return gzip.compress(archive, compresslevel=9, mtime=0)


def unpacked(content: bytes) -> bytes:
    """The archive behind a compressed copy; raises ``Malformed`` (INVALID_COLD_ARTIFACT)."""
    decoder = zlib.decompressobj(wbits=31)
    try:
        archive = decoder.decompress(content, _UNPACKED_MAX)
    except zlib.error as error:
        raise _invalid("the compressed copy is damaged") from error
    if not decoder.eof:
        raise _invalid("the compressed copy is cut off or larger than any archive")
    return archive


def archive_of(stub_path: str) -> ArchiveName:
    """The archive that a stub's path belongs to; raises ``Malformed`` (INVALID_COLD_ARTIFACT)."""
    stem = stub_path.removeprefix(f"{COLD_INDEX}/").removesuffix(".md")
    name = archive_name(f"{ARCHIVE}/{stem}.json")
    if name is None or name.stub_path != stub_path:
        raise _invalid("the path is not that of a cold stub")
    return name


def stub_text(name: ArchiveName, archive: ArchiveEnvelope, now: Instant) -> str:
    """The stub of an archive that goes cold now."""
    capsule = archive.capsule
    said = {
        "type": _TYPE,
        "schema_version": _VERSION,
        "artifact_state": "cold",
        "subject_kind": capsule["subject_kind"],
        "subject_id": capsule["subject_id"],
        "source_archive_path": name.path,
        "cold_storage_path": name.cold_path,
        "archived_at": archive.archived_at_text,
        "cold_stored_at": rfc3339(now),
        "verification_kind": capsule.get("verification_kind"),
        "verification_status": verification_status(capsule),
        "health_status": health(capsule).status,
        "freshness_class": capsule.get("freshness", {}).get("freshness_class"),
        "phase": freshness(capsule, now).phase,
        "update_reason": capsule["source"]["update_reason"],
    }
    lines = ["---", *(f"{key}: {_flat(said[key])}" for key in _KEYS), "---", ""]
    for section, (items, characters) in _SECTIONS.items():
        lines += [f"## {section}", *_items(section, capsule, items, characters), ""]
    return "\n".join(lines)


def stub_in(path: str, content: bytes) -> Stub:
    """What a stub says; raises ``Malformed`` (INVALID_COLD_ARTIFACT) unless it is the stub of its own path."""
    name = archive_of(path)
    lines = content.decode("utf-8", errors="replace").split("\n")
    pairs = [line.partition(": ") for line in lines[1 : len(_KEYS) + 1]]
    if lines[0] != "---" or lines[len(_KEYS) + 1 : len(_KEYS) + 2] != ["---"]:
        raise _invalid("the stub has no front matter")
    if tuple(key for key, _, _ in pairs) != _KEYS:
        raise _invalid("the keys of the stub are not those of a stub, in their order")
    fields = {key: None if value == "null" else value for key, _, value in pairs}
    if (fields["type"], fields["schema_version"], fields["artifact_state"]) != (_TYPE, _VERSION, "cold"):
        raise _invalid("the stub is of another type or version")
    named = (fields["source_archive_path"], fields["cold_storage_path"], fields["subject_kind"])
    if named != (name.path, name.cold_path, name.kind):
        raise _invalid("the stub names another archive than its path does")
    return Stub(name, fields)


def _items(section: str, capsule: CapsuleObject, items: int, characters: int) -> Iterator[str]:
    value = capsule["continuity"].get(section, [])
    if section == "stance_summary":
        if value:
            yield _flat(value)[:characters]
        return
    for item in _worded(section, value)[:items]:
        yield f"- {item[:characters] if section != 'rationale_entries' else item}"


def _worded(section: str, value: list[Any]) -> list[str]:
    if section == "negative_decisions":
        return [_flat(f"decision: {item['decision']} | rationale: {item['rationale']}") for item in value]
    if section == "rationale_entries":
        active = [item for item in value if item["status"] == "active"]
        return [_flat(f"[{item['kind']}] {item['tag']}: {item['summary'][:160]}") for item in active]
    return [_flat(item) for item in value]


def _flat(text: str | None) -> str:
    return "null" if text is None else " ".join(text.splitlines())


def _invalid(reason: str) -> Malformed:
    return Malformed("INVALID_COLD_ARTIFACT", reason)
