"""The bytes of a document as the artifact that they are."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lamina.coordination.artifacts.kinds import ArtifactKind
from lamina.errors import Malformed

__all__ = ["record_in", "record_or_none"]

RecordT = TypeVar("RecordT", bound=BaseModel)


def record_in(kind: ArtifactKind[RecordT], path: str, content: bytes) -> RecordT:
    """The artifact; raises ``Malformed`` (STORED_ARTIFACT_INVALID) where it is none."""
    try:
        return kind.model.model_validate_json(content)
    except ValidationError as error:
        raise Malformed(
            "STORED_ARTIFACT_INVALID",
            f"what stands at {path} is no {kind.name} artifact",
            details={"path": path},
        ) from error


def record_or_none(kind: ArtifactKind[RecordT], content: bytes) -> RecordT | None:
    """The artifact; None where it is none."""
    try:
        return kind.model.model_validate_json(content)
    except ValidationError:
        return None
