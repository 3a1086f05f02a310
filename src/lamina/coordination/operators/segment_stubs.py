"""Stubs of segments, and the refusals that name them (Relay contract 7.6)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from lamina.coordination.operators.histories import history_object
from lamina.coordination.operators.segments import Segment, SegmentFamily, segment_of
from lamina.errors import Conflict, LaminaError, Malformed
from lamina.kernel.canonical import indented
from lamina.kernel.time import Instant, rfc3339
from lamina.store.ports.documents import Change, ChangeKind, Document

__all__ = [
    "digest_of",
    "new_stub",
    "put",
    "segment_conflict",
    "segment_invalid",
    "segment_named",
    "stub_bytes",
    "stub_of",
    "stub_value",
]

_STUB_TYPE: Final = "segment_history_stub"


def segment_named(family: SegmentFamily, segment_id: str) -> Segment:
    """The segment of an id that a caller names; raises ``Malformed`` (INVALID_HISTORY)."""
    segment = segment_of(family, segment_id)
    if segment is None:
        raise Malformed(
            "INVALID_HISTORY",
            f"there is no segment of {family} with the id {segment_id[:120]!r}",
            hint="the stubs below index/ of the family's history have the ids",
            details={"code": "segment_history_invalid_segment_id"},
        )
    return segment


def new_stub(segment: Segment, source_path: str, content: bytes, newest_at: Instant, now: Instant) -> bytes:
    """The stub of a segment that stands."""
    summary = {
        "line_count": content.count(b"\n") + (not content.endswith(b"\n")),
        "byte_count": len(content),
        "newest_at": rfc3339(newest_at),
        "sha256": digest_of(content),
    }
    return stub_bytes(
        {
            "schema_type": _STUB_TYPE,
            "schema_version": "1.0",
            "family": segment.family,
            "segment_id": segment.id,
            "source_path": source_path,
            "stream_key": segment.stream,
            "rolled_at": rfc3339(segment.rolled_at),
            "created_at": rfc3339(now),
            "payload_path": segment.payload,
            "summary": summary,
        }
    )


def stub_of(segment: Segment, standing: Mapping[str, Document]) -> Document:
    """The stub of a segment, among what stands; raises ``Conflict`` (HISTORY_CONFLICT), ``Malformed`` (INVALID_HISTORY) for another thing."""
    stub = standing.get(segment.stub)
    if stub is None:
        raise segment_conflict(segment, "stub_not_found", "has no stub")
    value = stub_value(stub)
    named = (value.get("schema_type"), value.get("family"), value.get("segment_id"))
    if named != (_STUB_TYPE, segment.family, segment.id) or not isinstance(value.get("summary"), dict):
        raise segment_invalid(segment, "invalid_stub", "has a stub that is of something else")
    if not isinstance(value.get("payload_path"), str):
        raise segment_invalid(segment, "invalid_stub", "has a stub without its place")
    return stub


def stub_value(stub: Document) -> dict[str, Any]:  # Any: JSON
    return history_object(stub.content)


def stub_bytes(value: Mapping[str, Any]) -> bytes:  # Any: JSON
    return indented(value)


def put(path: str, content: bytes, version: int) -> Change:
    """A whole document, over the version that was read."""
    """A stub as it is stored."""
    """What a stub says."""
    return Change(path, ChangeKind.PUT, content, expected_version=version)


def digest_of(content: bytes) -> str:
    """The checksum in a stub."""
    return hashlib.sha256(content).hexdigest()


def segment_conflict(segment: Segment, code: str, reason: str) -> LaminaError:
    """A refusal whose ``detail`` has the contract's code: what stands is not as it was to be."""
    return Conflict(
        "HISTORY_CONFLICT",
        f"{segment.id} {reason}",
        details={"code": f"segment_history_{code}", "path": segment.stub},
    )


def segment_invalid(segment: Segment, code: str, reason: str) -> LaminaError:
    """A refusal whose ``detail`` has a code: what stands is damaged, or too large."""
    return Malformed(
        "INVALID_HISTORY",
        f"{segment.id} {reason}",
        details={"code": f"segment_history_{code}", "path": segment.stub},
    )
