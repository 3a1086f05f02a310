"""Request and result types of the jobs over segments (Relay contract 1.16, 7.6)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from lamina.coordination.operators import bounds
from lamina.coordination.operators.segments import SegmentFamily
from lamina.kernel.wire import Request, Result, Text

__all__ = [
    "MaintainSegments",
    "RehydrateSegment",
    "SegmentRehydrated",
    "SegmentsMaintained",
    "SegmentsStored",
    "StoreSegments",
]

_Limit = Annotated[int, Field(ge=1, le=bounds.HISTORY_CALL_MAX)]
_SegmentId = Annotated[Text, Field(min_length=1, max_length=bounds.OPS_PATH_LENGTH_MAX)]


class MaintainSegments(Request):
    """Of which family, or of all, and how many logs at most; where nothing is said, as many as an operator chose."""

    family: SegmentFamily | None = None
    batch_limit: _Limit | None = None


class StoreSegments(Request):
    """Of which family, or of all: the segments named, or those that are old enough, the first ``batch_limit`` by their paths."""

    family: SegmentFamily | None = None
    batch_limit: _Limit | None = None
    segment_ids: (
        Annotated[list[_SegmentId], Field(min_length=1, max_length=bounds.HISTORY_CALL_MAX)] | None
    ) = None

    @model_validator(mode="after")
    def _of_one_family(self) -> Self:
        if self.segment_ids is not None and self.family is None:
            raise ValueError("segment_ids are of one family: name it")
        return self


class RehydrateSegment(Request):
    """Which segment."""

    family: SegmentFamily
    segment_id: _SegmentId


class _Done(Result):
    """What each job says. ``durable`` is always so: a write is on disk when it is answered."""

    ok: bool = True
    operation: str
    family: SegmentFamily | None
    durable: bool = True
    committed_files: list[str]
    latest_commit: str | None
    warnings: list[str] = Field(default_factory=list)


class SegmentsMaintained(_Done):
    """How many logs were to leave, and the segments that they became."""

    selection_count: int
    rolled_count: int
    batch_limit_reached: bool
    rolled_segment_ids: list[str]


class SegmentsStored(_Done):
    """How many segments were to go, and those that went; ``hot_payloads_removed`` is where they had stood."""

    selection_count: int
    cold_stored_count: int
    batch_limit_reached: bool
    cold_segment_ids: list[str]
    hot_payloads_removed: list[str]
    recovery_warnings: list[str] = Field(default_factory=list)


class SegmentRehydrated(_Done):
    """Where the segment stands again."""

    segment_id: str
    stub_path: str
    cold_payload_path: str
    rehydrated_payload_path: str
    removed_cold_payload_path: str
    mutated_stub_path: str
